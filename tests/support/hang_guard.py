"""Generous bounds on the time and the memory that a block of test code may take."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class HangError(BaseException):
    """The bound was passed. No ``except Exception`` of the code under test can swallow it."""


@contextmanager
def no_longer_than(seconds: float, mebibytes: int = 2048) -> Iterator[None]:
    """Interrupt the block (Python code and regular expressions alike) after a number of seconds.

    Memory that it asks for beyond that much more than the process has now is refused (MemoryError).
    """

    def interrupt(signum: int, frame: object) -> None:
        raise HangError(f"not done after {seconds} s")

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with no_more_memory_than(mebibytes):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@contextmanager
def no_more_memory_than(mebibytes: int) -> Iterator[None]:
    """Bound the address space of this process to what it has now and so much more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + mebibytes * 2**20, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
