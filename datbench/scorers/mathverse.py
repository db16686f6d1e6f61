"""Scorer of mathverse_reasoning and mathverse_wo: without a judge's verdict there is no score."""

from __future__ import annotations

from datbench.scorers.base import Details, Fields, Scorer


def _score(fields: Fields, output: str) -> Details:
    """Zero and the reason: the benchmark has no direct rule for these golds, and an invented one compares to none."""
    return {"score": 0.0, "error": "judge_required"}


MATHVERSE = Scorer(_score, metrics=lambda details: {}, accepts=(object,))
