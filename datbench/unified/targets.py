"""A cell that holds several reference answers, as a list of texts."""

from __future__ import annotations

from typing import Any

from datbench.unified.cells import is_blank, is_nan, parse_json

_SEPARATORS = ("||", "|", ";")


def normalize_targets(cell: Any, separators: tuple[str, ...] = _SEPARATORS) -> list[str]:
    """Reference answers of a cell: a list, a JSON list in text, text split at the first separator it holds.

    None and NaN give []. Blank items are dropped; items of lists are not stripped, parts of text are.
    """
    if cell is None or is_nan(cell):
        return []
    if isinstance(cell, list):
        return _printed(cell)
    text = str(cell).strip()
    if text[:1] + text[-1:] in ("[]", "{}"):
        _, value = parse_json(text)
        if isinstance(value, list):
            return _printed(value)
    separator = next((sign for sign in separators if sign in text), None)
    parts = text.split(separator) if separator else [text]
    return [part.strip() for part in parts if part.strip()]


def _printed(items: list[Any]) -> list[str]:
    return [text for text in map(str, items) if not is_blank(text)]
