"""Choices, labels and chosen letters of multiple-choice rows, by the reference's rules (default mode).

Indices are 0-based; ``n`` is the number of choices. None means that no index or set could be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from datbench.unified.cells import cell_value, is_blank, is_nan, parse_json

_LONE_LETTER = re.compile(r"(?<!\w)[A-Za-z](?!\w)")
_LONE_DIGITS = re.compile(r"(?<!\w)\d+(?!\w)")
_LABEL_SEPARATORS = re.compile(r"[,\s;/|]+")
_MAX_DIGITS = 9
"""No table has 10**9 choices; longer runs are out of range without being converted."""


class ChoicesError(ValueError):
    """A choices cell that holds no list; its text is the error token of the row."""


def read_choices(cell: Any) -> list[Any]:
    """The choices of a cell: a list, or JSON text of one (an object gives its keys, a string its characters).

    Raises ChoicesError("empty_choices") for None, ChoicesError("choices_not_list") for anything else.
    """
    if cell is None:
        raise ChoicesError("empty_choices")
    if isinstance(cell, list):
        return cell
    _, value = parse_json(str(cell))
    if isinstance(value, (list, dict, str)):
        return list(value)
    raise ChoicesError("choices_not_list")


def number_index(value: int, n: int) -> int | None:
    """0..n-1 as it stands; n itself is the last choice."""
    if 0 <= value < n:
        return value
    return value - 1 if value == n and n > 0 else None


def letter_index(letter: str, n: int) -> int | None:
    """Place of a letter after A, case ignored, when below n."""
    upper = letter.upper()
    index = ord(upper) - ord("A") if len(upper) == 1 else -1
    return index if 0 <= index < n else None


def digits_value(text: str) -> int | None:
    """The value of a run of decimal digits of any script, None for what ``int`` refuses or is absurdly long."""
    stripped = text.lstrip("0") or "0"
    return int(stripped) if stripped.isdecimal() and len(stripped) <= _MAX_DIGITS else None


def normalize_label(cell: Any, n: int) -> int | None:
    """Index of a label: a number, one letter, or digits in text."""
    number = integer_value(cell)
    if number is not None:
        return number_index(number, n)
    return None if cell is None else _text_label(str(cell).strip(), n)


def _text_label(text: str, n: int) -> int | None:
    if len(text) == 1 and text.isalpha():
        return letter_index(text, n)
    value = digits_value(text) if text.isdigit() else None
    return None if value is None else number_index(value, n)


def integer_value(cell: Any) -> int | None:
    """The value of a Python or numpy integer or bool, else None."""
    value = cell_value(cell)
    return int(value) if isinstance(value, int) else None


def parse_choice(cell: Any, n: int) -> int | None:
    """Index of the choice that a generated text names: its first lone letter in range, else its first lone number."""
    if is_blank(cell):
        return None
    text = str(cell).strip()
    letter = _LONE_LETTER.search(text)
    index = letter_index(letter.group(), n) if letter else None
    if index is not None:
        return index
    digits = _LONE_DIGITS.search(text)
    return _digits_index(digits.group(), n) if digits else None


def _digits_index(text: str, n: int) -> int | None:
    value = digits_value(text)
    return None if value is None else number_index(value, n)


def parse_multiselect(cell: Any, n: int) -> set[int] | None:
    """Indices that a generated text names: a JSON list (may be empty), else all lone letters, else all lone numbers."""
    if is_blank(cell):
        return None
    text = str(cell).strip()
    if text.startswith("[") and text.endswith("]"):
        decoded, value = parse_json(text)
        if decoded and isinstance(value, list) and not any(map(_unreadable, value)):
            return found(_item_index(item, n) for item in value)
    letters = _LONE_LETTER.findall(text)
    indices = found(letter_index(letter, n) for letter in letters)
    if not letters:
        indices = found(_digits_index(digits, n) for digits in _LONE_DIGITS.findall(text))
    return indices or None


def _unreadable(item: Any) -> bool:
    """Digits that are no number ("³"), a letter whose capital is two ("ß"): the list is then read as plain text."""
    text = item.strip() if isinstance(item, str) else ""
    return (text.isdigit() and not text.isdecimal()) or (len(text) == 1 and len(text.upper()) > 1)


def _item_index(item: Any, n: int) -> int | None:
    if isinstance(item, str):
        return _text_label(item.strip(), n)
    number = integer_value(item)
    return None if number is None else number_index(number, n)


def normalize_labels(cell: Any, n: int) -> set[int] | None:
    """Gold set of a labels cell: a list, a JSON list in text, or labels between separators; unknown ones are left out.

    None and blank cells give None; the set may be empty.
    """
    if cell is None or is_nan(cell):
        return None
    items = label_items(cell)
    return None if items is None else found(normalize_label(item, n) for item in items)


def label_items(cell: Any) -> list[Any] | None:
    """The single labels of a labels cell; None for blank text."""
    if isinstance(cell, list):
        return cell
    text = str(cell).strip()
    if not text:
        return None
    if text.startswith("[") and text.endswith("]"):
        _, value = parse_json(text)
        if isinstance(value, list):
            return value
    return _LABEL_SEPARATORS.split(text)


def found(indices: Iterable[int | None]) -> set[int]:
    """The set of the indices that are there."""
    return {index for index in indices if index is not None}


def set_metrics(predicted: set[int], gold: set[int]) -> dict[str, float]:
    """precision, recall, f1, jaccard and exact_set of two index sets; 0.0 wherever a denominator is 0."""
    common = len(predicted & gold)
    precision = common / len(predicted) if predicted else 0.0
    recall = common / len(gold) if gold else 0.0
    total = precision + recall
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / total if total else 0.0,
        "jaccard": common / len(predicted | gold) if predicted | gold else 0.0,
        "exact_set": float(predicted == gold),
    }
