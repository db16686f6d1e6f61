"""``datbench-tasks doctor``: each fault is named with its remedy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from datbench import CAPABILITIES


def distribution(folder, name, version="1.0", **files):
    """Put the metadata of a made-up distribution where the interpreter looks."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    for file, text in files.items():
        (info / f"{file}.txt").write_text(text)


@pytest.fixture
def doctor(tmp_path):
    def examine(*options, **environment):
        done = subprocess.run(
            [sys.executable, "-m", "datbench_tasks.cli", "doctor", *options],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path / "site"), **environment},
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout

    return examine


def test_another_owner_of_the_import_name_is_named(doctor, tmp_path):
    distribution(tmp_path / "site", "datbench", top_level="datbench\n")
    status, said = doctor("--no-network")
    assert status == 3
    assert "is also owned by datbench" in said and "pip uninstall datbench" in said


def test_a_host_of_another_version_is_named(doctor, tmp_path):
    distribution(tmp_path / "site", "lmms-eval", "0.6.1")
    (tmp_path / "site" / "lmms_eval.py").write_text("")
    status, said = doctor("--no-network")
    assert status == 3
    assert "0.6.1 is not supported; pip install 'lmms-eval>=0.7,<0.8'" in said


def test_a_plugin_that_takes_others_with_it_is_named(doctor, tmp_path):
    distribution(tmp_path / "site", "lmms-eval", "0.7.3")
    distribution(tmp_path / "site", "rival-plugin", entry_points="[lmms_eval.models]\nrival = rival_plugin:manifests\n")
    (tmp_path / "site" / "rival_plugin.py").write_text("raise RuntimeError('broken on purpose')\n")
    status, said = doctor("--no-network")
    assert status == 3
    assert "plugin rival" in said and "broken on purpose" in said and "update or uninstall rival-plugin" in said


def test_local_data_is_looked_through(doctor, tmp_path):
    for capability in CAPABILITIES[1:]:
        folder = tmp_path / "data" / "DatBench" / capability
        folder.mkdir(parents=True)
        (folder / "test-0.parquet").touch()
    status, said = doctor(DATBENCH_DATA=str(tmp_path / "data"))
    assert status == 3 and f"lacks DatBench/{{{CAPABILITIES[0]}}}" in said
    (tmp_path / "data" / "DatBench" / CAPABILITIES[0]).mkdir()
    (tmp_path / "data" / "DatBench" / CAPABILITIES[0] / "dataset_dict.json").touch()
    status, said = doctor(DATBENCH_DATA=str(tmp_path / "data"))
    assert f"ok          data                 DATBENCH_DATA={tmp_path / 'data'}" in said


def test_a_hub_that_cannot_be_reached_is_said(doctor):
    status, said = doctor(HF_ENDPOINT="http://127.0.0.1:9", HF_HUB_OFFLINE="0")
    assert status in (3, 4)
    assert "UNREACHABLE data" in said and "DATBENCH_DATA" in said


def test_without_network_on_purpose_the_hub_is_not_missed(doctor):
    status, said = doctor(HF_HUB_OFFLINE="1")
    assert "note        data" in said and "HF_HUB_OFFLINE" in said and "UNREACHABLE" not in said
    assert status != 4


def test_a_folder_that_shadows_the_hub_is_noted(doctor, tmp_path):
    (tmp_path / "DatologyAI" / "DatBench").mkdir(parents=True)
    _, said = doctor("--no-network")
    assert f"{Path('DatologyAI/DatBench')} is read instead of the hub" in said


def test_what_formula_answers_lack_is_named(doctor):
    _, said = doctor("--no-network", DATBENCH_MATH_PYTHON="/nonexistent")
    assert "formula answers      off: " in said and "math-venv/bin/pip install" in said
