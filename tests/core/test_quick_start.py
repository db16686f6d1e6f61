"""The Quick Start of the evaluation library's documentation, word for word, on the bundled sample."""

import json
from pathlib import Path

import datasets
import pytest

from datbench_tasks.dataset_source import load_capability

QUICK_START = (Path(__file__).parent / "quick_start.txt").read_text("utf-8")


@pytest.mark.parametrize("capability", ["math", "chart", "table"])
def test_quick_start_runs_verbatim(capability, monkeypatch, tmp_path, capsys):
    def load_dataset(path, name, split):
        assert (path, split) == ("DatologyAI/DatBench", "test")
        return load_capability(capability, "sample")

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    monkeypatch.chdir(tmp_path)
    names = {"model_output": "7", "judge_output": '{"answer": true}'}
    code = QUICK_START.replace('capability = "math"', f'capability = "{capability}"')
    exec(compile(code, "quick_start.txt", "exec"), names)  # the document's own program
    saved = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert set(saved) == {"summary", "results"}
    assert saved["summary"]["judge_samples"] > 0 and saved["summary"]["judge_accuracy"] == 1.0
    assert "Accuracy: " in capsys.readouterr().out
