"""Reports and comparisons of tables that the unified evaluator scored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.synthetic_run import make_run

from datbench.jsonio import write_json, write_jsonl
from datbench_tasks.cli import main
from datbench_tasks.errors import InputError
from datbench_tasks.reporting import load_report
from datbench_tasks.reporting.pairing import compare_reports


def scored(directory: Path, right: list[bool | None], *extra: str) -> Path:
    """A table of multiple-choice rows, scored; None is a prediction that cannot be read."""
    directory.mkdir()
    letters = {True: "B", False: "A", None: "?"}
    rows = [
        {"question": f"q{number}", "choices": ["x", "y"], "label": 1, "generated_ans": letters[answer]}
        for number, answer in enumerate(right)
    ]
    write_jsonl(directory / "bench.jsonl", rows)
    columns = [part for name in ("question", "choices", "label") for part in (f"--{name}", name)]
    arguments = ["--eval-type", "key3_q_choices_a", *columns]
    out = directory / "result.jsonl"
    main(["unified", str(directory / "bench.jsonl"), *arguments, "--out", str(out), "--workers", "1", *extra])
    return out


def test_the_accuracy_is_that_of_the_statistics(tmp_path):
    result = scored(tmp_path / "a", [True] * 6 + [False] * 3 + [None])
    report = load_report(result)
    (statistics,) = json.loads(result.with_suffix(".statistics.json").read_text())
    (group,) = report.capabilities
    assert group.accuracy == 6 / 9 == pytest.approx(statistics["accuracy"])
    assert group.samples == statistics["valid_samples"] == 9
    assert group.interval.low < group.accuracy < group.interval.high
    assert [problem.kind for problem in report.problems] == ["invalid"]
    assert report.problems[0].ids == ("row 00000009",)


def test_the_command_reports_and_says_that_rows_are_invalid(tmp_path, capsys):
    result = scored(tmp_path / "a", [True, True, None])
    assert main(["report", str(result)]) == 3
    printed = capsys.readouterr().out
    assert "parse_failed (row 00000002)" in printed
    assert "scorer:unified" in printed
    assert "|tasks:unified|capabilities:bench|" in printed
    assert (tmp_path / "a" / "result.report.json").is_file()


def test_results_of_two_models_are_paired_by_row(tmp_path):
    first = load_report(scored(tmp_path / "a", [True, True, True, False]))
    second = load_report(scored(tmp_path / "b", [True, False, False, True]))
    (found,) = compare_reports(first, second).capabilities
    assert (found.difference, found.test) == (0.25, "McNemar")
    assert found.only_first == ("row 00000001", "row 00000002")


def test_another_metric_is_not_comparable(tmp_path, capsys):
    first, second = scored(tmp_path / "a", [True, False]), scored(tmp_path / "b", [True, False], "--strict")
    assert main(["compare", str(first), str(second)]) == 5
    assert "generation" in capsys.readouterr().err


def test_two_tables_of_one_benchmark_are_no_parts_of_a_run(tmp_path, capsys):
    first, second = scored(tmp_path / "a", [True, False]), scored(tmp_path / "b", [True, True])
    assert main(["report", str(first), str(second)]) == 5
    assert f"{second}: a second table of bench; compare them with datbench-tasks compare" in capsys.readouterr().err


def test_tables_of_several_benchmarks_are_one_report(tmp_path):
    for name, scores in (("sums", [1, 0]), ("maps", [1, 1, 0, 1])):
        rows = [{"eval_valid": True, "eval_error": "", "eval_score": score} for score in scores]
        write_jsonl(tmp_path / f"{name}.jsonl", rows)
        write_json(tmp_path / f"{name}.statistics.json", [{"bench_name_or_prefix": name, "type": "key2_qa"}])
    report = load_report([tmp_path / "sums.jsonl", tmp_path / "maps.jsonl"])
    assert {group.name: group.accuracy for group in report.capabilities} == {"maps": 0.75, "sums": 0.5}
    assert (report.macro_accuracy, report.total.accuracy) == (0.625, 4 / 6)
    assert "|capabilities:maps,sums|samples:6|" in report.signature_line


def test_files_of_a_run_are_no_tables(tmp_path, capsys):
    run = make_run(tmp_path, samples=9, capabilities=["counting"])
    results = next(run.glob("*/*_results.json"))
    assert main(["report", str(results)]) == 5
    assert f"report: {results}: must hold one JSON array of objects" in (printed := capsys.readouterr().err)
    assert "of a run of lmms-eval name the directory" in printed
    assert main(["report", str(run), str(results)]) == 5
    assert f"{results} is a file and others are directories" in capsys.readouterr().err


def test_ids_pair_rows_where_there_are_any(tmp_path):
    for name, order in (("a", [0, 1, 2]), ("b", [2, 1, 0])):
        rows = [{"id": f"s{n}", "eval_valid": True, "eval_error": "", "eval_score": float(n == 0)} for n in order]
        write_jsonl(tmp_path / f"{name}.jsonl", rows)
        statistics = [{"accuracy": 1 / 3, "bench_name_or_prefix": "bench", "type": "key2_qa", "metric": "m"}]
        write_json(tmp_path / f"{name}.statistics.json", statistics)
    (found,) = compare_reports(load_report(tmp_path / "a.jsonl"), load_report(tmp_path / "b.jsonl")).capabilities
    assert found.difference == 0
    assert found.only_first == ()


@pytest.mark.parametrize(
    ("rows", "statistics", "message"),
    [
        ([{"question": "q"}], {}, "no column eval_valid; score it with datbench-tasks unified"),
        ([{"eval_valid": False, "eval_error": "e", "eval_score": None}], {}, "no valid row"),
        ([{"id": 1, "eval_valid": True, "eval_error": "", "eval_score": 1}] * 2, {}, "id 1 stands in several rows"),
        ([{"eval_valid": True, "eval_error": "", "eval_score": "x"}], {}, "r.jsonl, row 1: eval_score is 'x', must"),
        ([{"eval_valid": True, "eval_error": "", "eval_score": 2}], {}, "eval_score is 2, must be a number"),
        ([{"eval_valid": True, "eval_error": "", "eval_score": None}], {}, "eval_score is None, must be a number"),
        ([{"eval_valid": True, "eval_error": "", "eval_score": 9}], {"type": "key1_text_score"}, "no accuracy"),
    ],
)
def test_what_cannot_be_reported_is_named(tmp_path, rows, statistics, message):
    write_jsonl(tmp_path / "r.jsonl", rows)
    write_json(tmp_path / "r.statistics.json", [statistics])
    with pytest.raises(InputError, match=message):
        load_report(tmp_path / "r.jsonl")
