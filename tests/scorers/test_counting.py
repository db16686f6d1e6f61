from __future__ import annotations

import pytest
from support.scoring_calls import details_of, score_of

from datbench import SOURCE_DATASETS

LONG = "9" * 4301


@pytest.mark.parametrize(
    ("output", "parsed"),
    [
        ("6", 6), ("6.0", 0), ("1,234", 234), ("-6", 6), ("6 or 7", 7), ("\uff16", 6), ("6%", 6),
        ("6th", None), ("x6", None), ("6\u00b2", None), ("6\u4e2a", None),
        ("none", 1), ("phone", 1), ("eighteen", 8), ("often", 10), ("two or one", 1), ("Zero", 0), ("", None),
        (LONG, None), (f"two {LONG}", 2), (f"6 {LONG}", None), ("9" * 4300, int("9" * 4300)),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str) else "",
)  # fmt: skip
def test_countbench_parses(output, parsed):
    assert details_of("countbench", output, "6")["parsed_answer"] == parsed


@pytest.mark.parametrize(
    ("answer", "truth", "score"),
    [(" +6 ", 6, 1.0), ("6_0", 60, 0.0), ("six", "six", 0.0), ("6.0", "6.0", 0.0), ("", None, 0.0), (6, 6, 1.0)],
)
def test_countbench_ground_truth(answer, truth, score):
    details = details_of("countbench", "6", answer)
    assert (details["ground_truth"], details["score"]) == (truth, score)


def test_countbench_metrics():
    items = [details_of("countbench", output, answer) for output, answer in COUNTS]
    assert SOURCE_DATASETS["countbench"].compute_metrics(items) == {
        "accuracy__CountBench-Accuracy": 1 / 6,
        "accuracy__CountBench-ParseRate": 4 / 6,
        "accuracy__CountBench-MAE": (0 + 1 + 3) / 3,
        "accuracy__CountBench-Within1": 2 / 6,
        "accuracy__CountBench-Within3": 3 / 6,
    }


COUNTS = [("5", "5"), ("6", "5"), ("8", "5"), ("1000001", "5"), ("many", "5"), ("5", "five")]


def test_metrics_of_nothing_are_zero():
    for name, keys in (("countbench", 5), ("tallyqa", 7)):
        metrics = SOURCE_DATASETS[name].compute_metrics([])
        assert list(metrics.values()) == [0.0] * keys


@pytest.mark.parametrize(
    ("output", "parsed"),
    [
        ("4", 4),
        ("1234567890", None),
        ("about 123456789", 123456789),
        ("Four", 4),
        # compounds beat everything
        ("twenty-one or thirty - two, answer is 5", 32),
        ("twenty 5", 5),
        ("ninety\u2003zero", 90),
        ("xtwenty-one", None),
        # cues, in order; only the last match of each counts
        ("the number of cats is 3, the answer is 4", 3),
        ("so the answer is 4. The number of cats is 3", 4),
        ("also answer is two", 2),
        ("thus,  the number of cats is 5 dogs", 5),
        ("discount is 5", 5),
        ("count is 5, count is blue, 7", 7),
        ("I count seven; the answer is 9", 7),
        ("answer is 3, final answer: 4", 3),
        ("the final answer:4 or 5", 4),
        ("result 6 of 7", 6),
        ("there are no birds, 8", 8),
        # sentences
        ("there are two cats in the image and there are 3 dogs", 3),
        ("I can see twelve cats", 12),
        ("the picture contains 5 cats of 9", 5),
        ("it shows ten cats of 9", 10),
        ("I see 5", 5),
        ("it shows 3 xshows 4 birds", 3),  # the first match takes the whole word that the second would begin in
        ("I see two hi see five birds", 2),
        # the last number, then the last word
        ("3 of 4.", 4),
        ("1234567890 five", 5),
        ("3 or 1234567890", None),
        ("4th", None),
        ("two hundred", 100),
        ("fi-ve", 5),
        ("five/six", None),
        ("none", None),
        ("\u0664", 4),
        ("", None),
    ],
)
def test_tallyqa_parses(output, parsed):
    assert details_of("tallyqa", output, "4", is_simple=True)["parsed_answer"] == parsed


@pytest.mark.parametrize("answer", ["4.0", "+4", "four", "4\u00b2", "", LONG])
def test_tallyqa_needs_digits_in_the_ground_truth(answer):
    details = details_of("tallyqa", "4", answer, is_simple=True)
    assert (details["score"], details["ground_truth"]) == (0.0, answer or None)


@pytest.mark.parametrize("count", ["10\u00b2", LONG])
@pytest.mark.parametrize("rest", ["", "\nthere are 4 cats"])
def test_tallyqa_scores_digits_that_are_no_integer_zero_with_an_error(count, rest):
    details = details_of("tallyqa", f"Answer: there are {count} birds{rest}", "4", is_simple=False)
    assert (details["score"], details["parsed_answer"]) == (0.0, None)
    assert details["error"]
    assert SOURCE_DATASETS["tallyqa"].compute_metrics([details])["accuracy__TallyQA-ParseRate"] == 0.0


def test_tallyqa_metrics_look_at_the_whole_output():
    lost = details_of("tallyqa", "4\nI hope this helps!", "4", is_simple=True)
    unreadable = details_of("tallyqa", "there are 10\u00b2 birds\nDone.", "4", is_simple=1)
    far = details_of("tallyqa", "8", "4", is_simple=False)
    assert [lost["score"], unreadable["score"], far["score"]] == [0.0, 0.0, 0.0]
    assert "error" not in unreadable
    metrics = SOURCE_DATASETS["tallyqa"].compute_metrics([lost, unreadable, far])
    assert metrics == {
        "accuracy__TallyQA-Accuracy": 0.0,
        "accuracy__TallyQA-AccuracySimple": 0.0,
        "accuracy__TallyQA-AccuracyComplex": 0.0,
        "accuracy__TallyQA-ParseRate": 2 / 3,
        "accuracy__TallyQA-MAE": 2.0,
        "accuracy__TallyQA-Within1": 1 / 3,
        "accuracy__TallyQA-Within3": 1 / 3,
    }


@pytest.mark.parametrize(
    ("is_simple", "shares"),
    [(True, (1.0, 0.0)), (False, (0.0, 1.0)), (1, (0.0, 0.0)), (0, (0.0, 0.0)), (None, (0.0, 0.0))],
)
def test_tallyqa_splits_by_booleans_only(is_simple, shares):
    metrics = SOURCE_DATASETS["tallyqa"].compute_metrics([details_of("tallyqa", "4", "4", is_simple=is_simple)])
    assert (metrics["accuracy__TallyQA-AccuracySimple"], metrics["accuracy__TallyQA-AccuracyComplex"]) == shares


def test_tallyqa_needs_is_simple():
    with pytest.raises(ValueError, match=r"row-1.*is_simple"):
        score_of("tallyqa", "4", "4")
