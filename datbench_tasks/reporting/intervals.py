"""Intervals and tests: percentile bootstrap, clustered where samples share an image; exact McNemar; Holm.

Everything is exact in its input: scores are scaled to integers before they are resampled, so sums do not depend on
the order of addition, and random numbers come from PCG64's raw stream, which NumPy promises to keep.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

RESAMPLES = 2_000
_SCALE = 2**40
_CHUNK = 2_000_000


class Interval(NamedTuple):
    """Both ends of an interval."""

    low: float
    high: float


def seed_of(*texts: str) -> int:
    """A seed of 128 bits that depends on every text."""
    return int.from_bytes(hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).digest()[:16], "big")


def bootstrap_means(
    values: Sequence[float], clusters: Sequence[Hashable] | None, seed: int, resamples: int = RESAMPLES
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Means of bootstrap resamples, in random order.

    Args:
        values: one a sample, each within [-1, 1]; at least one.
        clusters: one a sample; samples of equal clusters are drawn together. None: each sample alone.
        seed: of the generator.
        resamples: how many means.

    Returns:
        Array of shape (resamples,).
    """
    totals = np.rint(np.asarray(values, dtype=np.float64) * _SCALE).astype(np.int64)
    sizes = np.ones(len(totals), dtype=np.int64)
    if clusters is not None:
        numbering: dict[Hashable, int] = {}
        places = np.asarray([numbering.setdefault(cluster, len(numbering)) for cluster in clusters])
        summed, sizes = np.zeros(len(numbering), dtype=np.int64), np.bincount(places).astype(np.int64)
        np.add.at(summed, places, totals)
        totals = summed
    bits = np.random.PCG64(seed)
    count = len(totals)
    rows = max(1, _CHUNK // count)
    means = []
    for start in range(0, resamples, rows):
        shape = (min(rows, resamples - start), count)
        drawn = (((bits.random_raw(shape) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)).astype(np.int64)
        weight = shape[1] if clusters is None else sizes[drawn].sum(axis=1)
        means.append(totals[drawn].sum(axis=1) / (weight * float(_SCALE)))
    return np.concatenate(means)


def percentile_interval(means: np.ndarray[Any, Any], level: float = 0.95) -> Interval:
    """The central ``level`` of bootstrap means."""
    tail = (1 - level) / 2 * 100
    low, high = np.percentile(means, [tail, 100 - tail])
    return Interval(float(low), float(high))


def two_sided_p(differences: np.ndarray[Any, Any]) -> float:
    """P-value of a zero mean difference from bootstrap means of differences; at least 2 / (resamples + 1)."""
    below, above = int((differences <= 0).sum()), int((differences >= 0).sum())
    return min(1.0, 2 * (min(below, above) + 1) / (len(differences) + 1))


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided McNemar test: p-value for samples that only one of two runs answered right."""
    flips = only_first + only_second
    term = total = 1
    for position in range(min(only_first, only_second)):
        term = term * (flips - position) // (position + 1)
        total += term
    return min(1.0, 2 * total / 2**flips)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """P-values corrected for the number of tests (Holm 1979), under the same keys."""
    corrected: dict[str, float] = {}
    largest = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda key: (p_values[key], key))):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[name]))
        corrected[name] = largest
    return {name: corrected[name] for name in p_values}
