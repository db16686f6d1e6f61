"""Asking again where a request failed: a run of the host over those samples only, merged into the run they are of."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

import yaml

from datbench.jsonio import write_json, write_text
from datbench_tasks.errors import InputError
from datbench_tasks.host_files import HostFiles, Pair
from datbench_tasks.host_task import ONLY
from datbench_tasks.run_directory import RETRY_FOLDER, Run, TaskRun, open_run
from datbench_tasks.run_samples import iter_samples
from datbench_tasks.sample_logs import Sample
from datbench_tasks.task_folders import lmms_eval_folders

DATE = "%Y%m%d_%H%M%S"


@dataclass(frozen=True)
class Retry:
    """The failed samples of a run, and the folder where the host asks for them again."""

    run: Run
    failed: dict[str, list[str]]
    folder: Path

    @classmethod
    def of(cls, run: Run) -> Retry | None:
        """What there is to ask again; None (said so) if no request failed."""
        failed = {
            task_run.task: [s.record["id"] for s in iter_samples(task_run) if "request_failed" in s.record["flags"]]
            for task_run in run.tasks
        }
        failed = {task: ids for task, ids in failed.items() if ids}
        print(f"{sum(map(len, failed.values()))} failed requests in {run.directory}")
        if not failed:
            return None
        folder = run.directory / RETRY_FOLDER
        shutil.rmtree(folder, ignore_errors=True)
        return cls(run, failed, folder)

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks that have failed samples."""
        return list(self.failed)

    def host_arguments(self) -> list[str]:
        """Arguments that make the host ask for the failed samples and nothing else; writes the tasks they name."""
        tasks = self.folder / "tasks"
        for task_run in self.run.tasks:
            if task_run.task in self.failed:
                self._write_task(tasks, task_run)
        return [
            "--tasks", ",".join(self.tasks), "--include_path", str(tasks), "--output_path", str(self.folder),
        ]  # fmt: skip

    def _write_task(self, folder: Path, task_run: TaskRun) -> None:
        name = f"{task_run.task}.yaml"
        original = next((file for source in lmms_eval_folders() for file in source.rglob(name)), None)
        if original is None:
            raise InputError(f"{task_run.task} is no task of ours and cannot be asked again")
        first = next(iter(iter_samples(task_run))).record
        write_json(folder / f"{task_run.task}.ids.json", self.failed[task_run.task])
        metadata = {
            "version": "1.0",
            "capability": task_run.capability,
            "dataset": first["run"].get("dataset", ""),
            ONLY: str((folder / f"{task_run.task}.ids.json").resolve()),
        }
        text = yaml.safe_dump({"include": str(original), "task": task_run.task, "metadata": metadata}, sort_keys=False)
        write_text(folder / name, text)

    def merge(self) -> None:
        """Write the run's tasks anew, dated now: the new answers where there are some, the old lines elsewhere."""
        again = {task_run.task: _by_id(task_run) for task_run in open_run(self.folder).tasks}
        date = _date_after(max(task_run.date for task_run in self.run.tasks))
        files = HostFiles()
        for task_run in self.run.tasks:
            beside = task_run.samples or task_run.results or task_run.copies[0].parent
            files.add_task(beside.parent, date, task_run, _merged(task_run, again.get(task_run.task, {})))
        files.finish()
        shutil.rmtree(self.folder)


def _by_id(task_run: TaskRun) -> dict[str, Sample]:
    return {sample.record["id"]: sample for sample in iter_samples(task_run)}


def _merged(task_run: TaskRun, again: Mapping[str, Sample]) -> Iterator[Pair]:
    for old in iter_samples(task_run):
        sample = again.get(old.record["id"], old)
        yield {**sample.line, "doc_id": old.record.get("doc_id")} if sample.line else {}, sample.record


def _date_after(date: str) -> str:
    """Now in the host's usual zone, as it writes dates; later than ``date`` whatever its zone or the clock."""
    now = datetime.datetime.now(ZoneInfo("Asia/Singapore")).replace(tzinfo=None, microsecond=0)
    earliest = datetime.datetime.strptime(date, DATE) + datetime.timedelta(seconds=1)
    return max(now, earliest).strftime(DATE)
