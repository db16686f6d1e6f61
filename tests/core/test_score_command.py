"""``datbench-tasks score`` and the reading of stored responses."""

import json

import pytest
from datasets import DatasetDict

from datbench import DatBenchReport
from datbench_tasks import dataset_source
from datbench_tasks.cli import main
from datbench_tasks.dataset_source import load_capability


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return str(path)


@pytest.fixture(scope="module")
def rows():
    return list(load_capability("math", "sample").remove_columns(["image"]))


def score(*arguments):
    return main(["score", *arguments, "--capability", "math", "--data", "sample"])


def test_a_complete_set_scores_and_is_written(tmp_path, rows, capsys):
    answers = write(
        tmp_path / "a.jsonl", [{"id": r["id"], "raw_output": f"<think>?</think>{r['answer']}"} for r in rows]
    )
    verdicts = write(
        tmp_path / "j.jsonl",
        [{"id": r["id"], "raw_judge_output": "answer: true"} for r in rows if r["eval_mode"] == "judge"],
    )
    status = score(answers, "--judge-responses", verdicts, "--out", str(tmp_path / "report.json"))
    assert status == 0
    report = DatBenchReport.load(tmp_path / "report.json")
    assert report.summary["overall_accuracy"] == 1.0
    assert "100.00%" in capsys.readouterr().out


def test_as_is_scores_the_reasoning_too(tmp_path, rows):
    answers = write(tmp_path / "a.jsonl", [{"id": rows[0]["id"], "raw_output": f"{rows[0]['answer']}<think>?</think>"}])
    for option, expected in (([], 1.0), (["--as-is"], 0.0)):
        score(answers, "--out", str(tmp_path / "r.json"), "--allow-partial", *option)
        assert DatBenchReport.load(tmp_path / "r.json").summary["overall_accuracy"] == expected


def test_missing_responses_are_named_and_make_it_partial(tmp_path, rows, capsys):
    answers = write(tmp_path / "a.jsonl", [{"id": rows[0]["id"], "raw_output": "1"}])
    assert score(answers) == 3
    assert rows[1]["id"] in capsys.readouterr().err
    assert score(answers, "--allow-partial") == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"id": "a"}\n', ["line 1", "'raw_output' is missing"]),
        ('{"id": "a", "raw_output": "x"}\n\n{"id": 3, "raw_output": "x"}\n', ["line 3", "'id' must be a text, is int"]),
        ('{"id": "a", "raw_output": "x", "parsed_answer": 5}\n', ["line 1", "'parsed_answer' must be a text, is int"]),
        ("[1]\n", ["line 1", "must be a JSON object"]),
        ("{nope\n", ["line 1", "no JSON"]),
        ("[" * 100_000 + "\n", ["line 1", "no JSON"]),
    ],
)
def test_a_malformed_line_is_named(tmp_path, content, said, capsys):
    path = tmp_path / "a.jsonl"
    path.write_text(content)
    assert score(str(path)) == 5
    message = capsys.readouterr().err
    assert message.count("\n") == 1 and all(word in message for word in said), message


def test_bytes_that_are_no_text_are_named(tmp_path, capsys):
    (tmp_path / "a.jsonl").write_bytes(b'{"id": "\xff"}\n')
    assert score(str(tmp_path / "a.jsonl")) == 5
    assert "a.jsonl cannot be read" in capsys.readouterr().err


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path, rows):
    text = json.dumps({"id": rows[0]["id"], "raw_output": rows[0]["answer"]})
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + text.encode() + b"\r\n")
    assert score(str(tmp_path / "a.jsonl"), "--allow-partial") == 0


def test_data_that_is_not_there_is_named(tmp_path, capsys):
    answers = write(tmp_path / "a.jsonl", [])
    assert main(["score", answers, "--capability", "math", "--data", str(tmp_path)]) == 5
    assert "DatBench/math/test-*.parquet" in capsys.readouterr().err


def test_splits_without_a_test_split_are_named(tmp_path, capsys):
    DatasetDict(train=load_capability("math", "sample")).save_to_disk(tmp_path / "math")
    assert main(["score", write(tmp_path / "a.jsonl", []), "--capability", "math", "--data", str(tmp_path)]) == 5
    assert "holds the splits train, but no split test" in capsys.readouterr().err


def test_an_empty_variable_is_no_folder(monkeypatch):
    monkeypatch.setenv("DATBENCH_DATA", "")
    monkeypatch.setattr(dataset_source, "_from_hub", lambda *asked: asked)
    assert load_capability("math") == ("DatologyAI/DatBench", "math", "main")
