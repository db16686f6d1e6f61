"""Hostile cells of 100,000 characters: every reading ends soon and raises nothing."""

from __future__ import annotations

from typing import Any

import pytest
from support.hang_guard import no_longer_than

from datbench.unified.formula import quick_compare
from datbench.unified.rows import ROW_SCORERS
from datbench.unified.rules import rules_for

SIZE = 100_000
PIECES = [
    "a",
    "A",
    "A ",
    "9",
    "9,",
    "-",
    "{",
    "}",
    "[",
    '["',
    "\\",
    "\\text{",
    "\\begin{array}{",
    "boxed{",
    "boxed",
    "he answer is ",
    "The answer is A ",
    "final answer is $",
    "$. I hope",
    " ",
    "\n",
    ".",
    "||",
    "|",
    "1e9",
    "1/",
    "<think>",
    "</think>",
    '"judgement_result": ',
    "not ",
    "答案是",
    "选",
    "A.",
    "*",
    "option ",
    " m",
    "one ",
]
OPTIONS = ["red", "green", "blue"]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("piece", PIECES)
def test_hostile_text(piece: str, strict: bool) -> None:
    text = (piece * (SIZE // len(piece) + 1))[:SIZE]
    rules = rules_for(strict)
    rows: list[tuple[str, dict[str, Any]]] = [
        ("key2_qa", {"target": "a", "pred": text}),
        ("key2_qa", {"target": text, "pred": text + "b"}),
        ("key2_q_ma", {"targets": text, "pred": "x"}),
        ("key3_q_choices_a", {"choices": OPTIONS, "label": 1, "pred": text}),
        ("key3_q_choices_a", {"choices": text, "label": text, "pred": "A"}),
        ("key3_q_choices_as", {"choices": OPTIONS, "labels": text, "pred": text}),
    ]
    with no_longer_than(60):
        for eval_type, row in rows:
            ROW_SCORERS[eval_type](row, rules, lambda one, other: quick_compare(str(one), str(other)))
        rules.verdict(text)
