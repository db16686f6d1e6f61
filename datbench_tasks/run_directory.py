"""A run directory: the host's files and our own in it, by task and date."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from datbench.capabilities import CAPABILITIES
from datbench_tasks.errors import InputError, reading
from datbench_tasks.record_checks import results_problem
from datbench_tasks.sample_logs import COPIES_FOLDER, read_copy_header

JUDGE_FOLDER = "judge"
RETRY_FOLDER = "retry"
RESERVED_FOLDERS = (COPIES_FOLDER, JUDGE_FOLDER, RETRY_FOLDER, "submissions")

_SAMPLES_NAME = re.compile(r"(?P<date>\d{8}_\d{6})_samples_(?P<task>datbench\w*)\.jsonl")
_RESULTS_NAME = re.compile(r"(?P<date>\d{8}_\d{6})_results\.json")
_COPY_NAME = re.compile(r"(?P<task>datbench\w*?)_(?P<date>\d{8}_\d{6})_\d+\.jsonl")
_MODEL_KEYS = ("peft", "delta", "pretrained", "model", "model_version", "model_name", "model_id", "path", "engine")


@dataclass(frozen=True)
class TaskRun:
    """One task of a run: the files of one date.

    Attributes:
        task: the host's task name, such as ``datbench_math`` or ``datbench_blind_math``.
        capability: the capability that the name ends in, "" if it names none.
        date: the host's date text, ``YYYYMMDD_HHMMSS``.
        samples: the host's sample log, None if samples were not logged.
        copies: our own copies of the records (see ``datbench_tasks.aggregation``).
        results: the host's results file, None if there is none.
    """

    task: str
    capability: str
    date: str
    samples: Path | None
    copies: tuple[Path, ...]
    results: Path | None

    @property
    def variant(self) -> str:
        """What stands between ``datbench`` and the capability: "" (the benchmark), "blind", "sample" and so on."""
        middle = self.task.removeprefix("datbench").removesuffix(self.capability)
        return middle.strip("_")


@dataclass(frozen=True)
class Run:
    """A run directory: one model, each task at one date."""

    directory: Path
    model: str
    tasks: tuple[TaskRun, ...]


def open_run(directory: str | Path, *, date: str | None = None, model: str | None = None) -> Run:
    """Find the tasks of a run; of each the newest date, or the one given.

    Args:
        directory: the host's output path, or the model's folder in it.
        date: the host's date text; tasks without files of that date are left out.
        model: the model's name or folder, needed when the directory holds several.

    Raises:
        InputError: no such directory, nothing of ours in it, several models, or tasks of different dates whose
            model or generation settings differ.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise InputError(f"{directory}: no such directory; give the directory that --output_path named")
    with reading(directory):
        folder = _model_folder(directory, model)
        files = _files_by_task(directory, folder)
    tasks = []
    for task, dates in sorted(files.items()):
        chosen = max(dates) if date is None else date
        if chosen in dates:
            tasks.append(_task_run(task, chosen, dates[chosen]))
    if not tasks:
        of_date = f" of date {date}; there is {', '.join(sorted({d for dates in files.values() for d in dates}))}"
        raise InputError(
            f"{directory}: no samples of a datbench task"
            + (of_date if files else "; run lmms-eval with --log_samples --output_path")
        )
    _check_same_settings(directory, tasks)
    return Run(directory, _model_name(folder, tasks), tuple(tasks))


def read_results(task_run: TaskRun) -> dict[str, Any]:
    """The host's results file of a task, {} if there is none.

    Raises:
        InputError: the file is not a JSON object.
    """
    return read_results_file(task_run.results) if task_run.results else {}


def read_results_file(path: Path) -> dict[str, Any]:
    """A results file of the host.

    Raises:
        InputError: it is no JSON object, or a part of it is of another type than the host writes.
    """
    content = read_object(path)
    found = results_problem(content)
    if found:
        raise InputError(f"{path}: {found}; the host did not write it so")
    return content


def read_object(path: Path) -> dict[str, Any]:
    """A JSON file that holds one object.

    Raises:
        InputError: it does not.
    """
    try:
        with reading(path):
            content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as fault:
        raise InputError(
            f"{path}: not readable as JSON ({fault}); remove the file if the run was interrupted"
        ) from fault
    if not isinstance(content, dict):
        raise InputError(f"{path}: must hold a JSON object")
    return content


@dataclass
class _Files:
    samples: Path | None = None
    results: Path | None = None
    copies: list[Path] = field(default_factory=list)


