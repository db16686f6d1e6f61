"""Ask a judge for every pending verdict of a run.

  judge RUN                  asks a served model, or --local-model M, and writes the judged run to RUN/judge/TAG
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
    add_local_arguments,
    add_pass_arguments,
    add_server_arguments,
    endpoints_from,
    extra_body,
    limits_from,
    settings_from,
)
from datbench_tasks.judge.post_pass import Backend, ChatBackend, Settings, dry_run, judge_run
from datbench_tasks.judge.requests import JudgeIdentity
from datbench_tasks.reporting.command import render
from datbench_tasks.reporting.report import load_report
from datbench_tasks.run_directory import Run, open_run

EXAMPLE = (
    "datbench-tasks judge results/ --judge-model Qwen/Qwen3-30B-A3B-Instruct-2507 "
    "--judge-base-url http://127.0.0.1:8000 --price-in 0.1 --price-out 0.3"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument("words", nargs="+", metavar="RUN", help="the run directory; see the three forms above")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where export writes")
    add_judge_arguments(parser, short=True)


def add_judge_arguments(parser: argparse.ArgumentParser, *, short: bool = False) -> None:
    """Define the options of a pass, for this command and for others that end in one (``short``: see the options)."""
    add_server_arguments(parser, short=short)
    add_local_arguments(parser)
    add_pass_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run one of the three forms; the exit status is 3 when verdicts are missing or unparsed."""
    form, words = ("judge", args.words) if args.words[0] not in _FORMS else (args.words[0], args.words[1:])
    if not words:
        raise UsageError(f"judge {form}: name the run directory")
    if args.out and form != "export":
        raise UsageError("--out is for judge export; a judged run is written to RUN/judge/TAG")
    return _FORMS[form](args, words)


def judge(args: argparse.Namespace, directory: str | Path, backend: Backend) -> int:
    """Judge a run with the options of ``add_judge_arguments``; prints what came of it, but no report.

    Returns:
        0, or 3 when verdicts are missing or unparsed and that was not allowed.
    """
    run_read = _open(args, directory)
    settings = settings_of(args)
    if args.dry_run:
        dry_run(run_read, backend.identity, settings)
        return DONE
    return _status(args, judge_run(run_read, backend, settings))


def _judge(args: argparse.Namespace, words: list[str]) -> int:
    directory = _only(words)
    status = judge(args, directory, backend_of(args))
    if not args.dry_run:
        _print_report(args, directory, settings_of(args).tag)
    return status


def _export(args: argparse.Namespace, words: list[str]) -> int:
    run_read = _open(args, _only(words))
    if not args.judge_model or args.out is None:
        raise UsageError("judge export: give --judge-model NAME and --out DIR")
    identity = JudgeIdentity(args.judge_model, "batch", body_parameters(args.max_tokens, extra_body(args.extra_body)))
    settings = settings_from(args, args.judge_model)
    if args.dry_run:
        dry_run(run_read, identity, settings)
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
    run_read = _open(args, words[0])
    imported, verdicts = import_results(run_read, map(Path, words[1:]), settings)
    print(
        f"{imported.answers:,} answers, {imported.failures:,} failures, "
        f"{imported.strangers:,} results of other requests",
        file=sys.stderr,
    )
    _print_report(args, words[0], settings.tag)
    return _status(args, verdicts)


_FORMS = {"judge": _judge, "export": _export, "import": _import}


def _only(words: list[str]) -> str:
    if len(words) > 1:
        raise UsageError(f"one run at a time, not {len(words)}: {' '.join(words)}")
    return words[0]


def _open(args: argparse.Namespace, directory: str | Path) -> Run:
    return open_run(directory, date=args.date, model=args.run_model)


def backend_of(args: argparse.Namespace) -> Backend:
    """The judge that the options name; nothing is sent or loaded yet.

    Raises:
        UsageError: options that do not name one judge.
        InputError: there is no such local model.
    """
    if not args.local_model:
        return ChatBackend(endpoints_from(args), limits_from(args))
    if args.judge_base_url or args.judge_model:
        raise UsageError("--local-model goes without --judge-model and --judge-base-url")
    from datbench_tasks.judge.local import LocalJudge

    limit = args.max_tokens if args.local_generate else None
    return LocalJudge(args.local_model, args.gguf_file, args.local_batch_size, limit)


def settings_of(args: argparse.Namespace) -> Settings:
    """What holds for the pass; without ``--tag`` it is called after the judge, of a local path by its last part."""
    name: str = args.judge_model or args.local_model
    return settings_from(args, Path(name).name if args.local_model and Path(name).exists() else name)


def _print_report(args: argparse.Namespace, directory: str, tag: str) -> None:
    report = load_report(directory, date=args.date, model=args.run_model, judge=tag)
    print(render(report, "text"), end="")


def _status(args: argparse.Namespace, verdicts: Verdicts) -> int:
    if not verdicts.unscored or args.allow_missing:
        return DONE
    print(
        f"{len(verdicts.unscored):,} samples have no verdict and count 0; datbench-tasks judge with the same options "
        "asks the missing ones again, --retry-unparsed the unparsed ones, --allow-missing accepts them",
        file=sys.stderr,
    )
    return INCOMPLETE
