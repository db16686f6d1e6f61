"""The pass over a run, through the command line: files, records, resume, accounting, exit statuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.chat_server import Call, ChatServer, Reply
from support.commands import wait_until
from support.judge_runs import judged_records, reading_judge

from datbench_tasks.cli import main
from datbench_tasks.judge.client import DRAIN_SECONDS
from datbench_tasks.judge.journal import Journal
from datbench_tasks.reporting import load_report
from datbench_tasks.run_directory import open_run
from datbench_tasks.run_samples import iter_records

COUNT = 30
JUDGED = 24
RIGHT = {f"db_math_{n:06d}" for n in range(COUNT) if n % 5 != 4 and n % 3}
TAG = "acme_judge"


def judge(run: Path, server: ChatServer, *options: str) -> int:
    return main(["judge", str(run), "--judge-model", "acme/judge", "--judge-base-url", server.base_url, *options])


def about(run: Path, tag: str = TAG) -> dict:
    return json.loads((run / "judge" / tag / "judge.json").read_text())


def test_every_pending_sample_gets_the_verdict_on_its_own_answer(make_run):
    run = make_run(COUNT)
    before = {path: path.read_bytes() for path in run.rglob("*.json*")}
    with ChatServer(reading_judge) as server:
        assert judge(run, server) == 0
    records = judged_records(run, TAG)
    assert len(records) == COUNT and len(server.calls) == JUDGED
    verdicts = {i: r["judge"]["verdict"] for i, r in records.items() if r["eval_mode"] == "judge"}
    assert {i for i, verdict in verdicts.items() if verdict == "correct"} == RIGHT
    assert set(verdicts.values()) == {"correct", "incorrect"}
    assert {path: path.read_bytes() for path in before} == before, "the host's files are left alone"


def test_a_judged_record_holds_score_details_and_judge(make_run):
    run = make_run(4)
    with ChatServer(reading_judge) as server:
        judge(run, server)
    record = judged_records(run, TAG)["db_math_000001"]
    assert (record["pending"], record["score"], record["is_correct"]) == (False, 1.0, True)
    assert record["score_details"]["judge_verdict"] == "correct"
    key, usage = record["judge"].pop("journal_key"), record["judge"].pop("usage")
    prompt_hash = record["judge"].pop("prompt_hash")
    assert record["judge"] == {"tag": TAG, "model": "acme/judge", "verdict": "correct", "raw": "answer: true"}
    assert len(key) == 64 and len(prompt_hash) == 12 and usage["completion_tokens"] == 3


def test_the_hosts_files_are_written_with_the_hosts_keys(make_run):
    run = make_run(COUNT)
    with ChatServer(reading_judge) as server:
        judge(run, server)
    folder = run / "judge" / TAG
    original = next(run.glob("acme__vlm-7b/*_samples_*.jsonl"))
    judged = folder / original.name
    for old, new in zip(original.read_text().splitlines(), judged.read_text().splitlines(), strict=True):
        old_line, new_line = json.loads(old), json.loads(new)
        assert new_line.keys() == old_line.keys()
        assert new_line["datbench_score"] == new_line["datbench_pooled"] == new_line["datbench_record"]["score"]
    results = json.loads((folder / original.name.replace("samples_datbench_math.jsonl", "results.json")).read_text())
    direct = [json.loads(line)["datbench_score"] for line in original.read_text().splitlines()]
    mean = (len(RIGHT) + sum(score for score in direct if score is not None)) / COUNT
    task = results["results"]["datbench_math"]
    assert task["datbench_score,none"] == pytest.approx(mean)
    assert task["datbench_record,none"] == 1.0
    assert task["datbench_score_stderr_clt,none"] == pytest.approx((mean * (1 - mean) / (COUNT - 1)) ** 0.5)
    assert results["groups"]["datbench"]["datbench_score,none"] == pytest.approx(mean)
    assert results["results"]["datbench"]["datbench_pooled,none"] == pytest.approx(mean)


def test_other_readers_see_the_verdicts(make_run):
    run = make_run(COUNT)
    with ChatServer(reading_judge) as server:
        judge(run, server)
    scores = [sample.record["score"] for _, sample in iter_records(open_run(run), TAG)]
    assert len(scores) == COUNT


def test_a_second_run_sends_nothing_and_writes_the_same(make_run):
    run = make_run(COUNT)
    with ChatServer(reading_judge) as server:
        judge(run, server)
        first = judged_records(run, TAG)
        assert judge(run, server) == 0
        assert len(server.calls) == JUDGED
    assert judged_records(run, TAG) == first
    assert about(run)["accounting"]["requests"] == 0
    assert about(run)["spent"]["requests"] == JUDGED


def test_equal_prompts_are_asked_once(make_run):
    run = make_run(10)
    log = next(run.glob("acme__vlm-7b/*_samples_*.jsonl"))
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        line["datbench_record"]["question"], line["datbench_record"]["answer"] = "same?", "1"
        line["datbench_record"]["all_answers"], line["datbench_record"]["output"] = ["1"], "1"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with ChatServer(reading_judge) as server:
        judge(run, server)
    assert len(server.calls) == 1
    assert about(run)["verdicts"] == {"correct": 8}


def test_a_shared_journal_serves_another_run_with_the_same_answers(make_run, tmp_path):
    shared = str(tmp_path / "shared.jsonl")
    with ChatServer(reading_judge) as server:
        judge(make_run(COUNT, "one"), server, "--journal", shared)
        assert judge(make_run(COUNT, "two"), server, "--journal", shared) == 0
        assert len(server.calls) == JUDGED
    assert about(tmp_path / "two")["verdicts"]["correct"] == len(RIGHT)


def test_replicas_and_keys_do_not_change_the_journal_key(make_run, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "sk-1")
    run = make_run(COUNT)
    with ChatServer(reading_judge) as one, ChatServer(reading_judge) as two:
        judge(run, one)
        assert judge(run, two, "--api-key-env", "SOME_KEY", "--timeout", "9") == 0
    assert len(two.calls) == 0


def test_equal_rubrics_stand_together(make_run):
    run = make_run(COUNT)
    log = next(run.glob("acme__vlm-7b/*_samples_*.jsonl"))
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for number, line in enumerate(lines):
        line["datbench_record"]["judge_prompt"] = f"Rubric {number % 3}. " + "x" * 600
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with ChatServer() as server:
        judge(run, server, "--concurrency", "1")
    rubrics = [call.text[:8] for call in server.calls]
    assert rubrics == sorted(rubrics)


@pytest.mark.parametrize(
    ("bad", "verdict", "reason"),
    [
        (Reply("I cannot say."), "unparsed", "off-format"),
        (Reply(""), "unparsed", "empty"),
        (Reply(None, reasoning="answer: true"), "unparsed", "empty"),
        (Reply(status=500), "missing", "HTTP 500"),
        (Reply(body=b"<html>"), "missing", "answer is not JSON"),
        (Reply(fault="hang"), "missing", "timeout"),
    ],
)
def test_missing_and_unparsed_are_told_apart_and_bound_the_result(make_run, capsys, bad, verdict, reason):
    run = make_run(COUNT)

    def script(call: Call) -> Reply:
        return bad if "What is 6 plus" in call.text else reading_judge(call)

    options = ["--retries", "0", "--timeout", "2"]
    with ChatServer(script) as server:
        assert judge(run, server, *options) == 3
        assert judge(run, server, *options, "--allow-missing") == 0
    content = about(run)
    assert content["unscored"] == [{"id": "db_math_000006", "verdict": verdict, "reason": reason}]
    low, high = content["accuracy_bounds"]
    assert high - low == pytest.approx(1 / COUNT)
    record = judged_records(run, TAG)["db_math_000006"]
    assert record["judge"]["reason"] == reason and record["pending"] is (verdict == "missing")
    assert record.get("score", 0.0) == 0.0
    assert f"{verdict} ({reason}): 1: db_math_000006" in capsys.readouterr().err


def test_strict_writes_no_judged_run_and_tells_the_same_numbers(make_run, capsys):
    run = make_run(COUNT)
    with ChatServer(Reply("hm")) as server:
        assert judge(run, server, "--strict", "--allow-missing") == 3
        assert not list((run / "judge" / TAG).glob("*_samples_*"))
        strict = capsys.readouterr().err
        assert judge(run, server) == 3
    assert "unparsed (off-format): 24" in strict and "24 answers in" in strict
    bounds = "accuracy over all samples: {:.2%}, or {:.2%} if".format(*about(run)["accuracy_bounds"])
    assert bounds in strict and bounds in capsys.readouterr().err


def test_failures_are_asked_again_unparsed_only_on_request(make_run):
    run = make_run(COUNT)
    bad = {"What is 0 plus": Reply("hm"), "What is 1 plus": Reply(status=500)}

    def script(call: Call) -> Reply:
        return next((reply for question, reply in bad.items() if question in call.text), reading_judge(call))

    with ChatServer(script) as server:
        assert judge(run, server, "--retries", "0") == 3
    with ChatServer(reading_judge) as server:
        assert judge(run, server) == 3
        assert len(server.calls) == 1
        assert judge(run, server, "--retry-unparsed") == 0
        assert len(server.calls) == 2
        assert judge(run, server, "--refresh") == 0
        assert len(server.calls) == 2 + JUDGED


def test_dry_run_counts_and_touches_nothing(make_run, capsys):
    run = make_run(COUNT)
    before = sorted(run.rglob("*"))
    with ChatServer(reading_judge) as server:
        assert judge(run, server, "--dry-run", "--price-in", "10", "--price-out", "1000000") == 0
        assert not server.calls and sorted(run.rglob("*")) == before
        assert (
            "24 samples wait for a verdict: 0 are answered in the journal, 24 requests to send"
            in capsys.readouterr().out
        )
        judge(run, server)
        judge(run, server, "--dry-run", "--price-in", "10")
    assert "24 are answered in the journal, 0 requests to send, about 0 tokens in" in capsys.readouterr().out


def test_dry_run_reads_beside_a_pass_and_leaves_a_torn_journal_as_it_is(make_run, capsys):
    run = make_run(COUNT)
    with ChatServer(reading_judge) as server:
        judge(run, server)
        path = run / "judge" / TAG / "journal.jsonl"
        with Journal(path):
            path.write_bytes(path.read_bytes()[:-5])
            before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}
            assert judge(run, server, "--dry-run") == 0
            assert {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} == before
    assert "23 are answered in the journal, 1 requests to send" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "out"),
    [
        ([], f"at most {16 * JUDGED} out"),
        (["--max-tokens", "5"], f"at most {5 * JUDGED} out"),
        (["--extra-body", '{"max_completion_tokens": 1000}'], f"at most {1000 * JUDGED:,} out"),
        (["--extra-body", '{"max_tokens": 7}'], f"at most {7 * JUDGED} out"),
        (["--extra-body", '{"max_tokens": null}'], "tokens in, estimated cost 0.0"),
    ],
)
def test_dry_run_counts_with_the_limit_that_is_sent(make_run, capsys, options, out):
    with ChatServer() as server:
        assert judge(make_run(COUNT), server, "--dry-run", "--price-out", "1", "--price-in", "1", *options) == 0
    assert out in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "same"),
    [
        (["--max-tokens", "1024"], True),
        (["--system", "Be strict."], False),
        (["--max-answer-chars", "500"], False),
        (["--extra-body", '{"temperature": 1}'], False),
    ],
)
def test_how_the_judge_is_asked_is_in_the_signature(make_run, options, same):
    signatures = []
    with ChatServer() as server:
        for name, more in (("plain", []), ("other", options)):
            run = make_run(4, name)
            judge(run, server, *more)
            signatures.append(load_report(run, dataset="none").signature["judge"])
    assert [signature["model"] for signature in signatures] == ["acme/judge"] * 2
    assert (signatures[0] == signatures[1]) is same


def test_accounting_adds_up(make_run, capsys):
    run = make_run(COUNT)
    with ChatServer(reading_judge) as server:
        judge(run, server, "--price-in", "2", "--price-out", "4")
    spent = about(run)["accounting"]
    assert spent["prompt_tokens"] == sum(len(call.text) // 4 for call in server.calls)
    assert spent["completion_tokens"] == 3 * JUDGED
    assert spent["cost"] == pytest.approx((2 * spent["prompt_tokens"] + 4 * spent["completion_tokens"]) / 1e6)
    assert (spent["requests"], spent["answered"], spent["failed"]) == (JUDGED, JUDGED, 0)
    assert "24 answers in" in capsys.readouterr().err
    assert about(run)["spent"].items() <= spent.items()


def test_a_resumed_pass_tells_what_all_of_it_took(make_run, capsys):
    run, undisturbed = make_run(COUNT, "resumed"), make_run(COUNT, "undisturbed")
    prices = ["--price-in", "2", "--price-out", "4", "--concurrency", "1"]

    def failing(call: Call) -> Reply:
        return Reply("no", status=403) if call.number == 10 else reading_judge(call)

    with ChatServer(reading_judge) as server:
        judge(undisturbed, server, *prices)
    with ChatServer(failing) as server:
        assert judge(run, server, *prices) == 4
        assert judge(run, server, *prices) == 0
    assert about(run)["accounting"]["requests"] == JUDGED - 10
    assert about(run)["spent"] == about(undisturbed)["spent"]
    assert f"the whole pass so far: {JUDGED} requests" in capsys.readouterr().err


def test_what_a_shared_journal_holds_for_others_is_not_counted(make_run, tmp_path):
    shared = ["--journal", str(tmp_path / "shared.jsonl")]
    with ChatServer(reading_judge) as server:
        judge(make_run(COUNT, "one"), server, *shared)
        judge(make_run(10, "two"), server, *shared)
    assert (about(tmp_path / "two")["accounting"]["requests"], about(tmp_path / "two")["spent"]["requests"]) == (0, 8)


def test_asking_again_is_counted(make_run):
    run = make_run(COUNT)
    with ChatServer([Reply(status=500)] * 2 + [Reply()]) as server:
        judge(run, server)
        judge(run, server, "--refresh")
        assert about(run)["spent"]["requests"] == len(server.calls) == 2 * JUDGED + 2


def test_a_server_without_usage_makes_no_cost_of_nothing(make_run, capsys):
    run = make_run(COUNT)
    body = json.dumps({"choices": [{"message": {"content": "true"}}]}).encode()
    with ChatServer(Reply(body=body)) as server:
        judge(run, server, "--price-in", "2")
    assert "0 tokens in, 0 out (unknown for 24 answers)" in capsys.readouterr().err
    assert about(run)["spent"]["without_usage"] == JUDGED


def test_two_judges_stay_side_by_side_and_do_not_mix(make_run, capsys):
    run = make_run(COUNT)
    with ChatServer(reading_judge) as one, ChatServer(Reply("false")) as two:
        judge(run, one, "--tag", "A")
        command = ["judge", str(run), "--judge-model", "other", "--judge-base-url", two.base_url, "--tag"]
        assert main([*command, "A"]) == 2
        assert "holds the verdicts of acme/judge" in capsys.readouterr().err
        assert main([*command, "B"]) == 0
    assert about(run, "A")["verdicts"]["correct"] == len(RIGHT)
    assert about(run, "B")["verdicts"] == {"incorrect": JUDGED}


@pytest.mark.parametrize("tag", ["../up", "a/b", "", ".", "a b", "x" * 200, "\x00"])
def test_tags_are_folder_names(make_run, tag, tmp_path):
    run = make_run(5)
    before = sorted(tmp_path.rglob("*"))
    with ChatServer() as server:
        status = judge(run, server, f"--tag={tag}")
    assert (status == 0) is (tag == ""), "an empty tag means the default"
    assert status == 0 or sorted(tmp_path.rglob("*")) == before


def test_the_name_of_any_model_makes_a_tag(make_run):
    run, name = make_run(5), "m" * 79 + ".5/instruct"
    with ChatServer() as server:
        assert main(["judge", str(run), "--judge-model", name, "--judge-base-url", server.base_url]) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "--judge-model"),
        (["--judge-model", "m"], "--judge-base-url"),
        (["--judge-model", "m", "--judge-base-url", "localhost:8000"], "not an http"),
        (["--judge-model", "m", "--judge-base-url", "http://h", "--extra-body", "{"], "--extra-body: not JSON"),
        (["--judge-model", "m", "--judge-base-url", "http://h", "--extra-body", "[]"], "must be a JSON object"),
        (
            ["--judge-model", "m", "--judge-base-url", "http://h", "--extra-body", '{"messages": 1}'],
            "cannot be set here",
        ),
        (
            ["--judge-model", "m", "--judge-base-url", "http://h", "--api-key-env", "NOT_SET_ANYWHERE"],
            "NOT_SET_ANYWHERE",
        ),
        (
            ["--judge-model", "m", "--judge-base-url", "http://h", "--extra-body", '{"max_tokens": "9"}'],
            "max_tokens must",
        ),
        (["--local-model", "/no/such", "--judge-model", "m"], "--local-model goes without"),
        (["--judge-model", "m", "--judge-base-url", "http://h", "--out", "x"], "--out is for judge export"),
    ],
)
def test_usage_errors_name_the_option(make_run, capsys, options, words):
    run = make_run(5)
    assert main(["judge", str(run), *options]) == 2
    assert words in capsys.readouterr().err
    assert not (run / "judge").exists()


def test_a_refusal_is_status_4_and_leaves_no_judged_run(make_run, capsys, monkeypatch):
    monkeypatch.setenv("MARKED_KEY", "sk-marked-4711")
    run = make_run(COUNT)
    with ChatServer(lambda call: Reply(f"Bearer {call.headers['Authorization']}", status=401)) as server:
        assert judge(run, server, "--api-key-env", "MARKED_KEY") == 4
    printed = capsys.readouterr()
    assert "HTTP 401" in printed.err and "--api-key-env" in printed.err and "nothing is answered yet" in printed.err
    everything = printed.out + printed.err + "".join(p.read_text() for p in run.rglob("*") if p.is_file())
    assert "sk-marked-4711" not in everything
    assert not (run / "judge").exists(), "a pass without any answer leaves nothing behind"


def test_key_is_in_no_file_and_no_output_of_a_good_pass(make_run, capsys, monkeypatch):
    monkeypatch.setenv("MARKED_KEY", "sk-marked-4711")
    run = make_run(COUNT)
    with ChatServer(lambda call: Reply(f"answer: true {call.headers['Authorization']}")) as server:
        judge(run, server, "--api-key-env", "MARKED_KEY")
    assert server.calls[0].headers["Authorization"] == "Bearer sk-marked-4711"
    printed = capsys.readouterr()
    everything = printed.out + printed.err + "".join(p.read_text() for p in run.rglob("*") if p.is_file())
    assert "sk-marked-4711" not in everything


def command(run: Path, server: ChatServer, *options: str) -> list[str]:
    return [sys.executable, "-m", "datbench_tasks.cli", "judge", str(run), "--judge-model", "acme/judge",
            "--judge-base-url", server.base_url, *options]  # fmt: skip


def journaled(run: Path) -> set[str]:
    path = run / "judge" / TAG / "journal.jsonl"
    whole = [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    return {json.loads(line)["key"] for line in whole}


@pytest.mark.parametrize("after", [1, 37, 150])
def test_kill_9_and_resume_asks_only_what_is_missing(make_run, after):
    run, undisturbed = make_run(250, "killed"), make_run(250, "undisturbed")
    in_flight = 8

    def script(call: Call) -> Reply:
        return Reply(reading_judge(call).text, delay=0.01)

    with ChatServer(script) as server:
        judge(undisturbed, server)
        server.calls.clear()
        child = subprocess.Popen(command(run, server, "--concurrency", str(in_flight)), stderr=subprocess.DEVNULL)
        wait_until(lambda: len(server.calls) > after)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        saved = journaled(run)
        asked_before = len(server.calls)
        assert asked_before - in_flight <= len(saved) <= asked_before
        assert judge(run, server) == 0
    assert len(server.calls) - asked_before == 200 - len(saved)
    assert judged_records(run, TAG) == judged_records(undisturbed, TAG)


def test_interrupting_saves_what_is_done_and_says_how_to_go_on(make_run):
    run = make_run(250)
    with ChatServer(Reply(delay=0.02)) as server:
        child = subprocess.Popen(command(run, server, "--concurrency", "4"), stderr=subprocess.PIPE, text=True)
        wait_until(lambda: len(server.calls) > 40)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
        assert child.returncode == 130
        assert f"datbench-tasks judge {run} with the same options goes on" in errors and "Traceback" not in errors
        saved = len(journaled(run))
        assert saved == len(server.calls), "what was in flight is paid for, so it is waited for"
        assert judge(run, server) == 0
    assert len(server.calls) == 200


def test_a_second_interrupt_waits_for_nobody(make_run, tmp_path):
    run, said = make_run(50), tmp_path / "said"
    with ChatServer(lambda call: Reply(fault="hang" if call.number > 10 else None)) as server:
        with said.open("w") as errors:
            child = subprocess.Popen(command(run, server), stderr=errors)
        wait_until(lambda: len(server.calls) > 15)
        child.send_signal(signal.SIGINT)
        wait_until(lambda: "stopping;" in said.read_text())
        started = time.monotonic()
        child.send_signal(signal.SIGINT)
        child.wait(timeout=60)
        assert time.monotonic() - started < DRAIN_SECONDS
    errors = said.read_text()
    assert child.returncode == 130 and "answers are safe" in errors and "Traceback" not in errors


def test_an_interrupted_refresh_does_not_claim_to_go_on(make_run):
    run = make_run(50)
    with ChatServer(lambda call: Reply(delay=0.02 if call.number >= 40 else 0)) as server:
        judge(run, server)
        child = subprocess.Popen(command(run, server, "--refresh"), stderr=subprocess.PIPE, text=True)
        wait_until(lambda: len(server.calls) > 45)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
    assert "goes on without --refresh, with it begins anew" in errors


def test_two_processes_on_one_journal(make_run):
    run = make_run(100)

    def script(call: Call) -> Reply:
        return Reply(fault="hang") if call.number == 10 else reading_judge(call)

    with ChatServer(script) as server:
        first = subprocess.Popen(command(run, server, "--concurrency", "1"), stderr=subprocess.DEVNULL)
        wait_until(lambda: len(server.calls) == 11)
        second = subprocess.run(command(run, server), capture_output=True, text=True, check=False)
        assert second.returncode == 2 and len(server.calls) == 11
        assert "another process is writing this journal" in second.stderr
        first.kill()
        first.wait()
        assert len(journaled(run)) == 10
        assert judge(run, server) == 0
    assert len(server.calls) == 81 and len(journaled(run)) == 80


def test_progress_is_plain_lines_without_a_terminal(make_run):
    run = make_run(20)
    with ChatServer() as server:
        child = subprocess.run(command(run, server), capture_output=True, text=True, check=True)
    assert "\r" not in child.stderr and "16 answers in" in child.stderr


def test_samples_known_only_from_our_copy_are_judged(make_run):
    run = make_run(10)
    log = next(run.glob("acme__vlm-7b/*_samples_*.jsonl"))
    records = [json.loads(line)["datbench_record"] for line in log.read_text().splitlines()]
    copies = run / "datbench_records"
    copies.mkdir()
    header = {"schema": 1, "run": {}, "arguments": {"model_args": "model=acme/vlm-7b"}}
    lines = [header, *records]
    (copies / "datbench_math_20260115_130000_1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    log.unlink()
    with ChatServer(reading_judge) as server:
        assert judge(run, server) == 0
    assert len(judged_records(run, TAG)) == 10


def test_a_run_without_pending_samples_needs_no_server(make_run):
    run = make_run(5)
    log = next(run.glob("acme__vlm-7b/*_samples_*.jsonl"))
    lines = [
        line for line in log.read_text().splitlines() if json.loads(line)["datbench_record"]["eval_mode"] == "direct"
    ]
    log.write_text("\n".join(lines) + "\n")
    with ChatServer() as server:
        assert judge(run, server) == 0
    assert not server.calls
