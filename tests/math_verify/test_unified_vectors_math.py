"""The golden cases whose formulas go to math-verify, through the whole operator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.unified_vectors import cases, check_case, check_frame, decode, labelled, needs_formulas

from datbench.unified.formula import shared_comparer

ROWS = [case for name in ("key2_qa", "key2_q_ma", "hazards") for case in cases(name) if needs_formulas(case)]
FRAMES = [case for case in cases("stats") if needs_formulas(case)]


@labelled(ROWS)
def test_row(case: dict[str, Any], tmp_path: Path) -> None:
    check_case(case, tmp_path)


@labelled(FRAMES)
def test_frame(case: dict[str, Any], tmp_path: Path) -> None:
    check_frame(case, tmp_path)


def test_math_compare() -> None:
    found = [case for case in cases("components") if case["function"] == "math_compare"]
    assert len(found) > 200
    for case in found:
        assert shared_comparer().compare(*map(decode, case["args"])) is case["expected"], case
