"""The evaluator's contract: rows, responses, judge mode, summary, reports."""

import dataclasses
import json
import warnings

import pytest
from support.vectors import scorable_cases

from datbench import (
    SOURCE_DATASETS,
    DatBenchEvaluator,
    DatBenchReport,
    JudgeResponse,
    SampleScore,
    VLMResponse,
    score_sample,
)


def row(sample_id="a", dataset="zzz", **fields):
    return {"id": sample_id, "question": "q?", "answer": "x", "source_info": {"dataset": dataset}, **fields}


def judge_row(sample_id, **fields):
    return row(sample_id, "mathvista", **{"eval_mode": "judge", "judge_prompt": "Judge it.", **fields})


def quietly(call, *args, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **named)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"id": None}, ["row 1", "'id'", "missing"]),
        ({"question": None}, ["row 1", "'b'", "'question'", "missing"]),
        ({"answer": None}, ["row 1", "'b'", "'answer'", "missing"]),
        ({"eval_mode": "Judge"}, ["row 1", "'b'", "'eval_mode'", "'Judge'"]),
        ({"metadata": "[1]"}, ["row 1", "'b'", "'metadata'", "JSON object"]),
        ({"metadata": "{"}, ["row 1", "'b'", "'metadata'", "no JSON"]),
        ({"metadata": "null"}, ["row 1", "'b'", "'metadata'"]),
        ({"metadata": "[" * 100_000}, ["row 1", "'b'", "'metadata'"]),
        ({"id": "a"}, ["row 1", "'a'", "'id'", "earlier row"]),
        ({"id": 7}, ["row 1", "'id'", "int"]),
        ({"source_info": {"dataset": "tallyqa"}}, ["row 1", "'b'", "is_simple"]),
        ({"source_info": {"dataset": ["docvqa"]}}, ["row 1", "'source_info'"]),
    ],
)
def test_a_malformed_row_is_named_when_the_evaluator_is_built(bad, said):
    with pytest.raises(ValueError) as fault:
        DatBenchEvaluator([row("a"), {**row("b"), **bad}], "math")
    assert all(word in str(fault.value) for word in said), str(fault.value)


@pytest.mark.parametrize("bad", ["b", None, [1]])
def test_a_row_that_is_no_mapping_is_named(bad):
    with pytest.raises(ValueError, match=r"row 1 .* must be a mapping"):
        DatBenchEvaluator([row("a"), bad], "math")


def test_absent_and_null_optional_fields_get_their_defaults():
    optional = ("all_answers", "eval_mode", "judge_prompt", "is_circular", "metadata", "source_info", "eval_metrics")
    bare = {"id": "a", "question": "q", "answer": "x"}
    for given in (bare, {**bare, "prompt_format": None, **dict.fromkeys(optional)}):
        (sample,) = DatBenchEvaluator([given], "math").samples
        assert (sample.all_answers, sample.eval_mode, sample.judge_prompt) == (["x"], "direct", "")
        assert (sample.is_circular, sample.metadata, sample.source_info, sample.eval_metrics) == (False, "{}", {}, {})
        assert sample.prompt == "q"


def test_tasks_join_prefix_question_and_suffix_as_they_stand():
    rows = [row(prompt_format={"prefix": " p\n", "suffix": "s "}, image=None)]
    (task,) = DatBenchEvaluator(rows, "math").get_inference_tasks()
    assert (task.id, task.question, task.eval_mode, task.image) == ("a", " p\nq?s ", "direct", None)


def test_parsed_answer_counts_unless_it_is_empty():
    rows = [row(key) for key in "abcd"]
    responses = [
        VLMResponse("a", "nope", "x"),
        VLMResponse("b", "Answer: X", ""),
        VLMResponse("c", "x", None),
        VLMResponse("d", None),
    ]
    report = DatBenchEvaluator(rows, "math").compute_metrics(responses)
    assert [result.score for result in report.results] == [1.0, 1.0, 1.0, 0.0]
    assert [result.vlm_output for result in report.results] == ["x", "Answer: X", "x", ""]


def test_samples_without_a_response_are_in_no_count():
    summary = DatBenchEvaluator([row("a"), row("b")], "math").compute_metrics([VLMResponse("b", "x")]).summary
    assert (summary["total_samples"], summary["overall_accuracy"], summary["capability_counts"]) == (
        1,
        1.0,
        {"math": 1},
    )


def test_unknown_and_repeated_ids_warn_once_each_and_the_last_response_wins():
    responses = [VLMResponse("a", "no"), VLMResponse("a", "x"), *(VLMResponse(f"u{i}", "") for i in range(5))]
    with pytest.warns(UserWarning) as caught:
        report = DatBenchEvaluator([row("a")], "math").compute_metrics(responses)
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 2
    assert "5 responses" in messages[0] and "'u2', ..." in messages[0] and "u3" not in messages[0]
    assert "1 ids have several" in messages[1]
    assert report.results[0].score == 1.0


