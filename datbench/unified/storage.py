"""A storage of the kind the operator works on: numbered steps in files, one table for each."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

from datbench.unified.cells import cell_value, is_numpy_scalar
from datbench.unified.tables import Record, TableError, read_records, without_surrogates, write_records

_CACHE_TYPES = ("json", "jsonl", "csv", "parquet")


class FileStorage:
    """Steps of a pipeline as files: step 0 is the first file, step n is ``<cache_path>/<prefix>_step<n>.<type>``.

    Cells are never converted on reading: "007" stays text, null stays None, a column with a gap stays as it is.
    ``step()`` counts up on the object and returns a copy fixed at that step; reading takes the copy's step, writing
    goes to the next one.
    """

    def __init__(
        self,
        first_entry_file_name: str,
        cache_path: str = "./cache",
        file_name_prefix: str = "dataflow_cache_step",
        cache_type: str = "jsonl",
    ) -> None:
        """Set up the storage; no file is touched yet.

        Raises:
            ValueError: unknown ``cache_type``; ``pickle`` is refused, since reading one runs code from the file.
        """
        if cache_type == "pickle":
            raise ValueError(
                "cache_type 'pickle' is refused: reading a pickle runs whatever code the file holds. "
                f"Use one of {', '.join(_CACHE_TYPES)}."
            )
        if cache_type not in _CACHE_TYPES:
            raise ValueError(f"cache_type is {cache_type!r}; use one of {', '.join(_CACHE_TYPES)}")
        self.first_entry_file_name = first_entry_file_name
        self.cache_path = cache_path
        self.file_name_prefix = file_name_prefix
        self.cache_type = cache_type
        self.operator_step = -1

    def step(self) -> FileStorage:
        """Count up and return a copy of this storage at the new step."""
        self.operator_step += 1
        return copy.copy(self)

    def reset(self) -> FileStorage:
        """Back to before the first step."""
        self.operator_step = -1
        return self

    def read(self, output_type: str = "dataframe") -> Any:
        """The table of the current step.

        Args:
            output_type: ``dataframe`` for a frame of object columns, ``dict`` for a list of records.

        Raises:
            FileNotFoundError: the step has no file.
            ValueError: before the first step, unknown ``output_type``, or an unreadable file.
        """
        if output_type not in ("dataframe", "dict"):
            raise ValueError(f"output_type is {output_type!r}; use 'dataframe' or 'dict'")
        records = self._records()
        return records if output_type == "dict" else _frame(records)

    def write(self, data: Any) -> str:
        """Write a frame or a list of records as the next step, atomically, and return the file's path.

        Cells that JSON has no form for (arrays, tuples, timestamps) become text, NaN becomes null.

        Raises:
            ValueError: before the first step, or a list that is empty or holds other things than records.
        """
        path = self._path(self._current() + 1)
        if hasattr(data, "columns"):
            names = [str(name) for name in data.columns]
            rows = zip(*(data.iloc[:, place].array for place in range(len(names))), strict=True)
            records = [dict(zip(names, map(_plain, row), strict=True)) for row in rows]
        elif isinstance(data, list) and data and all(isinstance(row, dict) for row in data):
            records = [{str(name): _plain(cell) for name, cell in row.items()} for row in data]
        else:
            raise ValueError("write takes a data frame or a list of at least one dict")
        write_records(path, records)
        return str(path)

    def _current(self) -> int:
        if self.operator_step < 0:
            raise ValueError("call step() first, and hand its result to the operator")
        return self.operator_step

    def _path(self, step: int) -> Path:
        return Path(self.cache_path) / f"{self.file_name_prefix}_step{step}.{self.cache_type}"

    def _records(self) -> list[Record]:
        if self._current() > 0:
            return list(read_records(self._path(self.operator_step)))
        if not self.first_entry_file_name:
            return []
        if self.first_entry_file_name.startswith(("hf:", "ms:")):
            raise TableError(
                f"{self.first_entry_file_name}: data sets are not fetched from hubs; export it to a file and name that"
            )
        return list(read_records(self.first_entry_file_name))


def _frame(records: list[Record]) -> Any:
    import pandas as pd

    names = list(dict.fromkeys(name for record in records for name in record))
    columns = [pd.Series([record.get(name) for record in records], dtype=object) for name in names]
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = pd.Index(names, dtype=object)  # pandas's own column names hold no lone surrogates
    return frame


def _plain(cell: Any) -> Any:
    """The cell as a JSON value: what JSON has no form for, or is nested too deep, becomes text, NaN becomes None."""
    try:
        return _json_value(cell)
    except RecursionError:
        return str(cell)


def _json_value(cell: Any) -> Any:
    cell = cell_value(cell)
    if is_numpy_scalar(cell):
        cell = cell.item()
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    if cell is None or isinstance(cell, (bool, int, float)):
        return cell
    if isinstance(cell, list):
        return [_json_value(item) for item in cell]
    if isinstance(cell, dict):
        return {str(name): _json_value(item) for name, item in cell.items()}
    return without_surrogates(str(cell))
