"""Sample logs with any value in any place: the readers refuse with a message or make numbers, and never break."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.hang_guard import no_longer_than
from support.hostile_corpus import VALUES, nested, with_value
from support.judge_runs import make_judge_run
from support.synthetic_run import JUDGE_TAG, make_run

from datbench_tasks.cli import main
from datbench_tasks.errors import DONE, INCOMPLETE, UNREADABLE, USAGE, CommandError
from datbench_tasks.models.stored_answers import StoredAnswers

FINE = {DONE, INCOMPLETE, UNREADABLE}
SECONDS = 120
REPORT = ["--dataset", "none", "--html"]


def places(content: dict[str, Any], depth: int = 3) -> Iterator[tuple[str, ...]]:
    for key, value in content.items():
        yield (key,)
        if isinstance(value, dict) and depth > 1:
            yield from ((key, *rest) for rest in places(value, depth - 1))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judged run with one task, whose samples are of several kinds."""
    return make_run(tmp_path_factory.mktemp("template"), samples=3, capabilities=("general",), judged=True)


def log_of(run: Path) -> Path:
    (log,) = run.glob("acme*/*_samples_*.jsonl")
    return log


@pytest.mark.parametrize("name", VALUES)
def test_any_value_in_any_place(name: str, template: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = log_of(template)
    whole = log.read_text("utf-8")
    lines = whole.splitlines()
    faults = []
    try:
        with no_longer_than(SECONDS):
            for number, line in enumerate(lines[:2]):
                content = json.loads(line)
                for place in places(content):
                    damaged = [*lines[:number], with_value(content, place, VALUES[name]), *lines[number + 1 :]]
                    log.write_text("\n".join(damaged) + "\n", "utf-8")
                    status = main(["report", str(template), *REPORT, str(tmp_path / "page.html"), "--out",
                                   str(tmp_path / "report.json")])  # fmt: skip
                    errors = capsys.readouterr().err
                    if status not in FINE:
                        faults.append((number, place, status, errors[-200:]))
    finally:
        log.write_text(whole, "utf-8")
    assert faults == []


@pytest.mark.parametrize("name", VALUES)
def test_any_value_in_a_record_that_waits_for_a_judge(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The plan reads all that a judge is sent; nothing is sent."""
    run = make_judge_run(tmp_path / "run", 2)
    log = log_of(run)
    first, second = log.read_text("utf-8").splitlines()
    content = json.loads(first)
    asks = ["judge", str(run), "--judge-model", "m", "--judge-base-url", "http://127.0.0.1:9", "--dry-run"]
    with no_longer_than(SECONDS):
        for place in places(content, 2):
            log.write_text(with_value(content, place, VALUES[name]) + "\n" + second + "\n", "utf-8")
            assert main(asks) in FINE, (place, capsys.readouterr().err)


def statuses(commands: list[list[str]], capsys: pytest.CaptureFixture[str]) -> list[tuple[str, int, str]]:
    """Commands that ended in another way than done, incomplete or refused."""
    found = []
    for command in commands:
        status = main(command)
        errors = capsys.readouterr().err
        if status not in FINE | {USAGE}:
            found.append((command[0], status, errors[-300:]))
    return found


@pytest.mark.parametrize("name", VALUES)
def test_any_value_in_a_judged_record(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path / "run", samples=3, capabilities=("general",), judged=True)
    (log,) = (run / "judge" / JUDGE_TAG).glob("*_samples_*.jsonl")
    first, second, third = log.read_text("utf-8").splitlines()
    content = json.loads(second)
    named = ["--judge", JUDGE_TAG, "--dataset", "none"]
    commands = [
        ["report", str(run), *named, "--html", str(tmp_path / "page.html"), "--out", str(tmp_path / "report.json")],
        ["agreement", str(run), "--tags", JUDGE_TAG, JUDGE_TAG],
        ["submit", str(run), *named, "--capabilities", "general", "--model-name", "m", "--out", "BUNDLE"],
    ]
    faults = []
    with no_longer_than(SECONDS):
        for number, place in enumerate(places(content["datbench_record"], 2)):
            commands[-1][-1] = str(tmp_path / str(number))
            damaged = with_value(content, ("datbench_record", *place), VALUES[name])
            log.write_text("\n".join([first, damaged, third]) + "\n", "utf-8")
            faults += [(place, fault) for fault in statuses(commands, capsys)]
    assert faults == []


@pytest.mark.parametrize("name", VALUES)
def test_any_value_in_a_copy_of_ours(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path / "run", samples=2, capabilities=("general",))
    records = [json.loads(line)["datbench_record"] for line in log_of(run).read_text("utf-8").splitlines()]
    log_of(run).unlink()
    header = {"schema": 1, "task": "datbench_general", "run": {}, "arguments": {"model_args": "model=acme/vlm-7b"}}
    lines = [json.dumps(line) for line in (header, *records)]
    (run / "datbench_records").mkdir()
    copy = run / "datbench_records" / "datbench_general_20260115_121000_77.jsonl"
    command = ["report", str(run), "--dataset", "none", "--out", str(tmp_path / "report.json")]
    copy.write_text("\n".join(lines) + "\n", "utf-8")
    assert main(command) in (DONE, INCOMPLETE), "or the test shows nothing"
    faults = []
    with no_longer_than(SECONDS):
        for number in (0, 1):
            for place in places(json.loads(lines[number]), 2):
                damaged = with_value(json.loads(lines[number]), place, VALUES[name])
                copy.write_text("\n".join([*lines[:number], damaged, *lines[number + 1 :]]) + "\n", "utf-8")
                faults += [(number, place, fault) for fault in statuses([command], capsys)]
    assert faults == []


@pytest.mark.parametrize("name", VALUES)
def test_any_value_in_the_description_of_a_judge_pass(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_judge_run(tmp_path / "run", 3)
    named = ["--judge-model", "m", "--tag", "m"]
    assert main(["judge", "export", str(run), *named, "--out", str(tmp_path / "batch")]) == DONE
    about, results = run / "judge" / "m" / "judge.json", tmp_path / "results.jsonl"
    body = {"choices": [{"message": {"content": "answer: true"}}]}
    requests = (tmp_path / "batch" / "requests_0001.jsonl").read_text("utf-8").splitlines()
    answers = [
        {"custom_id": json.loads(r)["custom_id"], "response": {"status_code": 200, "body": body}} for r in requests
    ]
    results.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    content = json.loads(about.read_text("utf-8"))
    commands = [
        ["judge", "import", str(run), str(results), "--tag", "m"],
        ["judge", str(run), *named, "--judge-base-url", "http://127.0.0.1:9", "--dry-run"],
    ]
    faults = []
    with no_longer_than(SECONDS):
        for place in places(content, 2):
            for command in commands:
                about.write_text(with_value(content, place, VALUES[name]), "utf-8")
                faults += [(place, fault) for fault in statuses([command], capsys)]
    assert faults == []


@pytest.mark.parametrize("name", VALUES)
def test_any_value_in_the_results_file(name: str, template: Path, tmp_path: Path, capsys: Any) -> None:
    (results,) = template.glob("acme*/*_results.json")
    whole = results.read_text("utf-8")
    faults = []
    try:
        for place in places(json.loads(whole), 4):
            results.write_text(with_value(json.loads(whole), place, VALUES[name]), "utf-8")
            status = main(["report", str(template), "--dataset", "none", "--out", str(tmp_path / "report.json")])
            errors = capsys.readouterr().err
            if status not in FINE:
                faults.append((place, status, errors[-200:]))
    finally:
        results.write_text(whole, "utf-8")
    assert faults == []


@pytest.mark.parametrize("name", VALUES)
def test_any_value_in_a_scored_table(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"id": "a", "eval_valid": True, "eval_error": "", "eval_pred": "A", "eval_score": 1.0}
    statistics = {"bench_name_or_prefix": "bench", "type": "key2_qa", "metric": "m", "accuracy": 1.0, "strict": False}
    table, beside = tmp_path / "scored.jsonl", tmp_path / "scored.statistics.json"
    command = ["report", str(table), "--out", str(tmp_path / "report.json"), "--html", str(tmp_path / "page.html")]
    faults = []
    with no_longer_than(SECONDS):
        beside.write_text(json.dumps([statistics]))
        for place in places(row, 1):
            table.write_text(with_value(row, place, VALUES[name]) + "\n" + json.dumps({**row, "id": "b"}) + "\n")
            faults += [(place, fault) for fault in statuses([command], capsys)]
        table.write_text(json.dumps(row) + "\n")
        for place in places(statistics, 1):
            beside.write_text(f"[{with_value(statistics, place, VALUES[name])}]")
            faults += [(place, fault) for fault in statuses([command], capsys)]
        beside.write_text(VALUES[name])
        faults += statuses([command], capsys)
    assert faults == []


@pytest.mark.parametrize("depth", [*range(200, 1100, 60), 100_000])
def test_any_depth_is_read_and_written_or_refused(depth: int, template: Path, tmp_path: Path) -> None:
    """What json.loads can just read must not break whoever writes it again, deeper in the stack."""
    log = log_of(template)
    whole = log.read_text("utf-8")
    first, *others = whole.splitlines()
    deep = with_value(json.loads(first), ("datbench_record", "answer"), nested(depth))
    log.write_text("\n".join([deep, *others]) + "\n", "utf-8")
    out = ["--html", str(tmp_path / "page.html"), "--out", str(tmp_path / "report.json")]
    try:
        assert main(["report", str(template), "--dataset", "none", *out]) in FINE
    finally:
        log.write_text(whole, "utf-8")


ENCODINGS = {
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "blank lines": lambda text: text.replace("\n", "\n\n \n").encode(),
    "no final line feed": lambda text: text.rstrip("\n").encode(),
}
UNREADABLE_ENCODINGS = {
    "UTF-16": lambda text: text.encode("utf-16"),
    "Latin-1": lambda text: text.replace("left", "l\u00e9ft").replace("fence", "f\u00e9nce").encode("latin-1"),
    "gzip": lambda text: b"\x1f\x8b\x08\x00" + text.encode(),
    "NUL bytes": lambda text: b"\0" * 1000 + text.encode(),
    "an array": lambda text: ("[" + ",".join(text.splitlines()) + "]").encode(),
    "nesting without end": lambda text: b"[" * 1_000_000,
    "objects without end": lambda text: b'{"a":' * 500_000,
}


@pytest.mark.parametrize("name", [*ENCODINGS, *UNREADABLE_ENCODINGS])
def test_encodings_and_shapes_of_a_log(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path / "run", samples=6, capabilities=("general",))
    log = log_of(run)
    command = ["report", str(run), "--dataset", "none", "--allow-incomplete", "--format", "json"]
    assert main(command) == DONE
    expected = capsys.readouterr().out
    log.write_bytes({**ENCODINGS, **UNREADABLE_ENCODINGS}[name](log.read_text("utf-8")))
    with no_longer_than(SECONDS):
        status = main(command)
    printed = capsys.readouterr()
    if name in ENCODINGS:
        assert status == DONE and printed.out == expected
    else:
        assert status == UNREADABLE and log.name in printed.err and len(printed.err) < 1_000


@pytest.mark.parametrize("name", VALUES)
def test_a_log_to_replay_holds_anything(name: str, template: Path, tmp_path: Path) -> None:
    content = json.loads(log_of(template).read_text("utf-8").splitlines()[0])
    log = tmp_path / "20260115_120000_samples_datbench_general.jsonl"
    for place in places(content, 2):
        log.write_text(with_value(content, place, VALUES[name]) + "\n", "utf-8")
        for source in (log, tmp_path):
            try:
                assert len(StoredAnswers(source)) == 1
            except CommandError as fault:
                assert log.name in str(fault) or str(tmp_path) in str(fault)


@pytest.mark.parametrize("rest", ["../../../pwned", "x/y", "\0", "x" * 300, "\ud800"])
def test_a_task_name_of_the_results_file_becomes_no_path(rest: str, tmp_path: Path) -> None:
    run = make_judge_run(tmp_path / "deep" / "run", 3)
    (results,) = run.glob("acme*/*_results.json")
    content = json.loads(results.read_text("utf-8"))
    content["n-samples"][f"datbench_{rest}"] = {"original": 1, "effective": 1}
    results.write_text(json.dumps(content), "utf-8")
    before = {*tmp_path.rglob("*")}
    judge = ["judge", str(run), "--judge-model", "m", "--judge-base-url", "http://127.0.0.1:9", "--concurrency", "1"]
    assert main(judge) == UNREADABLE
    assert main(["report", str(run), "--dataset", "none"]) in FINE
    assert {*tmp_path.rglob("*")} - before <= {run / "datbench_report.json", run / "judge"}
