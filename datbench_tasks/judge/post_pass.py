"""The pass over a run: find what is pending, ask, apply the verdicts, write the judged run and say what came of it."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from datbench.jsonio import write_json
from datbench_tasks.errors import IncompleteError, InputError, RefusedError, UsageError
from datbench_tasks.judge.accounting import Prices, Progress, Totals
from datbench_tasks.judge.answers import read_verdict
from datbench_tasks.judge.client import Show, ask_all
from datbench_tasks.judge.concurrency import Limits
from datbench_tasks.judge.endpoints import Endpoints
from datbench_tasks.judge.journal import Journal
from datbench_tasks.judge.judged_files import Verdicts, judged_record, write_judged_run
from datbench_tasks.judge.plan import Plan, Selection, Wording
from datbench_tasks.judge.requests import JudgeIdentity, JudgeRequest
from datbench_tasks.reporting.signature import publishable
from datbench_tasks.run_directory import JUDGE_FOLDER, Run
from datbench_tasks.run_samples import iter_records
from datbench_tasks.sample_logs import Sample

SCHEMA = 1
ABOUT = "judge.json"
"""In the folder of a pass: who judged, how, what it cost, and what has no verdict."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_SHOWN = 5


class Backend(Protocol):
    """Somebody who answers judge requests."""

    identity: JudgeIdentity

    def ask(self, requests: Iterator[JudgeRequest], journal: Journal, show: Show) -> Totals:
        """Ask everything and add each answer to the journal."""


class ChatBackend:
    """A served model behind an OpenAI-compatible API."""

    def __init__(self, endpoints: Endpoints, limits: Limits) -> None:
        self.identity = JudgeIdentity(endpoints.model, "chat", endpoints.parameters)
        self._endpoints = endpoints
        self._limits = limits

    def ask(self, requests: Iterator[JudgeRequest], journal: Journal, show: Show) -> Totals:
        """Ask everything and add each answer to the journal."""
        return ask_all(requests, self._endpoints, journal, self._limits, show)


@dataclass(frozen=True)
class Settings:
    """What holds for a pass whoever judges.

    Attributes:
        tag: name of the pass; a folder below RUN/judge.
        journal: another place for the journal, such as one that several runs share.
        strict: any sample without a verdict is an error, and no judged run is written.

    Raises:
        UsageError: the tag is no safe folder name.
    """

    tag: str
    journal: Path | None = None
    wording: Wording = field(default_factory=Wording)
    selection: Selection = field(default_factory=Selection)
    prices: Prices = field(default_factory=Prices)
    strict: bool = False

    def __post_init__(self) -> None:
        if self.tag != safe_tag(self.tag):
            raise UsageError(f"--tag {self.tag!r}: use ASCII letters, digits and ._- ({safe_tag(self.tag)})")

    def folder(self, directory: Path) -> Path:
        """Where the pass over the run in ``directory`` lives."""
        return directory / JUDGE_FOLDER / self.tag

    def journal_path(self, directory: Path) -> Path:
        """Where its journal lives."""
        return self.journal or self.folder(directory) / "journal.jsonl"


@dataclass(frozen=True)
class Accounts:
    """What this command took, and what the whole pass took, earlier commands included."""

    now: Totals
    whole: Totals


def safe_tag(name: str) -> str:
    """A folder name made of a model's name: ASCII letters, digits, ``._-``, at most 80 characters."""
    return _UNSAFE.sub("_", name).strip("._")[:80].rstrip("._") or "judge"


def dry_run(run: Run, identity: JudgeIdentity, settings: Settings) -> None:
    """Print what a pass would send; writes nothing and sends nothing."""
    path = settings.journal_path(run.directory)
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(path, writable=False)) if path.exists() else None
        plan = stack.enter_context(Plan(run))
        plan.fill(identity, settings.wording, journal.get if journal else lambda key: None, settings.selection)
        print(plan.describe(identity, settings.prices))


def judge_run(run: Run, backend: Backend, settings: Settings) -> Verdicts:
    """Ask for every pending verdict and write the judged run.

    Raises:
        UsageError: the tag belongs to another judge, or another process writes the journal.
        RefusedError: the server will not answer; the journal holds what it did answer.
        IncompleteError: ``strict``, and a verdict is missing or unparsed.
        KeyboardInterrupt: after saying how to go on.
    """
    check_tag(run.directory, backend.identity, settings)
    with Journal(settings.journal_path(run.directory)) as journal, Plan(run) as plan:
        plan.fill(backend.identity, settings.wording, journal.get, settings.selection)
        _say(plan.describe(backend.identity, settings.prices))
        if journal.unreadable_lines:
            _say(f"{journal.path}: {journal.unreadable_lines} unreadable lines passed over")
        totals = Totals()
        if len(plan):
            try:
                with Progress(len(plan)) as progress:
                    totals = backend.ask(plan.requests(), journal, progress.show)
            except (KeyboardInterrupt, RefusedError):
                kept = (
                    f"{len(journal):,} answers are safe in {journal.path}"
                    if len(journal)
                    else "nothing is answered yet"
                )
                how = "goes on without --refresh, with it begins anew" if settings.selection.refresh else "goes on"
                _say(f"stopped; {kept}; datbench-tasks judge {run.directory} with the same options {how}")
                raise
            _say(totals.describe(settings.prices))
        return finish(run, backend.identity, settings, journal, Accounts(totals, journal.totals(plan.keys)))


