"""Lines of sample logs: found by offset, read one at a time, checked; the host's logs and our own copies of records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from datbench_tasks.errors import InputError, reading
from datbench_tasks.record_checks import record_problem

RECORD = "datbench_record"
RECORD_SCHEMA = 1
COPIES_FOLDER = "datbench_records"

_SHOWN = 5

# How the host writes a line; quotation marks inside a JSON text are escaped, so no answer can pass for these.
_DOC_ID = b'{"doc_id": '
_RECORD_ID = b'"datbench_record": {"schema": 1, "id": "'
_LONGEST_DOC_ID = 18


@dataclass(frozen=True)
class Sample:
    """One sample.

    Attributes:
        line: the host's line, without the record; {} if only our copy has the sample.
        record: the record (schema 1).
        lines: how many identical lines the log holds for it.
    """

    line: dict[str, Any]
    record: dict[str, Any]
    lines: int = 1


def read_copy_header(path: Path) -> dict[str, Any]:
    """The first line of one of our copies: run fields and command-line arguments.

    Raises:
        InputError: it is not a JSON object.
    """
    with reading(path), path.open("rb") as file:
        return parse_line(file.readline(), path, 1)


@dataclass(frozen=True)
class _Place:
    path: Path
    offset: int
    number: int
    doc_id: int | None
    lines: int = 1


@dataclass
class SampleIndex:
    """Where each sample's line lies: id -> place. Holds offsets, never samples; closes its files as a context."""

    check_values: bool = True
    places: dict[str, _Place] = field(default_factory=dict)
    open_files: dict[Path, IO[bytes]] = field(default_factory=dict)

    def __enter__(self) -> SampleIndex:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self.open_files.values():
            file.close()

    def add_log(self, path: Path) -> None:
        """Add the samples of a host's log; identical duplicates are merged.

        Raises:
            InputError: an unreadable line, or differing duplicates.
        """
        conflicts = []
        for place, sample_id in _log_ids(path):
            known = self.places.get(sample_id)
            if known is None:
                self.places[sample_id] = place
            elif self._read(known).record == self._read(place).record:
                self.places[sample_id] = replace(known, lines=known.lines + 1)
            else:
                conflicts.append(sample_id)
        if conflicts:
            more = f" and {len(conflicts) - _SHOWN} more" if len(conflicts) > _SHOWN else ""
            raise InputError(
                f"{path}: samples logged twice with different content: {', '.join(conflicts[:_SHOWN])}{more}; "
                "two runs wrote into one file, so keep the lines of one of them"
            )

    def fill_from_copy(self, path: Path) -> None:
        """Add the samples that the log lacks, unless a sample that both have shows that the copy is of another run."""
        found = {}
        for place, record in _copied_records(path):
            known = self.places.get(record["id"])
            if known is None:
                found[record["id"]] = place
            elif known.path != path and self._read(known).record != record:
                return
        self.places.update(found)

    def read(self) -> Iterator[Sample]:
        """All samples in doc_id order; by id if a doc_id is not known."""

        def order(item: tuple[str, _Place]) -> Any:
            return item[1].doc_id if by_doc_id else item[0]

        by_doc_id = all(place.doc_id is not None for place in self.places.values())
        for _, place in sorted(self.places.items(), key=order):
            yield self._read(place)

    def sample(self, sample_id: str) -> Sample:
        """One sample by its id."""
        return self._read(self.places[sample_id])

    def _read(self, place: _Place) -> Sample:
        with reading(place.path):
            file = self.open_files.get(place.path)
            if file is None:
                file = self.open_files[place.path] = place.path.open("rb")
            file.seek(place.offset)
            line = file.readline()
        content = parse_line(line, place.path, place.number)
        if place.path.parent.name == COPIES_FOLDER:
            sample = Sample({}, _checked_record(content, place))
        else:
            sample = _from_log_line(content, place)
        found = record_problem(sample.record) if self.check_values else None
        if found:
            raise InputError(
                f"{place.path}, line {place.number}: {sample.record['id']!r}: {found}; "
                "remove the line, or replay the log to score it again"
            )
        return sample


def _log_ids(path: Path) -> Iterator[tuple[_Place, str]]:
    """Place and id of each sample of a log; lines as the host writes them are not parsed for it."""
    with reading(path), path.open("rb") as file:
        offset = 0
        for number, line in enumerate(file, 1):
            if line.strip():
                doc_id, sample_id = _quick_ids(line)
                if doc_id is None or sample_id is None:
                    content = parse_line(line, path, number)
                    doc_id = _doc_id(content)
                    sample_id = _from_log_line(content, _Place(path, offset, number, doc_id)).record["id"]
                yield _Place(path, offset, number, doc_id), sample_id
            offset += len(line)


def _quick_ids(line: bytes) -> tuple[int | None, str | None]:
    """doc_id and sample id of a whole line that the host wrote and whose ids are plain; else None."""
    start = line.find(_RECORD_ID) + len(_RECORD_ID)
    if not line.startswith(_DOC_ID) or start < len(_RECORD_ID) or not line.endswith(b"}\n"):
        return None, None
    doc_id = line[len(_DOC_ID) : line.find(b",")]
    sample_id = line[start : line.find(b'"', start)]
    if not doc_id.isdigit() or len(doc_id) > _LONGEST_DOC_ID or not sample_id.isascii() or b"\\" in sample_id:
        return None, None
    return int(doc_id), sample_id.decode("ascii")


def _copied_records(path: Path) -> Iterator[tuple[_Place, dict[str, Any]]]:
    """The records of one of our copies, each with its place."""
    with reading(path), path.open("rb") as file:
        offset = len(file.readline())
        for number, line in enumerate(file, 2):
            content = parse_line(line, path, number)
            place = _Place(path, offset, number, _doc_id(content))
            yield place, _checked_record(content, place)
            offset += len(line)


def _doc_id(content: Mapping[str, Any]) -> int | None:
    doc_id = content.get("doc_id")
    return doc_id if isinstance(doc_id, int) else None


def parse_line(line: bytes, path: Path, number: int) -> dict[str, Any]:
    """One line as a JSON object.

    Raises:
        InputError: it is none; names file and line.
    """
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as fault:
        reason = "cut off" if not line.endswith(b"\n") else str(fault)
        raise InputError(
            f"{path}, line {number}: not readable as JSON ({reason}); remove the line if the run was interrupted"
        ) from fault
    if not isinstance(content, dict):
        raise InputError(f"{path}, line {number}: must be a JSON object, is {type(content).__name__}")
    return content


def _from_log_line(content: dict[str, Any], place: _Place) -> Sample:
    where = f"{place.path}, line {place.number}"
    if RECORD not in content:
        if "bypass" in content:
            raise InputError(
                f"{where}: logged with --predict_only, so nothing was scored; replay the log: "
                "lmms-eval --model datbench_replay --model_args responses=DIRECTORY"
            )
        raise InputError(f"{where}: no {RECORD}; this is not a sample log of a datbench task")
    record = _checked_record(content.pop(RECORD), place)
    return Sample(content, record, place.lines)


def _checked_record(record: Any, place: _Place) -> dict[str, Any]:
    where = f"{place.path}, line {place.number}"
    if not isinstance(record, dict) or not isinstance(record.get("id"), str):
        raise InputError(f"{where}: the record has no id")
    if record.get("schema") != RECORD_SCHEMA:
        raise InputError(
            f"{where}: record schema {record.get('schema')!r}; this version reads schema {RECORD_SCHEMA}, "
            "so use the datbench-tasks version that wrote it, or replay the log"
        )
    return record
