"""Records: flags, packed masks, verdicts, and that a record alone scores again to the same numbers."""

import json

import pytest
from support.vectors import read_cases

from datbench.jsonio import dumps
from datbench.samples import read_row
from datbench_tasks.reasoning import AS_IS
from datbench_tasks.records import apply_verdict, build_record, failed_record, record_fields, score_record

ROW = {"id": "a", "question": "q", "answer": "x", "source_info": {"dataset": "docvqa"}}
JUDGE_ROW = {**ROW, "eval_mode": "judge", "judge_prompt": "Judge."}


def record_of(row, output, **run):
    return build_record(read_row(row, 0, None), "document", output, run, "the prompt")


@pytest.mark.parametrize(
    ("output", "flags"),
    [
        ("x", []),
        ("", ["empty", "request_failed"]),
        ("None", ["request_failed"]),
        ("[LMMS_EVAL_REQUEST_FAILED after 3 retries]", ["request_failed"]),
        ("[LMMS_EVAL_BUDGET_EXCEEDED] at 3", ["request_failed"]),
        ("<think>a</think>", ["empty"]),
        ("<think>a", ["unclosed_reasoning"]),
        ("**Answer:** x", ["lost_to_formatting"]),
        ("Error: no", []),
    ],
)
def test_flags(output, flags):
    assert record_of(ROW, output)["flags"] == flags


def test_an_error_text_is_a_failed_request_where_the_model_puts_it_there():
    assert record_of(ROW, "Error: no", model="async_openai")["flags"] == ["request_failed"]


def test_reasoning_is_kept_beside_the_scored_text():
    record = record_of(ROW, "<think>hm</think>x")
    assert (record["output"], record["raw_output"], record["score"]) == ("x", "<think>hm</think>x", 1.0)
    assert "raw_output" not in record_of(ROW, "x")
    assert record_of(ROW, "<think>hm</think>x", reasoning=AS_IS)["output"] == "<think>hm</think>x"


@pytest.mark.parametrize("mode", ["direct", "judge"])
@pytest.mark.parametrize(
    ("source", "metadata", "key"),
    [
        ({}, '{"docId": 7}', "docvqa/7"),
        ({}, {"figure_path": "images/3.jpg"}, "docvqa/images/3.jpg"),
        ({"image_id": "a"}, '{"docId": 7}', "docvqa/a"),
        ({"docId": "a"}, '{"docId": 7}', "docvqa/a"),
        ({}, '{"docId": [7]}', None),
        ({}, '{"note": "docId"}', None),
        ({}, "{}", None),
    ],
)
def test_a_record_names_the_image_that_questions_share(mode, source, metadata, key):
    row = {**ROW, "eval_mode": mode, "source_info": {**ROW["source_info"], **source}, "metadata": metadata}
    assert record_of(row, "y")["image_key"] == key


def test_half_a_score_is_correct():
    record = record_of({**ROW, "answer": "abcd"}, "abxy")
    assert (record["score"], record["is_correct"]) == (0.5, True)


def test_a_judge_record_waits_for_its_verdict():
    record = record_of(JUDGE_ROW, "y")
    assert record["pending"] is True
    assert not {"score", "is_correct", "score_details", "score_if_reformatted"} & set(record)


@pytest.mark.parametrize(
    ("verdict", "score", "pending"), [("correct", 1.0, False), ("incorrect", 0.0, False), ("unparsed", 0.0, False)]
)
def test_a_verdict_grades_the_record(verdict, score, pending):
    waiting = record_of(JUDGE_ROW, "y")
    judged = apply_verdict(waiting, {"tag": "t", "model": "m", "verdict": verdict, "raw": "said"})
    assert (judged["score"], judged["pending"], judged["score_details"]["judge_verdict"]) == (score, pending, verdict)
    assert judged["score_details"]["judge_raw_output"] == "said"
    assert waiting["pending"] is True and "judge" not in waiting


def test_a_missing_verdict_leaves_the_record_pending():
    judged = apply_verdict(record_of(JUDGE_ROW, "y"), {"tag": "t", "model": "m", "verdict": "missing", "raw": ""})
    assert judged["pending"] is True and "score" not in judged


@pytest.mark.parametrize("dataset", ["pixmo_points_eval", "chartqapro", "ocrbench-v2", "realworldqa", "refcoco_testA"])
def test_a_record_scores_again_from_its_file(dataset):
    cases = [case for case in read_cases(dataset) if "score" in case and isinstance(case["output"], str)]
    for case in cases:
        run = {"reasoning": AS_IS}
        record = json.loads(dumps(build_record(read_row(case["row"], 0, None), "c", case["output"], run, "p")))
        assert record["score"] == pytest.approx(case["score"], abs=1e-9), case["row"]["id"]
        assert score_record(record)["score"] == record["score"]


def test_masks_are_packed_bits_unless_they_are_no_rectangle():
    masks = [[[1, 0, 0], [0, 2.5, True]], [[1], [1, 0]], [], None, [[]]]
    metadata = {"points_target": [{"x": 1, "y": 1}], "points_mask": masks, "has_target": True}
    row = {**ROW, "source_info": {"dataset": "pixmo_points_eval"}, "metadata": metadata}
    record = record_of(row, "(1,1)")
    packed = record["scorer_input"]["points_mask"]
    assert packed[0]["shape"] == [2, 3] and isinstance(packed[0]["bits"], str)
    assert packed[1:] == masks[1:]
    assert record_fields(record)["points_mask"] == [[[True, False, False], [False, True, True]], *masks[1:]]


def test_bits_of_more_points_than_a_mask_has_are_refused():
    row = {**ROW, "source_info": {"dataset": "pixmo_points_eval"}}
    metadata = {"points_target": [{"x": 1, "y": 1}], "points_mask": [[[1] * 9] * 9], "has_target": True}
    record = record_of({**row, "metadata": metadata}, "(1,1)")
    record["scorer_input"]["points_mask"][0]["shape"] = [2, 3]
    with pytest.raises(ValueError, match="points_mask: not the bits of 2 x 3 points"):
        record_fields(record)


def test_a_record_of_a_fault_is_complete_and_scores_zero():
    record = failed_record(ROW, "out", RuntimeError("broken"))
    assert set(record) == set(record_of(ROW, "x")) - {"score_if_reformatted"}
    assert (record["score"], record["flags"], record["pending"]) == (0.0, ["scorer_error"], False)
    assert "broken" in record["score_details"]["error"]
