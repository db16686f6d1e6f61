"""Tasks that new-task makes, run by the real lmms-eval against a scripted server and with stored answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from support.chat_server import Call, ChatServer, Reply
from support.host import read_results, run

from datbench.unified.tables import write_records

ROWS: dict[str, list[dict[str, Any]]] = {
    "u_qa": [
        {"q": "Capital of France?", "target": "Paris"},
        {"q": "Half of one?", "target": "$\\frac{1}{2}$"},
        {"q": "007?", "target": None},
    ],
    "u_ma": [{"q": "Colour of the sky?", "targets": ["blue", "azure"]}, {"q": "Colour of grass?", "targets": "red"}],
    "u_choice": [
        {"q": "2 + 2?", "choices": ["5", "4"], "label": "B"},
        {"q": "1 + 1?", "choices": ["2", "3"], "label": 0},
    ],
    "u_set": [{"q": "Even?", "choices": ["1", "2", "4"], "labels": [1, 2]}],
}
OPTIONS = {
    "u_qa": ["--eval-type", "key2_qa", "--target", "target"],
    "u_ma": ["--eval-type", "key2_q_ma", "--targets", "targets"],
    "u_choice": ["--eval-type", "key3_q_choices_a", "--choices", "choices", "--label", "label", "--image", "picture"],
    "u_set": ["--eval-type", "key3_q_choices_as", "--choices", "choices", "--labels", "labels"],
}
ANSWERS = {
    "Capital of France?": "<think>Rome?</think>It is Paris.",
    "Half of one?": "\\boxed{0.5}",
    "007?": "x",
    "Colour of the sky?": "azure",
    "Colour of grass?": "green",
    "2 + 2?": "B",
    "1 + 1?": "B",
    "Even?": '{"choices": ["B"]}',
}
SCORES = {"u_qa": 1.0, "u_ma": 0.5, "u_choice": 0.5, "u_set": 2 / 3}


def answer(call: Call) -> Reply:
    question = call.text.split("Question:\n")[1].split("\n")[0]
    return Reply(ANSWERS[question])


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unified tasks")
    Image.new("RGB", (8, 6), "red").save(folder / "red.png")
    for name, rows in ROWS.items():
        content = [{**row, "picture": "red.png" if index == 0 else None} for index, row in enumerate(rows)]
        write_records(folder / f"{name}.jsonl", content)
        done = run(
            "datbench-tasks",
            "new-task",
            "--data",
            f"{name}.jsonl",
            "--name",
            name,
            "--question",
            "q",
            *OPTIONS[name],
            cwd=folder,
        )
        assert done.returncode == 0, done.stderr
        assert f"lmms-eval --model MODEL --model_args ARGUMENTS --tasks {name} --include_path tasks " in done.stdout
    return folder


def evaluate(tasks: Path, out: str, names: str, model: str, model_args: str) -> Path:
    done = run(
        "lmms-eval",
        "--model",
        model,
        "--model_args",
        model_args,
        "--tasks",
        names,
        "--include_path",
        "tasks",
        "--batch_size",
        1,
        "--log_samples",
        "--output_path",
        out,
        cwd=tasks,
    )
    assert (tasks / out).is_dir(), done.stdout + done.stderr
    return tasks / out


@pytest.fixture(scope="module")
def served(tasks: Path) -> tuple[Path, ChatServer]:
    with ChatServer(answer) as server:
        out = evaluate(
            tasks,
            "served",
            ",".join(ROWS),
            "openai",
            f"model_version=scripted,base_url={server.base_url},num_concurrent=4,api_key=k",
        )
    return out, server


def samples(out: Path, task: str) -> list[dict[str, Any]]:
    (log,) = out.rglob(f"[0-9]*_samples_{task}.jsonl")
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()]


def test_scores(served: tuple[Path, ChatServer]) -> None:
    results = read_results(served[0])["results"]
    assert {task: results[task]["unified_score,none"] for task in ROWS} == pytest.approx(SCORES)
    assert results["u_qa"]["unified_invalid,none"] == 1.0
    assert results["u_set"]["unified_jaccard,none"] == 0.5


def test_records(served: tuple[Path, ChatServer]) -> None:
    records = {line["unified_record"]["id"]: line["unified_record"] for line in samples(served[0], "u_qa")}
    assert records["1"] == {
        "id": "1",
        "valid": True,
        "error": "",
        "score": 1.0,
        "pred": "0.5",
        "output": "\\boxed{0.5}",
    }
    assert records["2"] == {"id": "2", "valid": False, "error": "empty_reference", "output": "x"}


def test_an_image_column_goes_in_as_visuals(served: tuple[Path, ChatServer]) -> None:
    images = {call.text.split("Question:\n")[1].split("\n")[0]: len(call.images) for call in served[1].calls}
    assert images == {question: int(question == "2 + 2?") for question in ANSWERS}


def test_stored_answers_give_the_same_scores(served: tuple[Path, ChatServer], tasks: Path) -> None:
    (log,) = served[0].rglob("[0-9]*_samples_u_qa.jsonl")
    out = evaluate(tasks, "replayed", "u_qa", "datbench_replay", f"responses={log},strict=True")
    assert read_results(out)["results"]["u_qa"]["unified_score,none"] == SCORES["u_qa"]
    assert [line["unified_record"] for line in samples(out, "u_qa")] == [
        line["unified_record"] for line in samples(served[0], "u_qa")
    ]


def test_a_formula_task_without_math_verify_stops_before_inference(tasks: Path) -> None:
    with ChatServer(answer) as server:
        done = run(
            "lmms-eval",
            "--model",
            "openai",
            "--model_args",
            f"model_version=m,base_url={server.base_url},api_key=k",
            "--tasks",
            "u_qa",
            "--include_path",
            "tasks",
            "--batch_size",
            1,
            "--output_path",
            "none",
            cwd=tasks,
            DATBENCH_MATH_PYTHON="/nonexistent",
        )
        assert server.calls == []
    assert "math-verify[antlr4_13_2]" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--name", "mme", *OPTIONS["u_qa"]], "has a task, group or tag of that name"),
        (["--name", "datbench_x", *OPTIONS["u_qa"]], "are ours"),
        (["--name", "a/b", *OPTIONS["u_qa"]], "use letters, digits"),
        (["--name", "x", "--eval-type", "key3_q_a_rejected"], "Use --host lm-eval"),
        (["--name", "x", "--eval-type", "key1_text_score"], "Use --host lm-eval"),
        (["--name", "x", "--eval-type", "key2_qa"], "has no column 'target'"),
    ],
)
def test_what_cannot_be_made_is_refused(tasks: Path, options: list[str], problem: str) -> None:
    done = run(
        "datbench-tasks",
        "new-task",
        "--data",
        "u_ma.jsonl" if "column" in problem else "u_qa.jsonl",
        "--question",
        "q",
        *options,
        cwd=tasks,
    )
    assert done.returncode in (2, 5)
    assert problem in done.stderr
