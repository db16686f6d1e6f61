"""Disks that are full and places that cannot be written to: a clear error, and what was there stays whole."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

import pytest
from support.chat_server import ChatServer, Reply
from support.commands import MAIN, run_several
from support.failing_machine import FillingDisk, files_no_larger_than, obey_permissions
from support.judge_runs import make_judge_run
from support.synthetic_run import JUDGE_TAG, make_run

from datbench.jsonio import write_jsonl
from datbench_tasks.cli import main
from datbench_tasks.dataset_source import load_capability
from datbench_tasks.errors import DONE, INCOMPLETE, OWN_FAULT
from datbench_tasks.reporting import page
from datbench_tasks.retry import Retry
from datbench_tasks.run_directory import open_run

SERVER = "http://127.0.0.1:9"
TRIES = 8
"""At most so many of a command's steps, or of its files, are tried, evenly spaced."""

Command = Callable[[Path, Path], list[str]]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete judged run, a run that waits for its judge, stored answers, a table and predictions for it."""
    folder = tmp_path_factory.mktemp("inputs")
    make_run(folder / "run", samples=90, judged=True)
    make_judge_run(folder / "pending", 60)
    ids = load_capability("math", "sample")["id"]
    answers = [json.dumps({"id": name, "raw_output": "x" * 400}) for name in ids]
    (folder / "answers.jsonl").write_text("\n".join(answers) + "\n")
    row = {"question": "q", "choices": ["a", "b"], "label": 0, "generated_ans": "A", "more": "x" * 300}
    rows = [{**row, "id": number} for number in range(60)]
    (folder / "bench.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


CHOICES = ["--eval-type", "key3_q_choices_a", "--question", "question", "--choices", "choices", "--label", "label"]
REPORT = ["--dataset", "none", "--allow-incomplete"]


def unified(inputs: Path, out: str, *more: str) -> list[str]:
    return ["unified", str(inputs / "bench.jsonl"), *CHOICES, "--workers", "1", "--out", out, *more]


# What writes -> its arguments, given the inputs and the file or folder to write to.
WRITERS: dict[str, Command] = {
    "report": lambda i, out: ["report", str(i / "run"), *REPORT, "--out", str(out)],
    "page": lambda i, out: ["report", str(i / "run"), *REPORT, "--out", f"{out}.json", "--html", str(out)],
    "page and folder": lambda i, out: ["report", str(i / "run"), *REPORT, "--out", f"{out}.json", "--html", str(out)],
    "plots": lambda i, out: ["report", str(i / "run"), *REPORT, "--out", f"{out}.json", "--plots", str(out)],
    "agreement": lambda i, out: ["agreement", str(i / "run"), "--tags", JUDGE_TAG, JUDGE_TAG, "--out", str(out)],
    "score": lambda i, out: ["score", str(i / "answers.jsonl"), "--capability", "math", "--data", "sample",
                             "--allow-partial", "--out", str(out)],
    "submit": lambda i, out: ["submit", str(i / "run"), "--dataset", "none", "--model-name", "m", "--out", str(out)],
    "unified jsonl": lambda i, out: unified(i, f"{out}.jsonl"),
    "unified json": lambda i, out: unified(i, f"{out}.json"),
    "unified csv": lambda i, out: unified(i, f"{out}.csv"),
    "unified parquet": lambda i, out: unified(i, f"{out}.parquet"),
    "new-task": lambda i, out: ["new-task", "--eval-type", "key3_q_choices_a", "--data", str(i / "bench.jsonl"),
                                "--name", "mine", "--out", str(out)],
    "judge export": lambda i, out: ["judge", "export", str(i / "pending"), "--judge-model", "m", "--tag", "exported",
                                    "--out", str(out)],
}  # fmt: skip
REFUSE_WHAT_IS_THERE = ("submit", "judge export")


@pytest.fixture(params=WRITERS)
def writer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "page and folder":
        monkeypatch.setattr(page, "INLINE_LIMIT", 0)
    return str(request.param)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def is_clear(errors: str) -> bool:
    """One line that names the command and the cause, in place of a traceback."""
    return "Traceback" not in errors and "fault of our own" not in errors and "datbench-tasks " in errors


def some(values: Iterable[int]) -> list[int]:
    """At most TRIES of the values and the last one."""
    ordered = sorted(set(values))
    return sorted({*ordered[:: -(-len(ordered) // TRIES)], ordered[-1]})


def start_over(folder: Path, writer: str, made: dict[str, bytes]) -> None:
    """The folder as an earlier run of the command left it; empty for a command that writes to new places only."""
    shutil.rmtree(folder)
    folder.mkdir()
    for path, content in made.items() if writer not in REFUSE_WHAT_IS_THERE else ():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        # A folder beside a page is named by its content: it is the same one.
        Path(path).write_bytes(content if "_files" in path else b"earlier")


def test_a_disk_that_is_full_at_any_step(
    writer: str, inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of every file there is the old content, all of the new, or nothing."""
    folder = tmp_path / "out"
    command = WRITERS[writer](inputs, folder / "target")
    assert main(command) in (DONE, INCOMPLETE)
    made = files(folder)
    start_over(folder, writer, made)
    with FillingDisk(tmp_path) as disk:
        assert main(command) in (DONE, INCOMPLETE)
    assert disk.steps > 1 and files(folder) == made != {}
    for room in some(range(disk.steps)):
        start_over(folder, writer, made)
        with FillingDisk(tmp_path, room):
            status = main(command)
        errors = capsys.readouterr().err
        assert status == OWN_FAULT and is_clear(errors) and "No space left on device" in errors, (room, errors)
        assert all(content in (b"earlier", made.get(path)) for path, content in files(folder).items()), room
    start_over(folder, writer, made)
    assert main(command) in (DONE, INCOMPLETE)
    assert files(folder) == made


