"""The command ``datbench-tasks``: one table of sub-commands, each in the module that does its work."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
import traceback
from collections.abc import Sequence

from datbench.version import __version__
from datbench_tasks.errors import OWN_FAULT, USAGE, CommandError

COMMANDS: dict[str, tuple[str, str]] = {
    "path": ("datbench_tasks.commands.path", "print the task directory for --include_path"),
    "doctor": ("datbench_tasks.commands.doctor", "check the installation and name the remedy for each fault"),
    "score": ("datbench_tasks.commands.score", "score stored responses without a host"),
    "eval": ("datbench_tasks.commands.eval", "run lmms-eval, then the judge pass, then the report"),
    "judge": ("datbench_tasks.judge.command", "ask a judge for every pending verdict of a run"),
    "agreement": ("datbench_tasks.judge.agreement", "compare the verdicts of several judges on one run"),
    "report": ("datbench_tasks.reporting.command", "print and write the numbers of a run"),
    "compare": ("datbench_tasks.reporting.compare", "paired comparison of runs"),
    "submit": ("datbench_tasks.reporting.submit", "write a bundle that can be published and verified"),
    "verify": ("datbench_tasks.reporting.verify", "score a bundle again and check every number"),
    "push": ("datbench_tasks.reporting.push", "push judged results where the host pushes its own"),
    "unified": ("datbench_tasks.unified.command", "score a table of questions and answers"),
    "new-task": ("datbench_tasks.unified.new_task", "make a host task from a table"),
}
"""Name -> (module, one line of help). A module has ``add_arguments(parser)``, ``run(args) -> int`` and ``EXAMPLE``;
with ``TAKES_MORE`` it gets arguments that its parser does not know as ``args.more``."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one sub-command and return its exit status (see ``datbench_tasks.errors``)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_overview())
        return 0 if arguments else USAGE
    if arguments[0] in ("-V", "--version"):
        print(__version__)
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        print(f"datbench-tasks: no command {name!r}; known: {', '.join(COMMANDS)}", file=sys.stderr)
        return USAGE
    debug = "--debug" in rest
    _print_whatever_comes()
    try:
        module = importlib.import_module(COMMANDS[name][0])
        parser = argparse.ArgumentParser(
            prog=f"datbench-tasks {name}",
            description=(module.__doc__ or "").strip(),
            epilog=f"example:\n  {module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(parser)
        parser.add_argument("--debug", action="store_true", help="show a traceback for a fault of our own")
        known, more = parser.parse_known_args(rest)
        if more and not getattr(module, "TAKES_MORE", False):
            parser.error(f"unknown arguments: {' '.join(more)}")
        known.more = more
        status = int(module.run(known))
        sys.stdout.flush()
        return status
    except CommandError as fault:
        print(f"datbench-tasks {name}: {fault}", file=sys.stderr)
        return fault.status
    except OSError as fault:
        if debug:
            traceback.print_exc()
        place = f"{fault.filename}: " if fault.filename else ""
        print(f"datbench-tasks {name}: {place}{fault.strerror or fault}", file=sys.stderr)
        _drop_what_cannot_be_printed()
        return OWN_FAULT
    except KeyboardInterrupt:
        print(f"datbench-tasks {name}: interrupted", file=sys.stderr)
        return 130
    except Exception as fault:
        if debug:
            traceback.print_exc()
        print(
            f"datbench-tasks {name}: a fault of our own: {type(fault).__name__}: {fault} (--debug shows where)",
            file=sys.stderr,
        )
        return OWN_FAULT


def _print_whatever_comes() -> None:
    """No locale and no lone surrogate in an id may end a command that has done its work."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_what_cannot_be_printed() -> None:
    """What a full disk or a closed pipe did not take, Python would try again at its end, and fail with status 120."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, (_, text) in COMMANDS.items()]
    usage = "usage: datbench-tasks COMMAND ...  (COMMAND --help shows its options and an example)"
    return "\n".join([usage, "", *lines])


if __name__ == "__main__":
    sys.exit(main())
