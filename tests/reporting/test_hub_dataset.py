"""Reports and verification against the dataset on a hub, at the recorded revision."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from datasets import Dataset
from PIL import Image
from support.fake_hub import COMMIT, FakeHub
from support.synthetic_run import DATASET_ID, REVISION, make_run, rows

from datbench.jsonio import write_json
from datbench.schema import features


def command(hub: str, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own: the hub's client reads its settings when it is imported."""
    environment = {**os.environ, "HF_ENDPOINT": hub, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0"}
    return subprocess.run(
        [sys.executable, "-m", "datbench_tasks.cli", *arguments],
        env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


@pytest.fixture
def repository(tmp_path) -> Path:
    """The dataset's repository with one capability, each image shared by two rows."""
    folder = tmp_path / "repository"
    (folder / "counting").mkdir(parents=True)
    content = [
        {**row, "image": Image.new("RGB", (8, 8), (10 * (number // 2), 0, 0))}
        for number, row in enumerate(rows("counting", 12))
    ]
    Dataset.from_list(content, features=features()).to_parquet(folder / "counting" / "test-00000-of-00001.parquet")
    configs = [{"config_name": "counting", "data_files": [{"split": "test", "path": "counting/test-*"}]}]
    (folder / "README.md").write_text(f"---\n{yaml.safe_dump({'configs': configs})}---\n")
    return folder


@pytest.fixture
def run_directory(tmp_path) -> Path:
    directory = make_run(tmp_path / "run", samples=12, capabilities=["counting"])
    path = next(directory.glob("*/*_results.json"))
    content = json.loads(path.read_text())
    content["configs"]["datbench_counting"] |= {
        "dataset_path": DATASET_ID, "dataset_name": "counting", "dataset_kwargs": {"revision": COMMIT},
        "test_split": "test",
    }  # fmt: skip
    write_json(path, content)
    return directory


def test_a_run_is_reported_submitted_and_verified_against_the_hub(repository, run_directory, tmp_path):
    assert REVISION == COMMIT
    bundle = tmp_path / "bundle"
    report = ["report", str(run_directory)]
    with FakeHub({DATASET_ID: repository}) as hub:
        before = command(hub.endpoint, tmp_path / "home", *report)
        assert "count only" in before.stdout
        assert hub.requests == []
        loaded = command(hub.endpoint, tmp_path / "home", *report, "--dataset", "hub")
        assert loaded.returncode == 0, loaded.stderr
        assert "drawn by image or document" in loaded.stdout
        asked = len(hub.requests)
        cached = command(hub.endpoint, tmp_path / "home", *report)
        assert "drawn by image or document" in cached.stdout
        assert len(hub.requests) == asked
        submit = ["--capabilities", "counting", "--out", str(bundle), "--model-name", "acme/vlm", "--without-gold"]
        assert command(hub.endpoint, tmp_path / "home", "submit", str(run_directory), *submit).returncode == 0
        verified = command(hub.endpoint, tmp_path / "other", "verify", str(bundle))
        passed = f"pass: 12 samples of counting, against {DATASET_ID} at revision {COMMIT}\n"
        assert verified.stdout.startswith(passed)
    unreachable = command(hub.endpoint, tmp_path / "third", "verify", str(bundle))
    assert unreachable.returncode == 4
    assert "cannot be loaded; name a local copy with --data, or use --offline" in unreachable.stderr


def test_the_newest_commit_in_the_cache_says_nothing_of_a_run_of_another(repository, run_directory, tmp_path):
    report = ["report", str(run_directory)]
    with FakeHub({DATASET_ID: repository}) as hub:
        command(hub.endpoint, tmp_path / "home", *report, "--dataset", "hub")
        assert "count only" not in command(hub.endpoint, tmp_path / "home", *report).stdout
        log = next(run_directory.glob("*/*_samples_*.jsonl"))
        log.write_text(log.read_text().replace(COMMIT, "f" * 40))
        for source in ("cached", "hub"):
            found = command(hub.endpoint, tmp_path / "home", *report, "--dataset", source)
            assert found.returncode == 0, found.stderr
            assert "count only" in found.stdout
