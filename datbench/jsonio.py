"""JSON that survives model output: NaN-free, safe for lone surrogates, written atomically."""

from __future__ import annotations

import json
import math
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

_PREFIX = ".writing-"


def dumps(value: Any, *, indent: int | None = None, default: Callable[[Any], Any] | None = None) -> str:
    """JSON text of a value; NaN and infinities become null, lone surrogates stay as ``\\udXXX`` escapes.

    Args:
        value: what to write.
        indent: blanks a level; None for one line.
        default: gives what is written for an object that JSON has no form for.

    Raises:
        TypeError: there is such an object and no ``default``.
    """
    encode = partial(json.dumps, ensure_ascii=False, indent=indent, allow_nan=False, default=default)
    try:
        text = encode(value)
    except ValueError:
        text = encode(_finite(value))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)
    return text


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_finite(key) if isinstance(key, float) else key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


def write_atomically(path: str | os.PathLike[str], write: Callable[[IO[str]], None]) -> None:
    """Call ``write`` on a temporary UTF-8 file beside ``path``, then move it there.

    A crash leaves the old file or the new one, never half of one. A device or a pipe is written to as it is.
    """
    if _is_no_file(Path(path)):
        with _opened(Path(path)) as file:
            write(file)
        return
    with replacing(path) as temporary, _opened(temporary) as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file beside ``path`` to be filled by the block, and moved there if the block ends well.

    The file that a link leads to is replaced, not the link.
    """
    target = Path(path).resolve()
    with _naming(path):
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=_PREFIX, suffix=".tmp")
    os.close(handle)
    try:
        yield Path(name)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(target)
    except BaseException as fault:
        Path(name).unlink(missing_ok=True)
        if isinstance(fault, OSError) and fault.filename in (None, name):
            fault.filename = os.fspath(path)
        raise


@contextmanager
def scratch_beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary folder beside ``path``, on the same disk, for files that will be moved; gone after the block."""
    parent = Path(path).parent
    with _naming(path):
        parent.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.TemporaryDirectory(dir=parent, prefix=_PREFIX)
    with scratch as name:
        yield Path(name)


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Faults of the block name the file that was asked for, not a temporary one."""
    try:
        yield
    except OSError as fault:
        fault.filename = os.fspath(path)
        raise


def write_json(path: str | os.PathLike[str], value: Any, *, indent: int | None = 2) -> None:
    """Write one JSON value atomically, with a final line feed."""
    write_text(path, dumps(value, indent=indent) + "\n")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file atomically."""

    def write(file: IO[str]) -> None:
        file.write(text)

    write_atomically(path, write)


def write_jsonl(path: str | os.PathLike[str], values: Iterable[Any]) -> None:
    """Write one compact JSON value a line, atomically; ``values`` is streamed."""

    def write(file: IO[str]) -> None:
        for value in values:
            file.write(dumps(value) + "\n")

    write_atomically(path, write)


def _opened(path: Path) -> IO[str]:
    """For writing; a lone surrogate in what is no JSON becomes the ``\\udXXX`` that it is there."""
    return path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n")


def _is_no_file(path: Path) -> bool:
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
