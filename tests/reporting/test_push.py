"""Judged results on the hub, under the host's names."""

from __future__ import annotations

import argparse
from pathlib import Path

import huggingface_hub.constants
import pytest
from support.synthetic_run import make_run
from support.upload_hub import UploadHub

from datbench_tasks.errors import InputError, RefusedError, UsageError
from datbench_tasks.reporting import push


def push_run(directory: Path, *more: str) -> int:
    parser = argparse.ArgumentParser()
    push.add_arguments(parser)
    return push.run(parser.parse_args([str(directory), *more]))


@pytest.fixture
def environment(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_test_token")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    return monkeypatch


def test_judged_files_are_committed_under_the_names_of_the_host(tmp_path, environment, capsys):
    directory = make_run(tmp_path, samples=4, capabilities=["math", "chart"], judged=True)
    with UploadHub() as hub:
        environment.setattr(huggingface_hub.constants, "ENDPOINT", hub.endpoint)
        assert push_run(directory, "--hub-org", "team") == 0
    folder = directory / "judge" / "judge-30b"
    expected = {
        f"team/lmms-eval-results-private/acme__vlm-7b/{path.name}": path.read_bytes() for path in folder.glob("*.jsonl")
    }
    results = folder / "20260115_120000_results.json"
    expected[f"team/lmms-eval-results-private/acme/vlm-7b/{results.name}"] = results.read_bytes()
    assert hub.files == expected
    assert "private" in (hub.created[0].get("visibility"), *hub.created[0])
    assert "hf_test_token" not in "".join(capsys.readouterr())


def test_logs_of_another_run_in_the_folder_stay_here(tmp_path, environment):
    directory = make_run(tmp_path, samples=2, capabilities=["math"], judged=True)
    other = directory / "judge" / "judge-30b" / "20250101_000000_samples_datbench_math.jsonl"
    other.write_text("{}\n")
    with UploadHub() as hub:
        environment.setattr(huggingface_hub.constants, "ENDPOINT", hub.endpoint)
        assert push_run(directory, "--hub-org", "team") == 0
    assert hub.files and not any(other.name in name for name in hub.files)


def test_a_public_repository_is_asked_for_by_name(tmp_path, environment):
    directory = make_run(tmp_path, samples=2, capabilities=["math"], judged=True)
    with UploadHub() as hub:
        environment.setattr(huggingface_hub.constants, "ENDPOINT", hub.endpoint)
        assert push_run(directory, "--hub-org", "team", "--hub-repo", "numbers", "--public") == 0
    assert {name.split("/")[1] for name in hub.files} == {"numbers"}


def test_a_refusal_is_one_line(tmp_path, environment):
    directory = make_run(tmp_path, samples=2, capabilities=["math"], judged=True)
    with UploadHub(refuse=True) as hub:
        environment.setattr(huggingface_hub.constants, "ENDPOINT", hub.endpoint)
        with pytest.raises(RefusedError, match=r"the hub refused team/lmms-eval-results-private: .*HF_TOKEN"):
            push_run(directory, "--hub-org", "team")


def test_a_hub_out_of_reach_is_one_line(tmp_path, environment):
    directory = make_run(tmp_path, samples=2, capabilities=["math"], judged=True)
    with UploadHub() as hub:
        environment.setattr(huggingface_hub.constants, "ENDPOINT", hub.endpoint)
    with pytest.raises(RefusedError, match="Check the network"):
        push_run(directory, "--hub-org", "team")


def test_what_cannot_be_pushed(tmp_path):
    directory = make_run(tmp_path, samples=2, capabilities=["math"])
    with pytest.raises(UsageError, match="say where to push"):
        push_run(directory)
    with pytest.raises(InputError, match="no judge pass; run datbench-tasks judge first"):
        push_run(directory, "--hub-org", "team")
