"""Write a bundle of results that can be published, and that `datbench-tasks verify` can check.

Refuses runs that are not complete: pending, missing, duplicated or unknown samples, scorer faults, --limit, blind and
sample tasks.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from datbench.capabilities import CAPABILITIES
from datbench.jsonio import scratch_beside, write_jsonl
from datbench_tasks.errors import DONE, IncompleteError, UsageError
from datbench_tasks.reporting.bundle import Line, Submission, bundle_line, read_lines, sample_file, write_bundle
from datbench_tasks.reporting.command import add_reading_arguments
from datbench_tasks.reporting.report import BENCHMARK, Report, load_report
from datbench_tasks.reporting.signature import BY_CAPABILITY, publishable

EXAMPLE = "datbench-tasks submit runs/qwen --out bundle --model-name acme/vlm-7b --link https://example.org/vlm"
HOLDS_NOTHING_BACK = ("unparsed",)
"""Problems that a complete run may have: the benchmark counts an unreadable verdict as wrong."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``submit``."""
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    add_reading_arguments(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new directory")
    parser.add_argument("--model-name", required=True, help="as it should be published")
    parser.add_argument("--link", default="", help="https address of the model or the run")
    parser.add_argument("--capabilities", help="comma-separated; the bundle then says that it is partial")
    parser.add_argument("--without-gold", action="store_true", help="leave reference answers out")


def run(args: argparse.Namespace) -> int:
    """Check that the run is complete, write the bundle."""
    chosen = _chosen_capabilities(args.capabilities)
    if args.link and urlsplit(args.link).scheme not in ("http", "https"):
        raise UsageError(f"--link {args.link!r} is no http address")
    if args.out.exists() and any(args.out.iterdir()):
        raise UsageError(f"{args.out} is not empty; name a new directory")
    report = load_report(args.runs, model=args.run_model, judge=args.judge, dataset=args.dataset, progress=True)
    _refuse_incomplete(report, chosen)
    submission = _submission(report, chosen, args)
    with scratch_beside(args.out) as scratch:
        spool, bundle = scratch / "spool", scratch / "bundle"
        for capability in chosen:
            write_jsonl(sample_file(spool, capability), _lines(report, capability))
        write_bundle(bundle, submission, lambda capability: read_lines(spool, capability))
        if args.out.exists():
            args.out.rmdir()
        bundle.replace(args.out)
        args.out.chmod(0o755)
    if not args.without_gold:
        print("warning: the bundle publishes reference answers; --without-gold leaves them out", file=sys.stderr)
    print(f"wrote {args.out} ({submission.scope})", file=sys.stderr)
    return DONE


def _chosen_capabilities(text: str | None) -> list[str]:
    chosen = sorted(set(text.split(","))) if text else list(CAPABILITIES)
    unknown = [name for name in chosen if name not in CAPABILITIES]
    if unknown:
        raise UsageError(f"--capabilities: no capability {', '.join(unknown)}; known: {', '.join(CAPABILITIES)}")
    return chosen


def _refuse_incomplete(report: Report, chosen: list[str]) -> None:
    if report.signature["variant"] != BENCHMARK:
        kind = report.signature["variant"]
        raise IncompleteError(f"not submitted: {kind} tasks are not results of the benchmark; run its own tasks")
    present = [group.name for group in report.capabilities]
    faults = [f"{name}: not in the run" for name in chosen if name not in present]
    faults += [
        found.text for found in report.problems if found.capability in chosen and found.kind not in HOLDS_NOTHING_BACK
    ]
    limited = {name: limit for name, limit in report.signature["limit"].items() if name in chosen and limit}
    faults += [
        f"{', '.join(name for name in limited if limited[name] == limit)}: run with {limit}"
        for limit in sorted(set(limited.values()))
    ]
    faults += [
        f"{group.name}: {group.scorer_errors:,} samples that a scorer failed on (replay the run with a newer version)"
        for group in report.capabilities
        if group.name in chosen and group.scorer_errors
    ]
    if faults:
        raise IncompleteError(
            f"not submitted: {'; '.join(faults)}. Run what is missing, remove lines that repeat a sample, or leave "
            "capabilities out with --capabilities"
        )


def _submission(report: Report, chosen: list[str], args: argparse.Namespace) -> Submission:
    chosen_only = {key: {name: report.signature[key].get(name) for name in chosen} for key in BY_CAPABILITY}
    return Submission(
        model_name=args.model_name,
        link=args.link,
        date=max(part.task_run.date for part in report.parts if part.task_run.capability in ("", *chosen)),
        gold=not args.without_gold,
        count_only=[name for name in chosen if name in report.count_only],
        batched=[name for name in chosen if name in report.batched],
        signature=report.signature | chosen_only,
        runs={name: _published(report.runs[name]) for name in chosen},
    )


def _published(run: dict[str, Any]) -> dict[str, Any]:
    return {**run, "model": publishable(run.get("model") or "")}


def _lines(report: Report, capability: str) -> Iterator[Line]:
    outcomes = {outcome.id: outcome for outcome in report.outcomes if outcome.capability == capability}
    for part in report.parts:
        if part.task_run.capability in ("", capability):
            for sample in part.samples():
                outcome = outcomes.get(sample.record["id"])
                if outcome is not None:
                    yield bundle_line(sample, outcome.output_tokens, outcome.cluster)