def test_files_that_cannot_grow(writer: str, inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The disk is full in the middle of each file in turn: nothing of it is left in its place or beside it."""
    folder = tmp_path / "out"
    command = WRITERS[writer](inputs, folder / "target")
    assert main(command) in (DONE, INCOMPLETE)
    made, read = files(folder), files(inputs)
    for size in some(map(len, made.values())):
        start_over(folder, writer, made)
        with files_no_larger_than(size - 1):
            status = main(command)
        errors = capsys.readouterr().err
        assert status == OWN_FAULT and is_clear(errors) and "File too large" in errors, (size, errors)
        assert all(content in (b"earlier", made.get(path)) for path, content in files(folder).items()), size
    assert files(inputs) == read


def test_a_place_below_a_file(writer: str, inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("kept")
    assert main(WRITERS[writer](inputs, tmp_path / "file" / "target")) == OWN_FAULT
    errors = capsys.readouterr().err
    assert is_clear(errors) and str(tmp_path / "file") in errors
    assert files(tmp_path) == {str(tmp_path / "file"): b"kept"}


def test_directories_that_must_not_be_written_to(inputs: Path, tmp_path: Path) -> None:
    run, folder = make_judge_run(tmp_path / "run", 10), tmp_path / "out"
    (folder).mkdir()
    judge = ["judge", run, "--judge-model", "m", "--judge-base-url", SERVER]
    commands = {name: command(inputs, folder / "target") for name, command in WRITERS.items()}
    commands |= {"judge": judge, "report into the run": ["report", run, *REPORT]}
    before = files(tmp_path)
    for path in (run, folder):
        path.chmod(0o555)
    done = run_several(list(commands.values()), preexec_fn=obey_permissions)
    for name, (status, errors) in zip(commands, done, strict=True):
        assert status == OWN_FAULT and is_clear(errors) and "Permission denied" in errors, (name, status, errors)
        assert str(folder) in errors or str(run) in errors
        assert ".writing-" not in errors, (name, errors)
    assert files(tmp_path) == before


@pytest.mark.parametrize("limit", [0, 500, 20_000])
def test_a_judge_pass_in_files_that_cannot_grow(limit: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_judge_run(tmp_path / "run", 60)
    log = files(run)
    with ChatServer(Reply("answer: true")) as server:
        command = ["judge", str(run), "--judge-model", "m", "--judge-base-url", server.base_url, "--concurrency", "2"]
        with files_no_larger_than(limit):
            assert main(command) == OWN_FAULT
        assert is_clear(errors := capsys.readouterr().err), errors
        assert {path: content for path, content in files(run).items() if path in log} == log
        paid = len(server.calls)
        assert main(command) == DONE
        journal = (run / "judge" / "m" / "journal.jsonl").read_bytes().count(b'"key"')
        assert len(server.calls) <= 48 + 2 and journal >= 48 and paid <= 48


def test_a_judge_pass_whose_disk_is_full_at_any_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No verdict that was paid for is asked for again, and the run stays as it was."""
    with ChatServer(Reply("answer: true")) as server:

        def judge(run: Path) -> int:
            return main(["judge", str(run), "--judge-model", "m", "--judge-base-url", server.base_url])

        whole = make_judge_run(tmp_path / "whole", 15)
        log = {path.name: path.read_bytes() for path in whole.glob("acme*/*")}
        with FillingDisk(whole) as disk:
            assert judge(whole) == DONE
        judged = {path.name: path.read_bytes() for path in (whole / "judge" / "m").glob("2026*")}
        for room in range(disk.steps):
            run = make_judge_run(tmp_path / str(room), 15)
            server.calls.clear()
            with FillingDisk(run, room):
                assert judge(run) == OWN_FAULT
            assert is_clear(errors := capsys.readouterr().err) and "No space left" in errors, (room, errors)
            assert {path.name: path.read_bytes() for path in run.glob("acme*/*")} == log
            assert judge(run) == DONE and len(server.calls) == 12
            assert {path.name: path.read_bytes() for path in (run / "judge" / "m").glob("2026*")} == judged


def test_a_batch_import_whose_disk_is_full_at_any_step(
    inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_judge_run(tmp_path / "run", 15)
    named = ["--judge-model", "m", "--tag", "m"]
    assert main(["judge", "export", str(run), *named, "--out", str(tmp_path / "batch")]) == DONE
    requests = map(json.loads, (tmp_path / "batch" / "requests_0001.jsonl").read_text("utf-8").splitlines())
    body = {"choices": [{"message": {"content": "answer: true"}}]}
    results = [{"custom_id": r["custom_id"], "response": {"status_code": 200, "body": body}} for r in requests]
    write_jsonl(tmp_path / "results.jsonl", results)
    start = tmp_path / "start"
    shutil.copytree(run, start)
    command = ["judge", "import", str(run), str(tmp_path / "results.jsonl"), *named]
    with FillingDisk(run) as disk:
        assert main(command) == DONE
    judged = {path.name: path.read_bytes() for path in (run / "judge" / "m").glob("2026*")}
    for room in range(disk.steps):
        shutil.rmtree(run)
        shutil.copytree(start, run)
        before = files(run / "acme__vlm-7b")
        with FillingDisk(run, room):
            assert main(command) == OWN_FAULT
        assert is_clear(errors := capsys.readouterr().err) and "No space left" in errors, (room, errors)
        assert files(run / "acme__vlm-7b") == before
        assert main(command) == DONE
        assert {path.name: path.read_bytes() for path in (run / "judge" / "m").glob("2026*")} == judged


def test_a_judge_pass_whose_folder_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_judge_run(tmp_path / "run", 10)
    (run / "judge").write_text("kept")
    command = ["judge", str(run), "--judge-model", "m", "--judge-base-url", SERVER]
    assert main(command) == OWN_FAULT
    assert is_clear(errors := capsys.readouterr().err) and str(run / "judge") in errors
    assert (run / "judge").read_text() == "kept"


def test_answers_asked_for_again_survive_a_full_disk(tmp_path: Path) -> None:
    """Merging them is a step of its own, which can be done again."""
    run = make_run(tmp_path / "run", samples=120, capabilities=("chart", "math"))
    retry = Retry.of(open_run(run))
    assert retry is not None
    make_run(retry.folder, samples=120, capabilities=("chart", "math"), accuracy=1.0)
    start = files(run)
    shutil.copytree(run, tmp_path / "start")
    with FillingDisk(run) as disk:
        retry.merge()
    for room in range(disk.steps):
        shutil.rmtree(run)
        shutil.copytree(tmp_path / "start", run)
        with FillingDisk(run, room), pytest.raises(OSError, match="No space left"):
            retry.merge()
        left = files(run)
        assert {path: left.get(path) for path in start} == start, room
        assert not [path for path in left if ".writing" in path]
        retry.merge()
        assert Retry.of(open_run(run)) is None


def test_predictions_of_a_second_table_on_a_full_disk(
    inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are indexed in a temporary file."""
    joined = unified(inputs, str(tmp_path / "out.jsonl"), "--pred-file", str(inputs / "bench.jsonl"), "--id", "id")
    assert main(joined) == DONE
    before = files(tmp_path)
    capsys.readouterr()
    with files_no_larger_than(100):
        assert main(joined) == OWN_FAULT
    assert is_clear(errors := capsys.readouterr().err), errors
    assert files(tmp_path) == before


def test_verdicts_of_a_table_survive_a_full_disk(inputs: Path, tmp_path: Path) -> None:
    """What the judge was paid for is in the journal beside the result."""
    rows = [{"q": f"{number}?", "a": "1", "generated_ans": "one"} for number in range(12)]
    write_jsonl(tmp_path / "bench.jsonl", rows)
    with ChatServer(Reply('{"judgement_result": true}')) as server:
        command = ["unified", str(tmp_path / "bench.jsonl"), "--eval-type", "key2_qa", "--question", "q",
                   "--target", "a", "--out", str(tmp_path / "out.jsonl"), "--judge-model", "m",
                   "--judge-base-url", server.base_url]  # fmt: skip
        with FillingDisk(tmp_path) as disk:
            assert main(command) == DONE
        made = (tmp_path / "out.jsonl").read_bytes()
        for room in range(disk.steps):
            shutil.rmtree(tmp_path / "out.jsonl.judge")
            (tmp_path / "out.jsonl").write_text("earlier")
            server.calls.clear()
            with FillingDisk(tmp_path, room):
                assert main(command) == OWN_FAULT
            assert (tmp_path / "out.jsonl").read_bytes() in (b"earlier", made)
            assert main(command) == DONE and len(server.calls) == 12
            assert (tmp_path / "out.jsonl").read_bytes() == made


def test_a_cache_that_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tasks for local data are generated there."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("DATBENCH_DATA", str(tmp_path / "data"))
    with FillingDisk(tmp_path, 7):
        assert main(["path"]) == OWN_FAULT
    assert is_clear(errors := capsys.readouterr().err) and "No space left" in errors
    assert not list(tmp_path.rglob(".writing-*"))
    assert main(["path"]) == DONE


PRINTING = {
    "little": ["agreement", "RUN", "--tags", JUDGE_TAG, JUDGE_TAG],
    "much": ["report", "RUN", *REPORT, "--format", "json", "--out", "OUT"],
}


def prints(amount: str, inputs: Path, tmp_path: Path, output: IO[str]) -> tuple[int, str]:
    """Run a command whose output goes there; buffered, as it is without PYTHONUNBUFFERED."""
    places = {"RUN": str(inputs / "run"), "OUT": str(tmp_path / "report.json")}
    words = [places.get(word, word) for word in PRINTING[amount]]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [*MAIN, *words], stdout=output, stderr=subprocess.PIPE, text=True, timeout=120, env=environment
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("amount", PRINTING)
def test_output_into_a_full_disk(amount: str, inputs: Path, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        status, errors = prints(amount, inputs, tmp_path, full)
    assert status == OWN_FAULT and is_clear(errors), errors
    assert errors.endswith(": No space left on device\n") and "Exception" not in errors


@pytest.mark.parametrize("amount", PRINTING)
def test_output_that_nobody_reads(amount: str, inputs: Path, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        status, errors = prints(amount, inputs, tmp_path, closed)
    assert status == OWN_FAULT and is_clear(errors), errors
    assert errors.endswith(": Broken pipe\n") and "Exception" not in errors


def test_a_device_is_written_to_and_not_replaced(inputs: Path, tmp_path: Path) -> None:
    """As /dev/null and /dev/stdout are; a pipe stands for them."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert main(["agreement", str(inputs / "run"), "--tags", JUDGE_TAG, JUDGE_TAG, "--out", str(pipe)]) == DONE
        assert json.loads(os.read(reader, 1_000_000))["schema"] == 1
    finally:
        os.close(reader)
    assert pipe.is_fifo()