def test_nothing_scored_gives_zeros_and_one_warning():
    with pytest.warns(UserWarning, match="no sample was scored"):
        summary = DatBenchEvaluator([row()], "math").compute_metrics([]).summary
    assert (summary["overall_accuracy"], summary["judge_accuracy"], summary["direct_accuracy"]) == (0.0, 0.0, 0.0)
    assert (summary["capability_accuracy"], summary["dataset_metrics"]) == ({}, {})


def test_total_correct_is_the_truncated_sum_of_scores():
    rows = [row(key, "docvqa", answer="abcd") for key in "abc"]
    responses = [VLMResponse("a", "abcd"), VLMResponse("b", "abcd"), VLMResponse("c", "abcx")]
    summary = DatBenchEvaluator(rows, "document").compute_metrics(responses).summary
    assert (summary["total_correct"], summary["overall_accuracy"]) == (2, pytest.approx(2.75 / 3))


JUDGED = [
    (JudgeResponse("a", "answer: true"), 1.0, "correct", False),
    (JudgeResponse("a", '{"answer": false}'), 0.0, "incorrect", False),
    (JudgeResponse("a", "answer: true", "incorrect"), 0.0, "incorrect", False),
    (JudgeResponse("a", "who knows"), 0.0, "unparsed", False),
    (None, 0.0, "missing", True),
]


@pytest.mark.parametrize(("response", "score", "verdict", "missing"), JUDGED)
def test_judge_rows_score_by_verdict_and_never_by_scorer(response, score, verdict, missing):
    evaluator = DatBenchEvaluator([judge_row("a", answer="7")], "math")
    report = quietly(evaluator.compute_metrics, [VLMResponse("a", "7")], [response] if response else None)
    (result,) = report.results
    assert (result.score, result.is_correct) == (score, bool(score))
    assert result.metadata["score_details"] == {
        "score": score,
        "eval_mode": "judge",
        "match": bool(score),
        "judge_verdict": verdict,
        "judge_raw_output": response.raw_judge_output if response else "",
        "judge_missing_response": missing,
    }
    assert report.summary["dataset_metrics"] == {
        "mathvista": {
            "judge_accuracy": score,
            "judge_samples": 1,
            "judge_missing_responses": int(missing),
            "judge_unparsed_verdicts": int(verdict == "unparsed"),
        }
    }


def test_strict_judge_names_the_missing_and_the_unparsed():
    evaluator = DatBenchEvaluator([judge_row(f"j{i}") for i in range(9)], "math")
    responses = [VLMResponse(f"j{i}", "x") for i in range(9)]
    judged = [JudgeResponse("j0", "true"), JudgeResponse("j1", "hm")]
    with pytest.raises(ValueError, match=r"7 missing \('j2', .*'j6', \.\.\.\), 1 unparsed \('j1'\)"):
        evaluator.compute_metrics(responses, judged, strict_judge=True)


def test_judge_responses_that_match_nothing_warn():
    evaluator = DatBenchEvaluator([judge_row("a")], "math")
    with pytest.warns(UserWarning, match="none of the 1 judge-mode samples"):
        evaluator.compute_metrics([VLMResponse("a", "x")])


def test_judge_tasks_are_those_with_a_response_in_dataset_order():
    rows = [judge_row("b"), row("d"), judge_row("a", judge_prompt="R.\nRespond with exactly two lines:\nReason: x")]
    tasks = DatBenchEvaluator(rows, "math").create_judge_tasks(
        [VLMResponse("a", "raw", "parsed"), VLMResponse("b", "raw"), VLMResponse("d", "raw")]
    )
    assert [(task.id, task.vlm_response, task.ground_truth) for task in tasks] == [
        ("b", "raw", "x"),
        ("a", "parsed", "x"),
    ]
    assert tasks[0].judge_prompt == "Judge it."
    assert tasks[1].judge_prompt.startswith("R.\n\n") and tasks[1].judge_prompt.endswith("answer:")


def test_mathverse_without_a_verdict_scores_zero_and_warns_once():
    rows = [row(key, "mathverse_wo") for key in "ab"]
    with pytest.warns(UserWarning, match="mathverse_wo: 2 samples") as caught:
        report = DatBenchEvaluator(rows, "math").compute_metrics([VLMResponse("a", "x"), VLMResponse("b", "x")])
    assert len(caught) == 1
    assert report.summary["total_samples"] == 2 and report.summary["dataset_metrics"] == {"mathverse_wo": {}}


