"""The semantic judge at the command line: the judge pass's client and journal, so that nothing paid for is lost."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from datbench.unified.cells import cell_value
from datbench.unified.evaluator import SYSTEM_PROMPT
from datbench.unified.judge import judge_prompt, verdict_outcome
from datbench.unified.rows import Outcome, Row, invalid, missing_answer
from datbench.unified.rules import Rules
from datbench.unified.tables import Record
from datbench_tasks.judge.accounting import Progress, Totals
from datbench_tasks.judge.client import ask_all
from datbench_tasks.judge.concurrency import Limits
from datbench_tasks.judge.endpoints import Endpoints
from datbench_tasks.judge.journal import Journal
from datbench_tasks.judge.post_pass import safe_tag
from datbench_tasks.judge.requests import JudgeIdentity, JudgeRequest, Messages
from datbench_tasks.unified.chunks import Scored
from datbench_tasks.unified.joined import Rows


def journal_path(out: Path, model: str) -> Path:
    """Where the answers of a judge are kept: beside the result, one folder for each judge."""
    return out.with_name(f"{out.name}.judge") / safe_tag(model) / "journal.jsonl"


class JudgeScorer:
    """Rows of ``key2_qa`` by the verdicts in a journal, after ``ask`` has filled it."""

    def __init__(
        self, endpoints: Endpoints, limits: Limits, columns: dict[str, str], rules: Rules, journal: Journal
    ) -> None:
        self.unanswered = 0
        self._endpoints = endpoints
        self._limits = limits
        self._columns = columns
        self._rules = rules
        self._journal = journal
        self._identity = JudgeIdentity(endpoints.model, "chat", endpoints.parameters)

    def ask(self, rows: Rows) -> Totals:
        """Ask for every verdict that the journal lacks.

        Raises:
            RefusedError: the server will not answer; what it answered before is in the journal.
        """
        waiting = sum(1 for _ in self._requests(rows))
        kept = f"{self._journal.path} holds {len(self._journal):,} answers"
        print(f"{waiting:,} requests to send; {kept}", file=sys.stderr)
        if not waiting:
            return Totals()
        with Progress(waiting) as progress:
            return ask_all(self._requests(rows), self._endpoints, self._journal, self._limits, progress.show)

    def __call__(self, rows: list[Record]) -> Scored:
        """Outcomes by the journal; a row without an answer is ``semantic_judge_failed``."""
        return Scored(rows, [self._outcome(self._cells(row)) for row in rows])

    def _outcome(self, row: Row) -> Outcome:
        missing = missing_answer(row, self._rules)
        if missing:
            return missing
        answer = self._journal.get(self._identity.key(self._messages(row)))
        if answer is None or answer.failure:
            self.unanswered += 1
            return invalid("semantic_judge_failed")
        return verdict_outcome(answer.raw, self._rules)

    def _requests(self, rows: Rows) -> Iterator[JudgeRequest]:
        asked: set[bytes] = set()
        for row in map(self._cells, rows):
            if missing_answer(row, self._rules):
                continue
            messages = self._messages(row)
            key = self._identity.key(messages)
            if key not in self._journal and bytes.fromhex(key) not in asked:
                asked.add(bytes.fromhex(key))
                yield JudgeRequest(key, messages)

    def _messages(self, row: Row) -> Messages:
        prompt = judge_prompt(None, row, self._rules).encode("utf-8", "replace").decode()
        return [{"role": "system", "content": SYSTEM_PROMPT}, {"role": "user", "content": prompt}]

    def _cells(self, row: Record) -> Row:
        return {role: cell_value(row.get(name)) for role, name in self._columns.items()}
