"""Rules of the multiple-choice and VQA scorers that the recorded cases cannot pin: order, edges, row faults."""

from __future__ import annotations

import pytest

from datbench.scorers.base import FieldError
from datbench.scorers.choice_letters import free_standing_letter, labelled_letter, letter_in_response
from datbench.scorers.mme_realworld import MME_REALWORLD
from datbench.scorers.multiple_choice import AI2D, MMBENCH, MMMU, MMMUPRO
from datbench.scorers.realworldqa import REALWORLDQA
from datbench.scorers.vqa_v2 import VQA_V2

ABCD = ["A", "B", "C", "D"]
FRUIT = {"A": "apple", "B": "pear", "C": "plum", "D": "fig"}


def fields(answer="B", **values):
    return {"question_id": "q", "question": "Which?", "answer": answer, "all_answers": [answer], **values}


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("c", "C"),
        (" D ", "D"),
        ("I'd say B", "D"),
        ("a dog, so B", "A"),
        ("B_ then C", "C"),
        ("选B", None),
        ("éB B", "B"),
        ("E", None),
        ("", None),
    ],
)
def test_first_free_standing_letter_of_the_upper_cased_answer(answer, letter):
    assert free_standing_letter(answer, ABCD) == letter


@pytest.mark.parametrize(
    ("answer", "choices", "letter"),
    [("yes|no B", ABCD, "|"), ("B yes|no", ABCD, "B"), ("| B", ABCD, "B"), ("|", ABCD, None), ("x|y", ["A"], None)],
)
def test_bar_between_words_is_a_choice_from_two_choices_on(answer, choices, letter):
    assert free_standing_letter(answer, choices, bar_is_a_choice=True) == letter


def test_lower_case_choices_are_never_found_in_the_final_answer():
    assert free_standing_letter("b", ["a", "b"]) is None


@pytest.mark.parametrize(
    ("response", "last", "letter"),
    [
        ("Answer: A\nFinal  answer : b\nthanks", "E", "B"),
        ("Answer: C\nAnswer: (B)", "E", "C"),
        ("Answer: A dog", "E", "A"),
        ("Answer: Apple", "E", None),
        ("Answer: F", "E", None),
        ("Answer: F", "H", "F"),
        ("The answer: B", "E", None),
        ("x\n\t Answer: B\n", "E", "B"),
        ("FinalAnswer: B", "E", None),
    ],
)
def test_labelled_letter_reads_lines_from_the_last(response, last, letter):
    assert labelled_letter(response, last) == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("(A) or (C) or (B)", "B"),
        ("B it is, not (C)", "C"),
        ("(b)", None),
        ("NASA ", "A"),
        ("B was seen by NASA today", "B"),
        ("Bits of NASA and of CIAB in it", "A"),
        ("no way.B.x and C.x", "B"),
        ("x.C.x and B.x", "B"),
        ("B\n", None),
        ("B.\n", "B"),
        ("B',", "B"),
        ("B,'", None),
        ("B.,", "B"),
        ("B,.", None),
        ("B:;", "B"),
        ("B;:", None),
        ("plum or pear it is", None),
        ("plum or pear it is then", "B"),
        ("PEAR or then a PLUM it is", "C"),
        ("", None),
    ],
)
def test_letter_in_response(response, letter):
    assert letter_in_response(response, ABCD, FRUIT) == letter


def test_an_empty_option_text_stands_at_the_very_end():
    assert letter_in_response("it is a pear beyond all doubt", ABCD, {**FRUIT, "D": ""}) == "D"


def test_an_option_text_may_begin_with_the_padding():
    assert letter_in_response("it is one of them all", [], {"A": " it", "B": "none"}) == "A"


def test_equal_last_places_go_to_the_earlier_text():
    assert letter_in_response("it is a pear beyond all doubt", [], {"X": "pear", "Y": "pear"}) == "X"


@pytest.mark.parametrize(
    ("answer", "output", "score"),
    [(2, "C", 1.0), (2.0, "C", 1.0), ("2", "C", 0.0), ("C", "C", 0.0), (0, "A", 0.0), (1, "none", 0.0)],
)
def test_ai2d_compares_the_index_as_a_number(answer, output, score):
    details = AI2D.score(fields(answer), output)
    assert details["score"] == score
    assert details["ground_truth"] == (answer or None)


@pytest.mark.parametrize("scorer", [MMBENCH, MMMUPRO])
@pytest.mark.parametrize(
    ("answer", "values", "output", "score"),
    [
        ("b", {"options": ["x", "y"]}, "B", 1.0),
        ("B ", {"options": ["x", "y"]}, "B", 0.0),
        ("A", {}, "A", 0.0),
        ("C", {"options": ["x", "y"]}, "C", 0.0),
        ("B", {"options": ["x", 7], "all_choices": None, "index2ans": None}, "it is the 7 in this case", 1.0),
        ("Z", {"options": ["x"], "all_choices": ["Y", "Z"], "index2ans": {"Y": 1, "Z": None}}, "Z", 1.0),
        ("B", {"options": ["x", "y"], "all_choices": ["Z"], "index2ans": {}}, "B", 1.0),
    ],
)
def test_choices_come_from_the_metadata_or_the_options(scorer, answer, values, output, score):
    assert scorer.score(fields(answer, **values), output)["score"] == score


