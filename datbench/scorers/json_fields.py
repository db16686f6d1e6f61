"""Key information as JSON: found in an output, tidied, compared field by field and as a tree."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from rapidfuzz.distance import Levenshtein

from datbench.extraction import BRACE_OPEN, closing_brace, pipe_boxes
from datbench.scorers.faults import OutputFault
from datbench.scorers.literals import LimitError, read_json, read_json_at
from datbench.scorers.tree_distance import Costs, Tree, check_size, tree_distance, tree_of

Field = tuple[str, Any]
"""A label and the value under it."""

MAX_PATH_CHARACTERS = 20_000_000
"""Most characters of field paths that are spelt out for one value: bounds memory, not scores."""

FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: " "}
"""Translation of full-width forms to ASCII; the full-width yen sign stays, as in the benchmark."""


def without_fences(text: str, language: str) -> str:
    """The text without its code fences of that language and without bare ones, wherever they stand."""
    if "```" not in text:
        return text
    text = re.sub(rf"```{language}\s*", "", text, flags=re.IGNORECASE)
    return re.sub(r"```\s*", "", text)


def find_json(text: str) -> Any:
    """The JSON value in an output or a gold: in its box, else all of it, else from its first brace on.

    An empty object where there is none.

    Raises:
        OutputFault: the value is nested too deeply or holds too long an integer.
    """
    text = without_fences(_boxed(text), "json").strip()
    try:
        try:
            return read_json(text)
        except json.JSONDecodeError:
            return _first_object(text)
    except LimitError as fault:
        raise OutputFault(str(fault)) from fault


def _boxed(text: str) -> str:
    box = next(pipe_boxes(text), None)
    if box is not None:
        return box
    start = text.find(BRACE_OPEN)
    if start >= 0:
        start += len(BRACE_OPEN)
        end = closing_brace(text, start)
        if end >= 0:
            return text[start:end]
    return text


def _first_object(text: str) -> Any:
    start = text.find("{")
    if start < 0:
        return {}
    try:
        value, end = read_json_at(text, start)
    except json.JSONDecodeError:
        return {}
    # The benchmark counts the braces inside of strings too, so these must balance.
    return value if text.count("{", start, end) == text.count("}", start, end) else {}


def tidy(value: Any) -> Any:
    """An object's values with widths folded and white space collapsed, list items as text; in place.

    Keys stay as they are, and so does a value that is no object, with all that it holds: the benchmark's rule.
    """
    pending = [value] if isinstance(value, dict) else []
    while pending:
        record = pending.pop()
        for key, item in record.items():
            if isinstance(item, dict):
                pending.append(item)
            elif isinstance(item, str):
                record[key] = _tidy_text(item)
            elif isinstance(item, list):
                record[key] = [entry if isinstance(entry, dict) else _tidy_text(str(entry)) for entry in item]
                pending += [entry for entry in item if isinstance(entry, dict)]
    return value


def _tidy_text(text: str) -> str:
    return " ".join((text if text.isascii() else text.translate(FULL_WIDTH)).split())


def field_set(value: Any) -> set[tuple[str, str]]:
    """The distinct (path, text) pairs of a value's leaves; items of a list share the path of the list.

    Raises:
        OutputFault: the paths are too long to be spelt out.
    """
    pairs = set()
    spelt_out = 0
    pending = [("", value)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, dict):
            spelt_out += len(path) * len(item)
            if spelt_out > MAX_PATH_CHARACTERS:
                raise OutputFault("the paths of the fields are too long to compare")
            pending += [(f"{path}.{key}" if path else key, entry) for key, entry in item.items()]
        elif isinstance(item, list):
            pending += [(path, entry) for entry in item]
        else:
            pairs.add((path, str(item)))
    return pairs


def field_f1(predicted: set[tuple[str, str]], gold: set[tuple[str, str]]) -> float:
    """F1 of two sets of fields; just below 1.0 for equal ones, 0.0 for two empty ones: the benchmark's epsilon."""
    common = len(predicted & gold)
    return common / (common + (len(predicted) + len(gold) - 2 * common) / 2 + 1e-6)


def labelled_tree(value: Any) -> Tree[str]:
    """A value as a tree of labels below ``root``: keys in sorted order, list items by index, leaves as text."""
    tree = tree_of(("root", value), _children)
    return tree.with_nodes([label for label, _ in tree.nodes])


def _children(field: Field) -> Iterator[Field]:
    label, value = field
    if isinstance(value, dict):
        for key in sorted(value):
            yield key, value[key]
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield f"{label}[{index}]", item
    elif value is not None and (text := str(value)).strip():
        yield text, None


def label_characters(value: Any, enough: float = math.inf) -> int:
    """Characters in the labels of a value's tree, the root's aside; counting stops once there are ``enough``."""
    characters = 0
    pending: list[Field] = [("root", value)]
    while pending:
        for child in _children(pending.pop()):
            characters += len(child[0])
            if characters >= enough:
                return characters
            pending.append(child)
    return characters


def tree_similarity(predicted: Any, gold: Any) -> float:
    """1 - edit distance of the labelled trees / characters in the gold's labels, in [0, 1].

    Deleting or inserting a node costs the length of its label, changing it the edit distance of the labels.

    Raises:
        OutputFault: the trees are too large.

    Source: normalised tree edit distance (nTED) of CC-OCR.
    """
    characters = label_characters(gold)
    # Half or more of twice as many must go, which costs the whole score; and if the gold has none, only
    # a value that has none either is at no distance.
    if label_characters(predicted, enough := 2 * characters or 1) >= enough:
        return 0.0
    if not characters:
        return 1.0
    first, second = labelled_tree(predicted), labelled_tree(gold)
    if first == second:
        return 1.0
    check_size(first, second)
    costs = Costs(
        [len(label) for label in first.nodes],
        [len(label) for label in second.nodes],
        [[Levenshtein.distance(label, other) for other in second.nodes] for label in first.nodes],
    )
    return max(0.0, 1 - tree_distance(first, second, costs) / characters)
