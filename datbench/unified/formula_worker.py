"""Stand-alone script: compares formulas with math-verify, one JSON request a line, under a CPU-time limit.

Run by ``datbench.unified.formula`` with any interpreter that has math-verify; imports nothing of this package.
The process that holds the imported library forks a server; a comparison that uses up its CPU time kills the
server, this process answers for it and forks the next, so that the library is imported once.

Request: {"answer": str, "truth": str}. Reply: {"match": true | false | null} or {"limit": true}.
First line out: {"ready": version} or {"error": text}.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import signal
import sys
from importlib import metadata
from typing import Any

_MEMORY_BYTES = 4 << 30
_OLDEST = (0, 9)
_DEATHS_BY_A_COMPARISON = (signal.SIGPROF, signal.SIGABRT, signal.SIGSEGV)


def main() -> None:
    """Import the library, prove that it works, then serve until the requests end."""
    cpu_seconds = float(sys.argv[1])
    logging.disable(logging.CRITICAL)
    try:
        version = metadata.version("math-verify")
        if tuple(map(int, version.split(".")[:2])) < _OLDEST:
            raise ImportError(f"math-verify {version} is older than 0.9")
        if compare("$\\frac{1}{2}$", "0.5") is not True:
            raise ImportError(f"math-verify {version} cannot read LaTeX: its antlr runtime does not fit")
    except Exception as fault:
        reply({"error": f"{type(fault).__name__}: {fault}"})
        return
    reply({"ready": version})
    while True:
        server = os.fork()
        if server == 0:
            serve(cpu_seconds)
        status = os.waitpid(server, 0)[1]
        if not os.WIFSIGNALED(status) or os.WTERMSIG(status) not in _DEATHS_BY_A_COMPARISON:
            return  # no more requests; or killed from outside, and then perhaps no reply is due
        reply({"limit": True})


def serve(cpu_seconds: float) -> None:
    """Answer requests until there are no more; the kernel ends the process when one takes too much CPU time."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
        match = compare(request["answer"], request["truth"])
        signal.setitimer(signal.ITIMER_PROF, 0)
        reply({"match": match})
    os._exit(0)


def compare(answer: str, truth: str) -> bool | None:
    """Whether math-verify finds the two equal; None when it raises."""
    from math_verify import parse, verify

    try:
        gold, found = (parse(text, parsing_timeout=None) for text in (truth, answer))
        return bool(verify(gold, found, timeout_seconds=None))
    except ImportError:
        raise
    except Exception:
        return None


def reply(message: dict[str, Any]) -> None:
    """Write one line and hand it over at once."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