@pytest.mark.parametrize(
    ("answer", "options", "output", "score"),
    [
        ("B", "['x', \"y\"]", "B", 1.0),
        (["a", "B"], ["x", "y"], "B", 1.0),
        (["a", "b"], ["x", "y"], "D", 0.0),
        ([], ["x", "y"], "B", 0.0),
    ],
)
def test_mmmupro_reads_a_list_as_text_and_takes_any_of_several_answers(answer, options, output, score):
    assert MMMUPRO.score(fields(answer, options=options), output)["score"] == score


@pytest.mark.parametrize(
    ("answer", "values", "output", "score"),
    [
        ("B", {"all_choices": ABCD}, "\\boxed{B}", 0.0),
        ("B", {"all_choices": ABCD}, "B", 1.0),
        ("b", {"all_choices": ABCD}, "B", 0.0),
        (["C", "B"], {"all_choices": ABCD}, "B", 1.0),
        ("None", {"all_choices": ABCD}, "no idea", 1.0),
        ("E", {}, "Answer: e", 1.0),
        ("B", {"options": ["x", "y"]}, "B", 0.0),
        ("B", {"index2ans": FRUIT}, "I would take the pear of these", 1.0),
    ],
)
def test_mmmu_reads_no_boxes_and_ignores_options(answer, values, output, score):
    assert MMMU.score(fields(answer, **values), output)["score"] == score


@pytest.mark.parametrize(
    ("question", "options", "answer", "output", "score"),
    [
        ("How many?", None, "2", "two", 1.0),
        ("How many?", None, "two", "two", 0.0),
        ("How many?", None, "10", "TEN", 1.0),
        ("How many?", None, "yes", ".yes", 0.0),
        ("How many?", None, "yes", " Yes.. ", 1.0),
        ("How many?", None, "yes.", "Yes.", 0.0),
        ("How many?", None, "", "", 0.0),
        ("Pick\nA. x\nB. y", None, "B", "<think>A</think> b", 1.0),
        ("Pick\nA. x\nB. y", None, "B", "<THINK>\nAnswer: A</Think>\nIt is B", 1.0),
        ("Pick\nA. x\nB. y", None, "B", "Answer : so B, not A\nA or something", 1.0),
        ("Pick\nA. x\nB. y", None, "A", "Final answer: not B now\nA!", 1.0),
        ("Pick\nA. x\nB. y", None, "B", "B\nthe one and only thing in here is this very picture", 1.0),
        ("Pick\nA. x\nB. y", None, "B", "B\nthe one and only thing in here is this picture", 0.0),
        ("Pick one\ne.g. the red one", None, "E", "g: the red one", 1.0),
        ("Pick one\nB. red car\nB. blue car", None, "B", "blue car", 1.0),
        ("Pick one\nB. red car\nB. blue car", None, "B", "red car", 0.0),
        ("Pick\nA. r s t u v\nB. y", None, "A", "r s t u w", 1.0),
        ("Pick\nA. r s t u\nB. y", None, "A", "r s t w", 0.0),
        ("Pick\nA. red car\nB. car, red", None, "A", "car red", 1.0),
        ("Pick", ["k", "l", "m", "n", "o", "Sixth, one"], "F", "sixth one", 1.0),
        ("Pick\nA. x", ["k", "l", "m"], "C", "m", 0.0),
        ("Pick", "text, not a list", "yes", "yes", 1.0),
        ("Pick", [1, None], "A", "1", 1.0),
    ],
)
def test_realworldqa(question, options, answer, output, score):
    row = fields(answer, options=options) | {"question": question}
    assert REALWORLDQA.score(row, output)["score"] == score


@pytest.mark.parametrize(
    ("output", "letter"),
    [
        ("The best answer is B", "B"),
        ("The best answer isB", "B"),
        ("The answer isB", "B"),
        ("the best answer is B", "B"),
        ("_c_", "C"),
        ("éD选", "D"),
        ("B2 or 2B or BB", ""),
        ("There is a van, \\boxed{B}", "A"),
        ("", "A"),
        ("The answer", "A"),
        ("green", "B"),
        ("red then", ""),
        ("one two three four five six seven eight nine ten eleven", ""),
        ("xBx", "B"),
    ],
)
def test_mme_realworld_letter(output, letter):
    options = ["(A) the red one", "(B) the green one, xbx", "(c) no capital", 7]
    assert MME_REALWORLD.score(fields(options=options), output)["extracted_letter"] == letter


def test_mme_realworld_looks_up_long_text_only_if_it_holds_a_capital_letter():
    words = "one two three four five six seven eight nine ten "
    options = [f"(C) {words}eleven", f"(D) {words}xBx"]
    assert MME_REALWORLD.score(fields(options=options), words + "eleven")["extracted_letter"] == ""
    assert MME_REALWORLD.score(fields(options=options), words + "xBx")["extracted_letter"] == "D"
    assert MME_REALWORLD.score(fields(options=options), words)["extracted_letter"] == "C"


