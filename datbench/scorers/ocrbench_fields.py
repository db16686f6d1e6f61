"""F1 of fields in OCRBench v2 (key information, documents, charts): a dict in the output against the reference."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from datbench.scorers.faults import OutputFault
from datbench.scorers.literals import read_json, read_literal

_FENCE_OPENING = re.compile(r"```(?:python|json)?\n", re.IGNORECASE)
_RUN = re.compile(r"[\w\s]+")
_SEPARATOR = re.compile(r"[\"']?\s*[:=]")
_BLANKS = re.compile(r"\s*")
_VALUE = re.compile(r"[^\n,\"'{}]+")
_QUOTES = ('"', "'")


def dict_f1(output: str, answers: Sequence[Any]) -> float:
    """F1 of the output's fields against those of the first answer, a Python literal dict; in [0, 1].

    0.0 where that answer is no dict.

    Raises:
        OutputFault: a value is too large to be printed.
    """
    reference = _reference(answers[0]) if answers else None
    if reference is None:
        return 0.0
    try:
        return _f1(read_dict(output), reference)
    except (ValueError, RecursionError) as fault:
        raise OutputFault("a value of the prediction is too large to be printed") from fault


def _reference(answer: Any) -> dict[Any, Any] | None:
    return _literal_dict(answer) if isinstance(answer, str) else answer if isinstance(answer, dict) else None


@lru_cache(maxsize=256)
def _literal_dict(text: str) -> dict[Any, Any] | None:
    try:
        value = read_literal(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _f1(predicted: Mapping[Any, Any], reference: Mapping[Any, Any]) -> float:
    hits = misses = 0  # a wrong value is two misses: one missed, one spurious
    for key in predicted.keys() | reference.keys():
        expected = reference.get(key)
        alternatives = [_normal(entry) for entry in (expected if isinstance(expected, list) else [expected])]
        if not alternatives:
            return 0.0
        value = _normal(predicted.get(key))
        if value in alternatives:
            hits += value is not None
        else:
            misses += 1 if value is None or None in alternatives else 2
    return 2 * hits / (2 * hits + misses) if hits else 0.0


def _normal(value: Any) -> Any:
    """A value as text, in lower case, without blanks; what Python counts as false stays as it is."""
    if not value:
        return value
    text = value if isinstance(value, str) else _printed(value)
    return text.lower().strip().replace("\n", " ").replace(" ", "")


def _printed(value: Any) -> str:
    """`repr` with sets in order: Python's own order of them changes from run to run."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_printed(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_printed, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_printed, value)) + (",)" if len(value) == 1 else ")")
    if isinstance(value, set) and value:
        return "{" + ", ".join(sorted(map(repr, value))) + "}"
    return repr(value)


def read_dict(output: str) -> dict[Any, Any]:
    """The dict in an output: JSON, else a Python literal, else whatever reads like ``key: value``."""
    content = _fenced(output)
    for read in (read_json, read_literal):
        try:
            value = read(content)
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    return key_values(content)


def _fenced(output: str) -> str:
    """Inside of the first fence, if it is closed; else the whole text, trimmed."""
    opening = _FENCE_OPENING.search(output)
    end = output.find("\n```", opening.end()) if opening else -1
    return output[opening.end() : end] if opening and end >= 0 else output.strip()


def key_values(text: str) -> dict[str, str]:
    """All ``key: value`` and ``key = value`` pairs of a text, left to right; a later key replaces an earlier.

    A key is a run of letters, digits, underscores and white space of any kind. A value goes up to a line
    feed, comma, quote or brace. Linear time.
    """
    found = {}
    position = 0
    while run := _RUN.search(text, position):
        position = run.end()
        separator = _SEPARATOR.match(text, position)
        if separator is None:
            continue
        blanks = _BLANKS.match(text, separator.end())
        start = blanks.end() if blanks else separator.end()
        value = _VALUE.match(text, start + text.startswith(_QUOTES, start))
        if value is None:
            # White space after the separator may itself be the value, though not a line feed at its end.
            blank = text[separator.end() : start].rstrip("\n")
            if not blank:
                continue
            end, content = separator.end() + len(blank), ""
        else:
            end, content = value.end(), value[0].strip()
        found[run[0].strip()] = content
        position = end + text.startswith(_QUOTES, end)
    return found
