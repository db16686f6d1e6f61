from __future__ import annotations

import warnings

import pytest
from support.scoring_calls import details_of, score_of

from datbench.scorers.charts import chart_number, relaxed_match, text_form


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("U.S.", "us"), ("New-York", "newyork"), ("-5", "5"), ("1.5", "15"), ("$1,200", "1200"),
        ("light_blue", "light_blue"), (" A \u3000 B ", "a b"), ("a\u0301", "a"), ("x\u00b2", "x\u00b2"), ("", ""),
    ],
)  # fmt: skip
def test_text_form(text, form):
    assert text_form(text) == form


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (" 1,200 ", (1200.0, False)), ("1,2", (12.0, False)), ("5%%", (5.0, True)), ("5 %", (5.0, True)),
        ("1_000", (1000.0, False)), ("\uff15", (5.0, False)), ("-1e3", (-1000.0, False)),
        ("inf", (float("inf"), False)),
        ("$5", None), ("5 kg", None), ("1/2", None), ("\u22125", None), ("", None), ("%", None), ("5% ,", None),
    ],
)  # fmt: skip
def test_chart_number(text, number):
    assert chart_number(text) == number


@pytest.mark.parametrize(
    ("prediction", "target", "plain", "pro"),
    [
        ("105", "100", True, True),
        ("105.1", "100", False, False),
        ("2.1", "2", False, True),  # the rounding margin
        ("1.5", "15", True, True),  # a numeric miss is not final
        ("0.24", "24%", True, True),
        ("24", "24%", True, True),
        ("24%", "0.24", True, True),
        ("1.6", "160%", False, False),
        ("1.5", "150%", True, True),
        ("0.019", "1.9%", False, False),  # the percentage must be at least 2
        ("0.02", "2%", True, True),
        ("2%", "0.02", True, True),
        ("0.0000009", "0.0000005", True, True),
        ("0", "0.0", False, True),  # a target of zero
        ("0%", "0", True, True),
        ("5", "0", False, False),
        ("nan", "nan", True, True),
        ("inf", "inf", True, True),
        ("[b, A]", "[a,b]", True, True),
        ("[a, b]", "[a, c]", False, False),
        ("[a b]", "a b", True, True),
        ("", "-", True, True),
        ("[]", "[-]", True, True),
    ],
)
def test_relaxed_match(prediction, target, plain, pro):
    assert relaxed_match(prediction, target) is plain
    assert relaxed_match(prediction, target, pro=True) is pro


def test_percentage_questions_read_small_values_as_ratios():
    assert relaxed_match("1.2", "120%", percentage=True)
    assert relaxed_match("1.5", "150", percentage=True)
    assert relaxed_match("150", "1.5", percentage=True)
    assert relaxed_match("0.012", "1.2%", percentage=True)
    assert not relaxed_match("0.012", "1.2%")
    assert score_of("chartqapro", "120", "1.2", question="Which PERCENTAGES?") == 1.0
    assert score_of("chartqapro", "120", "1.2", question="Which percent?") == 0.0


@pytest.mark.parametrize(
    ("answers", "used"),
    [
        (None, ["x"]),
        ([], ["x"]),
        (["a", "", None, "b"], ["a", "b"]),
        ("a", ["a"]),
        ([""], []),
    ],
)
def test_chartqa_answers(answers, used):
    details = details_of("chartqa", "b", "x", all_answers_of_row=answers)
    assert details["all_ground_truth_answers"] == used
    assert details["score"] == float("b" in used)


def test_chartqa_refuses_answers_that_are_no_text():
    with pytest.raises(ValueError, match=r"row-1.*all_answers"):
        score_of("chartqa", "5", "5", all_answers_of_row=["5", 5])


@pytest.mark.parametrize(
    ("output", "answer", "score"),
    [
        ("['a', 'b']", "['a', 'b']", 1.0),
        ("['a', 'b', 'c']", "['a', 'b']", 2 / 3),
        ("['b', 'a']", "['a', 'b']", 0.0),
        ("['France', 'Spain']", "[France, Spain]", 1.0),  # the target is repaired,
        ("[France, Spain]", "[France, Spain]", 0.0),  # the prediction is not
        ("['New', 'York']", "['New', York]", 1.0),
        ("['a', 'b']", "[a,\nb]", 0.0),  # of one line only
        ("['NewYork', 'Texas']", "[New York, Texas]", 1.0),
        ("[5.3, 6.1]", "[5.3, 6.1]", 1.0),
        ("[-5, 3]", "[-5, 3]", 1.0),
        ("['a b', 'c']", "['a b', 'c']", 1.0),
        ("[10, 20]", "[010, 020]", 1.0),
        ("[50%, 60%]", "[50%, 60%]", 1.0),
        ("[it's, b]", "[it's, b]", 1.0),
        ("[1,234]", "[1234]", 0.0),
        ("[\"'105' \"]", "['100']", 1.0),  # quotes and blanks go from the ends of items
        ("(1, 2)", "(1, 2)", 1.0),
        ("([1, 2])", "[1, 2]", 1.0),
        ("[...]", "[...]", 0.0),  # an ellipsis is an item of a prediction, not of a target
        ("..-5]", "[..., -5]", 1.0),
        ("['a...', 'b']", "['a...', 'b']", 1.0),
        (".5", "5", 1.0),  # the point is cut
        ("a.", "a", 1.0),
    ],
)
def test_chartqapro_lists(output, answer, score):
    assert score_of("chartqapro", output, answer) == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    ("prediction", "score", "read"),
    [
        ("b) 45", 1.0, "B"), ("b.", 1.0, "B"), ("b", 1.0, "B"), ("(B)", 1.0, "(B)"), ("**B**", 1.0, "**B**"),
        ("(b) 45", 0.0, "(b) 45"), ("B: 45", 0.0, "B: 45"), ("Option B", 0.0, "Option B"), ("\u00e9", 0.0, "\u00c9"),
    ],
)  # fmt: skip
def test_chartqapro_choices(prediction, score, read):
    details = details_of("chartqapro", prediction, " b", question_type="Multi Choice")
    assert (details["score"], details["pred_answer"]) == (score, read)


