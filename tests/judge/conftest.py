"""Fixtures of the judge tests."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from support.judge_runs import make_judge_run

from datbench_tasks.judge.journal import Journal


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_is_heard() -> None:
    """A shell's job in the background ignores Ctrl-C, and so would the commands that it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """make_run(count, name="run", outputs=None) -> run directory."""

    def make(count: int, name: str = "run", outputs: Sequence[str] | None = None) -> Path:
        return make_judge_run(tmp_path / name, count, outputs)

    return make


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """An empty journal."""
    with Journal(tmp_path / "journal.jsonl") as opened:
        yield opened
