"""The journal: an append-only file of answers, one JSON line each, from which an interrupted pass goes on.

A line is written with one system call as soon as its answer is there, so that it survives the death of the process;
``fsync`` runs once a second in a thread of its own, since network disks are slow at it; a power cut costs a second
or two of answers. A torn last line (power cut, full disk) is passed over and closed off. One process at a time writes,
guarded by a lock file that dies with it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Container, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from datbench.jsonio import dumps
from datbench_tasks.errors import CommandError, UsageError
from datbench_tasks.judge.accounting import Totals
from datbench_tasks.judge.answers import Answer

FSYNC_SECONDS = 1.0


class _WriterLock(FileLock):
    """A class of our own: in its process lmms-eval makes every ``FileLock`` on one path the same lock."""


class Journal:
    """Answers by key; a context manager that holds the writer's lock.

    Memory: about 150 bytes an answer, whatever its length; texts are read from the file when asked for.

    Args:
        path: of the file, made where there is none.
        writable: False reads a file that is there, without a lock and beside whoever writes it.

    Raises:
        UsageError: another process writes this journal.
        CommandError: the file cannot be written (disk full, read-only directory).
    """

    def __init__(self, path: str | Path, *, writable: bool = True) -> None:
        self.path = Path(path)
        self._writable = writable
        self.unreadable_lines = 0
        self._places: dict[bytes, int] = {}
        self._failures: dict[bytes, str] = {}
        self._syncer = ThreadPoolExecutor(1, "journal-fsync")
        self._sync: Future[None] | None = None
        self._last_sync = 0.0
        self._size = 0
        self._handle = -1
        self._lock = _WriterLock(f"{self.path}.lock")
        self._new_folders: list[Path] = []

    def __enter__(self) -> Journal:
        if not self._writable:
            self._handle = os.open(self.path, os.O_RDONLY)
            self._load()
            return self
        try:
            self._new_folders = [folder for folder in self.path.parents if not folder.exists()]
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout as fault:
            raise UsageError(
                f"{self.path}: another process is writing this journal; wait for it to end, or choose another --tag"
            ) from fault
        except OSError as fault:
            raise _cannot_write(self.path, fault) from fault
        try:
            self._handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
            self._load()
        except OSError as fault:
            self._lock.release()
            raise _cannot_write(self.path, fault) from fault
        return self

    def __exit__(self, *_: object) -> None:
        if not self._writable:
            os.close(self._handle)
            return
        try:
            self._syncer.shutdown()
            os.fsync(self._handle)
        finally:
            os.close(self._handle)
            if not self._size:
                self._leave_no_trace()
            self._lock.release()

    def __contains__(self, key: str) -> bool:
        """Whether there is an answer; a failure is none."""
        return bytes.fromhex(key) in self._places

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: str) -> Answer | None:
        """The latest answer, else the latest failure, else None."""
        digest = bytes.fromhex(key)
        offset = self._places.get(digest)
        if offset is not None:
            return Answer.from_line(json.loads(self._line_at(offset)))
        failure = self._failures.get(digest)
        return None if failure is None else Answer(key, failure=failure)

    def add(self, answer: Answer) -> None:
        """Append an answer or a failure."""
        data = dumps(answer.line()).encode() + b"\n"
        try:
            written = os.write(self._handle, data)
            if written < len(data):
                os.ftruncate(self._handle, self._size)
                raise OSError("the disk is full")
            self._sync_now_and_then()
        except OSError as fault:
            raise _cannot_write(self.path, fault) from fault
        self._remember(answer.key, answer.failure, self._size)
        self._size += len(data)

    def totals(self, keys: Container[bytes]) -> Totals:
        """What the requests of these keys took, whenever they were sent."""
        totals = Totals()
        for _, _, answer in self._answers():
            if answer is not None and bytes.fromhex(answer.key) in keys:
                totals.note(answer)
        return totals

    def _leave_no_trace(self) -> None:
        """A pass that got no answer at all (a mistyped name, say) must not look like one."""
        self.path.unlink()
        Path(self._lock.lock_file).unlink()
        with suppress(OSError):  # not empty: somebody else's
            for folder in self._new_folders:
                folder.rmdir()

    def _sync_now_and_then(self) -> None:
        if self._sync is not None and not self._sync.done():
            return
        if self._sync is not None:
            self._sync.result()
        now = time.monotonic()
        if now - self._last_sync > FSYNC_SECONDS:
            self._last_sync = now
            self._sync = self._syncer.submit(os.fsync, self._handle)

    def _load(self) -> None:
        line = b"\n"
        for offset, line, answer in self._answers():
            self._size = offset + len(line)
            if answer is None:
                self.unreadable_lines += 1
            else:
                self._remember(answer.key, answer.failure, offset)
        if self._writable and not line.endswith(b"\n"):
            self._size += os.write(self._handle, b"\n")

    def _remember(self, key: str, failure: str, offset: int) -> None:
        digest = bytes.fromhex(key)
        if not failure:
            self._places[digest] = offset
            self._failures.pop(digest, None)
        else:
            self._failures[digest] = failure

    def _answers(self) -> Iterator[tuple[int, bytes, Answer | None]]:
        """Offset, line and answer of each line; None for a line that holds none."""
        offset = 0
        with self.path.open("rb") as file:
            for line in file:
                yield offset, line, _answer_in(line)
                offset += len(line)

    def _line_at(self, offset: int) -> bytes:
        data = b""
        while b"\n" not in data:
            more = os.pread(self._handle, 4096, offset + len(data))
            if not more:
                break
            data += more
        return data.partition(b"\n")[0]


def _answer_in(line: bytes) -> Answer | None:
    try:
        return Answer.from_line(json.loads(line))
    except (ValueError, TypeError, RecursionError):
        return None


def _cannot_write(path: Path, fault: OSError) -> CommandError:
    return CommandError(f"{path}: cannot write the journal: {fault.strerror or fault}; what it holds is safe")
