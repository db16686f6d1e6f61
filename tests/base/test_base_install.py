"""The base install from a wheel: scores every source dataset, holds the task YAMLs, and has no torch."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.vectors import dataset_names, read_cases

import datbench
import datbench_tasks
from datbench.capabilities import CAPABILITIES


def test_it_is_the_installed_package_and_not_the_checkout():
    for module in (datbench, datbench_tasks):
        assert Path(sys.prefix).resolve() in Path(module.__file__).resolve().parents


@pytest.mark.parametrize("name", ["torch", "transformers", "lmms_eval", "lm_eval"])
def test_nothing_heavy_is_installed(name):
    assert importlib.util.find_spec(name) is None


@pytest.mark.parametrize("dataset", dataset_names())
def test_a_source_dataset_scores(dataset):
    case = next(case for case in read_cases(dataset) if "score" in case or "raises" in case)
    details = datbench.score_sample(case["row"], case["output"])
    assert details["score"] == pytest.approx(case.get("score", 0.0))


def test_the_task_folder_is_inside_the_package():
    done = subprocess.run(
        [Path(sys.prefix) / "bin" / "datbench-tasks", "path"], capture_output=True, text=True, check=True
    )
    folder = Path(done.stdout.strip())
    assert Path(datbench_tasks.__file__).parent in folder.parents
    for capability in CAPABILITIES:
        assert (folder / "datbench" / f"datbench_{capability}.yaml").is_file()
        assert (folder / "datbench_sample" / "data" / f"{capability}.parquet").is_file()


def test_stored_responses_are_scored_without_a_host(tmp_path):
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"id": "db_math_000001", "raw_output": "<think>so</think>70"}) + "\n")
    command = [
        Path(sys.prefix) / "bin" / "datbench-tasks",
        "score",
        answers,
        "--capability",
        "math",
        "--data",
        "sample",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "100.00%" in done.stdout
