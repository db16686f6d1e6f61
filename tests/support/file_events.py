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

_REMOVALS = ("os.remove", "os.rmdir", "shutil.rmtree")
_CHANGES = (*_REMOVALS, "os.mkdir", "os.rename", "os.link", "os.symlink", "os.truncate")
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
    """Absolute paths that an event opens for writing, makes, moves or removes.

    Left out are files without a name (a folder is "opened" for them), and what goes with a folder that is removed.
    """
    names: list[Any] = []
    if event == "open" and arguments[2] & _WRITING and arguments[0] != os.devnull:
        names = [arguments[0]]
    elif event in _CHANGES and not (event in _REMOVALS and arguments[1] not in (None, -1)):
        names = list(arguments[:2])
    paths = [Path(os.fsdecode(name)).absolute() for name in names if isinstance(name, (str, bytes, os.PathLike))]
    return [path for path in paths if not (event == "open" and path.is_dir())]
