"""The report in the benchmark's own shape: {"summary", "results"}, streamed, since answers can be long."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from datbench.jsonio import dumps, write_atomically
from datbench.report import SampleScore
from datbench.sample_scoring import CORRECT_FROM, judge_details
from datbench_tasks.reporting.figures import mean
from datbench_tasks.reporting.outcomes import Outcome, verdict_of

_INDENT = "\n    "

VERDICT_COUNTS = ("judge_missing_responses", "judge_unparsed_verdicts")


def sample_score(record: Mapping[str, Any]) -> SampleScore:
    """A record as the benchmark reports it; a pending sample is one whose judge response is missing."""
    pending = verdict_of(record) == "pending"
    details = judge_details(None, "", missing=True) if pending else record["score_details"]
    score = 0.0 if pending else float(record["score"])
    return SampleScore(
        id=record["id"],
        score=score,
        vlm_output=record.get("output"),
        ground_truth=record.get("answer"),
        is_correct=score >= CORRECT_FROM,
        metadata={
            "capability": record["capability"],
            "eval_mode": record.get("eval_mode"),
            "dataset": record.get("dataset"),
            "is_circular": bool(record.get("is_circular")),
            "discrimination": (record.get("eval_metrics") or {}).get("discrimination") or 0.0,
            "score_details": details,
        },
    )


def merge_summaries(summaries: Sequence[Mapping[str, Any]], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """One summary over capabilities.

    Args:
        summaries: of the single capabilities (``datbench.summary.summarize``).
        outcomes: of all samples.
    """
    scores = [outcome.counted_score for outcome in outcomes]
    direct = [outcome.counted_score for outcome in outcomes if not outcome.judge]
    judged = [outcome.counted_score for outcome in outcomes if outcome.judge]
    merged: dict[str, Any] = {
        "overall_accuracy": mean(scores) or 0.0,
        "total_samples": len(scores),
        "total_correct": int(math.fsum(scores)),
        "capability_accuracy": _united(summaries, "capability_accuracy"),
        "capability_counts": _united(summaries, "capability_counts"),
        "direct_samples": len(direct),
        "direct_accuracy": mean(direct) or 0.0,
        "judge_samples": len(judged),
        "judge_accuracy": mean(judged) or 0.0,
        **{key: sum(summary[key] for summary in summaries) for key in VERDICT_COUNTS},
        "dataset_metrics": _united(summaries, "dataset_metrics"),
    }
    errors = sum(summary.get("scorer_errors", 0) for summary in summaries)
    return merged | ({"scorer_errors": errors} if errors else {})


def write_official(path: Path, head: Mapping[str, Any], results: Iterable[str]) -> None:
    """Write ``head`` (summary and what stands beside it) and then "results", one text at a time, atomically."""

    def write(file: IO[str]) -> None:
        file.write(dumps(dict(head), indent=2).rstrip().removesuffix("}").rstrip() + ',\n  "results": [')
        separator = _INDENT
        for result in results:
            file.write(separator + result)
            separator = f",{_INDENT}"
        file.write("\n  ]\n}\n")

    write_atomically(path, write)


def result_text(result: SampleScore) -> str:
    """One entry of "results" as JSON on one line."""
    return dumps(vars(result))


def read_result_texts(path: Path) -> Iterator[str]:
    """The entries of "results" in a file of ``write_official``, as they were written."""
    opening = _INDENT.lstrip("\n") + '{"id": '
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            if line.startswith(opening):
                yield line.strip("\n ").removesuffix(",")


def _united(summaries: Sequence[Mapping[str, Any]], key: str) -> dict[str, Any]:
    return {name: value for summary in summaries for name, value in summary[key].items()}