def _model_folder(directory: Path, model: str | None) -> Path:
    """The folder that holds the host's files: the directory itself or a folder in it."""
    inside = [entry for entry in sorted(directory.iterdir()) if entry.is_dir() and entry.name not in RESERVED_FOLDERS]
    folders = [folder for folder in (directory, *inside) if _has_host_files(folder)]
    if model is not None:
        named = [folder for folder in folders if model in (folder.name, _model_in_results(folder))]
        if not named:
            raise InputError(f"{directory}: no model {model!r}; there is {_listing(folders)}")
        return named[0]
    if len(folders) > 1:
        raise InputError(
            f"{directory}: several models: {_listing(folders)}; pick one with --run-model NAME, or give its folder"
        )
    return folders[0] if folders else directory


def _listing(folders: Iterable[Path]) -> str:
    return ", ".join(_model_in_results(folder) or folder.name for folder in folders) or "none"


def _has_host_files(folder: Path) -> bool:
    return any(_SAMPLES_NAME.fullmatch(entry.name) for entry in folder.iterdir()) or any(
        _datbench_tasks_of(path) for path in _results_files(folder).values()
    )


def _results_files(folder: Path) -> dict[str, Path]:
    matches = ((_RESULTS_NAME.fullmatch(entry.name), entry) for entry in folder.iterdir())
    return {match["date"]: entry for match, entry in matches if match}


def _datbench_tasks_of(results: Path) -> list[str]:
    counts = read_results_file(results).get("n-samples")
    return [task for task in counts if task.startswith("datbench")] if isinstance(counts, dict) else []


def _files_by_task(directory: Path, folder: Path) -> dict[str, dict[str, _Files]]:
    """Task -> date -> files. A copy belongs to the last run that started before it was written."""
    files: dict[str, dict[str, _Files]] = {}
    for date, path in _results_files(folder).items():
        for task in _datbench_tasks_of(path):
            files.setdefault(task, {}).setdefault(date, _Files()).results = path
    for entry in sorted(folder.iterdir()):
        match = _SAMPLES_NAME.fullmatch(entry.name)
        if match:
            files.setdefault(match["task"], {}).setdefault(match["date"], _Files()).samples = entry
    for copy, match in _copies(directory, folder):
        dates = files.setdefault(match["task"], {})
        earlier = [date for date in dates if date <= match["date"]]
        dates.setdefault(max(earlier, default=match["date"]), _Files()).copies.append(copy)
    return files


def _copies(directory: Path, folder: Path) -> Iterator[tuple[Path, re.Match[str]]]:
    for parent in (directory, directory.parent):
        copies = parent / COPIES_FOLDER
        if not copies.is_dir():
            continue
        for entry in sorted(copies.iterdir()):
            match = _COPY_NAME.fullmatch(entry.name)
            if match and (folder == parent or _folder_of_copy(entry) == folder.name):
                yield entry, match
        return


def _folder_of_copy(copy: Path) -> str:
    """The folder name that the host derives from the model arguments a copy was written with."""
    arguments = read_copy_header(copy).get("arguments")
    model_args = arguments.get("model_args") if isinstance(arguments, dict) else None
    pairs = (
        model_args
        if isinstance(model_args, dict)
        else dict(p.partition("=")[::2] for p in str(model_args or "").split(","))
    )
    name = next((str(pairs[key]) for key in _MODEL_KEYS if key in pairs), "")
    return re.sub(r"[\"<>:/\|\\?\*\[\]]+", "__", "/".join(name.split("/")[-2:]))


def _task_run(task: str, date: str, files: _Files) -> TaskRun:
    capability = next((name for name in CAPABILITIES if task.endswith(f"_{name}")), "")
    return TaskRun(task, capability, date, files.samples, tuple(files.copies), files.results)


def _check_same_settings(directory: Path, tasks: Iterable[TaskRun]) -> None:
    seen: dict[str, TaskRun] = {}
    for task_run in tasks:
        if task_run.results:
            seen.setdefault(_settings(read_results_file(task_run.results)), task_run)
    if len(seen) > 1:
        first, second = list(seen.items())[:2]
        raise InputError(
            f"{directory}: {first[1].task} of {first[1].date} and {second[1].task} of {second[1].date} differ in model "
            f"or generation settings ({first[0]} against {second[0]}); pick one run with --date"
        )


def _settings(results: Mapping[str, Any]) -> str:
    config = results.get("config") or {}
    settings = {"model": config.get("model"), "name": results.get("model_name"), "gen_kwargs": config.get("gen_kwargs")}
    return json.dumps(settings, sort_keys=True)


def _model_name(folder: Path, tasks: Iterable[TaskRun]) -> str:
    """The host's full name of the model; without model arguments the name of its class, else the folder's."""
    results = [read_results(task_run) for task_run in tasks]
    names = [content.get("model_name") or (content.get("config") or {}).get("model") for content in results]
    return next((str(name) for name in names if name), folder.name)


def _model_in_results(folder: Path) -> str:
    names = (read_results_file(path).get("model_name") for path in _results_files(folder).values())
    return next((str(name) for name in names if name), "")