def finish(run: Run, identity: JudgeIdentity, settings: Settings, journal: Journal, accounts: Accounts) -> Verdicts:
    """Apply what the journal holds, write the judged run and ``judge.json``, and print the outcome.

    Raises:
        IncompleteError: ``strict``, and a verdict is missing or unparsed.
    """

    def judge(sample: Sample) -> dict[str, Any]:
        return judge_value(sample, identity, settings, journal)

    if accounts.whole.requests > accounts.now.requests:
        _say(f"the whole pass so far: {accounts.whole.describe_spent(settings.prices)}")
    if settings.strict:
        _refuse_unscored(run, settings, judge)
    folder = settings.folder(run.directory)
    verdicts = write_judged_run(run, folder, judge)
    write_json(folder / ABOUT, {
        **about(identity, settings),
        "verdicts": dict(verdicts.counts),
        "accuracy_bounds": verdicts.bounds,
        "unscored": verdicts.unscored,
        "accounting": accounts.now.as_dict(settings.prices),
        "spent": accounts.whole.spent(settings.prices),
    })  # fmt: skip
    _say(describe(verdicts))
    return verdicts


def judge_value(sample: Sample, identity: JudgeIdentity, settings: Settings, journal: Journal) -> dict[str, Any]:
    """The ``judge`` key of a record."""
    key = identity.key(settings.wording.messages(sample))
    answer = journal.get(key)
    verdict, reason = read_verdict(answer)
    value: dict[str, Any] = {
        "tag": settings.tag,
        "model": publishable(identity.model),
        "prompt_hash": settings.wording.asking_hash(identity),
        "verdict": verdict,
        "raw": answer.raw if answer else "",
        "journal_key": key,
    }
    if reason:
        value["reason"] = reason
    if answer and answer.confidence is not None:
        value["confidence"] = answer.confidence
    if answer and answer.prompt_tokens is not None:
        value["usage"] = {"prompt_tokens": answer.prompt_tokens, "completion_tokens": answer.completion_tokens}
    return value


def about(identity: JudgeIdentity, settings: Settings) -> dict[str, Any]:
    """What identifies a pass, for ``judge.json``."""
    return {
        "schema": SCHEMA,
        "tag": settings.tag,
        "model": identity.model,
        "kind": identity.kind,
        "parameters": identity.parameters,
        "prompt_hash": settings.wording.asking_hash(identity),
        "max_answer_chars": settings.wording.max_answer_chars,
        "system": settings.wording.system,
    }


_ABOUT_TYPES: dict[str, tuple[type, ...]] = {
    "model": (str,), "kind": (str,), "parameters": (dict,), "max_answer_chars": (int,), "system": (str, type(None))
}  # fmt: skip


def read_about(folder: Path) -> tuple[JudgeIdentity, Wording] | None:
    """The judge and the wording of the pass in a folder, None if none was begun there.

    Raises:
        InputError: the file is not one that we write.
    """
    path = folder / ABOUT
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_bytes())
        wrong = [key for key, kinds in _ABOUT_TYPES.items() if not isinstance(content[key], kinds)]
        if wrong:
            raise TypeError(f"{wrong[0]} is of type {type(content[wrong[0]]).__name__}")
        identity = JudgeIdentity(content["model"], content["kind"], content["parameters"])
        return identity, Wording(content["max_answer_chars"], content["system"])
    except (ValueError, TypeError, KeyError, RecursionError) as fault:
        raise InputError(f"{path}: not a file of ours ({fault}); remove it, or choose another --tag") from fault


def check_tag(directory: Path, identity: JudgeIdentity, settings: Settings) -> None:
    """Refuse to mix two judges under one tag.

    Raises:
        UsageError: the tag is another judge's.
    """
    earlier = read_about(settings.folder(directory))
    if earlier and (earlier[0].model, earlier[0].kind) != (identity.model, identity.kind):
        raise UsageError(
            f"--tag {settings.tag}: holds the verdicts of {earlier[0].model} ({earlier[0].kind}), not of "
            f"{identity.model} ({identity.kind}); choose another --tag to keep both"
        )


def describe(verdicts: Verdicts) -> str:
    """What came of a pass, in a few lines: counts, reasons with ids, and the range of the accuracy."""
    counts = verdicts.counts
    lines = [", ".join(f"{counts[name]:,} {name}" for name in ("correct", "incorrect", "unparsed", "missing"))]
    for (verdict, reason), count in Counter((item["verdict"], item["reason"]) for item in verdicts.unscored).items():
        ids = [item["id"] for item in verdicts.unscored if (item["verdict"], item["reason"]) == (verdict, reason)]
        lines.append(f"  {verdict} ({reason}): {count:,}: {', '.join(ids[:_SHOWN])}{' ...' * (count > _SHOWN)}")
    if verdicts.unscored:
        low, high = verdicts.bounds
        lines.append(f"accuracy over all samples: {low:.2%}, or {high:.2%} if all of these were right")
    return "\n".join(lines)


def _refuse_unscored(run: Run, settings: Settings, judge: Any) -> None:
    verdicts = Verdicts()
    for _, sample in iter_records(run):
        verdicts.note(judged_record(sample, judge))
    if verdicts.unscored:
        raise IncompleteError(
            f"--strict: not every sample has a verdict\n{describe(verdicts)}\n"
            f"ask again with datbench-tasks judge; {settings.journal_path(run.directory)} keeps what there is"
        )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
