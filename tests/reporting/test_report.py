"""Reports: the benchmark's numbers, what qualifies them, and what a run lacks."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from support.synthetic_run import make_run, rows

from datbench import CAPABILITIES, DatBenchEvaluator, DatBenchReport, JudgeResponse, VLMResponse
from datbench.jsonio import write_json
from datbench_tasks.cli import main
from datbench_tasks.errors import InputError
from datbench_tasks.records import failed_record
from datbench_tasks.reporting import load_report
from datbench_tasks.reporting.report_tables import csv_rows, rates_table, report_tables
from datbench_tasks.sample_logs import RECORD


def log_of(directory: Path, capability: str) -> Path:
    return next(directory.glob(f"*/*_samples_datbench_{capability}.jsonl"))


def edit_records(log: Path, edit) -> None:
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for position, line in enumerate(lines):
        edit(position, line)
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))


def edit_results(directory: Path, edit) -> None:
    path = next(directory.glob("*/*_results.json"))
    content = json.loads(path.read_text())
    edit(content)
    write_json(path, content)


@pytest.fixture(scope="module")
def judged(tmp_path_factory) -> Path:
    return make_run(tmp_path_factory.mktemp("judged"), samples=270, judged=True, seed=1)


def test_the_summary_is_that_of_the_evaluator(judged):
    report = load_report(judged, dataset="none")
    records = [sample.record for sample in report.samples() if sample.record["capability"] == "math"]
    evaluator = DatBenchEvaluator(list(rows("math", 30)), "math")
    expected = evaluator.compute_metrics(
        [VLMResponse(record["id"], record["output"]) for record in records],
        [JudgeResponse(record["id"], record["judge"]["raw"]) for record in records if "judge" in record],
    )
    (math,) = [group for group in report.capabilities if group.name == "math"]
    assert report.summary["capability_accuracy"]["math"] == expected.summary["overall_accuracy"] == math.accuracy
    for name, metrics in expected.summary["dataset_metrics"].items():
        assert report.summary["dataset_metrics"][name] == metrics
    results = [result for result in report.results() if result.metadata["capability"] == "math"]
    assert results == expected.results


def test_totals_are_sample_weighted_and_macro_is_plain(tmp_path):
    make_run(tmp_path, samples=40, capabilities=["counting"], accuracy=1.0)
    make_run(tmp_path, samples=10, capabilities=["spatial"], accuracy=0.0, date="20260116_120000")
    report = load_report(tmp_path, dataset="none")
    wrong = report.capabilities[1].accuracy
    assert report.capabilities[0].accuracy == 1.0
    assert report.macro_accuracy == pytest.approx((1 + wrong) / 2)
    assert report.total.accuracy == pytest.approx((40 + 10 * wrong) / 50)
    assert report.summary["overall_accuracy"] == report.total.accuracy


def test_pending_samples_count_as_wrong_and_bound_the_accuracy(tmp_path):
    report = load_report(make_run(tmp_path, samples=30, capabilities=["math"]), dataset="none")
    (math,) = report.capabilities
    right = sum(outcome.counted_score for outcome in report.outcomes)
    assert math.pending == 10
    assert math.accuracy == right / 30
    assert math.graded_accuracy == right / 20
    assert math.bounds == (right / 30, (right + 10) / 30)
    assert len(report.unscored()["pending"]) == 10
    assert [found.kind for found in report.problems] == ["pending"]
    accuracy = report_tables(report)[0]
    assert accuracy.rows[0][accuracy.columns.index("judge")] == "pending"


def test_unparsed_verdicts_score_zero_and_are_listed(judged):
    report = load_report(judged, dataset="none")
    unparsed = report.unscored()["unparsed"]
    assert unparsed
    assert report.summary["judge_unparsed_verdicts"] == len(unparsed) == report.total.unparsed
    assert report.total.bounds.high == pytest.approx(report.total.accuracy + len(unparsed) / report.total.samples)


def test_rates_and_weights(tmp_path):
    directory = make_run(tmp_path, samples=4, capabilities=["counting"], accuracy=1.0)

    def edit(position, line):
        record = line[RECORD]
        record |= {"score": [1.0, 0.0, 0.5, 0.0][position], "is_correct": position in (0, 2)}
        record["flags"] = [["truncated"], ["empty"], ["request_failed"], ["lost_to_formatting", "scorer_error"]][
            position
        ]
        record["score_if_reformatted"] = [1.0, 0.0, 0.5, 1.0][position]
        record["eval_metrics"] = {"discrimination": [0.5, -0.4, 0.25, 0.25][position], "is_frontier": position > 1}
        line["token_counts"] = [[{"output_tokens": 10}], [{"output_tokens": 4096}], [None], [{}]][position]

    edit_records(log_of(directory, "counting"), edit)
    report = load_report(directory, dataset="none")
    (found,) = report.capabilities
    assert report.summary["total_correct"] == 1
    assert (found.truncated, found.truncation_unknown) == (2, 2)
    assert (found.empty, found.request_failed, found.lost_to_formatting, found.scorer_errors) == (1, 1, 1, 1)
    assert found.accuracy == 0.375
    assert found.reformatted_accuracy == 0.625
    assert found.weighted_accuracy == (0.5 * 1 + 0.25 * 0.5) / 1.0
    assert (found.frontier_samples, found.frontier_accuracy) == (2, 0.25)
    assert (found.tokens_right, found.tokens_wrong) == (10, 4096)


def test_requests_that_failed_spent_no_tokens_and_empty_answers_did(tmp_path):
    directory = make_run(tmp_path, samples=4, capabilities=["counting"], accuracy=1.0)

    def edit(position, line):
        flags = [[], [], ["request_failed"], ["empty", "request_failed"]][position]
        line[RECORD] |= {"score": [1.0, 0.0, 0.0, 0.0][position], "flags": flags}
        line["token_counts"] = [{"output_tokens": [10, 904, 0, 4096][position]}]

    edit_records(log_of(directory, "counting"), edit)
    (found,) = load_report(directory, dataset="none").capabilities
    assert (found.tokens_right, found.tokens_wrong) == (10, 2500)


def test_tokens_of_pending_samples_count_neither_as_right_nor_as_wrong(tmp_path):
    directory = make_run(tmp_path, samples=3, capabilities=["math"], accuracy=1.0)
    edit_records(log_of(directory, "math"), lambda _, line: line.update(token_counts=[{"output_tokens": 7}]))
    found = load_report(directory, dataset="none").total
    assert (found.pending, found.tokens_right, found.tokens_wrong) == (1, 7, None)


@pytest.mark.parametrize("count", [10**400, -1, True, 1.5, "7", None])
def test_token_counts_that_are_none_are_not_known(tmp_path, count):
    directory = make_run(tmp_path, samples=3, capabilities=["counting"])
    edit_records(log_of(directory, "counting"), lambda _, line: line.update(token_counts=[{"output_tokens": count}]))
    found = load_report(directory, dataset="none").total
    assert (found.truncation_unknown, found.tokens_right, found.tokens_wrong) == (3, None, None)


def test_correct_is_what_the_score_says(tmp_path):
    directory = make_run(tmp_path, samples=3, capabilities=["counting"])
    edit_records(log_of(directory, "counting"), lambda number, line: line[RECORD].update(score=number / 4))
    edit_records(log_of(directory, "counting"), lambda _, line: line[RECORD].pop("is_correct"))
    results = load_report(directory, dataset="none").results()
    assert [result.is_correct for result in results] == [False, False, True]


def test_unscored_samples_are_a_share_of_all_that_there_should_be(tmp_path, capsys):
    directory = make_run(tmp_path, samples=10, capabilities=["counting"], accuracy=1.0)
    log = log_of(directory, "counting")
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:2]))
    report = load_report(directory, dataset="none")
    rates = rates_table(report)
    assert rates.rows[0][rates.columns.index("unscored")] == "80.0"
    assert report.total.bounds == (0.2, 1.0)
    assert "accuracy leaves missing samples out" in "\n".join(report.notes)


def test_a_limit_of_minus_one_is_no_limit(tmp_path):
    unlimited = make_run(tmp_path, samples=9, capabilities=["counting"], limit=-1)
    assert "limit:none" in load_report(unlimited, dataset="none").signature_line


def test_a_run_of_which_no_sample_could_be_scored_is_reported(tmp_path):
    directory = make_run(tmp_path, samples=1, capabilities=["counting"])

    def edit(_, line):
        line[RECORD] = failed_record(next(rows("counting", 1)), "x", KeyError("bbox"))

    edit_records(log_of(directory, "counting"), edit)
    report = load_report(directory, dataset="none")
    assert (report.total.accuracy, report.total.scorer_errors) == (0.0, 1)
    assert report.summary["scorer_errors"] == 1
    assert "model:acme/vlm-7b (vllm)" in report.signature_line


def test_rotations_of_one_item_are_grouped_where_the_source_row_says_so(tmp_path):
    directory = make_run(tmp_path, samples=4, capabilities=["counting"], accuracy=1.0)

    def edit(position, line):
        record = line[RECORD]
        record |= {"is_circular": True, "source_info": {"dataset": "countbench", "original_idx": position // 2}}
        record |= {"dataset": "countbench", "score": [1.0, 0.0, 1.0, 1.0][position]}

    edit_records(log_of(directory, "counting"), edit)
    (found,) = load_report(directory, dataset="none").capabilities
    assert (found.circular_samples, found.circular_items, found.circular_accuracy) == (4, 2, 0.5)


def test_samples_of_one_document_are_drawn_together_and_the_report_says_so(tmp_path):
    directory = make_run(tmp_path, samples=30, capabilities=["document"])
    clustered = load_report(directory, dataset="none")
    edit_records(log_of(directory, "document"), lambda _, line: line[RECORD].update(image_key=None))
    plain = load_report(directory, dataset="none")
    assert plain.capabilities[0].clusters is None
    assert clustered.capabilities[0].clusters >= 10
    assert "drawn by image or document" in "\n".join(clustered.notes)
    assert "nothing says which samples share an image" in "\n".join(plain.notes)


def test_the_order_of_lines_moves_no_byte(tmp_path, judged):
    shuffled = make_run(tmp_path, samples=270, judged=True, seed=1)
    for log in [*shuffled.glob("*/*.jsonl"), *shuffled.glob("judge/*/*.jsonl")]:
        lines = log.read_text().splitlines(keepends=True)
        random.Random(5).shuffle(lines)
        log.write_text("".join(lines))
    for directory in (judged, shuffled):
        assert main(["report", str(directory), "--dataset", "none", "--allow-incomplete"]) == 0
    first, second = ((directory / "datbench_report.json").read_bytes() for directory in (judged, shuffled))
    assert first.replace(str(judged).encode(), b"") == second.replace(str(shuffled).encode(), b"")


def test_the_report_file_is_a_datbench_report_with_signature_and_unscored(tmp_path):
    directory = make_run(tmp_path, samples=30, capabilities=["math"])
    assert main(["report", str(directory), "--dataset", "none"]) == 3
    path = directory / "datbench_report.json"
    loaded = DatBenchReport.load(path)
    content = json.loads(path.read_text())
    assert loaded.summary["total_samples"] == len(loaded.results) == 30
    assert loaded.summary["judge_missing_responses"] == 10
    assert content["signature"]["line"].startswith("scorer:")
    assert len(content["unscored"]["pending"]) == 10


def test_exit_statuses(tmp_path, capsys):
    directory = make_run(tmp_path, samples=9, capabilities=["counting"])
    assert main(["report", str(directory), "--dataset", "none"]) == 0
    log = log_of(directory, "counting")
    text = log.read_text()
    log.write_text(text + text.splitlines(keepends=True)[0])
    assert main(["report", str(directory), "--dataset", "none"]) == 3
    assert "1 duplicated; --allow-incomplete accepts it" in capsys.readouterr().err
    assert main(["report", str(directory), "--dataset", "none", "--allow-incomplete"]) == 0
    log.write_text("".join(text.splitlines(keepends=True)[:-1]))
    assert main(["report", str(directory), "--dataset", "none"]) == 3
    assert "1 missing" in capsys.readouterr().err
    assert main(["report", str(directory), "--dataset", "none", "--allow-missing"]) == 3
    log.write_text("{")
    assert main(["report", str(directory), "--dataset", "none"]) == 5


def test_a_limited_run_is_partial(tmp_path):
    directory = make_run(tmp_path, samples=9, capabilities=["counting"], limit=9)
    edit_results(directory, lambda content: content["n-samples"]["datbench_counting"].update(original=5000))
    report = load_report(directory, dataset="none")
    assert [found.kind for found in report.problems] == ["partial"]
    assert "limit:limit=9" in report.signature_line


def test_disjoint_parts_are_merged(tmp_path):
    whole = load_report(make_run(tmp_path / "whole", samples=18, capabilities=["counting", "spatial"]), dataset="none")
    parts = [make_run(tmp_path / name, samples=9, capabilities=[name]) for name in ("spatial", "counting")]
    merged = load_report(parts, dataset="none")
    assert merged.capabilities == whole.capabilities
    assert merged.signature_line == whole.signature_line


def test_the_order_in_which_parts_are_named_moves_no_number(tmp_path):
    parts = [make_run(tmp_path / name, samples=40, capabilities=["document"]) for name in "ab"]
    for directory, half in zip(parts, (slice(20, None), slice(20)), strict=True):
        log = log_of(directory, "document")
        log.write_text("".join(log.read_text().splitlines(keepends=True)[half]))
    first, second = load_report(parts, dataset="none"), load_report(parts[::-1], dataset="none")
    assert first.to_dict()["figures"] == second.to_dict()["figures"]
    assert [outcome.id for outcome in first.outcomes] == sorted(outcome.id for outcome in first.outcomes)
    assert list(first.results()) == list(second.results())


def test_runs_that_are_no_parts_of_one_are_refused(tmp_path):
    first = make_run(tmp_path / "a", samples=9, capabilities=["counting"])
    with pytest.raises(InputError, match=r"db_counting_000000 is in two of the runs.*datbench-tasks compare"):
        load_report([first, make_run(tmp_path / "b", samples=9, capabilities=["counting"])], dataset="none")
    with pytest.raises(InputError, match=r"model is .*acme/vlm-7b.*acme/other.*datbench-tasks compare"):
        load_report([first, make_run(tmp_path / "c", capabilities=["math"], model="acme/other")], dataset="none")
    with pytest.raises(InputError, match=r"scorer_version is '.*' and '0'"):
        load_report([first, make_run(tmp_path / "d", capabilities=["math"], scorer_version="0")], dataset="none")


def test_blind_tasks_are_reported_apart(tmp_path):
    make_run(tmp_path, samples=9, capabilities=["counting"])
    make_run(tmp_path, samples=9, capabilities=["counting"], variant="blind", date="20260116_120000", accuracy=0.0)
    sighted, blind = load_report(tmp_path, dataset="none"), load_report(tmp_path, variant="blind", dataset="none")
    assert "left out: blind tasks" in "\n".join(sighted.origins)
    assert "tasks:blind" in blind.signature_line
    assert blind.total.accuracy < sighted.total.accuracy
    with pytest.raises(InputError, match="no full tasks"):
        load_report(tmp_path, variant="full", dataset="none")


def test_the_judge_that_is_named_is_read_in_the_second_run_too(tmp_path, judged):
    second = make_run(tmp_path / "run", samples=270, judged=True)
    shutil.copytree(second / "judge" / "judge-30b", second / "judge" / "other")
    arguments = ["report", str(judged), "--dataset", "none", "--allow-incomplete", "--out", str(tmp_path / "r.json")]
    named = ["--judge", "judge-30b", "--against", str(second), "--html", str(tmp_path / "page.html")]
    assert main([*arguments, *named]) == 0


def test_every_sample_and_every_metric_reaches_tables_and_csv(judged):
    report = load_report(judged, dataset="none")
    accuracy, rates, views, datasets = report_tables(report)
    assert [row[0] for row in accuracy.rows] == list(CAPABILITIES)
    assert [row[0] for row in accuracy.totals] == ["macro average", "sample-weighted"]
    assert len(datasets.rows) == len({outcome.dataset for outcome in report.outcomes})
    assert rates.columns[1] == "truncated"
    assert "weighted" in views.columns
    rows_of_csv = csv_rows(report)
    assert all(row["signature"] == report.signature_line for row in rows_of_csv)
    assert {"dataset", "metric", "value"} <= rows_of_csv[-1].keys()


@pytest.mark.parametrize(
    ("counts", "note"),
    [([{"output_tokens": 7}], "truncated: none, by the logged output tokens"), ([], "truncated: not known, the log")],
)
def test_where_nothing_went_wrong_there_is_no_table_of_rates(tmp_path, capsys, counts, note):
    directory = make_run(tmp_path, samples=9, capabilities=["counting"], accuracy=1.0)
    edit_records(log_of(directory, "counting"), lambda _, line: line.update(token_counts=counts))
    assert main(["report", str(directory), "--dataset", "none"]) == 0
    printed = capsys.readouterr().out
    assert "Rates" not in printed
    assert "unknown" not in printed
    assert note in printed


def test_pandas_has_one_row_a_capability_and_one_for_all(judged):
    frame = load_report(judged, dataset="none").to_pandas()
    assert list(frame.index) == [*CAPABILITIES, "all"]
    assert frame.loc["math", "samples"] == 30
    assert frame.loc["math", "interval_low"] < frame.loc["math", "accuracy"] < frame.loc["math", "interval_high"]


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "json", "latex"])
def test_every_format_holds_the_signature(judged, capsys, form):
    assert main(["report", str(judged), "--dataset", "none", "--allow-incomplete", "--format", form]) == 0
    digest = load_report(judged, dataset="none").signature_hash
    assert digest in capsys.readouterr().out
