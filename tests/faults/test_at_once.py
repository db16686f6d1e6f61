"""Commands that run at the same time in one directory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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


def finish(processes: list[subprocess.Popen[str]]) -> list[tuple[int, str]]:
    outputs = [process.communicate(timeout=300) for process in processes]
    return [(process.returncode, errors) for process, (_, errors) in zip(processes, outputs, strict=True)]


def start(command: list[object]) -> subprocess.Popen[str]:
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


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
