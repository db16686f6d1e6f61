"""The judge pass, killed again and again: what was paid for is kept, and the end is that of an undisturbed pass."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

from support.chat_server import Call, ChatServer, Reply
from support.commands import start_command, wait_until
from support.judge_runs import DATE, judged_records, make_judge_run, reading_judge

from datbench_tasks.cli import main

TAG = "acme_judge"
SAMPLES = 400
JUDGED = 320
IN_FLIGHT = 8
WHILE_ASKING = 12
WHILE_WRITING = 8

# Ends itself by SIGKILL at the n-th time that a file below the run is opened, made or moved.
_KILLED_AT_FILE = """
import os, signal, sys
run, left = sys.argv[1], int(sys.argv[2])
def watch(event, arguments):
    global left
    if event in ("open", "os.rename", "os.mkdir", "os.remove") and str(arguments[0]).startswith(run):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
from datbench_tasks.cli import main
sys.exit(main(sys.argv[3:]))
"""


def script(call: Call) -> Reply:
    return Reply(reading_judge(call).text, delay=0.01)


def arguments(run: Path, server: ChatServer) -> list[str]:
    return ["judge", str(run), "--judge-model", "acme/judge", "--judge-base-url", server.base_url,
            "--concurrency", str(IN_FLIGHT)]  # fmt: skip


def journaled(run: Path) -> set[str]:
    path = run / "judge" / TAG / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return {json.loads(line)["key"] for line in lines if line.endswith(b"\n")}


def asked_or_ended(server: ChatServer, calls: int, child: subprocess.Popen[bytes]) -> bool:
    return len(server.calls) >= calls or child.poll() is not None


def totals(run: Path) -> tuple[bytes, bytes, dict]:
    folder = run / "judge" / TAG
    about = json.loads((folder / "judge.json").read_text("utf-8"))
    results = (folder / f"{DATE}_results.json").read_bytes()
    return results, (folder / f"{DATE}_samples_datbench_math.jsonl").read_bytes(), about["verdicts"]


def test_20_kills_cost_no_verdict_and_change_no_number(tmp_path: Path) -> None:
    run, undisturbed = make_judge_run(tmp_path / "killed", SAMPLES), make_judge_run(tmp_path / "undisturbed", SAMPLES)
    draw = random.Random(20)
    with ChatServer(script) as server:
        assert main(arguments(undisturbed, server)) == 0
        server.calls.clear()
        kills = 0
        for at in sorted(draw.sample(range(1, JUDGED), WHILE_ASKING)):
            child = start_command(*arguments(run, server))
            calls = at + kills * IN_FLIGHT
            wait_until(partial(asked_or_ended, server, calls, child))
            child.send_signal(signal.SIGKILL)
            kills += child.wait() == -signal.SIGKILL
            assert len(journaled(run)) >= len(server.calls) - kills * IN_FLIGHT
        # The pass itself touches a dozen files: the log, the lock, the journal, the spool, the judged run.
        for at in range(1, WHILE_WRITING + 1):
            command = [sys.executable, "-c", _KILLED_AT_FILE, str(run), str(2 * at), *arguments(run, server)]
            kills += subprocess.run(command, capture_output=True, check=False).returncode == -signal.SIGKILL
        assert kills >= WHILE_ASKING + WHILE_WRITING // 2
        assert main(arguments(run, server)) == 0
        asked = Counter(call.text for call in server.calls)
    assert len(asked) == len(journaled(run)) == JUDGED
    assert sum(asked.values()) - JUDGED <= kills * IN_FLIGHT
    assert judged_records(run, TAG) == judged_records(undisturbed, TAG)
    assert totals(run) == totals(undisturbed)


def test_a_kill_while_the_report_is_written_leaves_the_old_one(tmp_path: Path) -> None:
    run = make_judge_run(tmp_path / "run", 50)
    command = ["report", str(run), "--dataset", "none", "--allow-incomplete", "--html", str(run / "page.html")]
    assert main(command) == 0
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    killed = 0
    for at in range(2, 26, 3):
        child = [sys.executable, "-c", _KILLED_AT_FILE, str(run), str(at), *command]
        killed += subprocess.run(child, capture_output=True, check=False).returncode == -signal.SIGKILL
        assert {path: path.read_bytes() for path in before} == before
    assert killed >= 4
    assert main(command) == 0
    assert {path: path.read_bytes() for path in before} == before
