"""What a judge pass costs: estimates before anything is sent, totals afterwards, and the bar in between."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

from tqdm import tqdm

from datbench_tasks.judge.answers import Answer

LINE_SECONDS = 10.0
"""How often progress is printed as a plain line where there is no terminal."""

_BYTES_PER_TOKEN = 4


@dataclass
class Totals:
    """Counts of one pass, or of a part of it.

    Attributes:
        requests: sent for answers and failures, retries and repeats included.
        prompt_tokens, completion_tokens: those of the server's usage.
        without_usage: answers whose tokens the server did not tell.
        retries: so far, those of requests in flight included.
        last_fault: why there was the latest retry.
        seconds: wall time since the pass began.
    """

    requests: int = 0
    answered: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    without_usage: int = 0
    retries: int = 0
    last_fault: str = ""
    started: float = field(default_factory=time.monotonic, repr=False)

    def note(self, answer: Answer) -> None:
        """Count one answer or failure."""
        self.requests += answer.requests
        self.prompt_tokens += answer.prompt_tokens or 0
        self.completion_tokens += answer.completion_tokens or 0
        if answer.failure:
            self.failed += 1
        else:
            self.answered += 1
            self.without_usage += answer.prompt_tokens is None

    @property
    def seconds(self) -> float:
        """Wall time since the pass began."""
        return time.monotonic() - self.started

    def describe(self, prices: Prices) -> str:
        """One line for people."""
        rate = self.answered / self.seconds if self.seconds else 0.0
        return (
            f"{self.answered:,} answers in {self.seconds:,.1f} s ({rate:,.1f}/s), {self.retries:,} retries, "
            f"{self.failed:,} failed, {self.describe_spent(prices)}"
        )

    def describe_spent(self, prices: Prices) -> str:
        """Requests, tokens and cost, for people."""
        unknown = f" (unknown for {self.without_usage:,} answers)" if self.without_usage else ""
        return (
            f"{self.requests:,} requests, {self.prompt_tokens:,} tokens in, {self.completion_tokens:,} out{unknown}"
            f"{prices.describe(self.prompt_tokens, self.completion_tokens)}"
        )

    def spent(self, prices: Prices) -> dict[str, Any]:
        """Requests, tokens and cost, for a file."""
        return {
            "requests": self.requests,
            "answered": self.answered,
            "failed": self.failed,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "without_usage": self.without_usage,
            "cost": prices.cost(self.prompt_tokens, self.completion_tokens),
        }

    def as_dict(self, prices: Prices) -> dict[str, Any]:
        """All of the numbers, for a file."""
        return {**self.spent(prices), "retries": self.retries, "seconds": round(self.seconds, 3)}


@dataclass(frozen=True)
class Prices:
    """Money per million tokens, in whatever currency the caller thinks in; None where unknown."""

    per_million_in: float | None = None
    per_million_out: float | None = None

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """None unless at least one price is known."""
        if self.per_million_in is None and self.per_million_out is None:
            return None
        total = prompt_tokens * (self.per_million_in or 0.0) + completion_tokens * (self.per_million_out or 0.0)
        return total / 1e6

    def describe(self, prompt_tokens: int, completion_tokens: int) -> str:
        """``, estimated cost 1.2345``, or nothing."""
        cost = self.cost(prompt_tokens, completion_tokens)
        return "" if cost is None else f", estimated cost {cost:,.4f}"


def estimate_tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    """About how many tokens a chat takes: a quarter of its UTF-8 bytes, and a few a message for its frame."""
    return sum(len(str(message["content"]).encode("utf-8", "replace")) // _BYTES_PER_TOKEN + 4 for message in messages)


class Progress:
    """Done/total, rate, in flight, retries and time left: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._total = total
        self._next_line = time.monotonic() + LINE_SECONDS
        is_terminal = self._stream.isatty()
        self._bar = tqdm(total=total, unit="answer", file=self._stream, dynamic_ncols=True) if is_terminal else None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, totals: Totals, in_flight: int) -> None:
        """Call after each answer and each fault; prints no more often than a reader can follow."""
        done = totals.answered + totals.failed
        state = f"in flight {in_flight}, retries {totals.retries:,}"
        if totals.last_fault:
            state += f" (last: {totals.last_fault})"
        if self._bar is not None:
            self._bar.set_postfix_str(state, refresh=done == self._bar.n)
            self._bar.update(done - self._bar.n)
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + LINE_SECONDS
            rate = done / totals.seconds
            left = f"{(self._total - done) / rate:,.0f} s left" if rate else "time left unknown"
            print(
                f"{done:,}/{self._total:,} done, {rate:,.1f}/s, {state}, {left}",
                file=self._stream,
                flush=True,
            )
