"""Answers asked for again, merged into the run that they are of: one run, whatever its files were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.synthetic_run import make_run

from datbench.jsonio import write_jsonl
from datbench_tasks.reporting.report import load_report
from datbench_tasks.retry import Retry
from datbench_tasks.run_directory import Run, open_run
from datbench_tasks.run_samples import iter_samples

MODEL = "acme/vlm-7b"


def records(run: Run) -> dict[str, dict[str, Any]]:
    return {sample.record["id"]: sample.record for task_run in run.tasks for sample in iter_samples(task_run)}


def merged(directory: Path, capabilities: tuple[str, ...]) -> Run:
    """Ask the first sample of each task again, and merge the answers of a run that got others."""
    run = open_run(directory)
    failed = {f"datbench_{capability}": [f"db_{capability}_000000"] for capability in capabilities}
    make_run(directory / "retry", samples=len(capabilities), capabilities=capabilities, accuracy=0)
    Retry(run, failed, directory / "retry").merge()
    return open_run(directory)


def keep_only_our_copies(directory: Path) -> None:
    """As though the host had been run without --log_samples."""
    for task_run in open_run(directory).tasks:
        assert task_run.samples is not None
        header = {"schema": 1, "task": task_run.task, "run": {}, "arguments": {"model_args": f"model={MODEL}"}}
        lines = [sample.record for sample in iter_samples(task_run)]
        name = f"{task_run.task}_{task_run.date}_7.jsonl"
        write_jsonl(directory / "datbench_records" / name, [header, *lines])
        task_run.samples.unlink()


@pytest.mark.parametrize("logged", [True, False], ids=["host's logs", "our copies only"])
def test_a_merged_run_is_one_run(tmp_path: Path, logged: bool) -> None:
    make_run(tmp_path, samples=9, capabilities=("math",), accuracy=1)
    if not logged:
        keep_only_our_copies(tmp_path)
    before = open_run(tmp_path)
    old = records(before)
    after = merged(tmp_path, ("math",))
    assert after.model == before.model == MODEL
    assert after.tasks[0].date > before.tasks[0].date
    new = records(after)
    assert new.keys() == old.keys()
    assert [key for key in old if new[key] != old[key]] == ["db_math_000000"]
    assert all({"target", "filtered_resps"} <= set(sample.line) for sample in iter_samples(after.tasks[0]))


def test_tasks_run_apart_keep_their_settings(tmp_path: Path) -> None:
    for capability, date in (("math", "20260115_120000"), ("counting", "20260115_130000")):
        make_run(tmp_path, samples=9, capabilities=(capability,), date=date)
    before = load_report(tmp_path, dataset="none").signature
    run = merged(tmp_path, ("math", "counting"))
    assert [task_run.results is not None for task_run in run.tasks] == [True, True]
    assert load_report(tmp_path, dataset="none").signature == before


def test_tasks_without_a_failed_request_stay_as_they_are(tmp_path: Path) -> None:
    make_run(tmp_path, samples=18, capabilities=("math", "counting"), accuracy=1)
    before = records(open_run(tmp_path))
    after = records(merged(tmp_path, ("math",)))
    assert after.keys() == before.keys()
    assert all(after[key] == before[key] for key in before if "counting" in key)
