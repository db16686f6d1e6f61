"""The worker behind formula comparisons: limits, threads, other interpreters, and the quick path's agreement."""

from __future__ import annotations

import os
import signal
import sys
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import unified_strict_cases

from datbench.unified import formula
from datbench.unified.formula import FormulaComparer, quick_compare, shared_comparer
from datbench.unified.rows import ROW_SCORERS
from datbench.unified.rules import rules_for

signs = st.sampled_from(["", "", "-"])
integers = st.integers(0, 10**9 - 1).map(str) | st.integers(0, 20).map(str)
numbers = st.builds(
    "{}{}".format,
    signs,
    st.one_of(
        integers,
        st.integers(0, 10**9 - 1).map("{:,}".format),
        st.builds("{}{}".format, st.sampled_from(["0", "00"]), integers),
        st.builds("{}.{}".format, integers, st.from_regex(r"[0-9]{1,6}", fullmatch=True)),
        st.builds("{}/{}".format, st.integers(0, 9999), st.integers(1, 9999)),
        st.builds("{}/{}".format, st.integers(0, 9), st.integers(1, 16)),
    ),
)


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[str, str]:
    """A number, and a number that is often equal or almost so."""
    one = draw(numbers)
    value = formula.plain_number(one)
    if value is None:
        return one, draw(numbers)
    forms = [
        f"{float(value):.6f}",
        f"{float(value):.5g}",
        one.replace(",", ""),
        "0" + one,
        draw(numbers),
        f"{value.numerator * 2}/{value.denominator * 2}",
        str(round(value)),
        str(value + Fraction(1, 10**6)),
    ]
    pair = [one, draw(st.sampled_from(forms))]
    return tuple(draw(st.permutations(pair)))  # type: ignore[return-value]


def ask_library(comparer: FormulaComparer, answer: str, truth: str, monkeypatch: pytest.MonkeyPatch) -> bool | None:
    with monkeypatch.context() as patched:
        patched.setattr(formula, "quick_compare", lambda *_: None)
        return comparer.compare(answer, truth)


def test_quick_path_gives_the_library_verdict_on_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    comparer = shared_comparer()
    decided = {True: 0, False: 0}

    @settings(max_examples=1500, deadline=None, derandomize=True, database=None)
    @given(neighbours())
    def check(pair: tuple[str, str]) -> None:
        quick = quick_compare(*pair)
        if quick is not None:
            decided[quick] += 1
            assert ask_library(comparer, *pair, monkeypatch) is quick, pair

    check()
    assert min(decided.values()) > 100, decided


def test_quick_path_gives_the_library_verdict_on_words(monkeypatch: pytest.MonkeyPatch) -> None:
    comparer = shared_comparer()

    @settings(max_examples=400, deadline=None, derandomize=True, database=None)
    @given(st.text(st.sampled_from("abAB xyz.,;:!?()+-*/^=%'\"{}|&½²α三\n"), max_size=20), numbers)
    def check(words: str, number: str) -> None:
        for pair in ((words, words), (words, number), (number, words)):
            assert quick_compare(*pair) is False
            assert ask_library(comparer, *pair, monkeypatch) is False

    check()


@pytest.mark.parametrize(("answer", "truth"), [("$9^{9^{9^9}}$", "$2$"), ("$2^{9999999999}$", "$3$")])
def test_a_costly_formula_is_no_match_and_is_counted(answer: str, truth: str) -> None:
    comparer = FormulaComparer(cpu_seconds=1.0)
    assert comparer.compare(answer, truth) is not True
    assert comparer.compare("$\\frac{2}{4}$", "0.5") is True
    comparer.close()


def test_the_limit_is_counted() -> None:
    comparer = FormulaComparer(cpu_seconds=0.5)
    assert comparer.compare("$9^{9^{9^9}}$", "$3^{9^{9^9}}$") is None
    assert comparer.limit_hits == 1
    assert comparer.compare("$1$" * formula.LONGEST_TEXT, "$1$") is None
    assert comparer.limit_hits == 2
    comparer.close()


def test_comparisons_from_many_threads() -> None:
    comparer = FormulaComparer()
    found: list[bool | None] = []
    threads = [
        threading.Thread(target=lambda: found.append(comparer.compare("$\\frac{1}{2}$", "$0.5$"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8
    comparer.close()


def test_a_worker_killed_from_outside_costs_no_comparison() -> None:
    comparer = FormulaComparer()
    comparer.start()
    os.killpg(comparer._process.pid, signal.SIGKILL)  # type: ignore[union-attr]
    assert comparer.compare("$x$", "$x$") is True
    assert comparer.limit_hits == 0
    comparer.close()


def test_a_server_killed_between_comparisons_shifts_no_reply() -> None:
    comparer = FormulaComparer()
    assert comparer.compare("$x$", "$x$") is True
    os.kill(forked_server(comparer._process.pid), signal.SIGKILL)  # type: ignore[union-attr]
    pairs = [("$x$", "$x$"), ("$x$", "$y$"), ("$z$", "$z$"), ("$x$", "$z$")]
    assert [comparer.compare(*pair) for pair in pairs] == [True, False, True, False]
    assert comparer.limit_hits == 0
    comparer.close()


def forked_server(worker: int) -> int:
    """The process that a worker has forked."""
    (child,) = Path(f"/proc/{worker}/task/{worker}/children").read_text().split()
    return int(child)


def test_the_interpreter_can_be_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = tmp_path / "used"
    other = tmp_path / "python"
    other.write_text(f'#!/bin/sh\ntouch {note}\nexec {sys.executable} "$@"\n')
    other.chmod(0o755)
    monkeypatch.setenv("DATBENCH_MATH_PYTHON", str(other))
    comparer = FormulaComparer()
    assert comparer.compare("$\\frac{1}{2}$", "$0.5$") is True
    assert note.exists()
    comparer.close()


def test_lone_surrogates_and_control_characters_pass_the_pipe() -> None:
    assert shared_comparer().compare("$\ud835\n\x00$", "$1$") is False


@pytest.mark.parametrize(("quirk", "target", "prediction", "right"), unified_strict_cases.TEXT)
def test_strict_answers(quirk: str, target: Any, prediction: Any, right: bool) -> None:
    row = {"target": target, "pred": prediction}
    assert ROW_SCORERS["key2_qa"](row, rules_for(True), shared_comparer().compare).score == float(right)
