"""Normalised Levenshtein similarity (ANLS) and what the document scorers build on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rapidfuzz.distance import Levenshtein

from datbench.scorers.base import Details, mean

THRESHOLD = 0.5
"""The tau of ANLS."""


def normalise(text: str) -> str:
    """Lower case, white space collapsed; may be empty."""
    return " ".join(text.lower().split())


def similarity(first: Sequence[str], second: Sequence[str]) -> float:
    """1 - edit distance / length of the longer one, in [0, 1]; two empty texts give 1.0.

    Plain Levenshtein distance by code point (or by list item), without a limit on length.
    """
    longer = max(len(first), len(second))
    return 1 - Levenshtein.distance(first, second) / longer if longer else 1.0


def anls(prediction: str, golds: Iterable[str]) -> float:
    """The largest similarity to a gold, both normalised, no threshold; 0.0 without golds.

    Source: DocVQA's ANLS with the threshold set aside, as DatBench scores it.
    """
    prediction = normalise(prediction)
    return max((similarity(prediction, normalise(gold)) for gold in golds), default=0.0)


def thresholded(value: float) -> Details:
    """The two readings of an ANLS value at the threshold, under the benchmark's key names."""
    reached = value >= THRESHOLD
    return {
        "anls_thresholded_0_5": value if reached else 0.0,
        "threshold_0_5_accuracy": 1.0 if reached else 0.0,
    }


def exact_match_share(details: Sequence[Details]) -> float:
    """Share of items whose ``pred_answer`` equals one of ``all_ground_truth_answers``, both normalised."""
    return mean([_matches(item.get("pred_answer", ""), item.get("all_ground_truth_answers", [])) for item in details])


def _matches(prediction: str, golds: Sequence[str]) -> bool:
    prediction = normalise(prediction)
    return any(prediction == normalise(gold) for gold in golds)
