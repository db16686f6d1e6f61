"""A generous bound on the time that a block of test code may take."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class HangError(BaseException):
    """The bound was passed. No ``except Exception`` of the code under test can swallow it."""


@contextmanager
def no_longer_than(seconds: float) -> Iterator[None]:
    """Interrupt the block (Python code and regular expressions alike) after a number of seconds."""

    def interrupt(signum: int, frame: object) -> None:
        raise HangError(f"not done after {seconds} s")

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
