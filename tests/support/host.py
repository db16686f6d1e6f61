"""Running lmms-eval as its users do, and the data and answers that its tests share."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.chat_server import Call, Reply

from datbench.capabilities import CAPABILITIES
from datbench_tasks.dataset_source import load_capability, sample_file

BIN = Path(sys.executable).parent
GROUP = "datbench_sample"
QUIET = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OPENAI_API_KEY": "unused"}


def start(
    *command: object, cwd: Path, setup: Callable[[], None] | None = None, **environment: str
) -> subprocess.Popen[str]:
    """Start a command of this venv, with no network to the hub unless the environment says otherwise.

    ``setup`` is called in the new process before the command takes its place.
    """
    program, *arguments = map(str, command)
    return subprocess.Popen(
        [str(BIN / program), *arguments], cwd=cwd, env={**os.environ, **QUIET, **environment},
        preexec_fn=setup,  # noqa: PLW1509 - it asks the system for limits and takes no lock
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
    )  # fmt: skip


def run(
    *command: object, cwd: Path, setup: Callable[[], None] | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Start a command and wait for its end."""
    process = start(*command, cwd=cwd, setup=setup, **environment)
    try:
        output, errors = process.communicate(timeout=900)
    finally:
        process.kill()
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def sample_rows() -> list[dict[str, Any]]:
    """All rows of the bundled sample, without images."""
    rows = []
    for capability in CAPABILITIES:
        dataset = load_capability(capability, "sample").remove_columns(["image"])
        rows.extend(dataset)
    return rows


def answer_by_gold(call: Call) -> Reply:
    """Answers most prompts of the bundled sample right, in the shapes that models use; others with prose."""
    for row in _ROWS:
        form = row["prompt_format"]
        if f"{form['prefix']}{row['question']}{form['suffix']}" == call.text:
            shape = len(row["question"]) % 3
            answer = row["answer"]
            return Reply((answer, f"<think>hm</think>\nAnswer: {answer}", f"I see it.\n\\boxed{{{answer}}}")[shape])
    return Reply("I do not know.")


_ROWS = sample_rows()


def read_records(run_directory: Path, task: str) -> list[dict[str, Any]]:
    """The records in the host's sample log of a task, in the order of the log."""
    (log,) = run_directory.rglob(f"[0-9]*_samples_{task}.jsonl")
    return [json.loads(line)["datbench_record"] for line in log.read_text("utf-8").splitlines()]


def read_results(run_directory: Path) -> dict[str, Any]:
    """The host's results file."""
    (file,) = run_directory.rglob("[0-9]*_results.json")
    return json.loads(file.read_text("utf-8"))


def hub_layout(folder: Path) -> Path:
    """A folder that looks as a clone of the dataset's repository does, filled with the bundled sample."""
    configs = ["---", "configs:"]
    for capability in CAPABILITIES:
        (folder / capability).mkdir(parents=True)
        shutil.copy(sample_file(capability), folder / capability / "test-00000-of-00001.parquet")
        configs += [
            f"- config_name: {capability}",
            "  data_files:",
            "  - split: test",
            f"    path: {capability}/test-*",
        ]
    (folder / "README.md").write_text("\n".join([*configs, "---", ""]))
    return folder
