"""Sample logs that are cut off, doubled, merged or of several versions, and clocks that went back."""

from __future__ import annotations

import datetime
import json
import os
import random
from pathlib import Path

import pytest
from support.commands import run_several
from support.failing_machine import obey_permissions
from support.synthetic_run import make_run

from datbench_tasks.cli import main
from datbench_tasks.commands import eval as eval_command
from datbench_tasks.errors import INCOMPLETE, UNREADABLE, IncompleteError
from datbench_tasks.run_directory import open_run

REPORT = ["--dataset", "none", "--format", "json"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run", samples=20, capabilities=("math",), judged=True)


def log_of(run: Path) -> Path:
    (log,) = run.glob("acme*/*_samples_datbench_math.jsonl")
    return log


def report(run: Path) -> int:
    return main(["report", str(run), *REPORT])


@pytest.mark.parametrize("seed", range(12))
def test_a_log_cut_off_anywhere(seed: int, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In mid-line it is named with its line; between lines the host's own count shows what is missing."""
    log = log_of(run)
    whole = log.read_bytes()
    cut = random.Random(seed).randrange(1, len(whole))
    for size in (cut, whole.rfind(b"\n", 0, cut) + 1):
        log.write_bytes(whole[:size])
        status, errors = report(run), capsys.readouterr().err
        in_line = not whole[:size].endswith(b"\n")
        lines = whole[:size].count(b"\n")
        if size == 0:
            assert status == UNREADABLE and "has no samples" in errors
        elif in_line and whole[size : size + 1] != b"\n":
            assert status == UNREADABLE and f"{log.name}, line {lines + 1}: not readable as JSON (cut off)" in errors
        else:
            assert status == INCOMPLETE and "missing" in errors


def test_a_doubled_log_is_read_once_and_told(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(run)
    expected = json.loads(capsys.readouterr().out)
    log = log_of(run)
    log.write_bytes(log.read_bytes() * 2)
    assert report(run) == INCOMPLETE
    printed = capsys.readouterr()
    assert json.loads(printed.out)["summary"] == expected["summary"] and "20 duplicated" in printed.err


def test_a_log_of_two_runs_is_refused(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = make_run(tmp_path / "other", samples=20, capabilities=("math",), accuracy=0.1, seed=7)
    log_of(run).write_bytes(log_of(run).read_bytes() + log_of(other).read_bytes())
    assert report(run) == UNREADABLE
    assert "logged twice with different content" in capsys.readouterr().err


def test_records_of_two_scorer_versions_are_no_one_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path / "run", samples=10, capabilities=("math",))
    make_run(tmp_path / "run", samples=10, capabilities=("chart",), scorer_version="0.1", date="20260115_130000")
    assert report(run) == UNREADABLE
    errors = capsys.readouterr().err
    assert "scorer_version" in errors and "0.1" in errors


@pytest.mark.parametrize("schema", [0, 2, "1", None])
def test_a_line_of_another_schema_is_named(schema: object, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = log_of(run)
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    lines[4]["datbench_record"]["schema"] = schema
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert report(run) == UNREADABLE
    assert f"{log.name}, line 5: record schema {schema!r}" in capsys.readouterr().err


def test_a_log_that_is_gone_or_a_folder(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = log_of(run)
    log.unlink()
    assert report(run) == UNREADABLE
    log.mkdir()
    assert report(run) == UNREADABLE and f"{log}: cannot be read: Is a directory" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["*_samples_*.jsonl", "*_results.json"])
def test_a_file_on_a_bad_sector(name: str, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first page of a process is such a place: reading it is an input/output error."""
    (path,) = run.glob(f"acme*/{name}")
    path.unlink()
    path.symlink_to("/proc/self/mem")
    assert report(run) == UNREADABLE and f"{path}: cannot be read: Input/output error" in capsys.readouterr().err


def test_what_must_not_be_read(run: Path) -> None:
    places = [log_of(run), *run.glob("acme*/*_results.json"), log_of(run).parent, run]
    for place in places:
        mode = place.stat().st_mode
        place.chmod(0o000)
        ((status, errors),) = run_several([["report", run, *REPORT]], preexec_fn=obey_permissions)
        place.chmod(mode)
        assert status == UNREADABLE and "Permission denied" in errors, (place, status, errors)


def test_file_times_play_no_part_in_which_run_is_newest(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", samples=5, capabilities=("math",), date="20260115_120000")
    make_run(tmp_path / "run", samples=5, capabilities=("math",), date="20260116_120000", seed=3)
    for path in run.rglob("*20260116*"):
        os.utime(path, (0, 0))
    assert [task.date for task in open_run(run).tasks] == ["20260116_120000"]


def host_that_writes(date: str, seed: int = 0):
    """A stand-in for the host: writes a run of this date, whatever it is asked."""

    def run_host(command: list[str], **_: object) -> object:
        output = Path(command[command.index("--output_path") + 1])
        make_run(output, samples=5, capabilities=("math",), date=date, seed=seed)
        for path in output.rglob(f"*{date}*"):
            os.utime(path, (0, 0))
        return type("Done", (), {"returncode": 0})

    return run_host


def evaluate(output: Path) -> None:
    eval_command.run_host(["--output_path", str(output)], output)


def test_eval_knows_fresh_files_although_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eval_command.subprocess, "run", host_that_writes("20260115_120000"))
    evaluate(tmp_path / "run")


def test_eval_does_not_take_an_older_run_for_the_one_it_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    future = (datetime.datetime.now() + datetime.timedelta(days=900)).strftime("%Y%m%d_%H%M%S")
    make_run(tmp_path / "run", samples=5, capabilities=("math",), date=future)
    monkeypatch.setattr(eval_command.subprocess, "run", host_that_writes("20260115_120000", seed=5))
    with pytest.raises(IncompleteError, match=f"{future}.*--date 20260115_120000"):
        evaluate(tmp_path / "run")


def test_eval_is_not_fooled_by_files_that_were_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_run(tmp_path / "run", samples=5, capabilities=("math",))
    monkeypatch.setattr(eval_command.subprocess, "run", lambda *_, **__: type("Done", (), {"returncode": 0}))
    with pytest.raises(IncompleteError, match="wrote no results"):
        evaluate(tmp_path / "run")
