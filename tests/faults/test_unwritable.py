"""Disks that are full and places that cannot be written to: a clear error, and what was there stays whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.chat_server import ChatServer, Reply
from support.commands import run_with_little_disk
from support.judge_runs import make_judge_run
from support.synthetic_run import make_run

from datbench_tasks.cli import main
from datbench_tasks.dataset_source import load_capability
from datbench_tasks.errors import DONE, INCOMPLETE, OWN_FAULT

SERVER = "http://127.0.0.1:9"
Command = Callable[[Path, Path], list[str]]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete judged run, a run that waits for its judge, stored answers and a table."""
    folder = tmp_path_factory.mktemp("inputs")
    make_run(folder / "run", samples=180, judged=True)
    make_judge_run(folder / "pending", 60)
    ids = load_capability("math", "sample")["id"]
    answers = [json.dumps({"id": name, "raw_output": "x" * 400}) for name in ids]
    (folder / "answers.jsonl").write_text("\n".join(answers) + "\n")
    row = {"question": "q", "choices": ["a", "b"], "label": 0, "generated_ans": "A", "more": "x" * 300}
    (folder / "bench.jsonl").write_text(f"{json.dumps(row)}\n" * 60)
    return folder


UNIFIED = ["--eval-type", "key3_q_choices_a", "--question", "question", "--choices", "choices", "--label", "label"]
REPORT = ["--dataset", "none", "--allow-incomplete"]
# What writes -> its arguments, given the inputs and the file or folder to write to.
WRITERS: dict[str, Command] = {
    "report": lambda i, out: ["report", str(i / "run"), *REPORT, "--out", str(out)],
    "page": lambda i, out: ["report", str(i / "run"), *REPORT, "--out", f"{out}.json", "--html", str(out)],
    "score": lambda i, out: ["score", str(i / "answers.jsonl"), "--capability", "math", "--data", "sample",
                             "--allow-partial", "--out", str(out)],
    "submit": lambda i, out: ["submit", str(i / "run"), "--dataset", "none", "--model-name", "m", "--out", str(out)],
    "unified jsonl": lambda i, out: ["unified", str(i / "bench.jsonl"), *UNIFIED, "--workers", "1",
                                     "--out", f"{out}.jsonl"],
    "unified csv": lambda i, out: ["unified", str(i / "bench.jsonl"), *UNIFIED, "--workers", "1",
                                   "--out", f"{out}.csv"],
    "unified parquet": lambda i, out: ["unified", str(i / "bench.jsonl"), *UNIFIED, "--workers", "1",
                                       "--out", f"{out}.parquet"],
    "new-task": lambda i, out: ["new-task", "--eval-type", "key3_q_choices_a", "--data", str(i / "bench.jsonl"),
                                "--name", "mine", "--out", str(out)],
    "judge export": lambda i, out: ["judge", "export", str(i / "pending"), "--judge-model", "m", "--tag", "exported",
                                    "--out", str(out)],
}  # fmt: skip


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def is_clear(errors: str) -> bool:
    """One line that names the command and the cause, in place of a traceback."""
    return "Traceback" not in errors and "fault of our own" not in errors and "datbench-tasks " in errors


@pytest.mark.parametrize("limit", [20, 1_500])
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk(name: str, limit: int, inputs: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "target"
    target.parent.mkdir()
    (target.parent / "earlier").write_text("kept")
    before = files(inputs)
    done = run_with_little_disk(limit, *WRITERS[name](inputs, target), cwd=tmp_path)
    assert done.returncode == OWN_FAULT, done.stdout + done.stderr
    assert is_clear(done.stderr) and "File too large" in done.stderr, done.stderr
    assert files(inputs) == before
    left = {path: content for path, content in files(tmp_path).items() if path != str(target.parent / "earlier")}
    assert all(
        len(content) <= limit and ".writing" not in path and ".tmp" not in path for path, content in left.items()
    )


@pytest.mark.parametrize("name", WRITERS)
def test_an_earlier_result_survives_a_full_disk(name: str, inputs: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "target"
    command = WRITERS[name](inputs, target)
    assert main(command) in (DONE, INCOMPLETE)
    if name in ("submit", "judge export"):
        return
    before = files(tmp_path)
    assert before
    done = run_with_little_disk(100, *command)
    assert done.returncode == OWN_FAULT and is_clear(done.stderr), done.stderr
    assert files(tmp_path) == before


@pytest.mark.parametrize("name", WRITERS)
def test_a_place_below_a_file(name: str, inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a directory that cannot be written to; permission bits would not stop root."""
    (tmp_path / "file").write_text("kept")
    assert main(WRITERS[name](inputs, tmp_path / "file" / "target")) == OWN_FAULT
    errors = capsys.readouterr().err
    assert is_clear(errors) and str(tmp_path / "file") in errors
    assert files(tmp_path) == {str(tmp_path / "file"): b"kept"}


@pytest.mark.parametrize("limit", [0, 500, 20_000])
def test_a_judge_pass_on_a_full_disk_keeps_what_it_paid_for(limit: int, tmp_path: Path) -> None:
    run = make_judge_run(tmp_path / "run", 60)
    log = files(run)
    with ChatServer(Reply("answer: true")) as server:
        command = ["judge", str(run), "--judge-model", "m", "--judge-base-url", server.base_url, "--concurrency", "2"]
        done = run_with_little_disk(limit, *command)
        assert done.returncode == OWN_FAULT and is_clear(done.stderr), done.stderr
        assert {path: content for path, content in files(run).items() if path in log} == log
        paid = len(server.calls)
        assert main(command) == DONE
        journal = (run / "judge" / "m" / "journal.jsonl").read_bytes().count(b'"key"')
        assert len(server.calls) <= 48 + 2 and journal >= 48 and paid <= 48


def test_a_judge_pass_whose_folder_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_judge_run(tmp_path / "run", 10)
    (run / "judge").write_text("kept")
    command = ["judge", str(run), "--judge-model", "m", "--judge-base-url", SERVER]
    assert main(command) == OWN_FAULT
    assert is_clear(errors := capsys.readouterr().err) and str(run / "judge") in errors
    assert (run / "judge").read_text() == "kept"
