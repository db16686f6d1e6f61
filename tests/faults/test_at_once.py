"""Commands that run at the same time in one directory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import Call, ChatServer, Reply
from support.commands import MAIN, wait_until
from support.judge_runs import judged_records, make_judge_run, reading_judge
from support.synthetic_run import make_run

from datbench_tasks.cli import main

# A page of this size lies in a folder of parts, which all of the processes move into place.
_FOLDER_PAGE = (
    "import sys; from datbench_tasks.reporting import page; page.INLINE_LIMIT = 0;"
    "from datbench_tasks.cli import main; sys.exit(main(sys.argv[1:]))"
)


# Each process waits, before it moves a file into its place, until the other has one to move as well.
_MEETING = """
import os, pathlib, sys, time
place, replace = sys.argv.pop(1), pathlib.Path.replace
def meet_and_replace(self, target):
    open(os.path.join(place, str(os.getpid())), "w").close()
    deadline = time.monotonic() + 60
    while len(os.listdir(place)) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    return replace(self, target)
pathlib.Path.replace = meet_and_replace
from datbench_tasks.cli import main
sys.exit(main(sys.argv[1:]))
"""
_TABLE = ["--eval-type", "key3_q_choices_a", "--question", "q", "--choices", "choices", "--label", "label"]
WRITERS = {
    **{f"unified {kind}": ["unified", "bench.jsonl", *_TABLE, "--workers", "1", "--out", f"out/scored.{kind}"]
       for kind in ("jsonl", "json", "csv", "parquet")},
    "new-task": ["new-task", "--data", "bench.jsonl", *_TABLE, "--name", "mine", "--out", "out"],
    "report": ["report", "run", "--dataset", "none", "--out", "out/report.json", "--plots", "out/plots"],
    "score": ["score", "answers.jsonl", "--capability", "math", "--data", "sample", "--out", "out/report.json"],
}  # fmt: skip


def finish(processes: list[subprocess.Popen[str]]) -> list[tuple[int, str]]:
    outputs = [process.communicate(timeout=300) for process in processes]
    return [(process.returncode, errors) for process, (_, errors) in zip(processes, outputs, strict=True)]


def start(command: list[object], **options: Any) -> subprocess.Popen[str]:
    words = list(map(str, command))
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.parametrize("earlier", [False, True])
def test_reports_of_one_run(earlier: bool, tmp_path: Path) -> None:
    run, page = make_run(tmp_path / "run", samples=90, judged=True), tmp_path / "page.html"
    command = [sys.executable, "-c", _FOLDER_PAGE, "report", run, "--dataset", "none", "--html", page]
    if earlier:
        old = tmp_path / "page_files" / ("0" * 16)
        old.mkdir(parents=True)
        (old / "part-0.js").write_text("old")
    for status, errors in finish([start(command) for _ in range(4)]):
        assert status in (0, 3) and "fault of our own" not in errors, errors
    (folder,) = (tmp_path / "page_files").iterdir()
    assert folder.name in page.read_text("utf-8") and len(list(folder.glob("part-*.js"))) == 9
    json.loads((run / "datbench_report.json").read_text("utf-8"))
    assert not list(tmp_path.glob(".writing-*"))


def test_two_judges_of_one_run_keep_apart_and_a_report_reads_on(tmp_path: Path) -> None:
    run = make_judge_run(tmp_path / "run", 100)

    def script(call: Call) -> Reply:
        return Reply(reading_judge(call).text, delay=0.02)

    with ChatServer(script) as server:
        options = ["judge", run, "--judge-base-url", server.base_url, "--concurrency", "4", "--judge-model"]
        judges = [start([*MAIN, *options, name]) for name in ("one", "two")]
        wait_until(lambda: len(server.calls) > 40)
        # No pass is complete, one is, or both are and a name must be given.
        assert main(["report", str(run), "--dataset", "none"]) in (3, 0, 5)
        assert [status for status, _ in finish(judges)] == [0, 0]
        assert len(server.calls) == 160
    verdicts = [
        {name: record.get("score") for name, record in judged_records(run, tag).items()} for tag in ("one", "two")
    ]
    assert verdicts[0] == verdicts[1] and len(verdicts[0]) == 100


def test_the_same_judge_twice_asks_nothing_twice(tmp_path: Path) -> None:
    run = make_judge_run(tmp_path / "run", 100)
    with ChatServer(lambda call: Reply(reading_judge(call).text, delay=0.02)) as server:
        command = [*MAIN, "judge", run, "--judge-base-url", server.base_url, "--judge-model", "m"]
        done = finish([start(command) for _ in range(3)])
        assert sorted(status for status, _ in done) in ([0, 2, 2], [0, 0, 2], [0, 0, 0])
        assert all(status == 0 or "another process is writing this journal" in errors for status, errors in done)
        assert len(server.calls) == 80


def test_two_bundles_into_one_place(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", samples=90, judged=True)
    command = [*MAIN, "submit", run, "--dataset", "none", "--model-name", "m", "--out", tmp_path / "bundle"]
    done = finish([start(command) for _ in range(2)])
    assert min(status for status, _ in done) == 0
    assert all("fault of our own" not in errors for _, errors in done), done
    assert main(["verify", str(tmp_path / "bundle"), "--offline"]) == 0
    assert not list(tmp_path.glob(".writing-*"))


@pytest.mark.parametrize("name", WRITERS)
def test_two_that_write_the_same_file_at_the_same_moment(name: str, tmp_path: Path) -> None:
    make_run(tmp_path / "run", samples=18)
    row = {"q": "q", "choices": ["a", "b"], "label": 0, "generated_ans": "A"}
    (tmp_path / "bench.jsonl").write_text(f"{json.dumps(row)}\n" * 5)
    (tmp_path / "answers.jsonl").write_text('{"id": "db_math_000000", "raw_output": "1"}\n')
    (tmp_path / "meeting").mkdir()
    command = [sys.executable, "-c", _MEETING, tmp_path / "meeting", *WRITERS[name]]
    done = finish([start(command, cwd=tmp_path) for _ in range(2)])
    assert len(list((tmp_path / "meeting").iterdir())) == 2
    assert all(status in (0, 3) and "Traceback" not in errors for status, errors in done), done
    left = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert left and not [path for path in left if path.name.startswith(".")]
    together = {path: path.read_bytes() for path in left}
    assert finish([start([*MAIN, *WRITERS[name]], cwd=tmp_path)])[0][0] in (0, 3)
    assert {path: path.read_bytes() for path in left} == together
