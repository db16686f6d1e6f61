"""The corpus of ``tests/hostile/corpus``, what is too large for a file, and a watch over what a command may touch."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.file_events import STARTS, changed_paths, heard_by

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


_LIBRARIES_OWN = ("__pycache__", ".cache", ".config")
"""Folders in which libraries keep what they may keep; ours in the place of temporary files begin with ``datbench-``."""


@contextmanager
def nothing_written_outside(root: Path, *allowed: Path) -> Iterator[None]:
    """Fail if a file appears, goes or changes that is none of the allowed and lies in none of them.

    Python's own deeds are watched wherever they are done, those of libraries below ``root``. Nor may a program be
    started, a pickle read, or an address be called that is not this machine's.
    """
    strange: list[str] = []

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event in STARTS or event == "pickle.find_class":
            strange.append(f"{event} {arguments}")
        elif event == "socket.connect" and not _is_local(arguments[1]):
            strange.append(f"{event} {arguments[1]}")
        strange.extend(f"{event} {path}" for path in changed_paths(event, arguments) if not _is_meant(path, allowed))

    before = _contents(root, allowed)
    with heard_by(hear):
        yield
    after = _contents(root, allowed)
    changed = sorted(str(path) for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    assert changed == [], "written outside"
    assert strange == [], strange


def _is_meant(path: Path, allowed: tuple[Path, ...]) -> bool:
    """What is allowed, the folders on the way to it, and files that are still to be moved into their places."""
    on_the_way = any(path == one or path in one.parents or one in path.parents for one in allowed)
    temporary = path.is_relative_to(tempfile.gettempdir()) and any(p.startswith("datbench-") for p in path.parts)
    moved_later = any(part.startswith(".writing-") for part in path.parts)
    return on_the_way or temporary or moved_later or any(part in _LIBRARIES_OWN for part in path.parts)


def _is_local(address: Any) -> bool:
    return not isinstance(address, tuple) or address[0] in ("127.0.0.1", "::1")


def _contents(root: Path, allowed: tuple[Path, ...]) -> dict[Path, bytes]:
    return {
        path: path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not any(path == one or one in path.parents for one in allowed)
    }
