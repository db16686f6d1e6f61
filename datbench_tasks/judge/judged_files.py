"""The judged run: the host's own files once more, verdicts applied, in the folder of the judge pass."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from datbench.jsonio import write_json, write_jsonl
from datbench_tasks.aggregation import accuracy
from datbench_tasks.records import apply_verdict
from datbench_tasks.runs import RECORD, Run, Sample, TaskRun, iter_samples, read_results

Judge = Callable[[Sample], dict[str, Any]]
"""The ``judge`` value of a record: {tag, model, verdict, raw, ...}."""


@dataclass
class Verdicts:
    """What came of a pass.

    Attributes:
        counts: verdict -> samples.
        unscored: samples without a readable verdict: id, verdict (missing or unparsed) and reason.
        samples, score_sum: over all samples of the run, direct ones included; unscored ones add 0.
    """

    counts: Counter[str] = field(default_factory=Counter)
    unscored: list[dict[str, str]] = field(default_factory=list)
    samples: int = 0
    score_sum: float = 0.0

    def note(self, record: Mapping[str, Any]) -> None:
        """Count one record of the judged run."""
        self.samples += 1
        self.score_sum += record.get("score") or 0.0
        judge = record.get("judge")
        if judge is None:
            return
        self.counts[judge["verdict"]] += 1
        if judge["verdict"] in ("missing", "unparsed"):
            self.unscored.append({"id": record["id"], "verdict": judge["verdict"], "reason": judge["reason"]})

    @property
    def bounds(self) -> tuple[float, float]:
        """The accuracy over all samples if every unscored one were wrong, and if every one were right."""
        if not self.samples:
            return 0.0, 0.0
        return self.score_sum / self.samples, (self.score_sum + len(self.unscored)) / self.samples


def write_judged_run(run: Run, folder: Path, judge: Judge) -> Verdicts:
    """Write ``<date>_samples_<task>.jsonl`` and ``<date>_results.json`` into ``folder``, each atomically."""
    verdicts = Verdicts()
    results: dict[str, dict[str, Any]] = {}
    for task_run in run.tasks:
        scores: list[float | None] = []
        lines = _judged_lines(task_run, judge, scores, verdicts)
        write_jsonl(folder / f"{task_run.date}_samples_{task_run.task}.jsonl", lines)
        of_date = results.setdefault(task_run.date, {})
        if not of_date:
            of_date.update(read_results(task_run) or {"results": {}})
        _update_task(of_date["results"].setdefault(task_run.task, {"alias": task_run.task}), scores)
    for date, content in results.items():
        _update_groups(content)
        write_json(folder / f"{date}_results.json", content)
    return verdicts


def judged_record(sample: Sample, judge: Judge) -> dict[str, Any]:
    """The sample's record, with its verdict if it waited for one."""
    return apply_verdict(sample.record, judge(sample)) if sample.record.get("pending") else sample.record


def _judged_lines(
    task_run: TaskRun, judge: Judge, scores: list[float | None], verdicts: Verdicts
) -> Iterator[dict[str, Any]]:
    for sample in iter_samples(task_run):
        record = judged_record(sample, judge)
        score = record.get("score")
        scores.append(score)
        verdicts.note(record)
        line = sample.line or _line_of(record)
        yield {**line, "datbench_score": score, "datbench_pooled": score, RECORD: record}


def _line_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """What the host would have logged for a sample that only our copy has."""
    return {"doc_id": record.get("doc_id"), "target": str(record["answer"]), "filtered_resps": record["output"]}


def _update_task(entry: dict[str, Any], scores: list[float | None]) -> None:
    graded = [score for score in scores if score is not None]
    error = statistics.stdev(graded) / math.sqrt(len(graded)) if len(graded) > 1 else "N/A"
    for metric in ("datbench_score", "datbench_pooled"):
        entry[f"{metric},none"] = accuracy(scores)
        entry[f"{metric}_stderr_clt,none"] = error
    entry[f"{RECORD},none"] = len(graded) / len(scores) if scores else None


def _update_groups(content: dict[str, Any]) -> None:
    """Group rows once more: plain mean over the members, except the pooled score, which is weighted by samples."""
    entries, sizes = content["results"], content.get("n-samples") or {}
    for group, members in (content.get("group_subtasks") or {}).items():
        rows = [(entries[name], (sizes.get(name) or {}).get("effective", 0)) for name in members if name in entries]
        for entry in (entries.get(group), (content.get("groups") or {}).get(group)):
            if not rows or entry is None:
                continue
            for name in [name for name in entry if name.startswith("datbench_") and "_stderr" not in name]:
                weights = [size if name.startswith("datbench_pooled,") else 1 for _, size in rows]
                entry[name] = _weighted_mean([row.get(name) for row, _ in rows], weights)


def _weighted_mean(values: list[Any], weights: list[int]) -> float | None:
    known = [(value, weight) for value, weight in zip(values, weights, strict=True) if isinstance(value, (int, float))]
    total = sum(weight for _, weight in known)
    return math.fsum(value * weight for value, weight in known) / total if total else None
