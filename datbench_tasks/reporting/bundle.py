"""A submission bundle: one function writes it from samples and a submission record, so verifying is writing again.

``samples/<capability>.jsonl`` and ``submission.json`` are the source; every other file follows from them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from datbench.capabilities import CAPABILITIES
from datbench.jsonio import write_json, write_jsonl, write_text
from datbench_tasks.errors import InputError
from datbench_tasks.record_checks import record_problem
from datbench_tasks.reporting.gathering import Collector, Gathered
from datbench_tasks.reporting.model_card import eval_results, model_index, readme
from datbench_tasks.reporting.official import read_result_texts, result_text, sample_score, write_official
from datbench_tasks.reporting.report import Report, assemble
from datbench_tasks.reporting.signature import BY_CAPABILITY, SHARED, Signature, run_settings
from datbench_tasks.sample_logs import Sample

SCHEMA = 1
SUBMISSION, SUMS, SAMPLES = "submission.json", "SHA256SUMS", "samples"

GOLD = ("answer", "all_answers", "scorer_input", "judge_prompt")
"""What a record says of the right answer; left out of a bundle without gold."""

PUBLIC_DETAILS = ("score", "eval_mode", "match", "judge_verdict", "judge_raw_output", "judge_missing_response")
"""What stays of ``score_details`` there: a scorer's details repeat the references."""

Line = dict[str, Any]
"""A record without ``run``, with ``output_tokens`` and ``image`` (a hash of the sample's image) beside its keys."""

Lines = Callable[[str], Iterable[Line]]
"""Capability -> its lines, with gold, in the order of the file; called anew for each reading."""


@dataclass(frozen=True)
class Submission:
    """What a bundle says about itself.

    Attributes:
        model_name: for publication.
        link: of the model or the run, "" without one.
        date: of the run, as the host wrote it.
        gold: whether reference answers are in it.
        count_only, batched: capabilities whose samples were only counted, and whose model ran in batches (see
            ``Gathered``).
        signature: of the report.
        runs: what is the same for all samples of a capability (the records' ``run``).
    """

    model_name: str
    link: str
    date: str
    gold: bool
    count_only: list[str]
    batched: list[str]
    signature: Signature
    runs: dict[str, dict[str, Any]]
    schema: int = SCHEMA

    @property
    def capabilities(self) -> list[str]:
        """Those in the bundle, sorted."""
        return sorted(self.runs)

    @property
    def scope(self) -> str:
        """Whether all nine are in it, in words."""
        whole = self.capabilities == sorted(CAPABILITIES)
        return "all nine capabilities" if whole else f"partial: {', '.join(self.capabilities)}"


def bundle_line(sample: Sample, tokens: int | None, image: str | None) -> Line:
    """The line of a sample."""
    record = {key: value for key, value in sample.record.items() if key != "run"}
    return {**record, "output_tokens": tokens, "image": image}


def write_bundle(directory: Path, submission: Submission, lines: Lines) -> Report:
    """Write all files of a bundle and return its report. Equal input gives equal bytes.

    Args:
        directory: new or empty.
        submission: what the bundle says about itself.
        lines: with gold, whatever the bundle shows.
    """
    groups = []
    for capability in submission.capabilities:
        shown = lines(capability) if submission.gold else map(without_gold, lines(capability))
        write_jsonl(sample_file(directory, capability), shown)
        groups.append(_gather(capability, submission, lines(capability)))
    report = assemble(submission.model_name, groups)
    write_json(directory / SUBMISSION, asdict(replace(submission, signature=report.signature)))
    _write_reports(directory, submission, report, groups, lines)
    write_text(directory / ".eval_results" / "datbench.yaml", eval_results(submission, report))
    write_text(directory / "model-index.yaml", model_index(submission, report))
    write_text(directory / "README.md", readme(submission, report))
    write_text(directory / SUMS, sums(directory))
    return report


def without_gold(line: Line) -> Line:
    """The line without reference answers; scores, outputs and verdicts stay."""
    kept = {key: value for key, value in line.items() if key not in GOLD}
    details = kept.get("score_details") or {}
    return {**kept, "score_details": {key: details[key] for key in PUBLIC_DETAILS if key in details}}


