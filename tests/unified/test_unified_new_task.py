"""What new-task writes, and the hooks of its tasks, without a host."""

from __future__ import annotations

import io
import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from datbench.unified.tables import read_records, write_records
from datbench_tasks.cli import main
from datbench_tasks.errors import DONE, UNREADABLE, USAGE
from datbench_tasks.unified import hooks
from datbench_tasks.unified.new_task import HOSTS


def document(eval_type: str, cells: dict[str, Any], **settings: Any) -> dict[str, Any]:
    return {"id": "1", "cells": json.dumps(cells), "settings": json.dumps({"eval_type": eval_type, **settings})}


def make(tmp_path: Path, rows: list[dict[str, Any]], *options: str) -> int:
    write_records(tmp_path / "bench.jsonl", rows)
    return main(
        ["new-task", "--data", str(tmp_path / "bench.jsonl"), "--name", "my_bench", "--out", str(tmp_path), *options]
    )


def test_the_folder_holds_all_text(tmp_path: Path) -> None:
    rows = [{"question": "2024-01-01", "choices": ["a", "b"], "label": "007", "n": 1}]
    assert make(tmp_path, rows, "--eval-type", "key3_q_choices_a") == DONE
    (row,) = read_records(tmp_path / "my_bench" / "my_bench.parquet")
    assert row["id"] == "0"
    assert json.loads(row["cells"]) == {"question": "2024-01-01", "choices": ["a", "b"], "label": "007"}
    assert json.loads(row["settings"]) == {"eval_type": "key3_q_choices_a", "strict": False, "label_base": None}
    assert "data_files: {test: my_bench.parquet}" in (tmp_path / "my_bench" / "my_bench.yaml").read_text()


def test_the_command_that_runs_the_task_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "my tasks"
    rows = [{"question": "q", "target": "t"}]
    for host, program in (("lmms-eval", "lmms-eval"), ("lm-eval", "lm_eval")):
        assert make(tmp_path, rows, "--eval-type", "key2_qa", "--host", host, "--out", str(out)) == DONE
        expected = f"{program} --model MODEL --model_args ARGUMENTS --tasks my_bench --include_path '{out}' "
        assert f"run it with: {expected}" in capsys.readouterr().out


def test_strict_settings_hold_the_base_of_labels(tmp_path: Path) -> None:
    rows = [{"question": "q", "choices": ["a", "b"], "labels": [1]}, {"question": "q", "choices": ["a"], "labels": [1]}]
    assert make(tmp_path, rows, "--eval-type", "key3_q_choices_as", "--strict", "--metric", "jaccard") == DONE
    settings = json.loads(next(read_records(tmp_path / "my_bench" / "my_bench.parquet"))["settings"])
    assert settings == {"eval_type": "key3_q_choices_as", "strict": True, "label_base": 1, "metric": "jaccard"}
    text = (tmp_path / "my_bench" / "my_bench.yaml").read_text()
    assert "metric: unified_jaccard" in text


@pytest.mark.parametrize("eval_type", HOSTS["lm-eval"].templates)
def test_lm_eval_gets_an_absolute_path_in_every_type(tmp_path: Path, eval_type: str) -> None:
    row = dict.fromkeys(("text", "question", "target", "targets", "choices", "label", "labels", "better", "rejected"))
    assert make(tmp_path, [row], "--eval-type", eval_type, "--host", "lm-eval") == DONE
    text = (tmp_path / "my_bench" / "my_bench.yaml").read_text()
    assert f'"{tmp_path.resolve()}/my_bench/my_bench.parquet"' in text
    assert "$" not in text


def test_images_are_packed(tmp_path: Path) -> None:
    Image.new("RGB", (4, 3), "blue").save(tmp_path / "i.png")
    rows = [{"question": "q", "targets": ["a"], "pic": "i.png"}, {"question": "q", "targets": ["a"], "pic": None}]
    assert make(tmp_path, rows, "--eval-type", "key2_q_ma", "--image", "pic") == DONE
    packed = list(read_records(tmp_path / "my_bench" / "my_bench.parquet"))
    (image,) = hooks.doc_to_visual(packed[0])
    assert (image.size, image.mode) == ((4, 3), "RGB")
    assert hooks.doc_to_visual(packed[1]) == []


@pytest.mark.parametrize(
    ("rows", "options", "status", "problem"),
    [
        (
            [{"question": "q"}],
            ["--eval-type", "key2_qa"],
            UNREADABLE,
            "no column 'target'; it has question (--question COLUMN",
        ),
        ([], ["--eval-type", "key2_qa"], UNREADABLE, "holds no row"),
        (
            [{"question": "q", "target": "t", "pic": "no.png"}],
            ["--eval-type", "key2_qa", "--image", "pic"],
            UNREADABLE,
            "row 1, column 'pic': there is no file",
        ),
        (
            [{"question": "q", "target": "t", "pic": 5}],
            ["--eval-type", "key2_qa", "--image", "pic"],
            UNREADABLE,
            "neither a path nor the bytes",
        ),
        ([{"text": "q"}], ["--eval-type", "key1_text_score"], USAGE, "Use --host lm-eval"),
        ([{"text": "q"}], ["--eval-type", "key2_qa", "--name", "../x"], USAGE, "use letters"),
        ([{"text": "q"}], ["--eval-type", "key2_qa", "--label-base", "1"], USAGE, "goes with --strict"),
    ],
)
def test_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: Any, options: list[str], *, status: int,
                problem: str) -> None:  # fmt: skip
    assert make(tmp_path, rows, *options) == status
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "my_bench" / "my_bench.parquet").exists()


