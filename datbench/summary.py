"""The summary of a report: accuracies and counts over scored samples, and each source dataset's own metrics."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from datbench.report import SampleScore
from datbench.scorers import SOURCE_DATASETS
from datbench.scorers.base import Details

_JUDGE_KEYS = ("judge_samples", "judge_accuracy", "judge_missing_responses", "judge_unparsed_verdicts")


def summarize(capability: str, results: list[SampleScore], scorer_errors: int = 0) -> dict[str, Any]:
    """The summary over scored samples (docs/run_files.md lists its keys).

    Sums are exact (``math.fsum``), so the order of rows cannot move a digit of the accuracies.
    """
    direct = [r.score for r in results if r.metadata["eval_mode"] != "judge"]
    judged = [r for r in results if r.metadata["eval_mode"] == "judge"]
    total = math.fsum(r.score for r in results)
    overall = total / len(results) if results else 0.0
    verdicts = judge_summary(judged)
    summary: dict[str, Any] = {
        "overall_accuracy": overall,
        "total_samples": len(results),
        "total_correct": int(total),
        "capability_accuracy": {capability: overall} if results else {},
        "capability_counts": {capability: len(results)} if results else {},
        "direct_samples": len(direct),
        "direct_accuracy": math.fsum(direct) / len(direct) if direct else 0.0,
        **{key: verdicts[key] for key in _JUDGE_KEYS},
        "dataset_metrics": dataset_metrics(results),
    }
    if scorer_errors:
        summary["scorer_errors"] = scorer_errors
    return summary


def judge_summary(judged: list[SampleScore]) -> dict[str, Any]:
    """Accuracy and counts over judge-mode results; missing and unparsed verdicts count as wrong."""
    words = Counter(r.metadata["score_details"]["judge_verdict"] for r in judged)
    return {
        "judge_accuracy": math.fsum(r.score for r in judged) / len(judged) if judged else 0.0,
        "judge_samples": len(judged),
        "judge_missing_responses": words["missing"],
        "judge_unparsed_verdicts": words["unparsed"],
    }


def dataset_metrics(results: list[SampleScore]) -> dict[str, dict[str, Any]]:
    """Per source dataset: its scorer's metrics over direct results, and judge keys where it has judged ones.

    Datasets come in the order of their first result. An unknown dataset has no metrics of its own, so it appears
    only if it has judged results.
    """
    by_dataset: dict[str, tuple[list[Details], list[SampleScore]]] = {}
    for result in results:
        direct, judged = by_dataset.setdefault(result.metadata["dataset"], ([], []))
        if result.metadata["eval_mode"] == "judge":
            judged.append(result)
        else:
            direct.append(result.metadata["score_details"])
    metrics: dict[str, dict[str, Any]] = {}
    for dataset, (direct, judged) in by_dataset.items():
        scorer = SOURCE_DATASETS.get(dataset)
        if scorer is not None and direct:
            metrics[dataset] = scorer.compute_metrics(direct)
        if judged:
            metrics.setdefault(dataset, {}).update(judge_summary(judged))
    return metrics