def test_chartqapro_exact_types_and_years():
    assert score_of("chartqapro", "2011", "2010") == 1.0
    assert score_of("chartqapro", "2011", "2010", year_flags=["yes"]) == 0.0
    assert score_of("chartqapro", "2011", "2010", year_flags="YES") == 0.0
    assert score_of("chartqapro", "2011", "2010", year_flags=["YES "]) == 1.0
    assert score_of("chartqapro", "2011", "2010", year_flags=None) == 1.0
    assert score_of("chartqapro", "2011", "2010", question_type="Fact Checking") == 0.0
    assert score_of("chartqapro", "2011", "2010", question_type="fact checking") == 1.0
    assert score_of("chartqapro", "[2011, 2011, 2011]", "[2010, 2010, 2010]", year_flags=["NO", "YES"]) == 2 / 3
    conversational = {"question_type": "Conversational", "year_flags": ["YES", "NO"]}
    assert score_of("chartqapro", "2011", "2010", **conversational) == 1.0


def test_chartqapro_answers_come_from_the_metadata_first():
    assert score_of("chartqapro", "m", "a", all_answers=["x", "m"], all_answers_of_row=["r"]) == 1.0
    assert score_of("chartqapro", "r", "a", all_answers=[], all_answers_of_row=["x", "r"]) == 1.0
    assert score_of("chartqapro", "a", "a", all_answers="m", all_answers_of_row=[]) == 1.0
    assert details_of("chartqapro", "a", ["x", "a"], all_answers_of_row=[])["ground_truth"] == "['x', 'a']"


def test_chartqapro_turns():
    turns = {"all_answers": ["1", "2000", "3"], "year_flags": ["NO", "YES", "NO"], "is_multi_turn": True}
    details = details_of("chartqapro", ["1", "2001."], "3", **turns)
    assert details["score"] == 0.5
    assert details["turn_scores"] == [1.0, 0.0]
    assert details["turn_details"][1] == {"turn": 2, "score": 0.0, "ground_truth": "2000", "prediction": "2001"}
    assert (details["ground_truth"], details["model_output"]) == (["1", "2000", "3"], ["1", "2001."])
    assert details["pred_answer"] == ["1", "2001"]
    # one text is the first turn; a list is always turns; the shortest list decides
    assert details_of("chartqapro", "1", "3", **turns)["turn_scores"] == [1.0]
    assert details_of("chartqapro", ["3"], "3")["is_multi_turn"] is True
    assert details_of("chartqapro", ["1", "2000", "3"], "3", **turns | {"year_flags": ["NO"]})["turn_scores"] == [1.0]
    assert details_of("chartqapro", ["1", "2000", "3"], "3", **turns | {"year_flags": []})["turn_scores"] == [1.0] * 3
    assert score_of("chartqapro", [], "3", **turns) == 0.0


@pytest.mark.parametrize("digits", ["0x1" + "0" * 4000, "-0x1" + "0" * 4000])
@pytest.mark.parametrize("form", ["[{}]", "[[{}]]"])
def test_chartqapro_scores_a_giant_integer_zero_with_an_error(digits, form):
    details = details_of("chartqapro", form.format(digits), "5")
    assert details["score"] == 0.0
    assert "4300 digits" in details["error"]


def test_chartqapro_reads_literals_without_warnings_and_without_running_code():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert score_of("chartqapro", "['\\d']", "\\d") == 1.0
    assert score_of("chartqapro", "[__import__('os').getcwd()]", "x") == 0.0


@pytest.mark.parametrize(("answer", "target"), [("\n.5", ".5"), (".\n5\n.", "5"), ("..5..", "5"), ("5.\n", "5.")])
def test_chartqapro_cuts_stops_before_line_feeds(answer, target):
    assert details_of("chartqapro", "5", answer)["ground_truth"] == target
