"""The operator's view of a pandas frame: rows by role in, the four output columns out, all by position."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from datbench.unified.cells import cell_value
from datbench.unified.rows import Outcome, Row


def check_names(frame: Any, wanted: set[str | None]) -> None:
    """ValueError when several columns have one of the wanted names."""
    repeated = [name for name in frame.columns[frame.columns.duplicated()] if name in wanted]
    if repeated:
        raise ValueError(f"several columns are named {repeated[0]!r}; give each a name of its own")


def prepare(frame: Any, outputs: Sequence[str]) -> None:
    """Give the frame the four output columns in their state before scoring."""
    valid, error, pred, score = outputs
    if valid not in frame.columns:
        frame[valid] = True
    frame[error] = ""
    frame[pred] = _objects(frame, [None] * len(frame))
    frame[score] = math.nan


def fill(frame: Any, outputs: Sequence[str], outcomes: Sequence[Outcome]) -> None:
    """Write the outcomes into the output columns."""
    valid, error, pred, score = outputs
    frame[valid] = [outcome.valid for outcome in outcomes]
    frame[error] = [outcome.error for outcome in outcomes]
    frame[pred] = _objects(frame, [outcome.pred for outcome in outcomes])
    frame[score] = [float(outcome.score) for outcome in outcomes]


def _objects(frame: Any, values: list[Any]) -> Any:
    """A column of plain objects, so that integers stay integers and None stays None beside each other."""
    import pandas as pd

    return pd.Series(values, index=frame.index, dtype=object)


def rows(frame: Any, columns: dict[str, str]) -> Iterator[Row]:
    """Rows by role, by position (index labels may repeat)."""
    for values in zip(*(_cells(frame[column]) for column in columns.values()), strict=True):
        yield dict(zip(columns, values, strict=True))


def _cells(column: Any) -> Iterator[Any]:
    """The cells of a column; a gap in a column of strings is None, whatever pandas marks it with."""
    strings = column.dtype.name in ("str", "string")
    return (None if strings and not isinstance(cell, str) else cell_value(cell) for cell in column.array)
