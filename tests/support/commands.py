"""Our commands in processes of their own: with limits, in other locales, and killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

MAIN = [sys.executable, "-m", "datbench_tasks.cli"]

# Words come as bytes of UTF-8, as from a shell, whatever this process makes of them in its locale.
_SEVERAL = """
import json, os, sys
from datbench_tasks.cli import main
for words in json.loads(sys.argv[1]):
    status = main([os.fsdecode(word.encode()) for word in words])
    print(f"\\x1e{status}", file=sys.stderr, flush=True)
"""


def run_several(commands: Sequence[Sequence[object]], **options: Any) -> list[tuple[int, str]]:
    """Run commands of ours in turn, in one process: the exit status of each, and what it wrote to its error stream."""
    environment = {**os.environ, **options.pop("environment", {})}
    words = json.dumps([list(map(str, command)) for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", _SEVERAL, words],
        env=environment, capture_output=True, encoding="utf-8", errors="replace", timeout=300, **options,
    )  # fmt: skip
    parts = done.stderr.split("\x1e")
    assert len(parts) == len(commands) + 1 and done.returncode == 0, done.stderr
    statuses = [int(part.partition("\n")[0]) for part in parts[1:]]
    messages = [parts[0], *(part.partition("\n")[2] for part in parts[1:-1])]
    return list(zip(statuses, messages, strict=True))


def start_command(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    """Start a command of ours."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options}
    return subprocess.Popen([*MAIN, *map(str, arguments)], **quiet)


def wait_until(reached: Callable[[], bool], seconds: float = 120) -> None:
    """Poll until something is so."""
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, "the deadline passed"
        time.sleep(0.002)