def test_a_scorer_that_fails_costs_one_sample_and_is_counted(monkeypatch):
    def fail(fields, text):
        raise RuntimeError("broken")

    broken = dataclasses.replace(SOURCE_DATASETS["docvqa"], score=fail)
    monkeypatch.setitem(SOURCE_DATASETS, "docvqa", broken)
    report = DatBenchEvaluator([row("a", "docvqa"), row("b")], "document").compute_metrics(
        [VLMResponse("a", "x"), VLMResponse("b", "x")]
    )
    assert report.summary["scorer_errors"] == 1
    assert "broken" in report.results[0].metadata["score_details"]["error"]
    assert report.results[1].score == 1.0


@pytest.mark.parametrize("dataset", SOURCE_DATASETS)
def test_metrics_take_the_details_of_a_failed_scorer_as_zero(dataset):
    metrics = SOURCE_DATASETS[dataset].compute_metrics([{"score": 0.0, "error": "broken"}])
    pooled = dataset == "cc-ocr-multi_scene_ocr"  # its accuracy pools token counts, and a failed sample has none
    assert metrics.get("accuracy", 0.0) == float(pooled)


@pytest.mark.parametrize("output", [["Paris"], [], 4, {"answer": "x"}, b"Paris"])
@pytest.mark.parametrize("dataset", [name for name in SOURCE_DATASETS if name != "chartqapro"])
def test_an_output_that_is_no_text_scores_zero_and_breaks_nothing(dataset, output):
    given = scorable_cases(dataset)[0]["row"]
    report = quietly(DatBenchEvaluator([given], "c").compute_metrics, [VLMResponse(given["id"], output)])
    assert report.results[0].score == 0.0
    assert report.results[0].metadata["score_details"]["error"]
    assert "scorer_errors" not in report.summary
    assert json.loads(report.to_json())["summary"]["total_samples"] == 1


def test_score_sample_reads_the_metadata_of_a_judge_row_too():
    given = row("a", "charxiv_reasoning", answer="left", eval_mode="judge", metadata='{"question_type": "reasoning"}')
    assert score_sample(given, "on the left")["score"] == 1.0
    assert DatBenchEvaluator([given], "chart").samples[0].eval_mode == "judge"


def test_score_sample_takes_a_row_or_a_sample():
    given = row("a", "docvqa", answer="abcd")
    (sample,) = DatBenchEvaluator([given], "document").samples
    assert score_sample(given, "abcx") == score_sample(sample, "abcx")
    assert score_sample(given, None)["score"] == 0.0


def test_report_survives_a_round_trip_with_nan_and_lone_surrogates(tmp_path):
    report = DatBenchReport(
        {"overall_accuracy": 1.0}, [SampleScore("a", 1.0, "\ud835 ü", "x", True, {"n": float("nan")})]
    )
    path = tmp_path / "deep" / "report.json"
    report.save(path)
    json.loads(path.read_bytes().decode("utf-8"), parse_constant=pytest.fail)
    loaded = DatBenchReport.load(str(path))
    assert loaded.results[0].vlm_output == "\ud835 ü"
    assert loaded.results[0].metadata == {"n": None}
    assert dataclasses.asdict(loaded)["summary"] == report.summary


def test_what_json_cannot_hold_is_saved_as_its_text(tmp_path):
    outputs = [VLMResponse("a", b"caf\xc3\xa9"), VLMResponse("b", ["x", b"y"]), VLMResponse("c", {1})]
    rows = [row("a"), row("b", "chartqapro"), row("c", "docvqa")]
    report = DatBenchEvaluator(rows, "chart").compute_metrics(outputs)
    assert report.results[0].vlm_output == b"caf\xc3\xa9"
    report.save(tmp_path / "report.json")
    loaded = DatBenchReport.load(tmp_path / "report.json")
    assert [result.vlm_output for result in loaded.results] == ["b'caf\\xc3\\xa9'", ["x", "b'y'"], "{1}"]
    assert [result.score for result in loaded.results] == [result.score for result in report.results]


def test_an_interrupted_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "report.json"
    DatBenchReport({}, []).save(path)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        DatBenchReport({("x",): 1}, []).save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "content", ["", "[]", "[" * 100_000, '{"summary": {}}', '{"summary": {}, "results": [{"nope": 1}]}']
)
def test_loading_something_else_names_the_file(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"other\.json is no DatBench report"):
        DatBenchReport.load(path)


def test_the_order_of_rows_moves_no_digit_of_the_accuracy():
    rows = [row(f"s{i}", "docvqa", answer="a" * (i + 3)) for i in range(60)]
    responses = [VLMResponse(f"s{i}", "a" * (i // 2 + 1)) for i in range(60)]
    forward = DatBenchEvaluator(rows, "document").compute_metrics(responses).summary["overall_accuracy"]
    backward = DatBenchEvaluator(rows[::-1], "document").compute_metrics(responses[::-1]).summary["overall_accuracy"]
    assert forward == backward
