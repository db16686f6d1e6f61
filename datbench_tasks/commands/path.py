"""Print the directory of the lmms-eval task YAMLs, for --include_path.

With DATBENCH_DATA or DATBENCH_REVISION set it is a generated directory whose tasks read that data or revision; the
tasks of lm-evaluation-harness always read the hub.
"""

from __future__ import annotations

import argparse
import os
import sys

from datbench_tasks.task_folders import DATA_VARIABLE, REVISION_VARIABLE, lm_eval_folder, lmms_eval_folders

EXAMPLE = 'lmms-eval --include_path "$(datbench-tasks path)" --tasks datbench_math --model ...'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--lm-eval", action="store_true", help="the directory for lm-evaluation-harness instead")


def run(args: argparse.Namespace) -> int:
    """Print one line; always done."""
    print(lm_eval_folder() if args.lm_eval else lmms_eval_folders()[0])
    for name in (DATA_VARIABLE, REVISION_VARIABLE) if args.lm_eval else ():
        if os.environ.get(name):
            print(f"datbench-tasks path: {name} is not followed by the tasks of lm-eval", file=sys.stderr)
    return 0
