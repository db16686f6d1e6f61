"""The golden cases that need neither math-verify nor a language model."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.unified_vectors import (
    assert_cells,
    cases,
    check_case,
    check_frame,
    decode,
    labelled,
    needs_formulas,
    needs_model,
)

from datbench.unified.answer_extraction import extract_answer
from datbench.unified.choices import (
    normalize_label,
    normalize_labels,
    parse_choice,
    parse_multiselect,
    set_metrics,
)
from datbench.unified.formula import quick_compare
from datbench.unified.prompts import normalize_context
from datbench.unified.rows import ROW_SCORERS
from datbench.unified.rules import PARITY
from datbench.unified.targets import normalize_targets
from datbench.unified.text_match import normalize_text, text_match
from datbench.unified.verdicts import parse_verdict

ROWS = [
    case
    for name in (
        "key3_q_choices_a",
        "key3_q_choices_as",
        "key3_q_a_rejected",
        "key2_qa_semantic_judge",
        "key1_text_score",
        "hazards",
    )
    for case in cases(name)
    if not needs_formulas(case) and not needs_model(case)
]
FRAMES = [case for case in cases("stats") if not needs_formulas(case) and not needs_model(case)]
FORMULA_ROWS = [case for name in ("key2_qa", "key2_q_ma", "hazards") for case in cases(name) if needs_formulas(case)]

COMPONENTS: dict[str, Any] = {
    "normalize_text": normalize_text,
    "text_match": text_match,
    "normalize_targets": normalize_targets,
    "parse_choice": parse_choice,
    "parse_multiselect": lambda *args: _listed(parse_multiselect(*args)),
    "normalize_label": normalize_label,
    "normalize_labels": lambda *args: _listed(normalize_labels(*args)),
    "set_metrics": lambda one, other: set_metrics(set(one), set(other)),
    "judge_response": parse_verdict,
    "normalize_context": normalize_context,
}


def _listed(indices: set[int] | None) -> list[int] | None:
    return None if indices is None else sorted(indices)


@labelled(ROWS)
def test_row(case: dict[str, Any], tmp_path: Path) -> None:
    check_case(case, tmp_path)


@labelled(FRAMES)
def test_frame(case: dict[str, Any], tmp_path: Path) -> None:
    check_frame(case, tmp_path)


@pytest.mark.parametrize("function", COMPONENTS)
def test_component(function: str) -> None:
    found = [case for case in cases("components") if case["function"] == function]
    assert found
    for case in found:
        assert COMPONENTS[function](*map(decode, case["args"])) == case["expected"], case


def test_answer_extraction() -> None:
    for case in cases("answer_extraction"):
        assert extract_answer(decode(case["text"])) == case["expected"], case


def test_quick_comparison_agrees_wherever_it_decides() -> None:
    verdicts: Counter[Any] = Counter()
    for case in cases("components"):
        if case["function"] == "math_compare":
            verdict = quick_compare(*map(str, map(decode, case["args"])))
            verdicts[verdict] += 1
            assert verdict in (None, case["expected"]), case
    assert verdicts[True] > 20 and verdicts[False] > 90


class _Undecided(Exception):
    pass


def _quick_only(answer: Any, truth: Any) -> bool:
    verdict = quick_compare(str(answer), str(truth))
    if verdict is None:
        raise _Undecided
    return verdict


def test_rows_that_the_quick_comparison_decides() -> None:
    decided = 0
    for case in FORMULA_ROWS:
        row = {
            role: decode(case["row"]).get(case["keys"].get(f"input_{role}_key", "generated_ans"))
            for role in ("question", "target", "targets", "pred")
        }
        try:
            outcome = ROW_SCORERS[case["eval_type"]](row, PARITY, _quick_only)
        except _Undecided:
            continue
        decided += 1
        names = ("eval_valid", "eval_error", "eval_pred", "eval_score")
        assert_cells(dict(zip(names, outcome, strict=True)), case.get("recommended") or case["expected"])
    assert decided > 150, f"{decided} of {len(FORMULA_ROWS)}"


def test_scores_of_invalid_rows_are_nan() -> None:
    outcome = ROW_SCORERS["key2_qa"]({"target": None, "pred": "1"}, PARITY, _quick_only)
    assert math.isnan(outcome.score)
