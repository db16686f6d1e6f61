"""Judging by files: the same verdicts as over HTTP, whatever the order, the faults and the shards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.chat_server import Call, ChatServer
from support.judge_runs import judged_records, make_judge_run, reading_judge

from datbench_tasks.cli import main
from datbench_tasks.judge.batch_files import export_requests
from datbench_tasks.judge.post_pass import Settings
from datbench_tasks.judge.requests import JudgeIdentity
from datbench_tasks.run_directory import open_run

COUNT = 30
JUDGED = 24
TAG = "acme_judge"


def export(run: Path, out: Path, *options: str) -> int:
    return main(["judge", "export", str(run), "--judge-model", "acme/judge", "--out", str(out), *options])


def take(run: Path, *files: Path, tag: str = TAG) -> int:
    return main(["judge", "import", str(run), *map(str, files), "--tag", tag])


def requests_in(folder: Path) -> list[dict]:
    return [json.loads(line) for path in sorted(folder.iterdir()) for line in path.read_text().splitlines()]


def result(request: dict) -> dict:
    """What the batch API makes of one request line, answered by the reading judge."""
    text = reading_judge(Call(0, "", {}, request["body"])).text
    body = {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
    }
    return {
        "id": "b",
        "custom_id": request["custom_id"],
        "response": {"status_code": 200, "request_id": "r", "body": body},
        "error": None,
    }


def write_results(path: Path, results: list[dict]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in results))
    return path


def test_request_lines_have_the_shape_of_the_batch_api(make_run, tmp_path):
    run = make_run(COUNT)
    assert export(run, tmp_path / "out", "--max-tokens", "5", "--extra-body", '{"seed": 7}') == 0
    lines = requests_in(tmp_path / "out")
    assert len(lines) == JUDGED == len({line["custom_id"] for line in lines})
    for line in lines:
        assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
        assert len(line["custom_id"]) == 64
        assert {k: v for k, v in line["body"].items() if k != "messages"} == {
            "model": "acme/judge", "temperature": 0, "max_tokens": 5, "seed": 7,
        }  # fmt: skip


def test_import_ends_in_the_same_records_as_http(make_run, tmp_path):
    by_http, by_file = make_run(COUNT, "http"), make_run(COUNT, "file")
    with ChatServer(reading_judge) as server:
        options = ["--judge-model", "acme/judge", "--judge-base-url", server.base_url]
        assert main(["judge", str(by_http), *options]) == 0
    export(by_file, tmp_path / "out")
    results = [result(line) for line in reversed(requests_in(tmp_path / "out"))]
    assert take(by_file, write_results(tmp_path / "results.jsonl", results)) == 0
    first, second = judged_records(by_http, TAG), judged_records(by_file, TAG)
    for record in (*first.values(), *second.values()):
        record.get("judge", {}).pop("usage", None)
        record.get("judge", {}).pop("journal_key", None)
    assert first == second


def test_results_in_several_files_and_twice_and_in_part(make_run, tmp_path, capsys):
    run = make_run(COUNT)
    export(run, tmp_path / "out")
    results = [result(line) for line in requests_in(tmp_path / "out")]
    one = write_results(tmp_path / "one.jsonl", results[:10])
    two = write_results(tmp_path / "two.jsonl", results[5:])
    assert take(run, one) == 3
    assert "missing (not asked): 14" in capsys.readouterr().err
    assert export(run, tmp_path / "rest") == 0
    assert len(requests_in(tmp_path / "rest")) == 14
    assert take(run, one, two) == 0


def test_what_a_batch_took_is_counted_once_however_often_it_is_imported(make_run, tmp_path, capsys):
    run = make_run(COUNT)
    export(run, tmp_path / "out")
    results = [result(line) for line in requests_in(tmp_path / "out")]
    files = [write_results(tmp_path / "one.jsonl", results[:10]), write_results(tmp_path / "two.jsonl", results)]
    take(run, files[0])
    export(run, tmp_path / "rest")
    for _ in range(2):
        assert main(["judge", "import", str(run), *map(str, files), "--tag", TAG, "--price-in", "10"]) == 0
    spent = json.loads((run / "judge" / TAG / "judge.json").read_text())["spent"]
    assert (spent["requests"], spent["prompt_tokens"], spent["cost"]) == (JUDGED, 10 * JUDGED, JUDGED / 1e4)
    assert "240 tokens in, 48 out, estimated cost 0.0024" in capsys.readouterr().err


def test_requests_given_for_results_are_refused(make_run, tmp_path, capsys):
    run = make_run(COUNT)
    export(run, tmp_path / "out")
    assert take(run, tmp_path / "out" / "requests_0001.jsonl") == 5
    assert "line 1: not a line of batch results (a request and no result)" in capsys.readouterr().err


@pytest.mark.parametrize("other", [["--max-tokens", "99"], ["--system", "Be strict."], ["--max-answer-chars", "9"]])
def test_a_batch_under_way_stays_importable(make_run, tmp_path, capsys, other):
    run = make_run(COUNT)
    export(run, tmp_path / "out")
    assert export(run, tmp_path / "other", *other) == 2
    assert "choose another --tag" in capsys.readouterr().err
    results = [result(line) for line in requests_in(tmp_path / "out")]
    assert take(run, write_results(tmp_path / "results.jsonl", results)) == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"response": None, "error": {"code": "batch_expired", "message": "x"}}, "batch: batch_expired"),
        ({"response": None, "error": None}, "batch: no response"),
        ({"response": {"status_code": 500, "body": {"error": {}}}}, "HTTP 500"),
        ({"response": {"status_code": "x" * 9}}, "HTTP unknown"),
        ({"response": {"status_code": 200, "body": None}}, "not a JSON object"),
        ({"response": {"status_code": 200, "body": {"choices": []}}}, "no choices"),
    ],
)
def test_failed_requests_are_missing_with_their_reason(make_run, tmp_path, change, reason):
    run = make_run(COUNT)
    export(run, tmp_path / "out")
    results = [result(line) for line in requests_in(tmp_path / "out")]
    results[3].update(change)
    assert take(run, write_results(tmp_path / "results.jsonl", results)) == 3
    content = json.loads((run / "judge" / TAG / "judge.json").read_text())
    assert [(item["verdict"], item["reason"]) for item in content["unscored"]] == [("missing", reason)]


def test_results_of_another_run_are_refused_or_counted(make_run, tmp_path, capsys):
    run, other = make_run(COUNT), make_judge_run(tmp_path / "other", 5, ["a", "b", "c", "d", "e"])
    export(run, tmp_path / "out")
    export(other, tmp_path / "other_out")
    strange = [result(line) for line in requests_in(tmp_path / "other_out")]
    own = [result(line) for line in requests_in(tmp_path / "out")]
    assert take(run, write_results(tmp_path / "strange.jsonl", strange)) == 5
    assert "none of the 4 results belongs" in capsys.readouterr().err
    assert take(run, write_results(tmp_path / "both.jsonl", strange + own)) == 0
    assert "4 results of other requests" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["no JSON", "[]", "{}", '{"custom_id": 5}', '{"custom_id": "abc"}', "[" * 100_000])
def test_unreadable_results_name_file_and_line(make_run, tmp_path, capsys, line):
    run = make_run(COUNT)
    export(run, tmp_path / "out")
    (tmp_path / "bad.jsonl").write_text("\n" + line + "\n")
    assert take(run, tmp_path / "bad.jsonl") == 5
    assert f"{tmp_path / 'bad.jsonl'}, line 2" in capsys.readouterr().err


def test_import_before_export_and_without_files(make_run, tmp_path, capsys):
    run = make_run(COUNT)
    assert take(run, tmp_path / "none.jsonl") == 5
    assert "nothing was exported" in capsys.readouterr().err
    export(run, tmp_path / "out")
    assert take(run, tmp_path / "none.jsonl") == 5
    assert take(run) == 2
    assert export(run, tmp_path / "out") == 2, "requests are not overwritten"


@pytest.mark.parametrize(
    ("limits", "sizes"), [({"max_requests": 10}, [10, 10, 4]), ({"max_bytes": 1}, [1] * 24), ({}, [24])]
)
def test_shards_keep_to_the_limits_and_lose_nothing(make_run, tmp_path, limits, sizes):
    run = open_run(make_run(COUNT))
    paths = export_requests(run, JudgeIdentity("m", "batch", {}), Settings("m"), tmp_path / "out", **limits)
    assert [len(path.read_text().splitlines()) for path in paths] == sizes
    assert len({line["custom_id"] for line in requests_in(tmp_path / "out")}) == JUDGED
