"""JSON and Python literals in model output: read within limits, never evaluated."""

from __future__ import annotations

import ast
import json
import re
import threading
import warnings
from itertools import accumulate
from typing import Any

MAX_DEPTH = 800
"""Deepest nesting of brackets that is read: below what every interpreter's JSON reader manages."""

MAX_DIGITS = 4300
"""Longest integer that is read, in digits: the limit of Python's own conversion."""

_TEXT_OR_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_JSON_BLANKS = " \t\n\r"
_warnings_are_global = threading.Lock()
_GIANT = 10**MAX_DIGITS


def is_giant(value: object) -> bool:
    """Whether a value is an integer that Python, under its default limit, cannot write in decimal digits."""
    return isinstance(value, int) and abs(value) >= _GIANT


class LimitError(ValueError):
    """A JSON text that is nested too deeply or holds too long an integer."""


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise LimitError(f"integer of more than {MAX_DIGITS} digits")
    return int(digits)


_decoder = json.JSONDecoder(parse_int=_integer)


def read_json(text: str) -> Any:
    """The value of a JSON text, by the rules of ``json.loads`` (NaN and infinities allowed).

    Raises:
        json.JSONDecodeError: no JSON.
        LimitError: deeper than MAX_DEPTH or with an integer of more than MAX_DIGITS digits, so that
            the result does not depend on the interpreter's own limits.
    """
    value, end = read_json_at(text, len(text) - len(text.lstrip(_JSON_BLANKS)))
    if text[end:].strip(_JSON_BLANKS):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def read_json_at(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins at ``start``, and the index behind it. Raises as `read_json`."""
    try:
        value, end = _decoder.raw_decode(text, start)
    except RecursionError as fault:
        raise LimitError("nested too deeply") from fault
    except json.JSONDecodeError as fault:
        _check_depth(text, start, fault.pos)
        raise
    _check_depth(text, start, end)
    return value, end


def _check_depth(text: str, start: int, end: int) -> None:
    if text.count("[", start, end) + text.count("{", start, end) <= MAX_DEPTH:
        return
    found = (match[0] for match in _TEXT_OR_BRACKET.finditer(text, start, end))
    steps = (1 if bracket in "[{" else -1 for bracket in found if bracket[0] != '"')
    if max(accumulate(steps), default=0) > MAX_DEPTH:
        raise LimitError(f"nested more than {MAX_DEPTH} deep")


def read_literal(text: str) -> Any:
    """The value of a Python literal; no code runs.

    Raises:
        ValueError: no literal, or one beyond the parser's limits.
    """
    # Parsing may warn of odd escapes, and warning filters belong to the process: one thread at a time.
    with _warnings_are_global, warnings.catch_warnings():
        for category in (SyntaxWarning, DeprecationWarning):
            warnings.simplefilter("ignore", category)
        try:
            return ast.literal_eval(text)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as fault:
            raise ValueError(f"no Python literal: {type(fault).__name__}") from fault
