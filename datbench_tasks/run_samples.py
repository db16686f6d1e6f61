"""Samples of a run, streamed in order whatever the size, with the verdicts of a judge pass laid over them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from datbench_tasks.errors import InputError
from datbench_tasks.run_directory import JUDGE_FOLDER, Run, TaskRun, read_results
from datbench_tasks.sample_logs import Sample, SampleIndex


def iter_samples(task_run: TaskRun, *, check_values: bool = True) -> Iterator[Sample]:
    """Samples of a task in doc_id order (by id where only our copy knows a sample), one in memory at a time.

    Identical duplicates are merged. Our copy fills in what the host's log lacks.

    Args:
        task_run: the task.
        check_values: refuse records that no numbers can be made of; False for who wants the outputs alone.

    Raises:
        InputError: no samples, an unreadable line or record (names file and line), or differing duplicates (names
            ids).
    """
    with SampleIndex(check_values) as index:
        if task_run.samples is not None:
            index.add_log(task_run.samples)
        if len(index.places) < _declared_count(task_run):
            for copy in task_run.copies:
                index.fill_from_copy(copy)
        if not index.places:
            raise InputError(
                f"{task_run.results or task_run.task}: task {task_run.task} of {task_run.date} has no samples; "
                "run lmms-eval with --log_samples, or pick another run with --date"
            )
        yield from index.read()


def iter_records(run: Run, judge_tag: str | None = None) -> Iterator[tuple[TaskRun, Sample]]:
    """All samples of a run, task by task; records that judge pass ``judge_tag`` has judged replace the unjudged ones.

    Raises:
        InputError: as ``iter_samples``; no such judge pass; a judged record that belongs to another output.
    """
    folder = None if judge_tag is None else judge_folder(run, judge_tag)
    for task_run in run.tasks:
        yield from ((task_run, sample) for sample in iter_judged(task_run, folder))


def iter_judged(task_run: TaskRun, folder: Path | None) -> Iterator[Sample]:
    """Samples of one task, overlaid with those of a judge pass's folder (None: as they are)."""
    log = judged_log(folder, task_run) if folder else None
    if log is None or not log.is_file():
        yield from iter_samples(task_run)
        return
    with SampleIndex() as judged:
        judged.add_log(log)
        for sample in iter_samples(task_run):
            record = sample.record
            if record.get("eval_mode") == "judge" and record["id"] in judged.places:
                overlay = judged.sample(record["id"]).record
                if overlay.get("output") != record.get("output"):
                    raise InputError(
                        f"{log}: the verdict of {record['id']} belongs to another output; run the judge pass again"
                    )
                record = overlay
            yield Sample(sample.line, record, sample.lines)


def judge_tags(run: Run) -> tuple[str, ...]:
    """Names of the judge passes that have written judged files of the run's tasks at its dates, sorted."""
    folders = (run.directory / JUDGE_FOLDER).glob("*")
    return tuple(
        sorted(folder.name for folder in folders if any(judged_log(folder, task).is_file() for task in run.tasks))
    )


def judged_log(folder: Path, task_run: TaskRun) -> Path:
    """Where a judge pass, whose folder is given, has written the samples of a task."""
    return folder / f"{task_run.date}_samples_{task_run.task}.jsonl"


def judge_folder(run: Run, tag: str) -> Path:
    """The folder of a judge pass.

    Raises:
        InputError: there is no such pass; names those that there are.
    """
    tags = judge_tags(run)
    if tag not in tags:
        raise InputError(f"{run.directory}: no judge pass {tag!r}; there is {', '.join(tags) or 'none'}")
    return run.directory / JUDGE_FOLDER / tag


def choose_judge(run: Run, tag: str | None) -> str | None:
    """The judge pass to read: the one named, else the only one, else None.

    Raises:
        InputError: several passes and none named, or the one named is not there.
    """
    tags = judge_tags(run)
    if tag is not None:
        judge_folder(run, tag)
        return tag
    if len(tags) > 1:
        raise InputError(f"{run.directory}: several judge passes ({', '.join(tags)}); pick one with --judge")
    return tags[0] if tags else None


def _declared_count(task_run: TaskRun) -> float:
    """How many samples the host says the task ran; infinite if it does not say."""
    counts = read_results(task_run).get("n-samples") or {}
    effective = (counts.get(task_run.task) or {}).get("effective")
    return effective if isinstance(effective, int) else float("inf")
