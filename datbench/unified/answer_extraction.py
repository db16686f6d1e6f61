"""The final answer inside a generation: where it stands, and how it is cleaned for comparison."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from word2number import w2n

from datbench.unified.units import ALL_UNITS, remove_units

_MINERVA_START, _MINERVA_END = "final answer is $", "$. I hope"
_NUMBER = re.compile(r"-?\d*\.?\d+")
_CYRILLIC_AND = "\u043a\u0438"
_SIMPLE_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)")

_SPELLINGS = (
    ("\\end{array}", "\\end{pmatrix}"),
    ("bmatrix", "pmatrix"),
    ("tfrac", "frac"),
    ("dfrac", "frac"),
    ("\\neq", "\\ne"),
    ("\\leq", "\\le"),
    ("\\geq", "\\ge"),
    ("\\left", ""),
    ("\\right", ""),
    ("\\{", "{"),
    ("\\}", "}"),
)
SIGNS = ("^{\\circ}", "^\\circ", "\\$", "$", "\\(", "\\)")
_ASSIGNMENTS = ("x=", "y=", "z=", "x\\in", "y\\in", "z\\in", "x\\to", "y\\to", "z\\to")
LAST_SPELLINGS = (
    ("\\emptyset", "{}"),
    ("(-\\infty,\\infty)", "\\mathbb{R}"),
    ("%", ""),
    (" .", " 0."),
    ("{.", "{0."),
)


def extract_answer(cell: Any) -> str:
    """The cleaned final answer of a prediction cell; "" when the cell is falsy or holds none.

    Order: "final answer is $...$. I hope", the last boxed content, what follows the last "he answer is",
    the last number. The result is not stripped ("42 km" gives "42 "). Linear in the length of the text.
    """
    text = prediction_text(cell)
    if _SIMPLE_NUMBER.fullmatch(text):  # nothing to find or to clean but leading zeros
        return number_words(text)
    marked = marked_answer(text)
    return clean_answer(last_number(text) if marked is None else marked)


def prediction_text(cell: Any) -> str:
    """The text of a prediction cell; falsy cells (None, "", 0, False, empty list) are ""."""
    try:
        empty = not cell
    except ValueError:  # an array of several items has no truth value
        empty = False
    return "" if empty else str(cell).replace(_CYRILLIC_AND, "")


def marked_answer(text: str) -> str | None:
    """The answer that the text itself marks as final, or None."""
    if _MINERVA_START in text and _MINERVA_END in text:
        return text.split(_MINERVA_START, 1)[1].split(_MINERVA_END, 1)[0].strip()
    if "boxed" in text:
        return _after_boxed(text.rsplit("boxed", 1)[1])
    if "he answer is" in text:
        return text.rsplit("he answer is", 1)[1].strip()
    return None


def _after_boxed(rest: str) -> str:
    if not rest.startswith("{"):
        return rest.split("$", 1)[0].strip()
    depth = 0
    for position, sign in enumerate(rest):
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            return rest[1:position]
    return rest[1:]


def last_number(text: str) -> str:
    """The last number of a text with its commas deleted, or ""."""
    numbers = _NUMBER.findall(text.replace(",", ""))
    return numbers[-1] if numbers else ""


def clean_answer(text: str) -> str:
    """LaTeX spellings, units, signs and number words brought to one form, in a fixed order of steps."""
    text = normalize_latex(text)
    text = remove_units(text, ALL_UNITS)
    text = replace_each(text, [(sign, "") for sign in SIGNS])
    text = number_words(text)
    text = unwrap(text, "\\text{", "", "")
    text = replace_each(text, [(name, "") for name in _ASSIGNMENTS])
    return replace_each(text, LAST_SPELLINGS)


def normalize_latex(text: str) -> str:
    """Line feeds, final full stops and ``\\!`` deleted; variants of one LaTeX command brought to one."""
    text = text.strip().replace("\n", "").rstrip(".").replace("\\!", "")
    text = unwrap(text, "\\begin{array}{", "\\begin{pmatrix}", "", keep=False)
    return replace_each(text, _SPELLINGS)


def unwrap(text: str, opening: str, before: str, after: str, *, keep: bool = True) -> str:
    """Each ``opening`` and the first closing brace after it become ``before`` and ``after``, left to right."""
    parts = []
    start = 0
    while (begin := text.find(opening, start)) >= 0:
        inside = begin + len(opening)
        end = text.find("}", inside)
        if end < 0:
            break
        parts += [text[start:begin], before, text[inside:end] if keep else "", after]
        start = end + 1
    return "".join(parts) + text[start:]


def number_words(text: str) -> str:
    """The number that word2number reads in the whole text, else the text: "007" gives "7", "one of" gives "1"."""
    try:
        return str(w2n.word_to_num(text))
    except Exception:  # the library raises whatever its indexing runs into
        return text


def replace_each(text: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Plain replacements, one after the other."""
    for old, new in pairs:
        text = text.replace(old, new)
    return text
