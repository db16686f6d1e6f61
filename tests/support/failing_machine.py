"""Machines on which writing fails: a disk that fills up, files that cannot grow, permissions that bind even root."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.file_events import changed_paths, heard_by

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_MAKING = ("open", "os.mkdir", "os.rename", "os.link", "os.symlink")


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """Every write beyond that many bytes of a file fails in this process, as on a full disk: "File too large"."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class FillingDisk:
    """A disk that has room for so many more new, moved or opened files below a folder; removing always works.

    A context manager; ``steps`` counts what was asked for.
    """

    def __init__(self, folder: Path, room: float = float("inf")) -> None:
        self.steps = 0
        self._folder = folder
        self._room = room
        self._hearing = heard_by(self._hear)

    def __enter__(self) -> FillingDisk:
        self._hearing.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._hearing.__exit__(None, None, None)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _MAKING and any(self._folder in path.parents for path in changed_paths(event, arguments)):
            self.steps += 1
            if self.steps > self._room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def obey_permissions() -> None:
    """As ``preexec_fn``: permission bits bind the program that is started, whoever starts it."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
            if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "cannot give up root's rights over files")
