"""Paired comparison of two reports, sample by sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from datbench_tasks.errors import InputError
from datbench_tasks.reporting.figures import Means, cluster_keys, mean
from datbench_tasks.reporting.intervals import (
    Interval,
    bootstrap_means,
    holm,
    mcnemar,
    percentile_interval,
    seed_of,
    two_sided_p,
)
from datbench_tasks.reporting.outcomes import Outcome
from datbench_tasks.reporting.report import Report
from datbench_tasks.reporting.signature import differences

MCNEMAR, BOOTSTRAP = "McNemar", "bootstrap"

Pair = tuple[Outcome, Outcome]


@dataclass(frozen=True)
class Difference:
    """First minus second run over the samples that neither left pending; an unreadable verdict counts 0.

    Attributes:
        pairs: how many these are; ``unpaired``: how many of the others, over both runs.
        first, second: mean scores over the pairs.
        difference: of the means, with its 95 % paired bootstrap interval.
        p_value: exact McNemar where all scores are 0 or 1, else paired bootstrap; ``corrected`` after Holm.
        only_first, only_second: ids of samples that only one run answered right.
    """

    name: str
    pairs: int
    unpaired: int
    first: float
    second: float
    difference: float
    interval: Interval
    test: str
    p_value: float
    corrected: float | None = None
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Differences by capability, corrected together, and of both averages."""

    first: Report
    second: Report
    capabilities: tuple[Difference, ...]
    macro: Difference
    pooled: Difference

    @property
    def vision_delta(self) -> bool:
        """Whether the second run is the blind one, so that the differences say what the image is worth."""
        return self.second.signature["variant"] == "blind" != self.first.signature["variant"]


def compare_reports(first: Report, second: Report) -> Comparison:
    """Pair the samples of two reports by id; of a sighted and a blind one the sighted becomes the first.

    Raises:
        InputError: no capability in which both scored a sample.
    """
    if first.signature["variant"] == "blind" != second.signature["variant"]:
        first, second = second, first
    pairs, unpaired = _pairs(first, second)
    if not pairs:
        remedy = (
            "" if first.parts or second.parts else "; score both tables against one BENCH: unified --pred-file --id"
        )
        raise InputError(
            f"{_where(first)} ({_names(first)}) and {_where(second)} ({_names(second)}) have no scored sample in "
            f"common{remedy}"
        )
    seed = "".join(sorted((first.signature_hash, second.signature_hash)))  # the same, whichever run comes first
    means = {name: _difference_means(found, seed_of(seed, name)) for name, found in pairs.items()}
    uncorrected = [_difference(name, found, unpaired[name], means[name]) for name, found in pairs.items()]
    corrected = holm({found.name: found.p_value for found in uncorrected})
    capabilities = tuple(replace(found, corrected=corrected[found.name]) for found in uncorrected)
    return Comparison(first, second, capabilities, *_averages(capabilities, means))


def doubts(first: Report, second: Report) -> list[str]:
    """What keeps two reports from being compared, one readable text each; that one of them is blind is meant.

    The judge counts only where a capability that both have was judged.
    """
    theirs = {group.name: group for group in second.capabilities}
    common = [(group, theirs[group.name]) for group in first.capabilities if group.name in theirs]
    ignored = []
    if {first.signature["variant"], second.signature["variant"]} == {"", "blind"}:
        ignored.append("variant")
    if not any(group.judge_samples for pair in common for group in pair):
        ignored.append("judge")
    return differences(first.signature, second.signature, [group.name for group, _ in common], ignored)


def _names(report: Report) -> str:
    return ", ".join(group.name for group in report.capabilities)


def _pairs(first: Report, second: Report) -> tuple[dict[str, list[Pair]], dict[str, int]]:
    """Pairs by capability in id order, and how many samples found no partner."""
    others = {(outcome.capability, outcome.id): outcome for outcome in second.outcomes if not outcome.pending}
    pairs: dict[str, list[Pair]] = {}
    totals: dict[str, int] = {}
    for outcome in first.outcomes:
        other = others.get((outcome.capability, outcome.id))
        totals[outcome.capability] = totals.get(outcome.capability, 0) + 1
        if not outcome.pending and other is not None:
            pairs.setdefault(outcome.capability, []).append((outcome, other))
    sizes = {group.name: group.samples for group in second.capabilities}
    return pairs, {name: totals[name] + sizes[name] - 2 * len(found) for name, found in pairs.items()}


def _difference_means(pairs: Sequence[Pair], seed: int) -> Means:
    differences = [a.counted_score - b.counted_score for a, b in pairs]
    return bootstrap_means(differences, cluster_keys([a for a, _ in pairs]), seed)


def _test(pairs: Sequence[Pair], means: Means) -> tuple[str, float]:
    if all(outcome.counted_score in (0.0, 1.0) for pair in pairs for outcome in pair):
        gained = sum(a.counted_score > b.counted_score for a, b in pairs)
        lost = sum(a.counted_score < b.counted_score for a, b in pairs)
        return MCNEMAR, mcnemar(gained, lost)
    return BOOTSTRAP, two_sided_p(means)


def _difference(name: str, pairs: Sequence[Pair], unpaired: int, means: Means) -> Difference:
    test, p_value = _test(pairs, means)
    first, second = mean([a.counted_score for a, _ in pairs]) or 0.0, mean([b.counted_score for _, b in pairs]) or 0.0
    return Difference(
        name=name,
        pairs=len(pairs),
        unpaired=unpaired,
        first=first,
        second=second,
        difference=mean([a.counted_score - b.counted_score for a, b in pairs]) or 0.0,
        interval=percentile_interval(means),
        test=test,
        p_value=p_value,
        only_first=tuple(a.id for a, b in pairs if a.right and not b.right),
        only_second=tuple(b.id for a, b in pairs if b.right and not a.right),
    )


def _averages(capabilities: Sequence[Difference], means: dict[str, Means]) -> tuple[Difference, Difference]:
    """The macro average and the sample-weighted average of the differences."""
    drawn = [means[found.name] for found in capabilities]
    sizes = [float(found.pairs) for found in capabilities]
    return (
        _average("macro average", capabilities, drawn, [1.0] * len(capabilities)),
        _average("sample-weighted", capabilities, drawn, sizes),
    )


def _average(
    name: str, capabilities: Sequence[Difference], drawn: Sequence[Means], weights: Sequence[float]
) -> Difference:
    means = np.average(drawn, axis=0, weights=weights)

    def weighted(values: Sequence[float]) -> float:
        return float(np.average(values, weights=weights))

    return Difference(
        name=name,
        pairs=sum(found.pairs for found in capabilities),
        unpaired=sum(found.unpaired for found in capabilities),
        first=weighted([found.first for found in capabilities]),
        second=weighted([found.second for found in capabilities]),
        difference=weighted([found.difference for found in capabilities]),
        interval=percentile_interval(means),
        test=BOOTSTRAP,
        p_value=two_sided_p(means),
    )


def _where(report: Report) -> str:
    return ", ".join(report.directories)
