"""What ``datbench-tasks eval`` makes of its judge options; the host itself does not run here."""

from __future__ import annotations

import pytest
from support.chat_server import ChatServer, Reply

from datbench_tasks.cli import main
from datbench_tasks.commands import eval as command


@pytest.fixture
def hosted(make_run, monkeypatch):
    """A run directory, and the calls of a host that is taken to have written it."""
    run, calls = make_run(10), []
    monkeypatch.setattr(command, "run_host", lambda *arguments: calls.append(arguments))

    def evaluate(*options):
        return main(["eval", "--tasks", "datbench_math", "--output_path", str(run), *options])

    return evaluate, calls


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["--judge-model", "j"], 2, "--judge-base-url URL"),
        (["--judge-base-url", "http://127.0.0.1:1"], 2, "--judge-model NAME"),
        (["--judge-model", "j", "--judge-base-url", "ftp://x"], 2, "not an http"),
        (["--judge-model", "j", "--judge-base-url", "http://x", "--api-key-env", "NO_SUCH_KEY"], 2, "NO_SUCH_KEY"),
        (["--judge-model", "j", "--judge-base-url", "http://x", "--tag", "../j"], 2, "--tag '../j'"),
        (["--judge-model", "j", "--judge-base-url", "http://x", "--tag", "taken"], 2, "holds the verdicts of other"),
        (["--judge-model", "j", "--judge-base-url", "http://x", "--dry-run"], 2, "judge RUN --dry-run"),
    ],
)
def test_a_judge_that_cannot_be_is_refused_before_the_host_runs(hosted, capsys, options, status, said):
    evaluate, calls = hosted
    with ChatServer() as server:
        taken = ["--judge-model", "other", "--judge-base-url", server.base_url, "--tag", "taken"]
        assert evaluate(*taken) == 0
    calls.clear()
    assert evaluate(*options) == status
    assert said in capsys.readouterr().err
    assert calls == []


def test_the_report_is_that_of_the_judge_who_was_asked(hosted, capsys):
    evaluate, _ = hosted
    with ChatServer(Reply("answer: true")) as first, ChatServer(Reply("answer: false")) as second:
        for name, server in (("first", first), ("second", second)):
            assert evaluate("--judge-model", name, "--judge-base-url", server.base_url) == 0
            assert f"judge pass {name}" in capsys.readouterr().out


@pytest.mark.parametrize(("option", "status"), [([], 3), (["--allow-missing"], 0), (["--allow-incomplete"], 0)])
def test_unparsed_verdicts_can_be_allowed(hosted, option, status):
    evaluate, _ = hosted
    with ChatServer(Reply("perhaps")) as server:
        assert evaluate("--judge-model", "j", "--judge-base-url", server.base_url, *option) == status


def test_a_refusal_says_how_to_go_on_without_the_host(hosted, make_run, capsys):
    evaluate, _ = hosted
    with ChatServer([Reply()] * 3 + [Reply("no", status=403)]) as server:
        assert evaluate("--judge-model", "j", "--judge-base-url", server.base_url, "--concurrency", "1") == 4
    said = capsys.readouterr().err
    assert "3 answers are safe" in said and "datbench-tasks judge " in said and "same command" not in said
