"""Strict reading of labels and chosen letters: CJK text, marked answers, digits from a known base."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from datbench.unified.cells import as_list, is_blank_or_nan, is_nan, parse_json
from datbench.unified.choices import (
    ChoicesError,
    digits_value,
    found,
    integer_value,
    label_items,
    letter_index,
    read_choices,
    set_metrics,
)
from datbench.unified.scripts import STANDS_ALONE_AFTER, STANDS_ALONE_BEFORE
from datbench.unified.text_match import normalize_text

_CAPITAL = re.compile(rf"{STANDS_ALONE_BEFORE}[A-Z]{STANDS_ALONE_AFTER}(?!['’])")
_CAPITALS = re.compile(rf"{STANDS_ALONE_BEFORE}[A-Z]{{1,26}}{STANDS_ALONE_AFTER}(?!['’])")
_ARTICLE = re.compile(r"\s+(?!(?:and|or|is|are)\b)[a-z]")
_DIGITS = re.compile(rf"{STANDS_ALONE_BEFORE}\d{{1,9}}{STANDS_ALONE_AFTER}")
_LABEL = re.compile(r"[\W_]*([A-Za-z])[\W_]*")
_INTEGRAL = re.compile(r"(\d{1,9})(?:\.0+)?")
_LEADING_LETTER = re.compile(r"[^\w\s]*([A-Za-z])\s*(?:[^\w\s'’]|$)")
_PRE = r"[\s:*_(\[{\"'“]{0,8}"
_OPTION = rf"((?-i:[A-Z])|(?i:[a-z])(?=[)\]}}.,;:\"'”*]|\s*$)|\d{{1,9}}){STANDS_ALONE_AFTER}(?!['’])"
_MARKED = tuple(
    re.compile(mark + _PRE + _OPTION)
    for mark in (
        r"(?:\\boxed\{|<answer>)(?:\s*\\(?:text|mathrm|mathbf)\{)?",
        r"(?:(?i:\banswers?(?:\s+is|\s+are|\s*:))|答案(?:应该|应)?(?:是|为|选|:)?)",
        r"(?:(?i:\b(?:option|choice)\b)|选项?择?)",
    )
)
_SCOPE = re.compile(
    r"\\boxed\{([^{}]{0,200})|<answer>([^<]{0,200})|(?i:\banswers?(?:\s+is|\s+are|\s*:))(.{0,200})|答案(?:是|为|选|:)?(.{0,200})"
)
_LETTER_LIST = re.compile(r"[\W_]*(?:[A-Za-z](?:[\W_]+(?:(?:and|or)[\W_]+)?|$))+", re.IGNORECASE)
_SEPARATORS = re.compile(r"[,\s;/|、]+")


def choices(cell: Any) -> list[Any]:
    """The choices of a cell; NaN is ``empty_choices``, tuples and arrays are lists.

    Raises:
        ChoicesError: with the reason, ``empty_choices`` or ``choices_not_list``.
    """
    if is_nan(cell):
        raise ChoicesError("empty_choices")
    return read_choices(as_list(cell))


class LabelBase:
    """Finds out whether the digit labels of a column count from 0 or from 1."""

    def __init__(self) -> None:
        self._zero = False
        self._last = False

    def add(self, labels_cell: Any, choices_cell: Any) -> None:
        """Take in one row: its label or labels cell and its choices cell."""
        try:
            n = len(choices(choices_cell))
        except ChoicesError:
            return
        for value in map(_digits, _items(labels_cell) or ()):
            self._zero |= value == 0
            self._last |= value == n

    @property
    def value(self) -> int:
        """1 when some label equals its number of choices and none is 0, else 0."""
        return int(self._last and not self._zero)


def _items(cell: Any) -> list[Any] | None:
    cell = as_list(cell)
    if is_blank_or_nan(cell):
        return None
    if isinstance(cell, str):
        text = _folded(cell)
        decoded, value = parse_json(text)
        return value if decoded and isinstance(value, list) else [part for part in _SEPARATORS.split(text) if part]
    return label_items(cell)


def _folded(cell: Any) -> str:
    return unicodedata.normalize("NFKC", str(cell)).strip()


def _digits(cell: Any) -> int | None:
    """The value of an integer, an integral float, or text of either."""
    if is_blank_or_nan(cell):
        return None
    number = integer_value(cell)
    if number is not None:
        return number
    text = _INTEGRAL.fullmatch(_folded(cell))
    return digits_value(text[1]) if text else None


def _based(value: int | None, n: int, base: int) -> int | None:
    return value - base if value is not None and 0 <= value - base < n else None


def label(cell: Any, options: list[Any], base: int) -> int | None:
    """Index of a label: digits from the base, a letter (bracketed or not), or the text of exactly one choice."""
    if is_blank_or_nan(cell):
        return None
    n = len(options)
    value, letter = _digits(cell), _LABEL.fullmatch(_folded(cell))
    index = letter_index(letter[1], n) if letter else _based(value, n, base)
    return _choice_of_text(cell, options) if index is None else index


def _choice_of_text(cell: Any, options: list[Any]) -> int | None:
    text = normalize_text(cell)
    same = [index for index, option in enumerate(options) if normalize_text(option) == text]
    return same[0] if len(same) == 1 else None


def choice(cell: Any, options: list[Any], base: int) -> int | None:
    """Index of the chosen option of a generated text.

    Order: boxed or tagged, "answer is X", "option X", a letter at the start before punctuation, the last lone
    capital in range, the last lone number. Later marks of one kind win over earlier ones.
    """
    if is_blank_or_nan(cell):
        return None
    n = len(options)
    value = _digits(cell)
    if value is not None:
        return _based(value, n, base)
    text = _folded(cell)
    marked = [[match[1] for match in pattern.finditer(text)] for pattern in _MARKED]
    leading = _LEADING_LETTER.match(text)
    for names in (*marked, [leading[1]] if leading else [], _CAPITAL.findall(text), _DIGITS.findall(text)):
        indices = [_named(name, n, base) for name in reversed(names)]
        index = next((index for index in indices if index is not None), None)
        if index is not None:
            return index
    return None


def _named(name: str, n: int, base: int) -> int | None:
    return _based(digits_value(name), n, base) if name.isdecimal() else letter_index(name, n)


def gold_set(cell: Any, options: list[Any], base: int) -> set[int] | None:
    """Index set of a labels cell; None when it names no choice, the empty set only for an explicit empty list."""
    items = _items(cell)
    if not items:
        return None if items is None else set()
    whole = _choice_of_text(cell, options) if isinstance(cell, str) else None
    if whole is not None:
        return {whole}
    indices = [index for item in items for index in _label_indices(item, options, base)]
    return found(indices) or None


def _label_indices(item: Any, options: list[Any], base: int) -> Iterable[int | None]:
    index = label(item, options, base)
    if index is None and isinstance(item, str):
        return _joined_letters([_folded(item)], len(options))
    return [index]


def choice_set(cell: Any, options: list[Any], base: int) -> set[int] | None:
    """Index set of a generated text: a JSON list, else the letters of its marked answer or of the whole text."""
    cell = as_list(cell)
    if is_blank_or_nan(cell):
        return None
    n = len(options)
    decoded, value = (True, cell) if isinstance(cell, list) else parse_json(_folded(cell))
    if decoded and isinstance(value, list):
        indices = found(label(item, options, base) for item in value)
        return indices if indices or not value else None
    text = _folded(cell)
    for scope in (*reversed([next(filter(None, match), "") for match in _SCOPE.findall(text)]), text):
        indices = _letters(scope, n) or found(_named(digits, n, base) for digits in _DIGITS.findall(scope))
        if indices:
            return indices
    return None


def _letters(text: str, n: int) -> set[int]:
    if len(text) < 200 and _LETTER_LIST.fullmatch(text):
        return found(letter_index(name, n) for name in re.findall(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])", text))
    runs = [run[0] for run in _CAPITALS.finditer(text) if run[0] != "A" or not _ARTICLE.match(text, run.end())]
    return found(_joined_letters(runs, n))


def _joined_letters(runs: Iterable[str], n: int) -> Iterable[int | None]:
    """Indices of runs of distinct capitals that are all in range; other runs are words."""
    for run in runs:
        indices = [letter_index(letter, n) if "A" <= letter <= "Z" else None for letter in run]
        if None not in indices and len(set(indices)) == len(indices):
            yield from indices


def strict_set_metrics(predicted: set[int], gold: set[int]) -> dict[str, float]:
    """``set_metrics``, except that nothing chosen where nothing is right is fully right."""
    metrics = set_metrics(predicted, gold)
    return metrics if predicted or gold else dict.fromkeys(metrics, 1.0)
