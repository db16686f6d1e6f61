"""``datbench-tasks unified``: tables in and out, workers, joins, the judge and its resume."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import Call, ChatServer, Reply

from datbench.unified.tables import read_records, write_records
from datbench_tasks.cli import main
from datbench_tasks.errors import DONE, INCOMPLETE, REFUSED, UNREADABLE, USAGE

CHOICES = ["--eval-type", "key3_q_choices_a", "--question", "q", "--choices", "choices", "--label", "label"]
SETS = ["--eval-type", "key3_q_choices_as", "--question", "q", "--choices", "choices", "--labels", "labels"]
QA = ["--eval-type", "key2_qa", "--question", "q", "--target", "target"]


def rows(count: int = 7) -> list[dict[str, Any]]:
    return [
        {
            "id": f"{index:03}",
            "q": "q",
            "choices": ["a", "b", "c"],
            "label": index % 3,
            "generated_ans": "ABCD"[index % 4],
            "extra": None,
        }
        for index in range(count)
    ]


def table(path: Path, content: list[dict[str, Any]]) -> Path:
    write_records(path, content)
    return path


def outcomes(path: Path) -> list[tuple[Any, ...]]:
    return [
        tuple(row[name] for name in ("eval_valid", "eval_error", "eval_pred", "eval_score"))
        for row in read_records(path)
    ]


def test_rows_and_statistics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench, out = table(tmp_path / "bench.jsonl", rows()), tmp_path / "out.jsonl"
    assert main(["unified", str(bench), *CHOICES, "--out", str(out), "--workers", "1"]) == DONE
    found = list(read_records(out))
    assert [{name: row[name] for name in rows()[0]} for row in found] == rows()
    assert outcomes(out)[:4] == [
        (True, "", 0, 1.0),
        (True, "", 1, 1.0),
        (True, "", 2, 1.0),
        (False, "parse_failed", None, None),
    ]
    (statistics,) = json.loads((tmp_path / "out.statistics.json").read_text())
    assert statistics == {
        "total_samples": 7,
        "valid_samples": 6,
        "accuracy": 0.5,
        "bench_name_or_prefix": "bench",
        "type": "key3_q_choices_a",
        "metric": "ll_choice_acc",
    }
    printed = capsys.readouterr()
    assert "accuracy: 0.5" in printed.out
    assert "invalid, parse_failed: 1" in printed.out
    assert "read from the generated text, not from log-likelihoods" in printed.err


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".json"])
def test_kinds_of_tables(tmp_path: Path, ending: str) -> None:
    bench, out = table(tmp_path / f"bench{ending}", rows()), tmp_path / f"out{ending}"
    assert main(["unified", str(bench), *CHOICES, "--out", str(out), "--workers", "1"]) == DONE
    found = list(read_records(out))
    assert [row["id"] for row in found] == [row["id"] for row in rows()]
    assert [str(row["eval_pred"]) for row in found[:3]] == ["0", "1", "2"]


def test_any_number_of_workers_gives_the_same_bytes(tmp_path: Path) -> None:
    bench = table(tmp_path / "bench.jsonl", rows(5_001))
    results = {}
    for workers in ("1", "2"):
        out = tmp_path / f"{workers}.jsonl"
        assert main(["unified", str(bench), *CHOICES, "--out", str(out), "--workers", workers]) == DONE
        results[workers] = out.read_bytes(), (tmp_path / f"{workers}.statistics.json").read_bytes()
    assert results["1"] == results["2"]
    assert results["1"][0].count(b"\n") == 5_001


def test_strict_base_of_labels_is_found_in_a_first_pass_or_given(tmp_path: Path) -> None:
    content = [{"q": "q", "choices": ["a", "b"], "labels": labels, "generated_ans": "2"} for labels in ("1", "2")]
    bench, out = table(tmp_path / "bench.jsonl", content), tmp_path / "out.jsonl"
    command = ["unified", str(bench), *SETS, "--out", str(out), "--strict", "--workers", "1"]
    assert main(command) == DONE
    assert [score for *_, score in outcomes(out)] == [0.0, 1.0]
    assert main([*command, "--label-base", "0"]) == DONE
    assert [error for _, error, *_ in outcomes(out)] == ["parse_failed", "parse_failed"]
    (statistics,) = json.loads((tmp_path / "out.statistics.json").read_text())
    assert statistics["invalid_by_error"] == {"parse_failed": 2}
    assert statistics["strict"] is True


def test_predictions_of_a_second_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = table(tmp_path / "bench.jsonl", [{**row, "generated_ans": "unused"} for row in rows(3)])
    answers = table(tmp_path / "answers.jsonl", [{"id": "002", "said": "C"}, {"id": "000", "said": "A"}])
    out = tmp_path / "out.jsonl"
    command = [
        "unified",
        str(bench),
        *CHOICES,
        "--out",
        str(out),
        "--pred",
        "said",
        "--pred-file",
        str(answers),
        "--id",
        "id",
        "--workers",
        "1",
    ]
    assert main(command) == DONE
    assert [error for _, error, *_ in outcomes(out)] == ["", "parse_failed", ""]
    assert [row["said"] for row in read_records(out)] == ["A", None, "C"]
    assert "without a partner in" in capsys.readouterr().out
    table(answers, [{"id": "000", "said": "A"}, {"id": "000", "said": "B"}])
    assert main(command) == UNREADABLE
    assert "row 2: id '000' occurs twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "status", "problem"),
    [
        ([*CHOICES[:6], "--label", "nope"], UNREADABLE, "no column 'nope'; it has id, q"),
        (["--eval-type", "key2_qa", "--question", "q"], USAGE, "--target COLUMN"),
        (["--eval-type", "key1_text_score", "--text", "q"], USAGE, "--local-model"),
        ([*QA, "--target", "q", "--local-model", "m"], USAGE, "takes no --local-model"),
        ([*CHOICES, "--judge-model", "m"], USAGE, "only key2_qa can be judged"),
        ([*CHOICES, "--pred-file", "x"], USAGE, "go together"),
        ([*QA, "--target", "q", "--judge-model", "m"], USAGE, "both --judge-model NAME and --judge-base-url URL"),
        ([*QA, "--target", "q", "--judge-base-url", "http://x"], USAGE, "both --judge-model NAME"),
        ([*QA, "--target", "q", "--metric", "semantic_judge"], USAGE, "both --judge-model NAME"),
        ([*CHOICES, "--label-base", "1"], USAGE, "--label-base goes with --strict"),
        ([*CHOICES, "--local-model", "m", "--metric", "accuracy"], USAGE, "ll_choice_acc or ll_choice_acc_norm"),
    ],
)
def test_faults_say_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, problem: str
) -> None:
    bench = table(tmp_path / "bench.jsonl", rows())
    assert main(["unified", str(bench), *arguments, "--out", str(tmp_path / "out.jsonl")]) == status
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()


def test_without_math_verify_a_formula_type_stops(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datbench.unified.formula._shared", {})
    monkeypatch.setenv("DATBENCH_MATH_PYTHON", str(tmp_path / "none"))
    bench = table(tmp_path / "bench.jsonl", [{"q": "q", "target": "1", "generated_ans": "1"}])
    assert main(["unified", str(bench), *QA, "--out", str(tmp_path / "out.jsonl")]) == USAGE
    assert "DATBENCH_MATH_PYTHON" in capsys.readouterr().err


def test_unreadable_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = tmp_path / "bench.jsonl"
    bench.write_text('{"q": 1, "choices": [], "label": 0, "generated_ans": ""}\n{"q"\n')
    command = ["unified", str(bench), *CHOICES, "--out", str(tmp_path / "out.jsonl"), "--workers", "1"]
    assert main(command) == UNREADABLE
    assert "line 2 is no JSON" in capsys.readouterr().err
    assert main([*command[:1], str(tmp_path / "none.jsonl"), *command[2:]]) == UNREADABLE
    assert list(tmp_path.glob("*out*")) == []


def judged_rows() -> list[dict[str, Any]]:
    return [
        *({"q": f"q{index}", "target": "Paris", "generated_ans": f"answer {index}"} for index in range(6)),
        {"q": "q", "target": None, "generated_ans": "x"},
    ]


def judge(call: Call) -> Reply:
    return Reply(json.dumps({"judgement_result": "answer 1" in call.text}))


def judge_command(tmp_path: Path, server: ChatServer) -> list[str]:
    bench = table(tmp_path / "bench.jsonl", judged_rows())
    return [
        "unified",
        str(bench),
        *QA,
        "--out",
        str(tmp_path / "out.jsonl"),
        "--judge-model",
        "org/judge",
        "--judge-base-url",
        server.base_url,
        "--retries",
        "0",
    ]


def test_judge(tmp_path: Path) -> None:
    with ChatServer(judge) as server:
        assert main(judge_command(tmp_path, server)) == DONE
        assert len(server.calls) == 6
        assert main(judge_command(tmp_path, server)) == DONE
        assert len(server.calls) == 6
    body = server.calls[0].body
    assert body["messages"][0]["role"] == "system"
    assert body["temperature"] == 0
    assert [score for *_, score in outcomes(tmp_path / "out.jsonl")] == [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, None]
    (statistics,) = json.loads((tmp_path / "out.statistics.json").read_text())
    assert statistics["metric"] == "semantic_judge"
    assert (tmp_path / "out.jsonl.judge" / "org_judge" / "journal.jsonl").is_file()


def test_equal_rows_are_asked_once(tmp_path: Path) -> None:
    with ChatServer(judge) as server:
        command = judge_command(tmp_path, server)
        table(tmp_path / "bench.jsonl", judged_rows()[:1] * 5)
        assert main(command) == DONE
    assert len(server.calls) == 1
    assert len(outcomes(tmp_path / "out.jsonl")) == 5


def test_a_refusing_server_keeps_what_was_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refuse_from = 3

    def script(call: Call) -> Reply:
        return judge(call) if call.number < refuse_from else Reply("no money", status=401)

    with ChatServer(script) as server:
        command = [*judge_command(tmp_path, server), "--concurrency", "1"]
        assert main(command) == REFUSED
        assert not (tmp_path / "out.jsonl").exists()
        refuse_from = 10**6
        before = len(server.calls)
        assert main(command) == DONE
        assert len(server.calls) - before == 3
    assert "401" in capsys.readouterr().err


def test_unanswered_rows_are_invalid_and_the_status_says_so(tmp_path: Path) -> None:
    def script(call: Call) -> Reply:
        return Reply(status=500) if "answer 2" in call.text else judge(call)

    with ChatServer(script) as server:
        assert main(judge_command(tmp_path, server)) == INCOMPLETE
    assert outcomes(tmp_path / "out.jsonl")[2] == (False, "semantic_judge_failed", None, None)


def test_a_killed_judge_run_goes_on_where_it_was(tmp_path: Path) -> None:
    with ChatServer(lambda call: Reply(judge(call).text, delay=0.2)) as server:
        command = [*judge_command(tmp_path, server), "--concurrency", "1"]
        process = subprocess.Popen([sys.executable, "-m", "datbench_tasks.cli", *command], stderr=subprocess.DEVNULL)
        journal = tmp_path / "out.jsonl.judge" / "org_judge" / "journal.jsonl"
        deadline = time.monotonic() + 60
        while (not journal.exists() or journal.read_bytes().count(b"\n") < 2) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kept = journal.read_bytes().count(b"\n")
        assert kept >= 2
        before = len(server.calls)
        assert main(command) == DONE
        assert len(server.calls) - before == 6 - kept


def test_csv_output_reads_back(tmp_path: Path) -> None:
    bench, out = table(tmp_path / "bench.jsonl", rows(2)), tmp_path / "out.csv"
    assert main(["unified", str(bench), *CHOICES, "--out", str(out), "--workers", "1"]) == DONE
    with out.open(encoding="utf-8", newline="") as file:
        assert [row["eval_score"] for row in csv.DictReader(file)] == ["1.0", "1.0"]


def test_a_result_that_cannot_be_written_is_refused_before_the_judge_is_paid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ChatServer(judge) as server:
        command = judge_command(tmp_path, server)
        command[command.index("--out") + 1] = str(tmp_path / "out.txt")
        assert main(command) == USAGE
        assert server.calls == []
    assert "out.txt: unknown ending '.txt'; known: .jsonl" in capsys.readouterr().err


def test_the_judges_metric_is_a_mere_name_for_other_types(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datbench.unified.formula._shared", {})
    monkeypatch.setenv("DATBENCH_MATH_PYTHON", str(tmp_path / "none"))
    bench = table(tmp_path / "bench.jsonl", [{"q": "q", "targets": "1", "generated_ans": "1"}])
    command = ["unified", str(bench), "--eval-type", "key2_q_ma", "--question", "q", "--targets", "targets"]
    assert main([*command, "--metric", "semantic_judge", "--out", str(tmp_path / "out.jsonl")]) == USAGE
    assert "formula answers need math-verify" in capsys.readouterr().err


def test_dates_and_pictures_of_a_parquet_table_do_no_harm(tmp_path: Path) -> None:
    content = [{**row, "when": datetime(2024, 1, 2), "image": {"bytes": b"x", "path": "p"}} for row in rows(2)]
    bench = table(tmp_path / "bench.parquet", content)
    answers = table(tmp_path / "answers.parquet", [{"when": datetime(2024, 1, 2), "generated_ans": "B"}])
    out = tmp_path / "out.jsonl"
    command = ["unified", str(bench), *CHOICES, "--out", str(out), "--workers", "1"]
    assert main(command) == DONE
    assert next(read_records(out))["when"] == "2024-01-02 00:00:00"
    assert main([*command, "--pred-file", str(answers), "--id", "when"]) == DONE
    assert [score for *_, score in outcomes(out)] == [0.0, 1.0]


def test_rows_that_fit_no_csv_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = rows(2)
    bench = table(tmp_path / "bench.jsonl", [first, {**second, "more": 1}])
    assert main(["unified", str(bench), *CHOICES, "--out", str(tmp_path / "out.csv"), "--workers", "1"]) == USAGE
    assert "row 2 has a column 'more' that row 1 lacks; write .jsonl" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        (OSError("no file named config.json"), "--local-model nowhere cannot be loaded: no file named config.json"),
        (ModuleNotFoundError("pip install 'datbench-tasks[local]'"), "pip install 'datbench-tasks[local]'"),
    ],
)
def test_a_local_model_that_cannot_be_loaded_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, fault: Exception, problem: str
) -> None:
    def load_parts(_: Any) -> Any:
        raise fault

    monkeypatch.setattr("datbench.unified.local_model.load_parts", load_parts)
    bench, out = table(tmp_path / "bench.jsonl", rows()), tmp_path / "out.jsonl"
    assert main(["unified", str(bench), *CHOICES, "--local-model", "nowhere", "--out", str(out)]) == USAGE
    assert problem in capsys.readouterr().err
    assert not out.exists()


def test_ids_of_other_types_find_no_partner_and_the_command_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = table(tmp_path / "bench.jsonl", [{**row, "id": number} for number, row in enumerate(rows(2))])
    answers = table(tmp_path / "answers.csv", [{"id": 0, "generated_ans": "A"}, {"id": 1, "generated_ans": "A"}])
    command = ["unified", str(bench), *CHOICES, "--out", str(tmp_path / "out.jsonl"), "--workers", "1"]
    assert main([*command, "--pred-file", str(answers), "--id", "id"]) == DONE
    assert 'answers.csv: 2, which is all; the number 1 is not the text "1"' in capsys.readouterr().out
