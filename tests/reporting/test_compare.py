"""Paired comparison: pairs, tests, correction, flips, vision delta, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.synthetic_run import make_run

from datbench.version import SCORER_VERSION
from datbench_tasks.cli import main
from datbench_tasks.errors import InputError
from datbench_tasks.reporting import load_report
from datbench_tasks.reporting.intervals import holm, mcnemar
from datbench_tasks.reporting.pairing import compare_reports
from datbench_tasks.sample_logs import RECORD


def report_of(directory: Path, scores: list[float | None], capability: str = "counting", **settings):
    """A report whose samples have these scores (None: pending)."""
    make_run(directory, samples=len(scores), capabilities=[capability], **settings)
    for log in directory.glob(f"*/*_{capability}.jsonl"):
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        for line, score in zip(lines, scores, strict=True):
            record = line[RECORD]
            record |= {"eval_mode": "judge", "pending": True} if score is None else {"score": score}
            record["is_correct"] = (score or 0) >= 0.5
        log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return load_report(directory, dataset="none")


def test_differences_pair_samples_and_count_flips(tmp_path):
    first = report_of(tmp_path / "a", [1.0, 1.0, 1.0, 0.0, 0.0, None])
    second = report_of(tmp_path / "b", [1.0, 0.0, 0.0, 1.0, None, 1.0])
    (found,) = compare_reports(first, second).capabilities
    assert (found.pairs, found.unpaired) == (4, 4)
    assert (found.first, found.second, found.difference) == (0.75, 0.5, 0.25)
    assert found.only_first == ("db_counting_000001", "db_counting_000002")
    assert found.only_second == ("db_counting_000003",)
    assert (found.test, found.p_value) == ("McNemar", mcnemar(2, 1))
    assert found.interval.low < found.difference < found.interval.high


def test_an_unreadable_verdict_counts_zero_as_in_the_report(tmp_path):
    first = load_report(make_run(tmp_path / "a", samples=90, capabilities=["math"], judged=True), dataset="none")
    second = load_report(
        make_run(tmp_path / "b", samples=90, capabilities=["math"], judged=True, seed=1), dataset="none"
    )
    assert first.total.unparsed
    (found,) = compare_reports(first, second).capabilities
    assert (found.pairs, found.unpaired) == (90, 0)
    assert (found.first, found.second) == (first.total.accuracy, second.total.accuracy)
    assert found.test == "McNemar"


def test_continuous_scores_are_tested_by_bootstrap(tmp_path):
    first = report_of(tmp_path / "a", [0.9] * 30)
    second = report_of(tmp_path / "b", [0.4] * 30)
    (found,) = compare_reports(first, second).capabilities
    assert found.test == "bootstrap"
    assert found.p_value == pytest.approx(2 / 2001)
    assert found.interval == pytest.approx((0.5, 0.5))


def test_p_values_are_corrected_together(tmp_path):
    first = make_run(tmp_path / "a", samples=90, accuracy=0.9, judged=True)
    second = make_run(tmp_path / "b", samples=90, accuracy=0.3, judged=True, seed=1)
    comparison = compare_reports(load_report(first, dataset="none"), load_report(second, dataset="none"))
    corrected = {found.name: found.corrected for found in comparison.capabilities}
    assert corrected == holm({found.name: found.p_value for found in comparison.capabilities})
    assert comparison.macro.difference == pytest.approx(sum(f.difference for f in comparison.capabilities) / 9)


def test_swapping_the_runs_swaps_the_signs(tmp_path):
    first, second = report_of(tmp_path / "a", [1.0, 1.0, 0.0]), report_of(tmp_path / "b", [0.0, 1.0, 0.0], seed=1)
    (there,), (back,) = (compare_reports(*pair).capabilities for pair in ((first, second), (second, first)))
    assert (there.difference, there.only_first) == (-back.difference, back.only_second)
    assert there.interval == pytest.approx((-back.interval.high, -back.interval.low))


def test_the_order_of_the_runs_moves_no_p_value(tmp_path):
    first = report_of(tmp_path / "a", [0.9, 0.2, 0.7, 0.4, 0.8, 0.3, 0.9, 0.1])
    second = report_of(tmp_path / "b", [0.5, 0.3, 0.6, 0.2, 0.7, 0.4, 0.3, 0.2], model="acme/other")
    there, back = compare_reports(first, second), compare_reports(second, first)
    assert there.capabilities[0].test == "bootstrap"
    assert there.capabilities[0].p_value == back.capabilities[0].p_value
    assert there.macro.p_value == back.macro.p_value


def test_a_run_without_blind_tasks_is_told_how_to_get_them(tmp_path, capsys):
    make_run(tmp_path, samples=2, capabilities=["counting"])
    assert main(["compare", str(tmp_path), str(tmp_path), "--dataset", "none"]) == 5
    said = capsys.readouterr().err
    assert "no blind tasks in it, only benchmark; run the host with --tasks datbench_blind into the same" in said


def test_a_blind_run_gives_the_vision_delta_whichever_side_it_is_on(tmp_path, capsys):
    make_run(tmp_path, samples=20, capabilities=["counting"], accuracy=1.0)
    make_run(tmp_path, samples=20, capabilities=["counting"], accuracy=0.0, variant="blind", date="20260116_120000")
    sighted, blind = (load_report(tmp_path, dataset="none", variant=kind) for kind in ("", "blind"))
    comparison = compare_reports(blind, sighted)
    assert comparison.vision_delta
    assert comparison.capabilities[0].difference == sighted.total.accuracy - blind.total.accuracy > 0
    assert main(["compare", str(tmp_path), str(tmp_path), "--dataset", "none"]) == 0
    assert "Vision delta in per cent: sighted = acme/vlm-7b" in capsys.readouterr().out


def test_incomparable_runs_are_refused_with_what_differs(tmp_path, capsys):
    first = make_run(tmp_path / "a", samples=9, capabilities=["counting"])
    second = make_run(tmp_path / "b", samples=12, capabilities=["counting"], scorer_version="0")
    arguments = ["compare", str(first), str(second), "--dataset", "none"]
    assert main(arguments) == 5
    assert f"not comparable: scorer: {SCORER_VERSION} against 0; sample ids: " in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0
    assert f"! not comparable: scorer: {SCORER_VERSION} against 0" in capsys.readouterr().out


def test_a_judge_matters_only_where_something_was_judged(tmp_path, capsys):
    make_run(tmp_path / "a", samples=18, capabilities=["counting", "math"], judged=True)
    make_run(tmp_path / "b", samples=9, capabilities=["counting"])
    make_run(tmp_path / "c", samples=9, capabilities=["math"])
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--dataset", "none"]) == 0
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "c"), "--dataset", "none"]) == 5
    assert "judge: acme/judge-30b#" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "markdown", "json", "latex"])
def test_capabilities_without_a_pair_are_said_to_be_left_out(tmp_path, capsys, form):
    make_run(tmp_path / "a", samples=18, capabilities=["counting", "spatial"])
    make_run(tmp_path / "b", samples=9, capabilities=["counting"])
    runs = [str(tmp_path / name) for name in "ab"]
    assert main(["compare", *runs, "--dataset", "none", "--format", form]) == 0
    assert "not compared and not in the averages: spatial" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_table_of_models_says_which_averages_stand_apart(tmp_path, capsys, form):
    make_run(tmp_path / "a", samples=18, capabilities=["counting", "math"], model="a")
    make_run(tmp_path / "b", samples=9, capabilities=["counting"], model="b")
    make_run(tmp_path / "c", samples=9, capabilities=["counting"], model="c")
    runs = [str(tmp_path / name) for name in "abc"]
    assert main(["compare", *runs, "--dataset", "none", "--format", form]) == 0
    printed = capsys.readouterr().out
    assert "! the averages of b are without math" in printed
    assert "! a: 3 pending verdicts count as wrong" in printed


def test_of_several_runs_the_one_that_differs_is_named(tmp_path, capsys):
    runs = [make_run(tmp_path / name, samples=9, capabilities=["counting"], model=name) for name in "ab"]
    runs.append(make_run(tmp_path / "c", samples=9, capabilities=["counting"], model="c", scorer_version="0"))
    assert main(["compare", *map(str, runs), "--dataset", "none"]) == 5
    assert f"not comparable: c: scorer: {SCORER_VERSION} against 0. --force" in capsys.readouterr().err


def test_runs_without_a_common_sample(tmp_path):
    first = load_report(make_run(tmp_path / "a", samples=9, capabilities=["counting"]), dataset="none")
    second = load_report(make_run(tmp_path / "b", samples=9, capabilities=["spatial"]), dataset="none")
    with pytest.raises(InputError, match="no scored sample in common"):
        compare_reports(first, second)


def test_json_names_every_flip(tmp_path, capsys):
    report_of(tmp_path / "a", [1.0] * 8)
    report_of(tmp_path / "b", [0.0] * 8)
    runs = [str(tmp_path / name) for name in "ab"]
    assert main(["compare", *runs, "--dataset", "none", "--format", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert len(content["differences"][0]["only_first"]) == 8
    assert content["differences"][0]["only_second"] == []


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "json", "latex"])
def test_more_than_two_runs_make_a_table_of_models(tmp_path, capsys, form):
    runs = [make_run(tmp_path / name, samples=18, capabilities=["counting", "scene"], model=name) for name in "abc"]
    assert main(["compare", *map(str, runs), "--dataset", "none", "--format", form]) == 0
    printed = capsys.readouterr().out
    assert "counting" in printed
    assert all(load_report(run, dataset="none").signature_hash in printed for run in runs)


def test_runs_of_one_model_are_told_apart_by_their_directories(tmp_path, capsys):
    runs = [
        make_run(tmp_path / name, samples=9, capabilities=["counting"], variant=variant)
        for name, variant in (("sighted", ""), ("unsighted", "blind"), ("again", ""))
    ]
    assert main(["compare", *map(str, runs), "--dataset", "none"]) == 0
    printed = capsys.readouterr().out
    assert all(f"acme/vlm-7b ({run})" in printed for run in (runs[0], runs[2]))
    assert "acme/vlm-7b, blind  " in printed


def test_one_run_cannot_be_compared(tmp_path):
    assert main(["compare", str(tmp_path)]) == 2
