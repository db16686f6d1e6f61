"""What a scorer is: a pure function from (fields, output text) to a details dict, plus its metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Fields = Mapping[str, Any]
"""What a scorer may read: question_id, question, answer, all_answers and its metadata keys."""

Details = dict[str, Any]
"""What a scorer found, under the benchmark's own key names; always holds a float or int ``score``."""


class FieldError(ValueError):
    """Row data that no scorer can work with; the evaluator adds the row's position and id."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"field {field!r}: {reason}")
        self.field = field
        self.reason = reason


@dataclass(frozen=True)
class Scorer:
    """One source dataset's scoring rule.

    Attributes:
        score: (fields, output text) -> details. Never raises on any output text once ``check`` has passed.
        metrics: details of all scored samples in row order -> the benchmark's metric names and values.
        required: metadata keys that must be present (null is allowed, ``check`` may refuse it).
        optional: metadata keys handed over when present.
        prepare: for the rare dataset whose fields are not a plain copy: (fields so far, metadata) -> fields.
        check: raises FieldError for row data that is malformed; run when an evaluator is built. What it returns is
            not looked at, so that a reader of a field is its check.
        accepts: types of an output that can be scored; one of any other type scores 0.0, with an ``error``.
    """

    score: Callable[[Fields, str], Details]
    metrics: Callable[[Sequence[Details]], dict[str, Any]]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    prepare: Callable[[dict[str, Any], Mapping[str, Any]], dict[str, Any]] | None = None
    check: Callable[[Fields], object] | None = None
    accepts: tuple[type, ...] = (str,)

    def compute_metrics(self, items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Aggregate over details dicts, bare or each under the key ``score_details``."""
        return self.metrics([item.get("score_details", item) for item in items])


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean in row order, 0.0 for an empty list (the benchmark's convention)."""
    return sum(values) / len(values) if values else 0.0


def mean_of(key: str, details: Sequence[Details]) -> float:
    """Mean of one key over details dicts; a missing key counts 0.0, an empty list gives 0.0."""
    return mean([item.get(key, 0.0) for item in details])


def harmonic_mean(precision: float, recall: float) -> float:
    """F1 of a precision and a recall, both in [0, 1]; 0.0 if both are."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def accuracy(details: Sequence[Details]) -> dict[str, Any]:
    """The mean score under the key ``accuracy``: all the metrics that several datasets have."""
    return {"accuracy": mean_of("score", details)}


def accuracy_and_score(details: Sequence[Details]) -> dict[str, Any]:
    """The mean score under ``accuracy`` and, if there is anything to take it of, under ``score``."""
    metrics = accuracy(details)
    return {**metrics, "score": metrics["accuracy"]} if details else metrics
