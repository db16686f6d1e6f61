"""Strict mode, by the tables of cases."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from support import unified_strict_cases as table

from datbench.unified.choices import ChoicesError
from datbench.unified.formula import quick_compare
from datbench.unified.rows import ROW_SCORERS
from datbench.unified.rules import rules_for
from datbench.unified.strict import LabelBase

FOUR = table.FOUR


class _Undecided(Exception):
    pass


def _quick_only(answer: Any, truth: Any) -> bool:
    verdict = quick_compare(str(answer), str(truth))
    if verdict is None:
        raise _Undecided
    return verdict


def test_answers_that_the_quick_comparison_decides() -> None:
    counts: Counter[str] = Counter()
    for quirk, target, prediction, right in table.TEXT:
        try:
            outcome = ROW_SCORERS["key2_qa"]({"target": target, "pred": prediction}, rules_for(True), _quick_only)
        except _Undecided:
            continue
        counts[quirk] += 1
        assert outcome.score == float(right), (quirk, target, prediction)
    assert min(counts[quirk] for quirk in ("Q1", "Q2", "Q3", "Q11", "Q12", "Q19")) >= 2, counts


@pytest.mark.parametrize(("quirk", "prediction", "answer"), table.EXTRACTED)
def test_extraction(quirk: str, prediction: Any, answer: str) -> None:
    assert rules_for(True).extract(prediction) == answer


@pytest.mark.parametrize(("quirk", "target", "prediction", "error"), table.BLANK)
def test_blank_cells(quirk: str, target: Any, prediction: Any, error: str) -> None:
    outcome = ROW_SCORERS["key2_qa"]({"target": target, "pred": prediction}, rules_for(True), _quick_only)
    assert outcome.error == error
    assert outcome.valid is (error == "")


@pytest.mark.parametrize(("quirk", "cell", "expected"), table.TARGETS)
def test_targets(quirk: str, cell: Any, expected: list[str]) -> None:
    assert rules_for(True).targets(cell) == expected


@pytest.mark.parametrize(("quirk", "labels", "base"), table.BASES)
def test_label_base(quirk: str, labels: list[Any], base: int) -> None:
    found = LabelBase()
    for cell in labels:
        found.add(cell, FOUR)
    assert found.value == base


@pytest.mark.parametrize(("quirk", "base", "cell", "index"), table.LABELS)
def test_label(quirk: str, base: int, cell: Any, index: int | None) -> None:
    assert rules_for(True, base).label(cell, FOUR) == index


def test_a_number_that_is_no_index_may_be_the_text_of_a_choice() -> None:
    years, rules = ["1990", "2000", "1990.5", "7"], rules_for(True, 0)
    assert [rules.label(cell, years) for cell in ("2000", 2000, " 7. ", "1990.5", "3", "5")] == [1, 1, 3, 2, 3, None]
    assert rules.gold_set(["1990", "7"], years) == {0, 3}
    assert rules.gold_set("2000", years) == {1}


@pytest.mark.parametrize(("quirk", "base", "prediction", "index"), table.CHOICES)
def test_choice(quirk: str, base: int, prediction: Any, index: int | None) -> None:
    assert rules_for(True, base).choice(prediction, FOUR) == index


@pytest.mark.parametrize(("quirk", "base", "cell", "indices"), table.GOLD_SETS)
def test_gold_set(quirk: str, base: int, cell: Any, indices: set[int] | None) -> None:
    assert rules_for(True, base).gold_set(cell, FOUR) == indices


@pytest.mark.parametrize(("quirk", "base", "prediction", "indices"), table.CHOICE_SETS)
def test_choice_set(quirk: str, base: int, prediction: Any, indices: set[int] | None) -> None:
    assert rules_for(True, base).choice_set(prediction, FOUR) == indices


@pytest.mark.parametrize(("quirk", "cell", "expected"), table.CHOICE_CELLS)
def test_choices_cell(quirk: str, cell: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert rules_for(True).choices(cell) == expected
    else:
        with pytest.raises(ChoicesError, match=expected):
            rules_for(True).choices(cell)


@pytest.mark.parametrize(("quirk", "response", "verdict"), table.VERDICTS)
def test_verdict(quirk: str, response: Any, verdict: bool | None) -> None:
    assert rules_for(True).verdict(response) is verdict


def test_arrays_are_lists() -> None:
    rules = rules_for(True)
    assert rules.choices(np.array(["a", "b"], dtype=object)) == ["a", "b"]
    assert rules.gold_set(np.array([0.0, 2.0]), FOUR) == {0, 2}
    assert rules.targets(np.array(["a", "b"], dtype=object)) == ["a", "b"]


def test_two_empty_sets_score_one() -> None:
    row = {"choices": FOUR, "labels": "[]", "pred": "[]"}
    assert ROW_SCORERS["key3_q_choices_as"](row, rules_for(True), _quick_only).score == 1.0
    assert ROW_SCORERS["key3_q_choices_as"](row, rules_for(False), _quick_only).score == 0.0


@pytest.mark.parametrize(("metric", "score"), [("jaccard", 1 / 3), ("exact_set", 0.0), ("micro_f1", 0.5), (None, 0.5)])
def test_set_metric_selects_the_score(metric: str | None, score: float) -> None:
    row = {"choices": FOUR, "labels": [0, 1], "pred": "A, C"}
    assert math.isclose(ROW_SCORERS["key3_q_choices_as"](row, rules_for(True, 0, metric), _quick_only).score, score)
