"""Totals, prices, estimates and progress."""

from __future__ import annotations

import io

import pytest

from datbench_tasks.judge import accounting
from datbench_tasks.judge.accounting import Prices, Progress, Totals, estimate_tokens
from datbench_tasks.judge.answers import Answer

KEY = "0" * 64


def test_totals_count_answers_failures_and_tokens():
    totals = Totals()
    totals.note(Answer(KEY, raw="x", prompt_tokens=5, completion_tokens=2))
    totals.note(Answer(KEY, failure="timeout", prompt_tokens=3))
    totals.note(Answer(KEY, raw="y"))
    assert (totals.answered, totals.failed, totals.prompt_tokens, totals.completion_tokens) == (2, 1, 8, 2)
    assert (totals.requests, totals.without_usage) == (3, 1)


@pytest.mark.parametrize(
    ("prices", "cost"),
    [
        (Prices(), None),
        (Prices(2.0), 2.0),
        (Prices(None, 10.0), 5.0),
        (Prices(2.0, 10.0), 7.0),
        (Prices(0.0, 0.0), 0.0),
    ],
)
def test_cost_of_a_million_in_and_half_a_million_out(prices, cost):
    assert prices.cost(1_000_000, 500_000) == cost
    assert ("cost" in prices.describe(1_000_000, 500_000)) is (cost is not None)


@pytest.mark.parametrize(("text", "tokens"), [("", 4), ("abcd" * 25, 29), ("汉" * 100, 79), ("\ud800", 4)])
def test_estimates_go_by_bytes(text, tokens):
    assert estimate_tokens([{"role": "user", "content": text}]) == tokens


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_that_counts_failures_as_done():
    stream, totals = Terminal(), Totals(requests=9, retries=3, answered=6, failed=1)
    with Progress(10, stream) as progress:
        progress.show(totals, 4)
        totals.last_fault = "HTTP 429"
        progress.show(totals, 2)
    assert "7/10" in stream.getvalue()
    assert "in flight 2, retries 3 (last: HTTP 429)" in stream.getvalue()


def test_a_file_gets_a_line_now_and_then(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(accounting.time, "monotonic", lambda: now[0])
    stream, totals = io.StringIO(), Totals(started=100.0)
    with Progress(50, stream) as progress:
        for second in range(25):
            now[0] = 100.0 + second
            totals.answered = second
            progress.show(totals, 4)
    lines = stream.getvalue().splitlines()
    assert lines == [
        "10/50 done, 1.0/s, in flight 4, retries 0, 40 s left",
        "20/50 done, 1.0/s, in flight 4, retries 0, 30 s left",
    ]
