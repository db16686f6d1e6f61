"""The corpus of ``tests/hostile/corpus``, what is too large for a file, and a watch over what a command may touch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_CORPUS = Path(__file__).parents[1] / "hostile" / "corpus"

TEXTS: dict[str, list[str]] = json.loads((_CORPUS / "texts.json").read_text("utf-8"))
"""Kind of attack -> short texts; long ones are those of ``support.hostile``."""

ALL_TEXTS = [text for texts in TEXTS.values() for text in texts]

IDS: list[str] = json.loads((_CORPUS / "ids.json").read_text("utf-8"))


def nested(depth: int, opening: str = "[", closing: str = "]") -> str:
    """JSON text of a value within so many others."""
    return opening * depth + "1" + closing * depth


VALUES = {
    "null": "null",
    "NaN": "NaN",
    "infinity": "-Infinity",
    "beyond a float": "1e999",
    "4,000 digits": "9" * 4_000,
    "5,000 digits": "9" * 5_000,
    "true": "true",
    "negative": "-1",
    "two": "2",
    "text": '"x"',
    "empty text": '""',
    "lone surrogate": '"\\ud800"',
    "NUL": '"\\u0000"',
    "path": '"../../pwned"',
    "empty list": "[]",
    "mixed list": "[[1], {}, null]",
    "empty object": "{}",
    "objects": '{"a": {"b": 1}}',
    "equal keys": '{"a": 1, "a": [2]}',
    **{f"nested {depth} deep": nested(depth) for depth in (100, 500, 900, 100_000)},
    "objects 900 deep": nested(900, '{"a": ', "}"),
}
"""What it is -> JSON text (or nearly so) of a value, to be put where another is expected."""


def with_value(content: dict[str, Any], path: tuple[str, ...], value: str) -> str:
    """JSON text of an object with the value at a path replaced by JSON text."""
    mark = "@@hostile value@@"
    copied = json.loads(json.dumps(content))
    holder = copied
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = mark
    return json.dumps(copied).replace(f'"{mark}"', value, 1)


@contextmanager
def nothing_written_outside(root: Path, *allowed: Path) -> Iterator[None]:
    """Fail if a file below ``root`` appears, goes or changes, unless it is one of the allowed or lies in one."""
    before = _contents(root, allowed)
    yield
    after = _contents(root, allowed)
    changed = sorted(str(path) for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    assert changed == [], "written outside"


def _contents(root: Path, allowed: tuple[Path, ...]) -> dict[Path, bytes]:
    return {
        path: path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not any(path == one or one in path.parents for one in allowed)
    }
