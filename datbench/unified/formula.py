"""Mathematical equality of an answer and a reference: plain numbers here, all else by math-verify in a worker."""

from __future__ import annotations

import atexit
import json
import os
import re
import subprocess
import sys
import threading
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

PYTHON_VARIABLE = "DATBENCH_MATH_PYTHON"
CPU_SECONDS = 5.0
LONGEST_TEXT = 20_000
"""Characters; a longer answer or reference is not parsed and counts as one that hit the limit."""

_WORKER = Path(__file__).with_name("formula_worker.py")
_EXPRESSION_START = re.compile(r"[\d$\\\[]")
_NUMBER = re.compile(r"(?!-0\d)(-?)(\d{1,9}|[1-9]\d{0,2}(?:,\d{3}){1,2})(?:\.(\d{1,6}))?", re.ASCII)
_FRACTION = re.compile(r"(-?[1-9]\d{0,3}|0)/([1-9]\d{0,3})", re.ASCII)
_ROUNDING = 10**6
"""math-verify compares a decimal with anything after rounding both to six places."""


class MathVerifyError(RuntimeError):
    """No interpreter with a working math-verify is at hand; the text names the remedy."""


def _no_math_verify(python: str, reason: str) -> MathVerifyError:
    return MathVerifyError(
        f"formula answers need math-verify 0.9 or newer, and {python} has none that works ({reason}). "
        f"Remedy: python -m venv math-venv && math-venv/bin/pip install 'math-verify[antlr4_13_2]>=0.9', "
        f"then set {PYTHON_VARIABLE}=math-venv/bin/python (a venv of its own: lmms-eval pins another antlr)."
    )


def quick_compare(answer: str, truth: str) -> bool | None:
    """math-verify's verdict where plain arithmetic gives it; None where the library has to be asked.

    A text without a digit, ``$``, backslash or ``[`` holds nothing that math-verify reads, so it matches nothing,
    not even itself. Plain integers, decimals (up to six places) and fractions are equal when their values are;
    with a decimal on either side, when they are after rounding to six places.
    """
    if not _EXPRESSION_START.search(answer) or not _EXPRESSION_START.search(truth):
        return False
    one, other = plain_number(answer.strip()), plain_number(truth.strip())
    if one is None or other is None:
        return None
    if "." not in answer and "." not in truth:
        return one == other
    one, other = one * _ROUNDING, other * _ROUNDING
    if 2 in (one.denominator, other.denominator):  # a tie: how it rounds is the library's to say
        return None
    return round(one) == round(other)


@lru_cache(maxsize=4096)
def plain_number(text: str) -> Fraction | None:
    """The value of an integer, a decimal or a fraction of small numbers; None for any other text.

    "-007" and "07/2" are other text: math-verify cannot read them.
    """
    number = _NUMBER.fullmatch(text)
    if number:
        sign, whole, places = number.groups()
        return Fraction(f"{sign}{whole.replace(',', '')}.{places or 0}")
    fraction = _FRACTION.fullmatch(text)
    if fraction:
        return Fraction(int(fraction[1]), int(fraction[2]))
    return None


class FormulaComparer:
    """math-verify behind a worker process that can be killed; safe to use from any thread.

    Attributes:
        limit_hits: comparisons so far that ran into the limit of CPU time, memory or length; they are no match.
    """

    def __init__(self, python: str | None = None, cpu_seconds: float = CPU_SECONDS) -> None:
        self.python = python or os.environ.get(PYTHON_VARIABLE) or sys.executable
        self.cpu_seconds = cpu_seconds
        self.limit_hits = 0
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the worker unless it runs; MathVerifyError when there is no working math-verify."""
        with self._lock:
            self._running()

    def compare(self, answer: Any, truth: Any) -> bool | None:
        """Whether ``answer`` equals ``truth`` (the order matters to math-verify); None when nothing could be said."""
        answer, truth = str(answer), str(truth)
        quick = quick_compare(answer, truth)
        if quick is not None:
            return quick
        with self._lock:
            if max(len(answer), len(truth)) > LONGEST_TEXT:
                self.limit_hits += 1
                return None
            reply = self._ask({"answer": answer, "truth": truth})
            if "match" not in reply:
                self.limit_hits += 1
            return reply.get("match")

    def close(self) -> None:
        """End the worker."""
        with self._lock:
            self._end()

    def _ask(self, request: dict[str, str]) -> dict[str, Any]:
        """The worker's reply; one that was killed from outside is replaced once. {} when that one dies too."""
        for _ in range(2):
            process = self._running()
            assert process.stdin and process.stdout  # noqa: S101
            try:
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except BrokenPipeError:
                line = ""
            except BaseException:  # Ctrl-C, say: its reply would be read as that to the next request
                self._end()
                raise
            if line:
                return dict(json.loads(line))
            self._end()
        return {}

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _running(self) -> subprocess.Popen[str]:
        if self._process is not None:
            return self._process
        try:
            process = subprocess.Popen(
                [self.python, "-I", str(_WORKER), str(self.cpu_seconds)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
        except OSError as fault:
            raise _no_math_verify(self.python, str(fault)) from None
        assert process.stdout  # noqa: S101
        greeting = _greeting(process.stdout.readline())
        if "ready" not in greeting:
            process.kill()
            process.communicate()
            raise _no_math_verify(self.python, greeting.get("error", "the interpreter did not start"))
        self._process = process
        return process


def _greeting(line: str) -> dict[str, Any]:
    """The first line of a worker; {} for that of any other program."""
    try:
        greeting = json.loads(line)
    except ValueError:
        return {}
    return greeting if isinstance(greeting, dict) else {}


_shared: dict[int, FormulaComparer] = {}
_shared_lock = threading.Lock()


def shared_comparer() -> FormulaComparer:
    """The comparer of this process, made at first use; a forked process gets one of its own."""
    with _shared_lock:
        process = os.getpid()
        if process not in _shared:
            _shared[process] = FormulaComparer()
            atexit.register(_shared[process].close)
        return _shared[process]
