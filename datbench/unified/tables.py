"""Tables on disk as records, read one by one and without type guessing: JSON Lines, JSON, CSV and parquet.

"007" stays text and null stays None; a cell of a CSV file is always text. Parquet lists come as lists.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from datbench import jsonio

Record = dict[str, Any]

_LONGEST_CSV_CELL = 2**31 - 1
_PARQUET_ROWS = 1024


class TableError(ValueError):
    """A table that cannot be read; the text names the file, the row and the remedy."""


def read_records(path: str | Path) -> Iterator[Record]:
    """Records of a table, by the ending of its name.

    Raises:
        FileNotFoundError: no such file.
        TableError: unknown ending, or a row that is no record.
    """
    source = Path(path)
    read = _READERS.get(source.suffix.lower())
    if read is None:
        raise TableError(f"{source}: unknown ending {source.suffix!r}; known: {', '.join(_READERS)}")
    return read(source)


def _read_jsonl(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8-sig", errors="strict", newline="\n") as file:
        lines = enumerate(file, 1)
        while True:
            try:
                number, line = next(lines)
            except StopIteration:
                return
            except UnicodeDecodeError as fault:
                raise TableError(f"{path}: not UTF-8 text ({fault.reason}); save it as UTF-8") from None
            if line.strip():
                yield _record(path, number, line)


def _record(path: Path, number: int, line: str) -> Record:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise TableError(f"{path}: line {number} is no JSON: {fault}") from None
    if not isinstance(value, dict):
        raise TableError(f"{path}: line {number} is a JSON {type(value).__name__}; each line must be one object")
    return value


def _read_json(path: Path) -> Iterator[Record]:
    try:
        rows = json.loads(path.read_text("utf-8-sig"))
    except (ValueError, RecursionError) as fault:
        raise TableError(f"{path}: no JSON: {fault}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise TableError(f"{path}: must hold one JSON array of objects; for one object a line use .jsonl")
    yield from rows


def _read_csv(path: Path) -> Iterator[Record]:
    csv.field_size_limit(_LONGEST_CSV_CELL)
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            rows = csv.DictReader(file, restkey="")
            for row in rows:
                if "" in row or None in row.values():
                    raise TableError(f"{path}: line {rows.line_num} has other columns than the first line")
                yield row
        except (csv.Error, UnicodeDecodeError) as fault:
            raise TableError(f"{path}: cannot be read as UTF-8 CSV: {fault}") from None


def _read_parquet(path: Path) -> Iterator[Record]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_PARQUET_ROWS):
                yield from batch.to_pylist()
    except pa.ArrowInvalid as fault:
        raise TableError(f"{path}: cannot be read as parquet: {fault}") from None


_READERS: Mapping[str, Callable[[Path], Iterator[Record]]] = {
    ".jsonl": _read_jsonl,
    ".json": _read_json,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}


def write_records(path: str | Path, records: Iterable[Record]) -> None:
    """Write a table atomically, by the ending of its name; JSON Lines and CSV are streamed.

    Raises:
        TableError: unknown ending.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix == ".jsonl":
        jsonio.write_jsonl(target, records)
    elif suffix == ".json":
        jsonio.write_json(target, list(records))
    elif suffix == ".csv":
        jsonio.write_atomically(target, lambda file: _write_csv(file, records))
    elif suffix == ".parquet":
        _write_parquet(target, list(records))
    else:
        raise TableError(f"{target}: unknown ending {suffix!r}; known: {', '.join(_READERS)}")


def _write_csv(file: IO[str], records: Iterable[Record]) -> None:
    writer = None
    for record in records:
        if writer is None:
            writer = csv.DictWriter(file, list(record))
            writer.writeheader()
        writer.writerow({name: _csv_cell(cell) for name, cell in record.items()})


def _csv_cell(cell: Any) -> Any:
    text = jsonio.dumps(cell) if isinstance(cell, (list, dict)) else cell
    return without_surrogates(text)


def without_surrogates(cell: Any) -> Any:
    """Text with lone surrogates, which no UTF-8 file can hold, replaced by ``?``; other cells as they are."""
    return cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell


def _write_parquet(path: Path, records: list[Record]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(dict.fromkeys(name for record in records for name in record))
    columns = {name: _arrow_column([without_surrogates(record.get(name)) for record in records]) for name in names}
    partial = path.with_name(f".{path.name}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        pq.write_table(pa.table(columns), partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _arrow_column(cells: list[Any]) -> Any:
    """An Arrow array; cells of several types, or too large for one, become JSON text: a parquet column has one type."""
    import pyarrow as pa

    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([cell if cell is None or isinstance(cell, str) else jsonio.dumps(cell) for cell in cells])
