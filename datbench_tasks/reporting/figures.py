"""The numbers of one capability, or of all together, made of outcomes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from datbench_tasks.reporting.intervals import Interval, bootstrap_means, percentile_interval, seed_of
from datbench_tasks.reporting.outcomes import Outcome, circular_groups

Means = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class DatasetFigures:
    """One source dataset: its samples and the benchmark's own metrics, under the benchmark's names."""

    name: str
    samples: int
    metrics: dict[str, Any]


@dataclass(frozen=True)
class Figures:
    """Numbers of a capability or of a total. Rates are in [0, 1]; None where there is nothing to take a mean of.

    Attributes:
        accuracy: the benchmark's: mean score, pending and unparsed verdicts counting 0.
        interval: 95 % bootstrap interval of ``accuracy``.
        clusters: how many groups of samples that share an image were drawn; None: samples were drawn one by one.
        graded_accuracy: mean score of the samples that are not pending (what the host's table shows).
        bounds: range of the accuracy if all unscored (pending, unparsed, missing) were wrong, or right.
        missing: ids of the dataset that have no record.
        truncated: outputs known to have reached the token limit; ``truncation_unknown``: the log cannot tell.
        reformatted_accuracy: accuracy if answers lost to formatting had been found.
        weighted_accuracy: accuracy weighted by discrimination (negative weights count 0).
        circular_accuracy: share of circular items with all rotations right; None where rotations cannot be grouped.
        tokens_right, tokens_wrong: mean output tokens of right and of wrong answers (a failed request has none).
    """

    name: str
    samples: int
    accuracy: float | None
    interval: Interval | None
    clusters: int | None
    graded: int
    graded_accuracy: float | None
    bounds: Interval | None
    direct_samples: int
    direct_accuracy: float | None
    judge_samples: int
    judge_accuracy: float | None
    pending: int
    missing: int
    unparsed: int
    truncated: int
    truncation_unknown: int
    empty: int
    request_failed: int
    lost_to_formatting: int
    unclosed_reasoning: int
    scorer_errors: int
    reformatted_accuracy: float | None
    weighted_accuracy: float | None
    frontier_samples: int
    frontier_accuracy: float | None
    circular_samples: int
    circular_items: int | None
    circular_accuracy: float | None
    tokens_right: float | None
    tokens_wrong: float | None
    datasets: tuple[DatasetFigures, ...] = field(default=())

    @property
    def unscored(self) -> int:
        """Samples whose score is not known: pending, unparsed and missing."""
        return self.pending + self.unparsed + self.missing

    @property
    def expected(self) -> int:
        """Samples that there should be: those of the run and the missing ones."""
        return self.samples + self.missing


def mean(values: Sequence[float]) -> float | None:
    """Exact arithmetic mean, None for no values."""
    return math.fsum(values) / len(values) if values else None


def accuracy_means(outcomes: Sequence[Outcome], signature_hash: str, name: str) -> Means:
    """Bootstrap means of the accuracy, clustered where outcomes share an image."""
    scores = [outcome.counted_score for outcome in outcomes]
    return bootstrap_means(scores, cluster_keys(outcomes), seed_of(signature_hash, name))


def cluster_keys(outcomes: Sequence[Outcome]) -> list[str] | None:
    """A key a sample, equal for samples of one image; None if no two samples are known to share one."""
    keys = [outcome.cluster or f"\0{outcome.id}" for outcome in outcomes]
    return keys if len(set(keys)) < len(keys) else None


def figures(
    name: str,
    outcomes: Sequence[Outcome],
    means: Means | None,
    *,
    missing: int = 0,
    datasets: Sequence[DatasetFigures] = (),
) -> Figures:
    """Compute the numbers of a group of outcomes, which must be sorted by id.

    Args:
        name: of the group.
        outcomes: one a sample.
        means: bootstrap means of the accuracy; None: no interval.
        missing: how many samples of the dataset have no record.
        datasets: metrics by source dataset.
    """
    scores = [outcome.counted_score for outcome in outcomes]
    graded = [outcome.counted_score for outcome in outcomes if not outcome.pending]
    direct = [outcome.counted_score for outcome in outcomes if not outcome.judge]
    judged = [outcome.counted_score for outcome in outcomes if outcome.judge]
    weights = [max(outcome.discrimination, 0.0) if outcome.discrimination else 0.0 for outcome in outcomes]
    frontier = [outcome.counted_score for outcome in outcomes if outcome.frontier]
    keys = cluster_keys(outcomes)
    flags = Counter(flag for outcome in outcomes for flag in outcome.flags)
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    groups = circular_groups(outcomes)
    generated = [o for o in outcomes if o.output_tokens]
    return Figures(
        name=name,
        samples=len(outcomes),
        accuracy=mean(scores),
        interval=None if means is None else percentile_interval(means),
        clusters=len(set(keys)) if keys else None,
        graded=len(graded),
        graded_accuracy=mean(graded),
        bounds=_bounds(scores, verdicts["pending"] + verdicts["unparsed"], missing),
        direct_samples=len(direct),
        direct_accuracy=mean(direct),
        judge_samples=len(judged),
        judge_accuracy=mean(judged),
        pending=verdicts["pending"],
        missing=missing,
        unparsed=verdicts["unparsed"],
        truncated=sum(outcome.truncated is True for outcome in outcomes),
        truncation_unknown=sum(outcome.truncated is None for outcome in outcomes),
        empty=flags["empty"],
        request_failed=flags["request_failed"],
        lost_to_formatting=flags["lost_to_formatting"],
        unclosed_reasoning=flags["unclosed_reasoning"],
        scorer_errors=flags["scorer_error"],
        reformatted_accuracy=mean([outcome.reformatted or 0.0 for outcome in outcomes]),
        weighted_accuracy=_weighted(scores, weights),
        frontier_samples=len(frontier),
        frontier_accuracy=mean(frontier),
        circular_samples=sum(outcome.circular for outcome in outcomes),
        circular_items=None if groups is None else len(groups),
        circular_accuracy=None if groups is None else mean([float(all(o.right for o in group)) for group in groups]),
        tokens_right=mean([o.output_tokens or 0 for o in generated if o.right]),
        tokens_wrong=mean([o.output_tokens or 0 for o in generated if o.right is False]),
        datasets=tuple(datasets),
    )


def _bounds(scores: Sequence[float], unscored: int, missing: int) -> Interval | None:
    total, count = math.fsum(scores), len(scores) + missing
    return Interval(total / count, (total + unscored + missing) / count) if count else None


def _weighted(scores: Sequence[float], weights: Sequence[float]) -> float | None:
    total = math.fsum(weights)
    return math.fsum(w * s for w, s in zip(weights, scores, strict=True)) / total if total else None
