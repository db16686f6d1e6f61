"""Stored answers: from the sample logs of a host run, our copies of its records, or a JSONL of ids and outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from datbench_tasks.errors import InputError
from datbench_tasks.runs import COPIES_FOLDER, RECORD, open_run

Key = tuple[str, str | int]
"""(task, row id) or (task, doc_id); the task is "" where a file names none, and then holds for all."""

_LOG_NAME = re.compile(r"_samples_(?P<task>\w+)(?:\.judged)?\.jsonl$")
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
        self._answers: dict[Key, str] = {}
        conflicts = set()
        for file in _files(self.path):
            for key, text in _answers(file):
                if self._answers.setdefault(key, text) != text:
                    conflicts.add(key[1])
        if conflicts:
            some = ", ".join(map(str, sorted(conflicts, key=str)[:_SHOWN]))
            raise InputError(
                f"{self.path}: {len(conflicts)} rows have two different answers ({some}); keep the lines of one run"
            )

    def __len__(self) -> int:
        return len(self._answers)

    def find(self, task: str, row_id: str, doc_id: int) -> str | None:
        """The raw output for a row, None if there is none."""
        keys: tuple[Key, ...] = ((task, row_id), (task, doc_id), ("", row_id))
        return next((self._answers[key] for key in keys if key in self._answers), None)


def _files(path: Path) -> list[Path]:
    """The file itself; of a run directory the host's log of each task, and our copies where it has no log."""
    if path.is_file():
        return [path]
    if not path.exists():
        raise InputError(
            f"{path}: no such file or directory; responses= takes a sample log, a JSONL or a run directory"
        )
    tasks = open_run(path).tasks
    return [file for task in tasks for file in ((task.samples,) if task.samples else task.copies)]


def _answers(file: Path) -> Iterator[tuple[Key, str]]:
    name = _LOG_NAME.search(file.name)
    task = name["task"] if name else ""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                content = json.loads(line)
            except (ValueError, RecursionError) as fault:
                raise InputError(
                    f"{file}, line {number}: not readable as JSON ({fault}); repair or remove it"
                ) from fault
            if not isinstance(content, dict):
                raise InputError(f"{file}, line {number}: must be a JSON object, is {type(content).__name__}")
            if number == 1 and file.parent.name == COPIES_FOLDER and "id" not in content:
                task = str(content.get("task", ""))
                continue
            yield _answer(content, task, f"{file}, line {number}")


def _answer(content: dict[str, Any], task: str, where: str) -> tuple[Key, str]:
    """Key and raw output of one line, whichever of the three forms it has."""
    if "filtered_resps" in content:
        text = _first(content["resps"] if "resps" in content else content["filtered_resps"])
        record = content.get(RECORD)
        key = record.get("id") if isinstance(record, dict) else content.get("doc_id")
    else:
        text = next((content[name] for name in ("raw_output", "output") if name in content), None)
        key = content.get("id")
    if not isinstance(key, (str, int)) or not isinstance(text, str):
        raise InputError(
            f"{where}: neither a host sample line, a record, nor an object with the texts id and raw_output"
        )
    return (task, key), text


def _first(responses: Any) -> Any:
    """The first response; the host logs a text, or a list where there were several."""
    while isinstance(responses, list) and responses:
        responses = responses[0]
    return responses
