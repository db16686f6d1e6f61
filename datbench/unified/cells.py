"""Table cells as the operator sees them: what is missing, what is blank, what is a list."""

from __future__ import annotations

import json
import math
from typing import Any

_PANDAS_MISSING = frozenset({"NAType", "NaTType"})


def cell_value(cell: Any) -> Any:
    """The cell, with ``pandas.NA`` and ``NaT`` read as None, numpy's integers and bools as Python's own.

    Told by names of types: neither pandas nor numpy is needed.
    """
    if type(cell).__name__ in _PANDAS_MISSING:
        return None
    return cell.item() if is_numpy_scalar(cell) and cell.dtype.kind in "biu" else cell


def is_numpy_scalar(cell: Any) -> bool:
    """True for a single value of a numpy type."""
    return type(cell).__module__ == "numpy" and getattr(cell, "ndim", None) == 0


def is_nan(cell: Any) -> bool:
    """True for a floating NaN of Python or numpy."""
    floating = isinstance(cell, float) or (is_numpy_scalar(cell) and cell.dtype.kind == "f")
    return floating and math.isnan(cell)


def is_blank(cell: Any) -> bool:
    """True for None and for text of white space only; NaN is text ("nan") here, as in the reference."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def is_blank_or_nan(cell: Any) -> bool:
    """The strict reading of blank: NaN is a gap in the table."""
    return is_blank(cell) or is_nan(cell)


def as_list(cell: Any) -> Any:
    """Tuples and arrays as lists, any other cell as it is."""
    if isinstance(cell, tuple):
        return list(cell)
    return cell.tolist() if type(cell).__module__ == "numpy" and getattr(cell, "ndim", 0) == 1 else cell


def parse_json(text: str) -> tuple[bool, Any]:
    """(True, value) for JSON text, (False, None) for anything else, however deep or long."""
    try:
        return True, json.loads(text)
    except (ValueError, RecursionError):
        return False, None
