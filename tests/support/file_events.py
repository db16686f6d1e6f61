"""What code under test is about to do to files and to the machine, heard through Python's audit events.

An event comes before the deed, wherever on the disk it is, and a listener that raises prevents it. What libraries do
in C (pyarrow, matplotlib's images) is not heard: compare the files as well.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Listener = Callable[[str, tuple[Any, ...]], None]

STARTS = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "subprocess.Popen")
"""Events of starting a program."""

_CHANGES = ("os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir", "os.truncate", "shutil.rmtree")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_listeners: list[Listener] = []


def _tell(event: str, arguments: tuple[Any, ...]) -> None:
    for listener in tuple(_listeners):
        listener(event, arguments)


sys.addaudithook(_tell)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Call the listener with every event of the block."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def changed_paths(event: str, arguments: tuple[Any, ...]) -> list[Path]:
    """Absolute paths that an event opens for writing, makes, moves or removes; files without a name are left out."""
    if event == "open":
        name, _, flags = arguments
        nameless = flags & getattr(os, "O_TMPFILE", 0) == getattr(os, "O_TMPFILE", -1)
        names = [name] if flags & _WRITING and not nameless else []
    elif event in _CHANGES:
        names = [name for name in arguments[:2] if isinstance(name, (str, bytes, os.PathLike))]
    else:
        names = []
    return [Path(os.fsdecode(name)).absolute() for name in names if not isinstance(name, int)]