def test_mme_realworld_without_usable_options_meets_an_empty_answer():
    assert MME_REALWORLD.score(fields("", options="(A) x"), "")["score"] == 1.0
    assert MME_REALWORLD.score(fields("b"), "B")["score"] == 1.0


@pytest.mark.parametrize(
    ("matching", "others", "score"),
    [(0, 10, 0.0), (1, 9, 0.3), (2, 8, 0.6), (3, 7, 0.9), (4, 6, 1.0), (10, 0, 1.0), (1, 0, 0.0), (2, 0, 1 / 3)],
)
def test_vqa_v2_leaves_each_annotator_out_in_turn(matching, others, score):
    row = fields(answer_type=None, question_type=[]) | {"all_answers": ["Yes."] * matching + ["no"] * others}
    assert VQA_V2.score(row, "yes")["score"] == pytest.approx(score, abs=1e-12)


def test_vqa_v2_empty_and_null_annotations():
    kind = {"answer_type": "x", "question_type": "y"}
    assert VQA_V2.score(fields(**kind) | {"all_answers": []}, "yes")["score"] == 0.0
    assert VQA_V2.score(fields(**kind) | {"all_answers": None}, "yes")["score"] == 0.0
    assert VQA_V2.score(fields(**kind) | {"all_answers": [None, "the", "a", ""]}, "")["score"] == 1.0


def test_vqa_v2_metrics_by_kind_in_order_of_appearance():
    details = [
        {"score": 0.5, "answer_type": "other", "question_type": None},
        {"score": 1.0, "answer_type": "yes/no", "question_type": ["list"]},
        {"score": 0.0, "answer_type": "other"},
    ]
    metrics = VQA_V2.compute_metrics([{"score_details": item} for item in details])
    assert metrics == {
        "accuracy": 0.5,
        "accuracy-by-answer-type": {"other": 0.25, "yes/no": 1.0},
        "accuracy-by-question-type": {None: 0.5, "['list']": 1.0, "unknown": 0.0},
    }
    assert list(metrics["accuracy-by-answer-type"]) == ["other", "yes/no"]


@pytest.mark.parametrize(
    ("scorer", "empty", "one"),
    [
        (AI2D, {"accuracy": 0.0}, {"accuracy": 0.5}),
        (MMMU, {"accuracy": 0.0}, {"accuracy": 0.5}),
        (REALWORLDQA, {"accuracy__RealWorldQA-Accuracy": 0.0}, {"accuracy__RealWorldQA-Accuracy": 0.5}),
        (MME_REALWORLD, {"accuracy": 0.0}, {"accuracy": 0.5, "score": 0.5}),
    ],
)
def test_accuracy_counts_a_missing_score_as_zero(scorer, empty, one):
    assert scorer.compute_metrics([]) == empty
    assert scorer.compute_metrics([{"score_details": {"score": 1.0}}, {}]) == one


@pytest.mark.parametrize(
    ("scorer", "row", "field"),
    [
        (MMBENCH, fields(options="ABCD"), "options"),
        (MMBENCH, fields(options=["x"] * 27), "options"),
        (MMBENCH, fields(all_choices="AB", index2ans={"A": "x"}), "all_choices"),
        (MMBENCH, fields(all_choices=["A", 2], index2ans={"A": "x"}), "all_choices"),
        (MMBENCH, fields(all_choices=["A"], index2ans=["x"]), "index2ans"),
        (MMMUPRO, fields(options="not a list"), "options"),
        (MMMUPRO, fields(options="'text'"), "options"),
        (MMMUPRO, fields(options="__import__('os')"), "options"),
        (MMMUPRO, fields(options="[" * 5000), "options"),
        (MMMUPRO, fields(options={"A": "x"}), "options"),
        (MMMU, fields(all_choices="AB"), "all_choices"),
        (MMMU, fields(index2ans=["x"]), "index2ans"),
        (MME_REALWORLD, fields(2), "answer"),
        (VQA_V2, fields() | {"all_answers": ["yes", 2]}, "all_answers"),
        (VQA_V2, fields() | {"all_answers": "yes"}, "all_answers"),
    ],
)
def test_malformed_row_data_is_refused_by_field(scorer, row, field):
    with pytest.raises(FieldError) as fault:
        scorer.check(row)
    assert fault.value.field == field


@pytest.mark.parametrize(
    ("scorer", "row"),
    [
        (MMBENCH, fields(options=7, all_choices=["A"], index2ans={"A": "x"})),
        (MMBENCH, fields(options=["x"] * 26, all_choices="", index2ans=5)),
        (MMMU, fields(options=7, all_choices=None, index2ans=None)),
        (MMMUPRO, fields(options="('x', 'y')")),
        (VQA_V2, fields() | {"all_answers": [None, "yes"]}),
        (MME_REALWORLD, fields("", options=7)),
    ],
)
def test_row_data_that_is_not_used_is_not_checked(scorer, row):
    scorer.check(row)
