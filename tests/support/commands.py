"""Our commands in processes of their own: with limits, in other locales, and killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

MAIN = [sys.executable, "-m", "datbench_tasks.cli"]

_LIMITED = (
    "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2);"
    "from datbench_tasks.cli import main; sys.exit(main(sys.argv[2:]))"
)


def run_command(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command of ours to its end."""
    environment = {**os.environ, **options.pop("environment", {})}
    return subprocess.run(
        [*MAIN, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=300, **options
    )


def run_with_little_disk(limit: int, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command that can write no file of more bytes than the limit, as on a full disk."""
    command = [sys.executable, "-c", _LIMITED, str(limit), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


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