def check_files(directory: Path) -> None:
    """Refuse what cannot be read to its end, such as a pipe or a link to a device.

    Raises:
        InputError: names what is neither a file nor a folder.
    """
    for path in sorted(directory.rglob("*")):
        if not path.is_file() and not path.is_dir():
            raise InputError(f"{path}: neither a file nor a folder, so it belongs to no bundle")


def read_submission(directory: Path) -> Submission:
    """What a bundle says about itself.

    Raises:
        InputError: not a bundle, or of another schema.
    """
    path = directory / SUBMISSION
    if not path.is_file():
        raise InputError(f"{path}: no such file; name a directory that datbench-tasks submit wrote")
    try:
        content = json.loads(path.read_bytes())
        if content.get("schema") != SCHEMA:
            raise InputError(f"{path}: schema {content.get('schema')!r}; this version reads schema {SCHEMA}")
        submission = Submission(**content)
        if not all(isinstance(part, dict) for part in (submission.signature, submission.runs)):
            raise InputError(f"{path}: signature and runs must be objects")
        lacking = [key for key in (*SHARED, *BY_CAPABILITY) if key not in submission.signature]
        if lacking:
            raise InputError(f"{path}: the signature has no {lacking[0]}")
        if not all(isinstance(part, list) for part in (submission.count_only, submission.batched)):
            raise InputError(f"{path}: count_only and batched must be lists")
        if unknown := sorted({*submission.runs} - {*CAPABILITIES}):
            raise InputError(f"{path}: {unknown[0][:80]!r} is no capability")
        return submission
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as fault:
        raise InputError(f"{path}: not the file of a bundle ({type(fault).__name__}: {fault})") from fault


def read_lines(directory: Path, capability: str) -> Iterator[Line]:
    """The lines of one capability.

    Raises:
        InputError: unreadable; names file and line.
    """
    path = sample_file(directory, capability)
    try:
        with path.open(encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                try:
                    line = json.loads(text)
                except (ValueError, RecursionError) as fault:
                    raise InputError(f"{path}, line {number}: not readable as JSON ({fault})") from fault
                if not isinstance(line, dict) or not isinstance(line.get("id"), str):
                    raise InputError(f"{path}, line {number}: not a sample with an id")
                if found := record_problem(line):
                    raise InputError(f"{path}, line {number}: {line['id']!r}: {found}")
                yield line
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(f"{path}: {fault}") from fault


def sample_file(directory: Path, capability: str) -> Path:
    """Where the lines of a capability lie."""
    return directory / SAMPLES / f"{capability}.jsonl"


def sums(directory: Path) -> str:
    """``sha256sum -c`` lines of every file but the list itself, sorted by name."""
    return "".join(f"{_sha256(directory / name)}  {name}\n" for name in files_of(directory) if name != SUMS)


def files_of(directory: Path) -> list[str]:
    """Names of all files of a bundle, relative, sorted."""
    return sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())


def _gather(capability: str, submission: Submission, lines: Iterable[Line]) -> Gathered:
    collector = Collector(capability)
    shared = {key: submission.signature[key] for key in SHARED}
    own = {key: submission.signature[key].get(capability) for key in BY_CAPABILITY}
    collector.settings.append((capability, shared | own | run_settings(submission.runs[capability])))
    for line in lines:
        collector.add(_sample(line, submission.runs[capability]), line.get("image"))
    return replace(
        collector.gathered(),
        count_only=capability in submission.count_only,
        batched=capability in submission.batched,
    )


def _sample(line: Line, run: Mapping[str, Any]) -> Sample:
    return Sample({"token_counts": [{"output_tokens": line.get("output_tokens")}]}, {**line, "run": run})


def _write_reports(
    directory: Path, submission: Submission, report: Report, groups: Sequence[Gathered], lines: Lines
) -> None:
    """The official report of each capability, and the one of all."""
    shown = (lambda line: line) if submission.gold else without_gold
    signature = {"line": report.signature_line, "hash": report.signature_hash}
    files = {gathered.capability: directory / f"report_{gathered.capability}.json" for gathered in groups}
    for gathered in groups:
        results = (sample_score(shown(line)) for line in lines(gathered.capability))
        head = {"summary": gathered.summary, "signature": signature}
        write_official(files[gathered.capability], head, map(result_text, results))
    everything = (text for name in submission.capabilities for text in read_result_texts(files[name]))
    write_official(directory / "report.json", report.to_dict(), everything)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
