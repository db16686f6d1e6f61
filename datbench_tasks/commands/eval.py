"""Run lmms-eval, then the judge pass, then the report; the exit status tells whether all of it is there.

Options that are not ours go to lmms-eval as they stand; --log_samples is added. Without --judge-model and --local-model
pending samples stay pending; judge options that cannot work are refused before lmms-eval starts. --only-failed RUN asks
again only for the samples whose request failed, with the model that the other options name, and merges the answers into
RUN.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from datbench_tasks import cli
from datbench_tasks.errors import DONE, IncompleteError, UsageError
from datbench_tasks.judge.command import add_judge_arguments, backend_of, judge, settings_of
from datbench_tasks.judge.post_pass import check_tag
from datbench_tasks.retry import Retry
from datbench_tasks.run_directory import TaskRun, open_run, read_results
from datbench_tasks.run_samples import iter_samples

EXAMPLE = (
    "datbench-tasks eval --model vllm --model_args model=M --tasks datbench --batch_size 64 --output_path runs/m "
    "--judge-model J --judge-base-url http://127.0.0.1:8001"
)

TAKES_MORE = True
"""Arguments that the parser does not know are kept, for lmms-eval."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare our own options."""
    parser.add_argument("--only-failed", metavar="RUN", type=Path, help="ask again where the request failed")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the report's page too")
    parser.add_argument("--allow-incomplete", action="store_true", help="exit 0 although samples or verdicts lack")
    add_judge_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """The three steps; 3 if the host left less than it was asked for, or samples are without a verdict."""
    if args.dry_run:
        raise UsageError("--dry-run: what a judge is asked is known after the run; datbench-tasks judge RUN --dry-run")
    backend = backend_of(args) if args.judge_model or args.judge_base_url or args.local_model else None
    output = args.only_failed or Path(_value_of("--output_path", args.more))
    if backend:
        check_tag(output, backend.identity, settings_of(args))
    if args.only_failed:
        retry = Retry.of(open_run(output, date=args.date, model=args.run_model))
        if retry is not None:
            _check_alone(args.more)
            run_host([*args.more, *retry.host_arguments()], retry.folder)
            retry.merge()
            args.date = None  # the merged run has a date of its own
    else:
        args.run_model = run_host(args.more, output)
    args.allow_missing |= args.allow_incomplete
    judged = judge(args, output, backend) if backend else DONE
    return max(judged, cli.main(["report", str(output), *_report_options(args, judged=backend is not None)]))


def _report_options(args: argparse.Namespace, *, judged: bool) -> list[str]:
    """Ours that the report must know, as its own options."""
    values = {
        "--html": args.html,
        "--judge": settings_of(args).tag if judged else None,
        "--run-model": args.run_model,
        "--date": args.date,
    }
    named = [text for name, value in values.items() if value for text in (name, str(value))]
    flags = {"--allow-incomplete": args.allow_incomplete, "--allow-missing": args.allow_missing}
    return [*named, *(name for name, given in flags.items() if given)]


def run_host(arguments: Sequence[str], output: Path) -> str:
    """Run lmms-eval and look at what it wrote, since its own exit status is 0 whatever happens.

    Returns:
        The folder of the model that ran; there may be others below ``output``.

    Raises:
        IncompleteError: no results, or samples of a task in them are missing in its log.
    """
    before = _results_files(output)
    logged = [] if "--log_samples" in arguments else ["--log_samples"]
    command = [sys.executable, "-m", "lmms_eval", *arguments, *logged]
    status = subprocess.run(command, check=False).returncode
    fresh = [file for file, stamp in _results_files(output).items() if before.get(file) != stamp]
    if not fresh:
        installed = find_spec("lmms_eval") is not None
        why = "its messages above say why" if installed else "it is not installed; pip install 'datbench-tasks[host]'"
        raise IncompleteError(f"lmms-eval wrote no results to {output} (its exit status was {status}); {why}")
    model = fresh[0].parent.name
    found = open_run(output, model=model).tasks
    _check_newest(fresh, found, output)
    short = [text for task_run in found if task_run.results in fresh and (text := _lacking(task_run))]
    if short:
        raise IncompleteError(f"lmms-eval's output is not complete: {'; '.join(short)}")
    return model


def _results_files(output: Path) -> dict[Path, tuple[int, int, int]]:
    """What tells whether a results file was written anew, whatever the clock says."""
    stats = {file: file.stat() for file in output.rglob("*_results.json")}
    return {file: (stat.st_ino, stat.st_mtime_ns, stat.st_size) for file, stat in stats.items()}


def _check_newest(fresh: Iterable[Path], found: Iterable[TaskRun], output: Path) -> None:
    """Refuse to go on with the files of an earlier run that bears a later date."""
    dates = {file.name.removesuffix("_results.json") for file in fresh}
    newest = max(dates)
    later = {task_run.date for task_run in found if task_run.date > newest}
    if later:
        raise IncompleteError(
            f"{output} holds an earlier run with a later date ({max(later)}), so the clock was set back; go on with "
            f"datbench-tasks judge and report, --date {newest}"
        )


def _lacking(task_run: TaskRun) -> str | None:
    """What to say if the log holds fewer samples than were asked; the host's own count knows no --offset."""
    results = read_results(task_run)
    counts = results["n-samples"][task_run.task]
    asked = min(counts["effective"], counts["original"] - ((results.get("config") or {}).get("offset") or 0))
    logged = sum(1 for _ in iter_samples(task_run))
    return None if logged == asked else f"{task_run.task} has {logged} of {asked} samples"


def _value_of(option: str, arguments: Sequence[str]) -> str:
    """The value of one of lmms-eval's options among its arguments."""
    for position, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name == option and equals:
            return value
        if name == option and position + 1 < len(arguments):
            return arguments[position + 1]
    raise UsageError(f"give {option}, as to lmms-eval")


def _check_alone(arguments: Sequence[str]) -> None:
    taken = {argument.partition("=")[0] for argument in arguments}
    # The host's cache keeps failed requests as answers, and would give them back.
    refused = taken & {"--tasks", "--limit", "--offset", "--output_path", "--include_path", "--use_cache"}
    if refused:
        raise UsageError(f"--only-failed goes without {', '.join(sorted(refused))}: what to ask is known from the run")
