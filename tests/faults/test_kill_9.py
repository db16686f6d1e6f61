"""The judge pass, killed again and again: what was paid for is kept, and the end is that of an undisturbed pass."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from support.chat_server import Call, ChatServer, Reply
from support.commands import start_command, wait_until
from support.judge_runs import DATE, judged_records, make_judge_run, reading_judge

from datbench_tasks.cli import main
from datbench_tasks.judge.requests import JudgeIdentity

TAG = "acme_judge"
SAMPLES = 400
JUDGED = 320
IN_FLIGHT = 8
WHILE_ASKING = 12
WHILE_WRITING = 8
NEVER = 10**6

# Ends itself by SIGKILL at the n-th time that a file below the run is opened, made or moved; else says how often.
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
status = main(sys.argv[3:])
print(int(sys.argv[2]) - left)
sys.exit(status)
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


def key_of(call: Call) -> str:
    parameters = {name: value for name, value in call.body.items() if name not in ("model", "messages")}
    return JudgeIdentity(call.body["model"], "chat", parameters).key(call.body["messages"])


def kill_after(calls: int, run: Path, server: ChatServer) -> None:
    """Start the pass and kill it once the server has been asked so many times more."""
    until = len(server.calls) + calls
    child = start_command(*arguments(run, server))
    wait_until(lambda: len(server.calls) >= until or child.poll() is not None)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL


def kill_at_file(number: int, run: Path, server: ChatServer) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _KILLED_AT_FILE, str(run), str(number), *arguments(run, server)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def totals(run: Path) -> tuple[bytes, bytes, dict, dict]:
    folder = run / "judge" / TAG
    about = json.loads((folder / "judge.json").read_text("utf-8"))
    results = (folder / f"{DATE}_results.json").read_bytes()
    judged = (folder / f"{DATE}_samples_datbench_math.jsonl").read_bytes()
    return results, judged, about["verdicts"], about["spent"]


def test_20_kills_cost_no_verdict_and_change_no_number(tmp_path: Path) -> None:
    run, undisturbed = make_judge_run(tmp_path / "killed", SAMPLES), make_judge_run(tmp_path / "undisturbed", SAMPLES)
    draw = random.Random(20)
    with ChatServer(script) as server:
        assert main(arguments(undisturbed, server)) == 0
        # With nothing to ask the pass opens the log, the lock, the journal, the spool and the files of the judged run.
        touched = int(kill_at_file(NEVER, undisturbed, server).stdout.split()[-1])
        server.calls.clear()
        for _ in range(WHILE_ASKING):
            kept, before = journaled(run), len(server.calls)
            kill_after(draw.randint(1, (JUDGED - len(kept)) // 4), run, server)
            asked = {key_of(call) for call in server.calls[before:]}
            assert not asked & kept, "what is in the journal is not paid for again"
            assert len(asked - journaled(run)) <= IN_FLIGHT, "nothing but what was in flight is lost"
        # But the last one: where no pass has come to its end yet, there is no judge.json to open.
        for number in draw.sample(range(1, touched), WHILE_WRITING):
            kept, before = journaled(run), len(server.calls)
            assert kill_at_file(number, run, server).returncode == -signal.SIGKILL
            assert not {key_of(call) for call in server.calls[before:]} & kept
        assert main(arguments(run, server)) == 0
        calls = Counter(map(key_of, server.calls))
    assert set(calls) == journaled(run) and len(calls) == JUDGED
    assert calls.total() - JUDGED <= WHILE_ASKING * IN_FLIGHT
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
