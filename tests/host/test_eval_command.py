"""``datbench-tasks eval``: host, judge and report in one command, and failed requests asked again."""

import json

import pytest
from support.chat_server import ChatServer, Reply
from support.host import answer_by_gold, run

from datbench_tasks.run_directory import open_run
from datbench_tasks.run_samples import iter_samples

TASK = "datbench_sample_math"


def evaluate(folder, server, *more, output=("--output_path", "out"), tasks=("--tasks", TASK)):
    return run(
        "datbench-tasks", "eval", "--model", "openai", *tasks, "--batch_size", 1, *output,
        "--model_args", f"model_version=scripted,base_url={server.base_url},num_concurrent=4,max_retries=1",
        *more, cwd=folder,
    )  # fmt: skip


def records(folder):
    (task_run,) = open_run(folder / "out").tasks
    return {sample.record["id"]: sample.record for sample in iter_samples(task_run)}


def fails_for(word):
    """A server that refuses prompts with a word, and one call of the judge's is as good as any other."""
    return lambda call: Reply("no", status=400) if word in call.text else answer_by_gold(call)


def test_host_judge_and_report_in_one_command(tmp_path):
    with ChatServer(answer_by_gold) as model, ChatServer(Reply("answer: true")) as judge:
        done = evaluate(tmp_path, model, "--judge-model", "j", "--judge-base-url", judge.base_url)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "out" / "datbench_report.json").read_text("utf-8"))
    assert report["summary"]["judge_samples"] == len(judge.calls) > 0
    assert report["summary"]["judge_accuracy"] == 1.0
    assert "capability" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ({"tasks": ("--tasks", "datbench_nonesuch")}, 3, "wrote no results"),
        ({"output": ()}, 2, "--output_path"),
    ],
)
def test_a_host_that_fails_is_not_taken_for_done(tmp_path, arguments, status, said):
    with ChatServer() as server:
        done = evaluate(tmp_path, server, **arguments)
    assert done.returncode == status, done.stdout + done.stderr
    assert said in done.stderr.splitlines()[-1]


def test_failed_requests_are_asked_again_and_merged(tmp_path):
    with ChatServer(fails_for("angle")) as model:
        evaluate(tmp_path, model)
    before = records(tmp_path)
    failed = {key for key, record in before.items() if "request_failed" in record["flags"]}
    assert 0 < len(failed) < len(before)
    with ChatServer(answer_by_gold) as model:
        done = evaluate(tmp_path, model, "--only-failed", "out", output=(), tasks=())
        assert len(model.calls) == len(failed)
    after = records(tmp_path)
    assert set(after) == set(before), done.stdout + done.stderr
    assert not any("request_failed" in record["flags"] for record in after.values())
    assert all(after[key] == before[key] for key in set(before) - failed)
    graded = [record["score"] for record in after.values() if "score" in record]
    newest = max((tmp_path / "out").rglob("*_results.json"))
    value = json.loads(newest.read_text("utf-8"))["results"][TASK]["datbench_score,none"]
    assert value == pytest.approx(sum(graded) / len(graded))
    assert not (tmp_path / "out" / "retry").exists()
