"""Faults that a command reports in one line, each with its exit status."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DONE = 0
OWN_FAULT = 1
USAGE = 2
INCOMPLETE = 3
REFUSED = 4
UNREADABLE = 5


class CommandError(Exception):
    """A fault with a cause and a remedy for the person at the keyboard; never a traceback."""

    status = OWN_FAULT


class UsageError(CommandError):
    """The command line asks for something that cannot be."""

    status = USAGE


class IncompleteError(CommandError):
    """Work was done, but samples are pending, missing, unparsed, duplicated or the run is partial."""

    status = INCOMPLETE


class RefusedError(CommandError):
    """A server or the hub said no, or could not be reached."""

    status = REFUSED


class InputError(CommandError):
    """Input is unreadable or malformed; the message names file, row and field."""

    status = UNREADABLE


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Makes an InputError of a file or folder that the system will not let us read."""
    try:
        yield
    except OSError as fault:
        raise InputError(f"{path}: cannot be read: {fault.strerror or fault}") from fault
