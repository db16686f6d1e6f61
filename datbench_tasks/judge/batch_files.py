"""Judging by files: requests out, results in, in the OpenAI batch format (vLLM's run-batch speaks it too)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from datbench.jsonio import write_atomically, write_json
from datbench_tasks.errors import InputError, UsageError
from datbench_tasks.judge.accounting import Totals
from datbench_tasks.judge.answers import Answer, UnreadableCompletion, read_completion
from datbench_tasks.judge.endpoints import quotable
from datbench_tasks.judge.journal import Journal
from datbench_tasks.judge.judged_files import Verdicts
from datbench_tasks.judge.plan import Plan, Selection
from datbench_tasks.judge.post_pass import ABOUT, Accounts, Settings, about, check_tag, finish, read_about
from datbench_tasks.judge.requests import JudgeIdentity, JudgeRequest
from datbench_tasks.run_directory import Run

MAX_REQUESTS = 50_000
MAX_BYTES = 190 * 2**20
"""Of one file: the API's limits are 50,000 requests and 200 MB."""


@dataclass(frozen=True)
class Imported:
    """What the result files held: answers taken, failures recorded, and lines that belong to no request of the run."""

    answers: int
    failures: int
    strangers: int


def export_requests(
    run: Run,
    identity: JudgeIdentity,
    settings: Settings,
    folder: Path,
    *,
    max_requests: int = MAX_REQUESTS,
    max_bytes: int = MAX_BYTES,
) -> list[Path]:
    """Write every unanswered request into ``requests_0001.jsonl`` and on; the identity goes into the pass's folder.

    The ``custom_id`` of a request is its journal key.

    Raises:
        UsageError: the tag belongs to another judge or other parameters, or the folder holds requests already.
    """
    check_tag(run.directory, identity, settings)
    begun = read_about(settings.folder(run.directory))
    if begun not in (None, (identity, settings.wording)):
        raise UsageError(
            f"--tag {settings.tag}: was exported with other parameters or another wording, and the results of that "
            "batch could not be taken any more; choose another --tag"
        )
    if folder.is_dir() and any(folder.glob("requests_*.jsonl")):
        raise UsageError(f"--out {folder}: holds requests already; choose an empty folder")
    with Journal(settings.journal_path(run.directory)) as journal, Plan(run) as plan:
        plan.fill(identity, settings.wording, journal.get, settings.selection)
        if begun is None:
            write_json(settings.folder(run.directory) / ABOUT, about(identity, settings))
        lines = (_request_line(request, identity) for request in plan.requests())
        paths = []
        for number, shard in enumerate(_shards(lines, max_requests, max_bytes), 1):
            path = folder / f"requests_{number:04d}.jsonl"
            write_atomically(path, lambda file, shard=shard: file.writelines(shard))  # type: ignore[misc]
            paths.append(path)
        return paths


def import_results(run: Run, files: Iterable[Path], settings: Settings) -> tuple[Imported, Verdicts]:
    """Take batch results into the journal and write the judged run.

    Args:
        run: the run.
        files: result files and error files, in any order.
        settings: with the tag of the pass that was exported; the judge and the wording are read from its folder.

    Raises:
        InputError: nothing was exported under this tag, a file is unreadable, or none of its lines belongs to the run.
    """
    begun = read_about(settings.folder(run.directory))
    if begun is None:
        raise InputError(
            f"{run.directory}: nothing was exported under --tag {settings.tag}; begin with datbench-tasks judge export"
        )
    identity, wording = begun
    settings = replace(settings, wording=wording, selection=Selection())
    found: Counter[str] = Counter()
    with Journal(settings.journal_path(run.directory)) as journal, Plan(run) as plan:
        plan.fill(identity, wording, journal.get, settings.selection)
        for answer in _results(files):
            if bytes.fromhex(answer.key) not in plan.keys:
                found["strangers"] += 1
                continue
            found["failures" if answer.failure else "answers"] += 1
            if journal.get(answer.key) != answer:  # files may be given twice
                journal.add(answer)
        if found["strangers"] == found.total() > 0:
            raise InputError(
                f"none of the {found.total():,} results belongs to a request of this run under --tag {settings.tag}"
            )
        verdicts = finish(run, identity, settings, journal, Accounts(Totals(), journal.totals(plan.keys)))
    return Imported(found["answers"], found["failures"], found["strangers"]), verdicts


def _request_line(request: JudgeRequest, identity: JudgeIdentity) -> str:
    body = {"model": identity.model, "messages": request.messages, **identity.parameters}
    line = {"custom_id": request.key, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(line) + "\n"


def _shards(lines: Iterator[str], max_requests: int, max_bytes: int) -> Iterator[Iterator[str]]:
    """Consecutive pieces of ``lines`` within both limits; each piece is to be read before the next is asked for."""
    waiting = next(lines, None)

    def piece() -> Iterator[str]:
        nonlocal waiting
        count = size = 0
        while waiting is not None and (count == 0 or (count < max_requests and size + len(waiting) <= max_bytes)):
            count, size = count + 1, size + len(waiting)
            yield waiting
            waiting = next(lines, None)

    while waiting is not None:
        yield piece()


def _results(files: Iterable[Path]) -> Iterator[Answer]:
    for path in files:
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        yield _read_result(line, f"{path}, line {number}")
        except OSError as fault:
            raise InputError(f"{path}: {fault.strerror}") from fault


def _read_result(line: bytes, where: str) -> Answer:
    try:
        content = json.loads(line)
        key = content["custom_id"]
        if len(bytes.fromhex(key)) != 32:
            raise ValueError("custom_id is not one of ours")
        if "response" not in content and "error" not in content:
            raise ValueError("a request and no result")
    except (ValueError, TypeError, KeyError, RecursionError) as fault:
        raise InputError(
            f"{where}: not a line of batch results ({fault}); give the files as the API wrote them"
        ) from fault
    response, error = content.get("response"), content.get("error")
    if not isinstance(response, dict):
        code = error.get("code") if isinstance(error, Mapping) else None
        return Answer(key, failure=f"batch: {quotable(str(code or 'no response'), None)[:60]}")
    if response.get("status_code") != 200:
        return Answer(key, failure=f"HTTP {_status(response.get('status_code'))}")
    try:
        return read_completion(key, response.get("body"))
    except UnreadableCompletion as fault:
        return Answer(key, failure=str(fault))


def _status(value: Any) -> str:
    return str(value) if isinstance(value, int) else "unknown"
