"""The judged run: the host's own files once more, verdicts applied, in the folder of the judge pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from datbench_tasks.host_files import HostFiles, Pair
from datbench_tasks.records import apply_verdict
from datbench_tasks.run_directory import Run, TaskRun
from datbench_tasks.run_samples import iter_samples
from datbench_tasks.sample_logs import Sample

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
    files = HostFiles()
    for task_run in run.tasks:
        files.add_task(folder, task_run.date, task_run, _judged(task_run, judge, verdicts))
    files.finish()
    return verdicts


def judged_record(sample: Sample, judge: Judge) -> dict[str, Any]:
    """The sample's record, with its verdict if it waited for one."""
    return apply_verdict(sample.record, judge(sample)) if sample.record.get("pending") else sample.record


def _judged(task_run: TaskRun, judge: Judge, verdicts: Verdicts) -> Iterator[Pair]:
    for sample in iter_samples(task_run):
        record = judged_record(sample, judge)
        verdicts.note(record)
        yield sample.line, record
