"""Ask a judge for every pending verdict of a run.

  judge RUN                  asks a served model, or --local MODEL, and writes the judged run to RUN/judge/TAG
  judge export RUN --out D   writes the requests as batch files instead of sending them
  judge import RUN FILE ...  takes the results of such a batch

Interrupt it as you like: answers are kept in a journal, and the same command asks only what is missing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from datbench_tasks.errors import DONE, INCOMPLETE, UsageError
from datbench_tasks.judge.batch_files import export_requests, import_results
from datbench_tasks.judge.endpoints import body_parameters
from datbench_tasks.judge.judged_files import Verdicts
from datbench_tasks.judge.options import (
    add_pass_arguments,
    add_server_arguments,
    endpoints_from,
    extra_body,
    limits_from,
    settings_from,
)
from datbench_tasks.judge.post_pass import Backend, ChatBackend, dry_run, judge_run
from datbench_tasks.judge.requests import JudgeIdentity
from datbench_tasks.reporting.command import render
from datbench_tasks.reporting.report import load_report
from datbench_tasks.runs import Run, open_run

EXAMPLE = (
    "datbench-tasks judge results/ --judge-model Qwen/Qwen3-30B-A3B-Instruct-2507 "
    "--judge-base-url http://127.0.0.1:8000 --price-in 0.1 --price-out 0.3"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument("words", nargs="+", metavar="[export|import] RUN [FILE ...]", help="the run directory")
    add_server_arguments(parser)
    add_pass_arguments(parser)
    local = parser.add_argument_group("a local judge (needs the extra 'local')")
    local.add_argument("--local", metavar="MODEL", help="a folder, a hub id or a .gguf file, run by transformers")
    local.add_argument("--gguf-file", metavar="NAME", help="the GGUF file in the folder or repository")
    local.add_argument("--batch-size", type=int, default=8, help="prompts at once (default 8)")
    local.add_argument("--generate", action="store_true", help="let it write its verdict, as a served model does")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where export writes")


def run(args: argparse.Namespace) -> int:
    """Run one of the three forms; the exit status is 3 when verdicts are missing or unparsed."""
    form, words = ("judge", args.words) if args.words[0] not in _FORMS else (args.words[0], args.words[1:])
    if not words:
        raise UsageError(f"judge {form}: name the run directory")
    return _FORMS[form](args, words)


def _judge(args: argparse.Namespace, words: list[str]) -> int:
    run_read = _open(args, words)
    backend = _backend(args)
    settings = settings_from(args, backend.identity.model)
    if args.dry_run:
        dry_run(run_read, backend.identity, settings, args.max_tokens)
        return DONE
    verdicts = judge_run(run_read, backend, settings, args.max_tokens)
    return _conclude(args, run_read, settings.tag, verdicts)


def _export(args: argparse.Namespace, words: list[str]) -> int:
    run_read = _open(args, words)
    if not args.judge_model or args.out is None:
        raise UsageError("judge export: give --judge-model NAME and --out DIR")
    identity = JudgeIdentity(args.judge_model, "batch", body_parameters(args.max_tokens, extra_body(args.extra_body)))
    settings = settings_from(args, args.judge_model)
    if args.dry_run:
        dry_run(run_read, identity, settings, args.max_tokens)
        return DONE
    paths = export_requests(run_read, identity, settings, args.out)
    print("\n".join(map(str, paths)) or "nothing to ask")
    print(
        f"when the results are there: datbench-tasks judge import {run_read.directory} FILE ... --tag {settings.tag}",
        file=sys.stderr,
    )
    return DONE


def _import(args: argparse.Namespace, words: list[str]) -> int:
    if len(words) < 2:
        raise UsageError("judge import: name the run directory and the result files")
    settings = settings_from(args, args.judge_model or "")
    if not args.tag and not args.judge_model:
        raise UsageError("judge import: give --tag (or --judge-model) as at export")
    run_read = _open(args, words[:1])
    imported, verdicts = import_results(run_read, settings.tag, map(Path, words[1:]), settings)
    print(
        f"{imported.answers:,} answers, {imported.failures:,} failures, "
        f"{imported.strangers:,} results of other requests",
        file=sys.stderr,
    )
    return _conclude(args, run_read, settings.tag, verdicts)


_FORMS = {"judge": _judge, "export": _export, "import": _import}


def _open(args: argparse.Namespace, words: list[str]) -> Run:
    if len(words) > 1:
        raise UsageError(f"one run at a time, not {len(words)}: {' '.join(words)}")
    return open_run(words[0], date=args.date, model=args.run_model)


def _backend(args: argparse.Namespace) -> Backend:
    if not args.local:
        return ChatBackend(endpoints_from(args), limits_from(args))
    if args.judge_base_url or args.judge_model:
        raise UsageError("--local MODEL needs no --judge-model and no --judge-base-url")
    from datbench_tasks.judge.local import LocalJudge

    return LocalJudge(args.local, args.gguf_file, args.batch_size, args.max_tokens if args.generate else None)


def _conclude(args: argparse.Namespace, run_read: Run, tag: str, verdicts: Verdicts) -> int:
    """Print the report of the judged run; 3 if verdicts are missing or unparsed and that was not allowed."""
    report = load_report(run_read.directory, date=args.date, model=args.run_model, judge=tag, dataset="none")
    print(render(report, "text"), end="")
    if not verdicts.unscored or args.allow_missing:
        return DONE
    print(
        f"{len(verdicts.unscored):,} samples have no verdict and count 0; the same command asks the missing ones "
        "again, --retry-unparsed the unparsed ones, --allow-missing accepts them",
        file=sys.stderr,
    )
    return INCOMPLETE
