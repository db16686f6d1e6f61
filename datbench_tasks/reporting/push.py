"""Push the judged results of a run where the host pushes its own: to the Hugging Face Hub, to Weights & Biases.

The hub gets the judge pass's files under the names and paths of lmms-eval's --hf_hub_log_args, over the unjudged ones
(the repository keeps its history). Weights & Biases gets what lmms-eval's --wandb_args logs, from the judged results.
Credentials are those of the two libraries (HF_TOKEN or `hf auth login`, WANDB_API_KEY or `wandb login`).
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from pathlib import Path
from typing import Any

from datbench_tasks.errors import DONE, InputError, RefusedError, UsageError
from datbench_tasks.run_directory import Run, open_run, read_object
from datbench_tasks.run_samples import choose_judge, judge_folder, judged_log

EXAMPLE = "datbench-tasks push runs/qwen --hub-org acme --wandb-args project=datbench"
HUB_REPO = "lmms-eval-results"
"""The host's default for details and results."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``push``."""
    parser.add_argument("run", type=Path, metavar="RUN")
    parser.add_argument("--judge", metavar="TAG", help="judge pass to push where a run has several")
    parser.add_argument("--run-model", metavar="NAME", help="model to push where a run holds several")
    parser.add_argument("--hub-org", metavar="ORG", help="user or organisation on the hub")
    parser.add_argument("--hub-repo", default=HUB_REPO, help=f"data set there (default: {HUB_REPO})")
    parser.add_argument("--public", action="store_true", help="push to a public one; else its name ends in -private")
    parser.add_argument("--wandb-args", metavar="K=V,...", help="as for lmms-eval; needs lmms-eval and wandb")


def run(args: argparse.Namespace) -> int:
    """Push to each place that was named."""
    if not args.hub_org and not args.wandb_args:
        raise UsageError("say where to push: --hub-org, --wandb-args or both")
    opened = open_run(args.run, model=args.run_model)
    tag = choose_judge(opened, args.judge)
    if tag is None:
        raise InputError(f"{args.run}: no judge pass; run datbench-tasks judge first")
    folder = judge_folder(opened, tag)
    if args.hub_org:
        repo = f"{args.hub_org}/{args.hub_repo}" + ("" if args.public else "-private")
        push_to_hub(opened, folder, repo, private=not args.public)
        print(f"pushed {folder} to {repo}", file=sys.stderr)
    if args.wandb_args:
        push_to_wandb(opened, folder, args.wandb_args)
    return DONE


def push_to_hub(opened: Run, folder: Path, repo: str, *, private: bool) -> None:
    """Upload the judged files of a run in one commit.

    Raises:
        RefusedError: the hub cannot be reached or says no.
    """
    from huggingface_hub import CommitOperationAdd, HfApi

    samples_in = re.sub(r"[\"<>:/\|\\?\*\[\]]+", "__", "/".join(opened.model.split("/")[-2:]))
    # Other models and dates of the same output path may be judged in this folder too.
    logs = [judged_log(folder, task_run) for task_run in opened.tasks]
    files = {f"{samples_in}/{path.name}": path for path in sorted(logs) if path.is_file()}
    files |= {f"{opened.model}/{path.name}": path for path in _results(opened, folder)}
    operations = [CommitOperationAdd(path_in_repo=name, path_or_fileobj=path) for name, path in files.items()]
    api = HfApi()
    try:
        api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        api.create_commit(repo, operations, commit_message=f"Judged results of {opened.model}", repo_type="dataset")
    except Exception as fault:  # a network fault is of whatever HTTP library huggingface_hub uses
        reason = " ".join(str(fault).split())
        raise RefusedError(
            f"the hub refused {repo}: {reason} Check the network, HF_TOKEN and its write access"
        ) from fault


def push_to_wandb(opened: Run, folder: Path, wandb_args: str) -> None:
    """Log the judged results through the host's own logger, one W&B run a results file.

    Raises:
        UsageError: lmms-eval or wandb is not installed.
    """
    try:
        importlib.import_module("wandb")
        from lmms_eval.loggers import WandbLogger
    except ImportError as fault:
        raise UsageError(f"--wandb-args needs lmms-eval and wandb ({fault}); pip install lmms-eval wandb") from fault
    for path in _results(opened, folder):
        logger: Any = WandbLogger(**dict(pair.partition("=")[::2] for pair in wandb_args.split(",")))
        logger.post_init(read_object(path))
        logger.log_eval_result()
        logger.run.finish()


def _results(opened: Run, folder: Path) -> list[Path]:
    """The judged results files of the run's dates."""
    dates = sorted({task_run.date for task_run in opened.tasks})
    return [path for path in (folder / f"{date}_results.json" for date in dates) if path.is_file()]
