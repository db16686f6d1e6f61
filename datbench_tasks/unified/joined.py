"""Rows of a table, with the predictions of a second table joined to them by id; neither is held in memory."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from datbench.unified.tables import Record, TableError, json_text, read_records
from datbench_tasks.errors import CommandError, InputError


@dataclass(frozen=True)
class Join:
    """A second table: where it is, the id column of both, and the column that is taken from it."""

    path: Path
    id: str
    column: str


class Rows:
    """The rows of a table, as often as asked for; a context manager, for a join is indexed in a temporary file.

    Attributes:
        unmatched: rows without a partner in the joined table, once it has been read through.
    """

    def __init__(self, path: Path, join: Join | None = None) -> None:
        self.path = path
        self.unmatched = 0
        self._join = join
        self._folder = tempfile.TemporaryDirectory(prefix="datbench-join-")
        self._index: sqlite3.Connection | None = None

    def __enter__(self) -> Rows:
        if self._join:
            try:
                self._index = sqlite3.connect(Path(self._folder.name) / "index.sqlite")
                self._index.execute("create table cells (id text primary key, cell text) without rowid")
                self._fill(self._join, self._index)
            except sqlite3.OperationalError as fault:
                raise CommandError(
                    f"{self._folder.name}: cannot hold an index of {self._join.path} ({fault}); "
                    "name a place with more room in TMPDIR"
                ) from fault
        return self

    def __exit__(self, *_: object) -> None:
        if self._index:
            self._index.close()
        self._folder.cleanup()

    def __iter__(self) -> Iterator[Record]:
        """Each row as a new dict.

        Raises:
            InputError: the table cannot be read, or a row has no id.
        """
        self.unmatched = 0
        for number, row in enumerate(_readable(self.path), 1):
            if self._join and self._index:
                row[self._join.column] = self._partner(_id(row, self._join.id, self.path, number))
            yield row

    def _partner(self, key: str) -> object:
        assert self._index is not None  # noqa: S101
        found = self._index.execute("select cell from cells where id = ?", (key,)).fetchone()
        self.unmatched += found is None
        return json.loads(found[0]) if found else None

    def _fill(self, join: Join, index: sqlite3.Connection) -> None:
        for number, row in enumerate(_readable(join.path), 1):
            if join.column not in row:
                raise InputError(f"{join.path}: row {number} has no column {join.column!r}; name it with --pred")
            key = _id(row, join.id, join.path, number)
            try:
                index.execute("insert into cells values (?, ?)", (key, json_text(row[join.column])))
            except sqlite3.IntegrityError:
                raise InputError(f"{join.path}: row {number}: id {row[join.id]!r} occurs twice") from None


def _id(row: Record, column: str, path: Path, number: int) -> str:
    if row.get(column) is None:
        raise InputError(f"{path}: row {number} has no id in column {column!r}; name the column with --id")
    return json_text(row[column])


def _readable(path: Path) -> Iterator[Record]:
    try:
        yield from read_records(path)
    except (OSError, TableError) as fault:
        raise InputError(str(fault)) from fault
