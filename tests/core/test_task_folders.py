"""Packaged and generated task YAMLs."""

import pytest
import yaml

from datbench import CAPABILITIES
from datbench_tasks.cli import main
from datbench_tasks.task_folders import HUB_TASKS, lmms_eval_folders, packaged_folder


class Loader(yaml.SafeLoader):
    """Reads the hosts' ``!function`` as its text."""


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def read(path):
    content = yaml.load(path.read_text("utf-8"), Loader)  # a SafeLoader
    base = content.pop("include", None)
    return {**(read(path.parent / base) if base else {}), **content}


@pytest.mark.parametrize("folder", ["datbench", "datbench_full", "datbench_blind", "datbench_sample"])
@pytest.mark.parametrize("capability", CAPABILITIES)
def test_every_task_says_what_it_reads(folder, capability):
    task = read(packaged_folder() / "lmms_eval" / folder / f"{folder}_{capability}.yaml")
    assert task["task"] == f"{folder}_{capability}"
    assert task["metadata"]["capability"] == capability
    assert task["generation_kwargs"]["until"] == [] and task["reasoning_tags"] == "none"
    assert task["num_fewshot"] == 0
    assert task["metric_list"][0]["metric"] == "datbench_score"
    if folder != "datbench_sample":
        assert task["dataset_name"] == capability
        assert task["dataset_path"] == task["metadata"]["dataset"] == f"DatologyAI/{HUB_TASKS[folder]}"


@pytest.fixture
def variables(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("DATBENCH_DATA", raising=False)
    monkeypatch.delenv("DATBENCH_REVISION", raising=False)
    return monkeypatch


def test_without_variables_there_is_the_packaged_folder_alone(variables):
    assert lmms_eval_folders() == [packaged_folder() / "lmms_eval"]


def test_a_revision_pins_the_hub_tasks(variables):
    variables.setenv("DATBENCH_REVISION", "abc: [1]")
    generated, packaged = lmms_eval_folders()
    for task in HUB_TASKS:
        content = yaml.safe_load((generated / f"{task}_math.yaml").read_text())
        assert content["dataset_kwargs"] == {"revision": "abc: [1]"}
        assert content["include"] == str(packaged / task / f"{task}_math.yaml")


def test_local_files_are_named_one_by_one(variables, tmp_path):
    math = tmp_path / "my data" / "DatBench" / "math"
    math.mkdir(parents=True)
    for name in ("test-00001.parquet", "test-00000.parquet"):
        (math / name).touch()
    chart = tmp_path / "my data" / "DatBench" / "chart"
    chart.mkdir()
    (chart / "dataset_dict.json").touch()
    variables.setenv("DATBENCH_DATA", str(tmp_path / "my data"))
    generated = lmms_eval_folders()[0]
    read_math, read_chart, read_table = (
        yaml.safe_load((generated / f"datbench_{name}.yaml").read_text()) for name in ("math", "chart", "table")
    )
    files = [str(math / f"test-0000{number}.parquet") for number in (0, 1)]
    assert read_math["dataset_path"] == "parquet"
    assert read_math["dataset_kwargs"] == {"data_files": {"test": files}}
    assert (read_chart["dataset_path"], read_chart["dataset_kwargs"]) == (str(chart), {"load_from_disk": True})
    assert read_table["dataset_path"].endswith("DatBench/table")


def test_the_generated_folder_is_named_by_its_content(variables):
    variables.setenv("DATBENCH_REVISION", "a")
    first = lmms_eval_folders()[0]
    assert lmms_eval_folders()[0] == first
    variables.setenv("DATBENCH_REVISION", "b")
    assert lmms_eval_folders()[0] != first


def test_path_says_what_the_second_hosts_tasks_do_not_follow(variables, capsys):
    assert main(["path", "--lm-eval"]) == 0
    assert capsys.readouterr().err == ""
    variables.setenv("DATBENCH_DATA", "/data")
    assert main(["path", "--lm-eval"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{packaged_folder() / 'lm_eval'}\n"
    assert "DATBENCH_DATA is not followed" in printed.err
