"""Scores of single rows that need no model: the rules of each evaluation type, over cells by role."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from datbench.unified.choices import ChoicesError
from datbench.unified.rules import Rules

Row = Mapping[str, Any]
"""Cells by role: question, target, targets, choices, label, labels, better, rejected, context, text, pred."""

Compare = Callable[[Any, Any], "bool | None"]
"""(answer, reference) -> mathematical equality; see ``formula.FormulaComparer.compare``."""


class Outcome(NamedTuple):
    """The four output cells of a row."""

    valid: bool
    error: str
    pred: Any
    score: float


def scored(score: float, pred: Any = None) -> Outcome:
    """A valid row."""
    return Outcome(True, "", pred, score)


def invalid(error: str) -> Outcome:
    """A row that stays out of every mean, with the token that says why."""
    return Outcome(False, error, None, math.nan)


def missing_answer(row: Row, rules: Rules) -> Outcome | None:
    """The invalid outcome of a ``key2_qa`` row without a reference or a prediction, else None."""
    if rules.is_blank(row["target"]):
        return invalid("empty_reference")
    return invalid("empty_prediction") if rules.is_blank(row["pred"]) else None


def score_qa(row: Row, rules: Rules, compare: Compare) -> Outcome:
    """``key2_qa``: text match or mathematical equality with one reference.

    ``eval_pred`` is the extracted answer when it is mathematically equal, else the whole prediction.
    """
    missing = missing_answer(row, rules)
    if missing:
        return missing
    target, prediction = row["target"], row["pred"]
    final = rules.extract(prediction)
    equal = _equal(rules, compare, final, target)
    right = equal or rules.text_matcher(prediction, final)(target)
    return scored(float(right), final if equal else str(prediction))


def _equal(rules: Rules, compare: Compare, final: str, target: Any) -> bool:
    return compare(rules.comparable(final), rules.comparable(target)) is True


def score_any_target(row: Row, rules: Rules, compare: Compare) -> Outcome:
    """``key2_q_ma``: the first reference that matches counts.

    ``eval_pred`` is the whole prediction after a match by text, else the extracted answer (also on a miss).
    """
    targets = rules.targets(row["targets"])
    if not targets:
        return invalid("empty_references")
    prediction = row["pred"]
    if rules.is_blank(prediction):
        return invalid("empty_prediction")
    final = rules.extract(prediction)
    matches = rules.text_matcher(prediction, final)
    for target in targets:
        if matches(target):
            return scored(1.0, str(prediction))
        if _equal(rules, compare, final, target):
            return scored(1.0, final)
    return scored(0.0, final)


def score_choice(row: Row, rules: Rules, _: Compare) -> Outcome:
    """``key3_q_choices_a`` by parsing the generated text: index equal to the label's."""
    try:
        options = rules.choices(row["choices"])
    except ChoicesError as fault:
        return invalid(str(fault))
    label, choice = rules.label(row["label"], options), rules.choice(row.get("pred"), options)
    if label is None or choice is None:
        return invalid("parse_failed")
    return scored(float(choice == label), choice)


def score_choice_set(row: Row, rules: Rules, _: Compare) -> Outcome:
    """``key3_q_choices_as``: F1 of the chosen set against the labels; ``eval_pred`` is JSON text of all set metrics."""
    try:
        options = rules.choices(row["choices"])
    except ChoicesError as fault:
        return invalid(str(fault))
    gold, chosen = rules.gold_set(row["labels"], options), rules.choice_set(row["pred"], options)
    if gold is None or chosen is None:
        return invalid("parse_failed")
    metrics = rules.set_metrics(chosen, gold)
    cells = {"pred_set": sorted(chosen), "gold_set": sorted(gold), **metrics}
    return scored(metrics[rules.set_score], json.dumps(cells))


ROW_SCORERS: dict[str, Callable[[Row, Rules, Compare], Outcome]] = {
    "key2_qa": score_qa,
    "key2_q_ma": score_any_target,
    "key3_q_choices_a": score_choice,
    "key3_q_choices_as": score_choice_set,
}
"""The evaluation types that rules alone can score."""

FORMULA_TYPES = frozenset({"key2_qa", "key2_q_ma"})
"""Those that compare formulas."""
