"""lmms-eval on a machine that fails it: killed, out of disk, without rights, in another locale, two at once, with keys.

One undisturbed run of all sample tasks is what the others are held against.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.chat_server import Call, ChatServer, Reply
from support.commands import wait_until
from support.failing_machine import obey_permissions
from support.host import GROUP, answer_by_gold, read_records, run, sample_rows, start

from datbench_tasks.cli import main
from datbench_tasks.errors import DONE, INCOMPLETE, UNREADABLE
from datbench_tasks.reporting import load_report
from datbench_tasks.run_directory import open_run
from datbench_tasks.run_samples import iter_samples

TASK = f"{GROUP}_math"
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
REPORT = ["--dataset", "none", "--allow-incomplete"]

# Ends the host by SIGKILL when the n-th copy of records is about to be moved into its place.
_KILLED_AT_COPY = """
import os, runpy, signal, sys
left = int(sys.argv.pop(1))
def watch(event, arguments):
    global left
    if event == "os.rename" and "datbench_records" in str(arguments[1]):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
runpy.run_module("lmms_eval", run_name="__main__", alter_sys=True)
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An answer a row: right or wrong, plain or such as no ASCII terminal can show, with and without reasoning."""
    path = tmp_path_factory.mktemp("answers") / "answers.jsonl"
    shapes = ("{}", "R\u00e9ponse : {} \u2603", "<think>hm</think>\nAnswer: {}", "I do not know", "\\boxed{{{}}}")
    lines = [
        {"id": row["id"], "raw_output": shapes[number % len(shapes)].format(row["answer"])}
        for number, row in enumerate(sample_rows())
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def replay(answers: Path, *tasks: str) -> list[object]:
    """The host's options for a run of stored answers into ``out``."""
    return [
        "--model", "datbench_replay", "--model_args", f"responses={answers}", "--tasks", ",".join(tasks),
        "--batch_size", 1, "--log_samples", "--output_path", "out",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def whole(answers: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The undisturbed run, by one worker."""
    folder = tmp_path_factory.mktemp("whole")
    done = run("lmms-eval", *replay(answers, GROUP), "--process-docs-parallel", 1, cwd=folder)
    assert (folder / "out").is_dir(), done.stdout + done.stderr
    return folder / "out"


@pytest.fixture
def again(whole: Path, tmp_path: Path) -> Path:
    """Its output path once more, for a run that goes wrong."""
    shutil.copytree(whole, tmp_path / "out")
    return tmp_path / "out"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


Reported = Callable[[Path], dict[str, bytes]]


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Reported:
    """All that a judge pass and a report make of a run.

    The run's date alone is blotted out: the host takes it from the clock, and the report's notes name the run by its
    path, the same relative one for all, and its date.
    """

    def report(out: Path) -> dict[str, bytes]:
        monkeypatch.chdir(out.parent)
        with ChatServer(judge) as server:
            assert main(["judge", "out", "--judge-model", "j", "--judge-base-url", server.base_url]) == DONE
        capsys.readouterr()
        assert main(["report", "out", *REPORT, "--out", "made/report.json", "--html", "made/page.html"]) == DONE
        (results,) = out.glob("*_results.json")
        date = results.name.removesuffix("_results.json").encode()
        made = files(Path("made")) | {"printed": capsys.readouterr().out.encode()}
        assert date in made["report.json"]
        return {name: content.replace(date, b"DATE") for name, content in made.items()}

    return report


def judge(call: Call) -> Reply:
    """The same verdict on the same question whenever it comes."""
    return Reply(f"answer: {str(len(call.text) % 2 == 0).lower()}")


RUNS = {
    "four workers in an ASCII locale": (["lmms-eval"], ["--process-docs-parallel", 4], ASCII),
    "two ranks": (["torchrun", "--standalone", "--nproc_per_node", 2, "-m", "lmms_eval"], [], {}),
}


@pytest.mark.parametrize("name", RUNS)
def test_workers_ranks_and_locale_move_no_byte_of_a_report(
    name: str, whole: Path, answers: Path, tmp_path: Path, reported: Reported
) -> None:
    program, options, environment = RUNS[name]
    done = run(*program, *replay(answers, GROUP), *options, cwd=tmp_path, **environment)
    assert (tmp_path / "out").is_dir(), done.stdout + done.stderr
    one = tmp_path / "one"
    one.mkdir()
    shutil.copytree(whole, one / "out")
    found, expected = reported(tmp_path / "out"), reported(one / "out")
    assert [name for name in expected if found.get(name) != expected[name]] == [] and len(found) == 3


def test_a_kill_in_mid_inference_leaves_what_was_there(again: Path, tmp_path: Path) -> None:
    before = files(tmp_path)
    with ChatServer(lambda call: Reply("7", fault="hang" if call.number > 4 else None)) as server:
        model = f"model_version=scripted,base_url={server.base_url},num_concurrent=4"
        evaluation = start(
            "datbench-tasks", "eval", "--model", "openai", "--model_args", model, "--tasks", TASK,
            "--batch_size", 1, "--output_path", "out", cwd=tmp_path,
        )  # fmt: skip
        wait_until(lambda: len(server.calls) > 6 or evaluation.poll() is not None, seconds=600)
        (host,) = Path(f"/proc/{evaluation.pid}/task/{evaluation.pid}/children").read_text().split()
        os.kill(int(host), signal.SIGKILL)
        printed, errors = evaluation.communicate(timeout=600)
    assert evaluation.returncode == INCOMPLETE, printed + errors
    assert "lmms-eval wrote no results to out (its exit status was -9)" in errors.splitlines()[-1]
    assert files(tmp_path) == before


def test_a_kill_in_mid_scoring_leaves_whole_copies(whole: Path, answers: Path, tmp_path: Path) -> None:
    """The host writes its files last; our copies are there task by task, and a report reads them."""
    done = run("python", "-c", _KILLED_AT_COPY, 5, *replay(answers, GROUP), cwd=tmp_path)
    assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr
    copies = sorted((tmp_path / "out" / "datbench_records").glob("*.jsonl"))
    assert len(copies) == 4 and [path.name for path in (tmp_path / "out").iterdir()] == ["datbench_records"]
    for copy in copies:
        header, *records = map(json.loads, copy.read_text("utf-8").splitlines())
        assert by_id(records) == by_id(read_records(whole, header["task"]))
    found = {group.name: group.accuracy for group in load_report(tmp_path / "out", dataset="none").capabilities}
    expected = {group.name: group.accuracy for group in load_report(whole, dataset="none").capabilities}
    assert len(found) == 4 and found.items() <= expected.items()


def by_id(records: list[dict]) -> dict[str, dict]:
    return {record["id"]: record for record in records}


def little_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000))


def test_a_full_disk_costs_no_earlier_run(
    again: Path, answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The host leaves torn files and says nothing; eval says so, and no copy of ours is torn."""
    before = files(again)
    done = run("datbench-tasks", "eval", *replay(answers, TASK), cwd=tmp_path, setup=little_disk)
    assert done.returncode in (INCOMPLETE, UNREADABLE), done.stdout + done.stderr
    assert done.stderr.splitlines()[-1].startswith("datbench-tasks eval: out"), done.stderr
    assert "could not write our copy of the records below out" in done.stdout + done.stderr
    left = files(again)
    assert {name: left.get(name) for name in before} == before
    torn = left.keys() - before.keys()
    assert torn and not any("datbench_records" in name for name in torn)
    capsys.readouterr()
    for name in sorted(torn):
        assert main(["report", str(again), "--dataset", "none"]) == UNREADABLE
        assert "remove the" in (errors := capsys.readouterr().err) and str(again) in errors
        (again / name).unlink()
    assert main(["report", str(again), *REPORT]) == DONE


def test_an_output_path_without_rights_costs_no_number_on_the_screen(answers: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o555)
    done = run("datbench-tasks", "eval", *replay(answers, TASK), cwd=tmp_path, setup=obey_permissions)
    assert done.returncode == INCOMPLETE, done.stdout + done.stderr
    assert "wrote no results to out" in done.stderr.splitlines()[-1]
    assert "could not write our copy of the records below out: " in done.stdout + done.stderr
    assert "datbench_score" in done.stdout and not list(out.iterdir())


def test_two_hosts_at_once_in_one_directory(whole: Path, answers: Path, tmp_path: Path) -> None:
    """Two halves of a run, with a task in common; of that the later one is read. Their dates differ by the zone."""
    halves = {"Asia/Singapore": ("chart", "math"), "UTC": ("chart", "table")}
    hosts = [
        start("lmms-eval", *replay(answers, *(f"{GROUP}_{name}" for name in names)), "--timezone", zone, cwd=tmp_path)
        for zone, names in halves.items()
    ]
    said = [host.communicate(timeout=600) for host in hosts]
    out = tmp_path / "out"
    assert len(list(out.glob("*_results.json"))) == 2, said
    assert len(list((out / "datbench_records").iterdir())) == 4
    for task_run in open_run(out).tasks:
        records = [sample.record for sample in iter_samples(task_run)]
        assert by_id(records) == by_id(read_records(whole, task_run.task))
    found = {group.name: group.accuracy for group in load_report(out, dataset="none").capabilities}
    expected = {group.name: group.accuracy for group in load_report(whole, dataset="none").capabilities}
    assert sorted(found) == ["chart", "math", "table"] and found.items() <= expected.items()


KEYS = {
    "model": "sk-model-marked-4711",
    "environment": "sk-environment-marked-4712",
    "judge": "sk-judge-marked-4713",
    "hub": "hf_markedmarkedmarkedmarked4714",
}


def telling(answer: Callable[[Call], Reply]) -> Callable[[Call], Reply]:
    """A server that repeats the key that it was sent, in its headers and in its errors."""

    def reply(call: Call) -> Reply:
        told = call.headers["Authorization"]
        if call.number % 7 == 3:
            return Reply(f"overloaded, {told}", status=500)
        return replace(answer(call), headers={"x-echo": told})

    return reply


def test_keys_are_in_no_file_and_no_line_of_ours(tmp_path: Path) -> None:
    with ChatServer(telling(answer_by_gold)) as model, ChatServer(telling(judge)) as judging:
        arguments = f"model_version=scripted,base_url={model.base_url},num_concurrent=4,api_key={KEYS['model']}"
        done = run(
            "datbench-tasks", "eval", "--model", "openai", "--model_args", arguments, "--tasks", TASK,
            "--batch_size", 1, "--output_path", "out", "--html", "page.html",
            "--judge-model", "j", "--judge-base-url", judging.base_url, "--api-key-env", "MARKED_KEY",
            cwd=tmp_path, MARKED_KEY=KEYS["judge"], OPENAI_API_KEY=KEYS["environment"], HF_TOKEN=KEYS["hub"],
            XDG_CACHE_HOME=str(tmp_path / "cache"),
        )  # fmt: skip
        assert done.returncode in (DONE, INCOMPLETE), done.stdout + done.stderr
        assert {call.headers["Authorization"] for call in model.calls} <= {
            f"Bearer {KEYS[name]}" for name in ("model", "environment")
        }
        assert {call.headers["Authorization"] for call in judging.calls} == {f"Bearer {KEYS['judge']}"}
    written = files(tmp_path)
    assert any("datbench_records" in name for name in written) and any("judge/j" in name for name in written)
    leaks = [(name, key) for name, text in written.items() for key in KEYS.values() if key.encode() in text]
    assert leaks == []
    # The host prints its model's arguments, and in its log HF_TOKEN; nothing of ours looks like either.
    lines = [line for line in (done.stdout + done.stderr).splitlines() for key in KEYS.values() if key in line]
    assert [line for line in lines if "| " not in line and not line.startswith("openai (")] == []
