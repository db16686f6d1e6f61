"""Files in the host's own form: sample logs and results, written anew with other records in them."""

from __future__ import annotations

import copy
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from datbench.jsonio import write_json, write_jsonl
from datbench_tasks.aggregation import accuracy
from datbench_tasks.masking import without_secrets
from datbench_tasks.run_directory import TaskRun, read_results
from datbench_tasks.sample_logs import RECORD

Pair = tuple[Mapping[str, Any], dict[str, Any]]
"""The host's line of a sample ({} if only our copy has it), and the record to put into it."""

PER_TASK = ("configs", "versions", "n-shot", "higher_is_better", "n-samples")
"""Parts of a results file with an entry a task: tasks that were run apart may be written into one file."""


class HostFiles:
    """Writes ``<date>_samples_<task>.jsonl`` task by task, then the ``<date>_results.json`` over them.

    The host's own tools read what is written as they read a run.
    """

    def __init__(self) -> None:
        self._results: dict[Path, dict[str, Any]] = {}

    def add_task(self, folder: Path, date: str, task_run: TaskRun, pairs: Iterable[Pair]) -> None:
        """Write one task's sample log; ``pairs`` is streamed."""
        scores: list[float | None] = []
        write_jsonl(folder / f"{date}_samples_{task_run.task}.jsonl", _lines(pairs, scores))
        original = copy.deepcopy(without_secrets(read_results(task_run)))
        content = self._results.setdefault(folder / f"{date}_results.json", {"results": {}, **original})
        for part in PER_TASK:
            if task_run.task in (original.get(part) or {}):
                content.setdefault(part, {}).setdefault(task_run.task, original[part][task_run.task])
        _update_task(content["results"].setdefault(task_run.task, {"alias": task_run.task}), scores)

    def finish(self) -> None:
        """Write the results files."""
        for file, content in self._results.items():
            _update_groups(content)
            write_json(file, content)


def _lines(pairs: Iterable[Pair], scores: list[float | None]) -> Iterator[dict[str, Any]]:
    for line, record in pairs:
        score = record.get("score")
        scores.append(score)
        yield {**(line or _line_of(record)), "datbench_score": score, "datbench_pooled": score, RECORD: record}


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
