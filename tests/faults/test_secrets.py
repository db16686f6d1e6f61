"""Keys given to the judge and to the host's model: in no file of ours and in nothing that we print."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.chat_server import Call, ChatServer, Reply
from support.judge_runs import DATE, MODEL, make_judge_run, reading_judge
from support.synthetic_run import make_run

from datbench_tasks.aggregation import graded_share
from datbench_tasks.cli import main
from datbench_tasks.commands import eval as eval_command

JUDGE_KEY = "sk-judge-marked-4711"
MODEL_KEY = "sk-model-marked-4712"
MODEL_ARGS = f"model=acme/vlm-7b,base_url=http://127.0.0.1:9/v1,api_key={MODEL_KEY}"


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARKED_JUDGE_KEY", JUDGE_KEY)
    monkeypatch.setenv("OPENAI_API_KEY", MODEL_KEY)


def add_model_args(run: Path) -> Path:
    """As the host does: it writes its arguments into its own results file, keys included."""
    for results in run.glob("acme*/*_results.json"):
        content = json.loads(results.read_text("utf-8"))
        content["config"]["model_args"] = MODEL_ARGS
        content["config"]["resolved_cli_args"] |= {"model_args": MODEL_ARGS, "api_key": MODEL_KEY, "limit": None}
        results.write_text(json.dumps(content), "utf-8")
    return run


def leaks(folder: Path) -> Iterator[str]:
    """Files with a key in name or content; the host's own results files are its business."""
    for path in folder.rglob("*"):
        marked = [key for key in (JUDGE_KEY, MODEL_KEY) if path.is_file() and key.encode() in path.read_bytes()]
        if (marked or "marked" in path.name) and path.parent.name != MODEL.replace("/", "__"):
            yield f"{path}: {marked}"


def check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = capsys.readouterr()
    assert list(leaks(folder)) == []
    assert JUDGE_KEY not in printed.out + printed.err and MODEL_KEY not in printed.out + printed.err


def telling_judge(call: Call) -> Reply:
    """Gives every key that it is sent back in its answers and in its errors."""
    told = call.headers["Authorization"]
    if call.number % 7 == 3:
        return Reply(f"overloaded, {told}", status=500)
    return Reply(f"{reading_judge(call).text}\nYou sent {told}", headers={"x-echo": told})


def test_eval_with_a_judge(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "run"

    def host(command: list[str], **_: object) -> SimpleNamespace:
        assert MODEL_ARGS in command
        add_model_args(make_judge_run(out, 40))
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(eval_command.subprocess, "run", host)
    with ChatServer(telling_judge) as server:
        command = [
            "eval", "--model", "openai", "--model_args", MODEL_ARGS, "--tasks", "datbench_math",
            "--output_path", str(out),
            "--html", str(tmp_path / "page.html"), "--judge-model", "m", "--judge-base-url", server.base_url,
            "--api-key-env", "MARKED_JUDGE_KEY", "--retries", "3",
        ]  # fmt: skip
        assert main(command) in (0, 3)
        assert all(call.headers["Authorization"] == f"Bearer {JUDGE_KEY}" for call in server.calls)
    assert MODEL_KEY in (out / "acme__vlm-7b" / f"{DATE}_results.json").read_text("utf-8"), "or the test shows nothing"
    assert (out / "judge" / "m" / f"{DATE}_results.json").is_file()
    check(tmp_path, capsys)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_refusals_of_the_judge(status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = add_model_args(make_judge_run(tmp_path / "run", 10))
    with ChatServer(lambda call: Reply(f"no: {dict(call.headers)}", status=status)) as server:
        command = ["judge", str(run), "--judge-model", "m", "--judge-base-url", server.base_url, "--retries", "0"]
        assert main([*command, "--api-key-env", "MARKED_JUDGE_KEY", "--debug"]) == 4
        # The key in place of the variable's name.
        assert main([*command, "--api-key-env", JUDGE_KEY]) == 2
    check(tmp_path, capsys)


def test_a_key_in_the_address(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_judge_run(tmp_path / "run", 10)
    with ChatServer(Reply("no", status=403)) as server:
        address = server.base_url.replace("http://", f"http://user:{JUDGE_KEY}@")
        assert main(["judge", str(run), "--judge-model", "m", "--judge-base-url", address, "--retries", "0"]) in (2, 4)
    check(tmp_path, capsys)


def test_what_is_made_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = add_model_args(make_run(tmp_path / "run", samples=90, judged=True))
    records = [{"id": "a", "doc_id": 0, "run": {"task": "datbench_math"}, "score": 1.0}]
    graded_share(records, SimpleNamespace(output_path=str(run), model_args=MODEL_ARGS, timezone="UTC"))
    shown = ["--dataset", "none"]
    main(["report", str(run), *shown, "--html", str(tmp_path / "page.html"), "--format", "json"])
    main(["compare", str(run), str(run), *shown, "--force", "--format", "json"])
    main(["submit", str(run), *shown, "--model-name", "m", "--out", str(tmp_path / "bundle")])
    main(["judge", "export", str(run), "--judge-model", "m", "--out", str(tmp_path / "batch")])
    assert (tmp_path / "bundle" / "README.md").is_file() and list((run / "datbench_records").iterdir())
    check(tmp_path, capsys)


def test_an_error_that_names_the_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path / "run", samples=5, capabilities=("math",))
    make_run(tmp_path / "run", samples=5, capabilities=("chart",), date="20260116_120000")
    add_model_args(run)
    (results,) = run.glob("acme*/20260116*_results.json")
    content = json.loads(results.read_text("utf-8"))
    results.write_text(json.dumps(content | {"config": content["config"] | {"gen_kwargs": "temperature=1"}}), "utf-8")
    assert main(["report", str(run), "--dataset", "none"]) == 5
    assert main(["report", str(run), "--dataset", "none", "--debug"]) == 5
    check(tmp_path, capsys)
