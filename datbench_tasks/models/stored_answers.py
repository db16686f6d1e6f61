"""Stored answers: from the sample logs of a host run, our copies of its records, or a JSONL of ids and outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from datbench_tasks.errors import InputError
from datbench_tasks.run_directory import open_run
from datbench_tasks.run_samples import iter_samples
from datbench_tasks.sample_logs import COPIES_FOLDER, RECORD, parse_line

Key = tuple[str, str | int]
"""(task, row id) or (task, doc_id); the task is "" where a file names none, and then holds for all."""

_LOG_NAME = re.compile(r"_samples_(?P<task>\w+)\.jsonl$")
_SHOWN = 5


class StoredAnswers:
    """Raw outputs of a run, found by task and row.

    Args:
        path: a sample log ``*_samples_<task>.jsonl``, one of our copies of the records, a JSONL of
            ``{"id", "raw_output"}``, or a run directory (of each task the newest date).

    Raises:
        InputError: nothing there, an unreadable line (names file and line), or two different answers for one row.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.exists():
            raise InputError(
                f"{path}: no such file or directory; responses= takes a sample log, a JSONL or a run directory"
            )
        self._answers: dict[Key, str] = {}
        conflicts = set()
        for key, text in _of_file(self.path) if self.path.is_file() else _of_run(self.path):
            if self._answers.setdefault(key, text) != text:
                conflicts.add(str(key[1]))
        if conflicts:
            some = ", ".join(sorted(conflicts)[:_SHOWN])
            raise InputError(
                f"{self.path}: {len(conflicts)} rows have two different answers ({some}); keep the lines of one run"
            )

    def __len__(self) -> int:
        return len(self._answers)

    def find(self, task: str, row_id: str, doc_id: int) -> str | None:
        """The raw output for a row, None if there is none."""
        keys: tuple[Key, ...] = ((task, row_id), (task, doc_id), ("", row_id))
        return next((self._answers[key] for key in keys if key in self._answers), None)


def _of_run(directory: Path) -> Iterator[tuple[Key, str]]:
    """All answers of a run; where nothing was scored (``--predict_only``) by row number."""
    for task_run in open_run(directory).tasks:
        if task_run.samples and not _holds_records(task_run.samples):
            yield from _of_file(task_run.samples)
            continue
        for sample in iter_samples(task_run, check_values=False):
            content = {**sample.line, RECORD: sample.record} if sample.line else sample.record
            yield _answer(content, task_run.task, f"{directory}, {task_run.task}, {sample.record['id']}")


def _holds_records(log: Path) -> bool:
    with log.open("rb") as lines:
        return f'"{RECORD}"'.encode() in lines.readline()


def _of_file(file: Path) -> Iterator[tuple[Key, str]]:
    name = _LOG_NAME.search(file.name)
    task = name["task"] if name else ""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            content = parse_line(line, file, number)
            if number == 1 and file.parent.name == COPIES_FOLDER and "id" not in content:
                task = str(content.get("task", ""))
                continue
            yield _answer(content, task, f"{file}, line {number}")


def _answer(content: dict[str, Any], task: str, where: str) -> tuple[Key, str]:
    """Key and raw output of one line, whichever of the three forms it has; a null output is an empty one."""
    key: Any = content.get("id")
    if "filtered_resps" in content:
        record = content.get(RECORD)
        key = record.get("id") if isinstance(record, dict) else content.get("doc_id")
    names = [name for name in ("resps", "filtered_resps", "raw_output", "output") if name in content]
    text = _first(content[names[0]]) if names else ()
    if not isinstance(key, (str, int)) or not isinstance(text, (str, type(None))):
        raise InputError(
            f"{where}: neither a host sample line, a record, nor an object with the texts id and raw_output"
        )
    return (task, key), text or ""


def _first(responses: Any) -> Any:
    """The first response; the host logs a text, or a list where there were several."""
    while isinstance(responses, list) and responses:
        responses = responses[0]
    return responses
