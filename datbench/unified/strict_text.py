"""Strict reading of free-text answers: extraction, numbers, and when a reference stands in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from word2number import w2n

from datbench.unified.answer_extraction import (
    LAST_SPELLINGS,
    SIGNS,
    marked_answer,
    normalize_latex,
    replace_each,
    unwrap,
)
from datbench.unified.cells import as_list, is_blank_or_nan, is_nan
from datbench.unified.rules import Matcher
from datbench.unified.scripts import glues
from datbench.unified.targets import normalize_targets
from datbench.unified.text_match import normalize_text
from datbench.unified.units import LONG_UNITS, remove_units

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMBER = re.compile(r"(?:(?<![\w)])-)?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3}(?!\w)|/\d+)?%?")
_EXPONENT = re.compile(r"\s*(-?\d{1,30}(?:\.\d{1,30})?[eE][+-]?\d{1,3})\s*", re.ASCII)
_ASSIGNMENT = re.compile(r"[xyz]\s*(?:=|\\in\b|\\to\b)\s*")
_NUMBER_PHRASE_WORDS = frozenset({*w2n.american_number_system, "and"})
_KEPT_PERCENT = tuple(pair for pair in LAST_SPELLINGS if pair[0] != "%")
_NEGATED = re.compile(r"(?:(?:\b(?:not|no|never|cannot)|n['’]t)(?:\s+(?:an?|the))?\s*|(?:不是?|非|没有?|无)\s*)$")
_SIGNED = re.compile(r"(?:\d[.,/]|(?<!\w)-)$")
_CONTINUED = re.compile(r"[.,/]\d")
_LOOK_BACK = 16


def prediction_text(cell: Any) -> str:
    """The text of a prediction cell; only None and NaN are empty, 0 and False are "0" and "False"."""
    return "" if cell is None or is_nan(cell) else str(cell)


def extract_answer(cell: Any) -> str:
    """The marked answer of a prediction, else its last number (fraction, exponent and percent sign included)."""
    text = prediction_text(cell)
    marked = marked_answer(text)
    return clean_answer(last_number(text) if marked is None else marked)


def last_number(text: str) -> str:
    """The last number of a text, thousands separators dropped; a hyphen after a letter or digit is no sign."""
    numbers = _NUMBER.findall(_THOUSANDS.sub("", text))
    return numbers[-1] if numbers else ""


def clean_answer(text: str) -> str:
    """LaTeX spellings, units and signs brought to one form; number words only when they are the whole answer."""
    text = remove_units(normalize_latex(text), LONG_UNITS)
    text = replace_each(text.replace("\\%", "%"), [(sign, "") for sign in SIGNS])
    text = unwrap(text, "\\text{", "", "").strip()
    text = _number_phrase(_ASSIGNMENT.sub("", text, count=1) if _ASSIGNMENT.match(text) else text)
    return replace_each(text, _KEPT_PERCENT).strip()


def _number_phrase(text: str) -> str:
    words = text.casefold().replace("-", " ").split()
    if not words or not _NUMBER_PHRASE_WORDS.issuperset(words):
        return text
    try:
        return str(w2n.word_to_num(text))
    except Exception:  # the library raises whatever its indexing runs into
        return text


def comparable(value: Any) -> Any:
    """A number with an exponent written out, since math-verify reads no exponents; anything else as it is."""
    number = _EXPONENT.fullmatch(str(value))
    try:
        return f"{Decimal(number[1]):f}" if number else value
    except InvalidOperation:
        return value


def text_matcher(prediction: Any, final: str) -> Matcher:
    """Whether a reference stands in the marked answer, or without one in the whole prediction.

    A reference without letters matches an equal text only: numbers are for the mathematical comparison.
    """
    text = prediction_text(prediction)
    marked = marked_answer(text)
    texts = [normalize_text(text if marked is None else marked), normalize_text(final)]
    whole = normalize_text(text)

    def matches(target: Any) -> bool:
        reference = normalize_text(target)
        if not reference:
            return False
        if reference == whole or reference in texts:
            return True
        return any(map(str.isalpha, reference)) and any(stands_in(reference, where) for where in texts)

    return matches


def stands_in(reference: str, text: str) -> bool:
    """Whether the reference occurs in the text as words of its own, with no sign, digits or negation before it."""
    first, last = reference[0], reference[-1]
    for start, end in _occurrences(reference, text):
        before, after = text[max(0, start - _LOOK_BACK) : start], text[end : end + 2]
        joined = glues(before[-1:], first) or glues(last, after[:1])
        longer = (first.isdigit() and _SIGNED.search(before)) or (last.isdigit() and _CONTINUED.match(after))
        if not joined and not longer and not _NEGATED.search(before):
            return True
    return False


def _occurrences(reference: str, text: str) -> Iterator[tuple[int, int]]:
    start = text.find(reference)
    while start >= 0:
        yield start, start + len(reference)
        start = text.find(reference, start + 1)


def targets(cell: Any) -> list[str]:
    """Reference answers of a cell; text is split at ``||`` only, gaps in lists are dropped."""
    cell = as_list(cell)
    if isinstance(cell, list):
        cell = [item for item in cell if not is_blank_or_nan(item)]
    return normalize_targets(cell, separators=("||",))
