"""What has to be asked for a run: found in one pass, spooled to disk, sent in an order that suits prefix caches."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from datbench_tasks.judge.accounting import Prices, estimate_tokens
from datbench_tasks.judge.answers import Answer, read_verdict
from datbench_tasks.judge.endpoints import TOKEN_LIMITS, token_limit
from datbench_tasks.judge.requests import (
    MAX_ANSWER_CHARS,
    JudgeIdentity,
    JudgeRequest,
    Messages,
    build_messages,
    prompt_hash,
)
from datbench_tasks.run_directory import Run
from datbench_tasks.run_samples import iter_samples
from datbench_tasks.sample_logs import Sample

ORDERED_BY_CHARACTERS = 512
"""Requests are sorted by this much of their beginning: equal rubrics stand together, and memory stays bounded."""


@dataclass(frozen=True)
class Wording:
    """How a record becomes messages.

    Attributes:
        max_answer_chars: longer candidate answers lose their middle.
        system: a system message, None for none.
    """

    max_answer_chars: int = MAX_ANSWER_CHARS
    system: str | None = None

    def asking_hash(self, identity: JudgeIdentity) -> str:
        """A short hash of how a judge is asked, part of a report's signature: layout, wording, parameters.

        The token limit is no part of it: it decides whether there is a verdict, not which.
        """
        parameters = {name: value for name, value in identity.parameters.items() if name not in TOKEN_LIMITS}
        content = json.dumps([prompt_hash(), self.max_answer_chars, self.system, parameters], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    def messages(self, sample: Sample) -> Messages:
        """The messages that ask for the verdict on a sample."""
        return build_messages(sample.record, max_answer_chars=self.max_answer_chars, system=self.system)


@dataclass(frozen=True)
class Selection:
    """What is asked again although the journal has an answer."""

    refresh: bool = False
    retry_unparsed: bool = False

    def asks(self, answer: Answer | None) -> bool:
        """Whether a request with this answer in the journal is sent."""
        if answer is None or answer.failure or self.refresh:
            return True
        return self.retry_unparsed and read_verdict(answer)[0] == "unparsed"


class Plan:
    """Requests of a run that are to be sent; a context manager, for its spool is a temporary file in the run directory.

    Attributes:
        pending: samples that wait for a verdict.
        answered: of these, the ones whose answer the journal has.
        keys: of all requests, sent or not, as bytes.
        tokens: estimated tokens of the requests to be sent.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._spool: IO[bytes] = tempfile.TemporaryFile(dir=run.directory)  # noqa: SIM115 - closed by __exit__
        self._order: list[tuple[str, int, int]] = []
        self.pending = 0
        self.answered = 0
        self.keys: set[bytes] = set()
        self.tokens = 0

    def __enter__(self) -> Plan:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()

    def __len__(self) -> int:
        return len(self._order)

    def fill(
        self,
        identity: JudgeIdentity,
        wording: Wording,
        look_up: Callable[[str], Answer | None],
        selection: Selection,
    ) -> None:
        """Read the run once. Samples with equal prompts share one request."""
        beginnings: dict[str, str] = {}
        offset = 0
        for sample in pending_samples(self._run):
            self.pending += 1
            messages = wording.messages(sample)
            key = identity.key(messages)
            digest = bytes.fromhex(key)
            asked = selection.asks(look_up(key))
            self.answered += not asked
            if not asked or digest in self.keys:
                self.keys.add(digest)
                continue
            self.keys.add(digest)
            self.tokens += estimate_tokens(messages)
            line = json.dumps([key, messages]).encode() + b"\n"
            self._spool.write(line)
            beginning = messages[-1]["content"][:ORDERED_BY_CHARACTERS]
            self._order.append((beginnings.setdefault(beginning, beginning), offset, len(line)))
            offset += len(line)
        self._order.sort()

    def requests(self) -> Iterator[JudgeRequest]:
        """The requests to send, those with equal beginnings one after the other."""
        for _, offset, length in self._order:
            self._spool.seek(offset)
            yield JudgeRequest(*json.loads(self._spool.read(length)))

    def describe(self, identity: JudgeIdentity, prices: Prices) -> str:
        """One line: what would be sent and what it would cost."""
        out = len(self) * (token_limit(identity.parameters) or 0)
        bound = f", at most {out:,} out but for repeats of empty answers" if out else ""
        return (
            f"{self.pending:,} samples wait for a verdict: {self.answered:,} are answered in the journal, "
            f"{len(self):,} requests to send, about {self.tokens:,} tokens in{bound}"
            f"{prices.describe(self.tokens, out)}"
        )


def pending_samples(run: Run) -> Iterator[Sample]:
    """All samples of a run that wait for a verdict, task by task."""
    for task_run in run.tasks:
        for sample in iter_samples(task_run):
            if sample.record.get("pending"):
                yield sample
