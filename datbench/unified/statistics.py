"""The statistics of a run: counts and the mean score over valid rows, gathered row by row or chunk by chunk."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable
from typing import Any

from datbench.unified.eval_types import EVAL_TYPES, NO_PERPLEXITY, NO_SERVING
from datbench.unified.rows import Outcome

_DECIMALS = 10
_NOTES = {
    NO_PERPLEXITY: "ppl unavailable in llm_serving",
    NO_SERVING: "pairwise requires llm_serving loglikelihood",
}


class Totals:
    """Running counts and scores (8 bytes a row); the sum is exact, so neither chunks nor workers change a digit."""

    def __init__(self) -> None:
        self.total = 0
        self.errors: Counter[str] = Counter()
        self._scores = array("d")

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Count the outcomes of some rows."""
        for outcome in outcomes:
            self.total += 1
            if not outcome.valid:
                self.errors[outcome.error] += 1
            elif not math.isnan(outcome.score):
                self._scores.append(outcome.score)

    @property
    def valid(self) -> int:
        """Number of valid rows."""
        return self.total - self.errors.total()

    def mean(self) -> float:
        """Mean over the scored rows; 0.0 over none."""
        return math.fsum(self._scores) / len(self._scores) if self._scores else 0.0

    def mean_over_all(self) -> float:
        """Mean over all rows, invalid ones counted 0."""
        return math.fsum(self._scores) / self.total if self.total else 0.0


def statistics(
    totals: Totals,
    *,
    eval_type: str,
    metric: str,
    prefix: str,
    strict: bool = False,
    set_score: str = "f1",
    unavailable: str | None = None,
) -> dict[str, Any]:
    """The statistics object, keys in the documented order; strict mode adds its own, ``strict`` last.

    Args:
        totals: counts of all rows.
        eval_type: one of EVAL_TYPES.
        metric: resolved metric name.
        prefix: the storage's file name prefix, recorded as ``bench_name_or_prefix``.
        strict: adds ``accuracy_all`` (invalid rows count 0; not for perplexity), ``invalid_by_error`` and ``strict``.
        set_score: the set metric that was averaged; names the mean when it is not F1.
        unavailable: error token of an empty table that could not have been scored.
    """
    head = {"bench_name_or_prefix": prefix, "type": eval_type, "metric": metric}
    counts = {"total_samples": totals.total, "valid_samples": totals.valid}
    mean_name = EVAL_TYPES[eval_type].mean if set_score == "f1" else f"{set_score}_mean"
    mean = {mean_name: _rounded(totals.mean())}
    note = next(
        (text for token, text in _NOTES.items() if token == unavailable or totals.errors[token] == totals.total > 0),
        None,
    )
    if note:
        result = {**head, **counts, "note": note}
    elif eval_type == "key1_text_score":
        result = {**head, **counts, **mean}
    else:
        result = {**counts, **mean, **head}
    if strict:
        if eval_type != "key1_text_score":
            result["accuracy_all"] = _rounded(totals.mean_over_all())
        result |= {"invalid_by_error": dict(sorted(totals.errors.items())), "strict": True}
    return result


def _rounded(value: float) -> float | None:
    return round(value, _DECIMALS) if math.isfinite(value) else None