def test_prompts() -> None:
    cells = {"question": " Which? ", "choices": ["x", "y"], "label": 0, "context": ["c1", "c2"]}
    choice = document("key3_q_choices_a", cells)
    exact = "Context:\nc1\nc2\n\nQuestion:\nWhich?\n\nChoices:\nA. x\nB. y\n\nAnswer:"
    assert hooks.doc_to_text(choice) == f"Choose the one right option. Reply with its letter only.\n\n{exact}"
    assert hooks.doc_to_text(choice, {"pre_prompt": "<", "post_prompt": ">"}).endswith("Answer:>")
    assert hooks.doc_to_continued_text(choice) == exact
    assert hooks.doc_to_choice(choice) == [" x", " y"]
    assert hooks.doc_to_index(choice) == 0
    assert hooks.doc_to_text(document("key2_qa", {"question": "q", "target": "t"})) == "Question:\nq\n\nAnswer:"
    image = io.BytesIO()
    Image.new("L", (2, 2)).save(image, "PNG")
    pictured = {**choice, "image": {"bytes": image.getvalue(), "path": None}}
    assert hooks.doc_to_text_with_image(pictured).startswith("<image>\n")
    assert not hooks.doc_to_text_with_image(choice).startswith("<image>")


def test_rows_that_cannot_be_scored_still_have_one_request() -> None:
    broken = document("key3_q_choices_a", {"question": "q", "choices": None, "label": 0})
    assert hooks.doc_to_choice(broken) == [" -"]
    assert hooks.doc_to_index(broken) == 0
    values = hooks.process_likelihoods(broken, [(-1.0, True)])
    assert values["unified_score"] is None
    assert values["unified_record"] == {"id": "1", "valid": False, "error": "empty_choices"}


@pytest.mark.parametrize(
    ("results", "score"),
    [(["B"], 1.0), (["<think>B</think>A"], 0.0), ([["B"]], 1.0), ([None], None), ([], None), (["\ud835 B"], 1.0)],
)
def test_generated_answers(results: list[Any], score: float | None) -> None:
    doc = document("key3_q_choices_a", {"question": "q", "choices": ["x", "y"], "label": "B"})
    values = hooks.process_generated(doc, results)
    assert values["unified_score"] == score
    assert values["unified_invalid"] == float(score is None)
    json.dumps(values, ensure_ascii=False).encode("utf-8")


def test_a_fault_of_our_own_loses_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datbench.unified.formula._shared", {})
    monkeypatch.setenv("DATBENCH_MATH_PYTHON", "/nonexistent")
    values = hooks.process_generated(document("key2_qa", {"question": "q", "target": "$x$"}), ["\\boxed{\\sqrt{2}}"])
    assert values["unified_record"]["error"] == "scorer_error: MathVerifyError"


def test_set_metrics_are_metrics_of_their_own() -> None:
    doc = document("key3_q_choices_as", {"question": "q", "choices": ["x", "y", "z"], "labels": [0, 1]})
    values = hooks.process_generated(doc, ['{"choices": ["A"]}'])
    assert (values["unified_score"], values["unified_jaccard"], values["unified_exact_set"]) == (2 / 3, 0.5, 0.0)
    assert hooks.process_generated(doc, ["?"])["unified_jaccard"] is None


def test_likelihoods_and_rolling_sums() -> None:
    pair = document("key3_q_a_rejected", {"question": "q", "better": "a", "rejected": "b"})
    assert hooks.doc_to_choice(pair) == [" a", " b"]
    assert hooks.process_likelihoods(pair, [(-1.0, False), (-2.0, True)])["unified_score"] == 1.0
    assert hooks.process_likelihoods(pair, [(-1.0, False), (-1.0, True)])["unified_score"] == 0.0
    text = document("key1_text_score", {"text": "né"})
    assert hooks.no_text(text) == ""
    values = hooks.process_rolling(text, [-3.0])
    assert values["unified_byte_perplexity"] == pytest.approx(2.718281828)
    assert hooks.process_rolling(document("key1_text_score", {"text": None}), [0.0])["unified_byte_perplexity"] is None


def test_aggregations() -> None:
    assert hooks.total([1.0, 0.0, 1.0]) == 2.0
    assert hooks.valid_share([{"valid": True}, {"valid": False}]) == 0.5


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", ["null", "yes", "On", "true"])
def test_a_name_that_means_something_in_yaml_stays_a_name(tmp_path: Path, name: str, host: str) -> None:
    rows = [{"question": "q", "target": "t"}]
    assert make(tmp_path, rows, "--eval-type", "key2_qa", "--host", host, "--name", name) == DONE
    assert f'task: "{name}"' in (tmp_path / name / f"{name}.yaml").read_text()


def test_dates_of_a_parquet_table_become_text(tmp_path: Path) -> None:
    write_records(tmp_path / "bench.parquet", [{"question": datetime(2024, 1, 2), "target": [Decimal("1.5")]}])
    command = ["new-task", "--data", str(tmp_path / "bench.parquet"), "--name", "dates", "--out", str(tmp_path)]
    assert main([*command, "--eval-type", "key2_qa"]) == DONE
    (row,) = read_records(tmp_path / "dates" / "dates.parquet")
    assert json.loads(row["cells"]) == {"question": "2024-01-02 00:00:00", "target": ["1.5"]}


def test_no_task_is_made_where_the_host_would_take_its_folder_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_records(tmp_path / "bench.jsonl", [{"question": "1 + 1?", "target": "2"}])
    monkeypatch.chdir(tmp_path)
    command = ["new-task", "--data", "bench.jsonl", "--name", "sums", "--eval-type", "key2_qa"]
    assert main([*command, "--out", "."]) == USAGE
    assert "would read ./sums" in capsys.readouterr().err
    assert main(command) == DONE
    assert (tmp_path / "tasks" / "sums" / "sums.yaml").is_file()
