"""Stored answers: every form that a run leaves behind, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from datbench.jsonio import write_jsonl
from datbench_tasks.errors import InputError
from datbench_tasks.models.stored_answers import StoredAnswers

TASK = "datbench_math"
LOG = f"20260102_030405_samples_{TASK}.jsonl"
COPY = f"datbench_records/{TASK}_20260102_030410_77.jsonl"
HEADER = {"schema": 1, "task": TASK, "run": {}, "arguments": {}}


def record(row_id: str, output: str, **more: Any) -> dict[str, Any]:
    return {"schema": 1, "id": row_id, "eval_mode": "direct", "output": output, **more}


def log_line(doc_id: int, answer: Any, row_id: str | None = None, **more: Any) -> dict[str, Any]:
    line = {"doc_id": doc_id, "target": "4", "filtered_resps": answer, **more}
    return line if row_id is None else {**line, "datbench_record": record(row_id, "scored text")}


def stored(folder: Path, name: str, *lines: Any) -> Path:
    path = folder / name
    write_jsonl(path, lines)
    return path


FORMS: dict[str, tuple[str, list[dict[str, Any]], dict[tuple[str, str, int], str | None]]] = {
    "ids and outputs hold for every task": (
        "answers.jsonl",
        [{"id": "a", "raw_output": "4"}, {"id": "b", "raw_output": "\ud835 5"}, {"id": "c", "raw_output": None}],
        {(TASK, "a", 9): "4", ("other", "b", 0): "\ud835 5", (TASK, "c", 2): "", (TASK, "z", 0): None},
    ),
    "a sample log is found by row id, in its task only": (
        LOG,
        [log_line(0, "4", "a"), log_line(1, "5", "b")],
        {(TASK, "a", 1): "4", (TASK, "b", 0): "5", ("datbench_blind_math", "a", 0): None},
    ),
    "the raw response counts, not the filtered one": (
        LOG,
        [log_line(0, "4", "a", resps="<think>2+2</think>4"), log_line(1, ["5"], "b", resps=[["five", "5"]])],
        {(TASK, "a", 0): "<think>2+2</think>4", (TASK, "b", 1): "five"},
    ),
    "a log without records is found by row number": (
        LOG,
        [log_line(0, "4", bypass=999), log_line(7, "5", bypass=999)],
        {(TASK, "a", 0): "4", (TASK, "b", 7): "5", (TASK, "c", 1): None},
    ),
    "our copy of the records": (
        COPY,
        [HEADER, record("a", "4"), record("b", "5", raw_output="<think></think>5")],
        {(TASK, "a", 3): "4", (TASK, "b", 3): "<think></think>5", ("other", "a", 3): None},
    ),
    "identical lines are one": (
        LOG,
        [log_line(0, "4", "a"), log_line(0, "4", "a")],
        {(TASK, "a", 0): "4"},
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_stored_answers(tmp_path: Path, form: str) -> None:
    name, lines, expected = FORMS[form]
    answers = StoredAnswers(stored(tmp_path, name, *lines))
    assert {row: answers.find(*row) for row in expected} == expected


def test_a_run_directory_gives_the_newest_date_and_what_only_our_copy_holds(tmp_path: Path) -> None:
    stored(tmp_path, f"20260101_000000_samples_{TASK}.jsonl", log_line(0, "old", "a"))
    stored(tmp_path, LOG, {**log_line(0, "4"), "datbench_record": record("a", "4")})
    stored(tmp_path, COPY, HEADER, record("a", "4"), record("b", "\ud835"))
    answers = StoredAnswers(tmp_path)
    assert [answers.find(TASK, row_id, 0) for row_id in "ab"] == ["4", "\ud835"]
    assert len(answers) == 2


def test_a_run_directory_without_scores(tmp_path: Path) -> None:
    stored(tmp_path, LOG, log_line(0, "4", bypass=999))
    assert StoredAnswers(tmp_path).find(TASK, "a", 0) == "4"


REFUSED: dict[str, tuple[str, str]] = {
    "no JSON": ('{"id": "a", "raw_output": "4"}\n{"id": ', "line 2: not readable as JSON"),
    "no object": ("[1]\n", "line 1: must be a JSON object"),
    "no output": ('{"id": "a", "answer": "4"}\n', "line 1: neither"),
    "no id": ('{"raw_output": "4"}\n', "line 1: neither"),
    "output is no text": ('{"id": "a", "raw_output": {"a": 1}}\n', "line 1: neither"),
    "too deep": ('{"id": "a", "raw_output": ' + "[" * 100_000 + "\n", "line 1: not readable"),
    "two answers": ('{"id": "a", "raw_output": "4"}\n{"id": "a", "raw_output": "5"}\n', r"two different answers \(a\)"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_refused_files(tmp_path: Path, fault: str) -> None:
    text, message = REFUSED[fault]
    path = tmp_path / "answers.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        StoredAnswers(path)
    assert str(path) in str(caught.value)


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such file or directory; responses="):
        StoredAnswers(tmp_path / "nowhere")
