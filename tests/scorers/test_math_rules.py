"""Rules of the math scorers that the recorded cases cannot pin: order, edges, row faults."""

from __future__ import annotations

import pytest

from datbench.scorers.base import FieldError
from datbench.scorers.logicvista import LOGICVISTA
from datbench.scorers.mathverse import MATHVERSE
from datbench.scorers.mathvision import MATHVISION
from datbench.scorers.mathvista import MATHVISTA

BLANK_BOX = "\\boxed{ }\n"
"""Leaves no final answer, so that mathvista looks at the clauses of the whole output."""


def fields(answer="B", question="Which?", **values):
    return {"question_id": "q", "question": question, "answer": answer, "all_answers": [answer], **values}


def clause_values(text):
    return MATHVISTA.score(fields("7"), BLANK_BOX + text)["parsed_response"]


@pytest.mark.parametrize(
    ("answer", "output", "score"),
    [
        ("7", "7.004", 1.0),
        ("2.67", "2.675", 1.0),
        ("7", "7,0,0", 0.0),
        ("1e400", "inf", 1.0),
        ("nan", "nan", 0.0),
        ("7", "seven", 0.0),
        ("7", "7 cm", 0.0),
        ("B", "(B)", 0.0),
        ("B", "a big one", 1.0),
        ("", "anything", 1.0),
        ("", "7", 0.0),
        (" Blue ", "DARK BLUE", 1.0),
    ],
)
def test_mathvista_meets_numbers_with_numbers_and_texts_with_texts(answer, output, score):
    assert MATHVISTA.score(fields(answer), output)["score"] == score


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("so it is blue", ["blue"]),
        ("it is blue\u2028it is green", ["green"]),
        ("it is so so a b c", ["a b c"]),
        ("is it final a long thing", ["a long thing"]),
        ("this is \nx = 4", [4.0]),
        ("x = 4\nthat is it", ["it"]),
        ("the sign is ?", ["\\boxed{ }\nthe sign is ?"]),
        ("it is y", [" y", "y "]),
        ("it is 7.\nit is 7", [7.0]),
        ("the result 7 cm", ["7 cm", 7.0]),
        ("IT IS 5...", [5.0]),
    ],
)
def test_mathvista_clauses(text, values):
    assert clause_values(text) == values


@pytest.mark.parametrize(
    ("clause", "numbers"),
    [
        ("1,234,567 m", [1234567.0, 567.0]),
        ("1,2345 m", [2345.0]),
        ("12,345x", []),
        ("12345,678 m", [678.0]),
        ("-1.5e-3 m", [-0.0, -1.0, -3.0]),
        ("5e m", []),
        ("12e5 m", [1200000.0, 5.0]),
        ("1.2.3e5 m", [230000.0, 1.2, 5.0]),
        ("3.14, m", [3.0]),
        ("12.5 and .5 and -7", [12.5, 0.5, -7.0]),
        ("5cm", []),
        ("٣ m", [3.0]),
        ("1.2e5 m", [120000.0, 1.0, 5.0]),
    ],
)
def test_mathvista_numbers_of_a_clause(clause, numbers):
    assert clause_values(f"it is {clause}") == [clause, *numbers]


@pytest.mark.parametrize(
    ("output", "letters"),
    [
        ("The answer is B", "A, B, E, H"),
        ("\\boxed{\\text{B}}", "B, E"),
        ("ﬀ", "F"),
        ("Option B", "B"),
        ("answer: because\n7", "A, B, C, E"),
        ("answer:  \n7\nthe answer is  d, 7\n7", "D"),
        ("the answer isad 7\n7", "A, D, E, H"),
        ("the answer is  \n7\nCORRECT ANSWER IS b\n7", "B"),
        ("an a, b, c or d\n7", "A, B, C, D"),
        ("an a, b, c, d or e\n7", None),
        ("", None),
    ],
)
def test_logicvista_letters_of_a_text(output, letters):
    assert LOGICVISTA.score(fields(), output)["extracted_output"] == letters


@pytest.mark.parametrize(
    ("question", "options", "output", "letters"),
    [
        ("Q\nA. x\nB. y", None, "\\boxed{G}\nAnswer: b", "B, G"),
        ("Q\nC. x\nD. y", None, "7 (B)\n7", "B"),
        ("Q\nC. x\nD. y", None, "7 (C)", "C"),
        ("Q\nA.\nB. y", None, "\\boxed{G} this one it is: b. y", "A, G"),
        ("Q\nA.\nB. y", None, "\\boxed{G} this one it is: y", "G"),
        ("Q\nB. yy\nA. x", None, "\\boxed{G} this one it is: yy", "B, G"),
        ("Q\nA. \n ", ["u", "v"], "\\boxed{G} (B)", "B, G"),
        ("Q\nA. x B. y", None, "\\boxed{G} (B)", "G"),
        ("Q\nA. old\nA. new", None, "\\boxed{G} it must be the new one", "A, G"),
        ("Q", ["u"] * 9, "\\boxed{G} (I)", "G"),
        ("Q", ["u"] * 9, "\\boxed{G} (H)", "G, H"),
        ("Q", None, "\\boxed{G} (H)", "G"),
    ],
)
def test_logicvista_adds_the_letter_of_a_second_parse_where_there_are_choices(question, options, output, letters):
    assert LOGICVISTA.score(fields(question=question, options=options), output)["extracted_output"] == letters


def test_logicvista_index_only_for_a_single_letter():
    assert LOGICVISTA.score(fields(), "Option G")["predicted_index"] == 6
    assert LOGICVISTA.score(fields(), "G, H")["predicted_index"] is None


@pytest.mark.parametrize(("answer", "output", "score"), [("7", "7", 1.0), ("7", "B", 0.0), ("a, c", "C and A", 0.0)])
def test_logicvista_compares_sets(answer, output, score):
    assert LOGICVISTA.score(fields(answer), output)["score"] == score


@pytest.mark.parametrize(
    ("answer", "output", "score"),
    [
        # What the output announces
        ("B", "C\nso it must be B.", 1.0),
        ("C", "(C) C\nbecause", 1.0),
        ("F", "It must be F.", 0.0),
        ("B", "It must be:B.", 0.0),
        ("12", "this 12..", 1.0),
        ("1_2", "it is 1_2", 1.0),
        ("x", "The answer is: x. The rest", 1.0),
        ("y", "the answer is x. The final answer is y\nz", 1.0),
        ("x", "the correct answer is x", 1.0),
        ("x", "The Answer is x", 0.0),
        ("y", "\\boxed{x} \\\\boxed{y}", 1.0),
        ("x", "\\\\boxed{z} \\\\boxed{x} \\boxed{y}", 1.0),
        # From the outside in
        ("x", "\\BOXED{x}", 1.0),
        ("\\frac{x}{y}", "\\boxed{\\frac{x}{y}}", 1.0),
        ("xy", "\\boxed{x\ny}", 1.0),
        ("x", "\\boxed{x{}}", 1.0),
        ("x", "x} y {z", 1.0),
        ("{x}y", "{x} y", 1.0),
        ("z", "x = y = z", 1.0),
        ("z", "x \\approx y \\approx z", 1.0),
        # Replacements in their order
        ("bf{x}", "\\textbf{X}", 1.0),
        ("arrow", "\\rightarrow", 1.0),
        ("-\\infty", "-\u221e", 1.0),
        ("\\infty", "+\u221e", 1.0),
        ("\\begin{pmatrix}", "\\begin{bmatrix}", 1.0),
        ("5", "5 km", 1.0),
        ("0.7x", ".7x", 1.0),
        ("{0.7}x", "{.7}x", 1.0),
        # Roots, and fractions where there is a root
        ("\\sqrt{1}1", "\\sqrt11", 1.0),
        ("\\sqrt{[}3]{8}", "\\sqrt[3]{8}", 1.0),
        ("\\sqrt", "\\sqrt", 1.0),
        ("\\frac{1}{2}3\\sqrt{x}", "\\frac123\\sqrt{x}", 1.0),
        ("\\frac{1}{23}\\sqrt{x}", "\\frac1{23}\\sqrt{x}", 1.0),
        ("\\frac12\\sqrt{x}\\frac3", "\\frac12\\sqrt{x}\\frac3", 1.0),
        ("\\frac12x", "\\frac12x", 1.0),
        # Whole fractions and wrapped letters
        ("\\frac{1}{2}", "0.5", 1.0),
        ("\\frac{-1}{0}", "-1 / 0", 1.0),
        ("\\frac{01}{0}", "01/0", 0.0),
        ("\\frac{-0}{0}", "-0/0", 0.0),
        ("\\frac{-x}{y}", "-x/y", 0.0),
        ("a+{b}", "(a)+({b})", 0.0),
        ("a+b", "(A) + {B}", 1.0),
        ("(f)", "(F)", 1.0),
        ("x", ":: x ..", 1.0),
        ("x", "x :", 0.0),
    ],
)
def test_mathvision_prediction(answer, output, score):
    assert MATHVISION.score(fields(answer), output)["score"] == score


@pytest.mark.parametrize(
    ("answer", "output", "score"),
    [
        (" ", "\\boxed{ }", 0.0),
        ("\t", "12", 0.0),
        ("0.001", "0.004", 1.0),
        ("0.125", "0.12", 1.0),
        ("(1,2)", "(1.0, 2.0)", 1.0),
        ("(2,3)", "(4/2, 3)", 0.0),
        ("(6/3,3.0)", "(4/2, 3)", 1.0),
        ("(a,-a,1)", "(a, -a, 1.0)", 1.0),
        ("(b,1)", "(b, 1.0)", 0.0),
        ("( \\infty,1)", "( \\infty, 1.0)", 0.0),
        ("(\\infty,1)", "(\\infty, 1.0)", 1.0),
        ("[1,2]", "(1,2)", 0.0),
        ("[1,2)", "[1.0,2)", 0.0),
        ("(1)", "1", 1.0),
        ("(1,000)", "(1,0)", 1.0),
        ("x=(1)", "1.0", 1.0),
        ("(" + "9" * 999 + "^{4},1)", "(1,1)", 0.0),
        ("(10^{4500},1)", "(10^{4500},1.0)", 0.0),
    ],
)
def test_mathvision_equality(answer, output, score):
    assert MATHVISION.score(fields(answer), output)["score"] == score


@pytest.mark.parametrize(
    ("answer", "values", "output", "score"),
    [
        ("B", {"options": ["12", "14"]}, "14", 1.0),
        ("C", {"options": ["12", "14"]}, "14", 0.0),
        ("@", {"options": ["12", "14"]}, "14", 0.0),
        ("b", {"options": ["12", "14"]}, "14", 0.0),
        ("B", {"options": "xy"}, "y", 1.0),
        ("B", {"options": [12, 14.0]}, "14", 1.0),
        ("C", {"options": ["x", "y", " "]}, "C", 1.0),
        ("B", {"options": ["7", "8"], "options_struct": [{"text": "12"}, {"text": "14"}]}, "14", 1.0),
        ("B", {"options": ["7", "8"], "options_struct": []}, "8", 1.0),
        ("14", {"options": ["7", "8"], "correct_choice_letter": " B "}, "8", 1.0),
        ("14", {"options": ["7", "8"], "correct_choice_letter": " B "}, "14", 0.0),
        ("14", {"options": ["7", "8"], "correct_choice_letter": ""}, "14", 1.0),
    ],
)
def test_mathvision_gold_and_its_option(answer, values, output, score):
    assert MATHVISION.score(fields(answer, **values), output)["score"] == score


def test_mathvision_accuracy_is_the_rounded_share_of_full_scores():
    assert MATHVISION.compute_metrics([]) == {"accuracy": 0.0}
    assert MATHVISION.compute_metrics([{"score": 1.0}, {"score": 0.9}, {}]) == {"accuracy": 0.333333}


def test_mathverse_needs_a_judge():
    assert MATHVERSE.score(fields(7), "7") == {"score": 0.0, "error": "judge_required"}
    assert MATHVERSE.compute_metrics([{"score": 0.0}]) == {}


@pytest.mark.parametrize(
    ("scorer", "row", "field"),
    [
        (MATHVISTA, fields(7), "answer"),
        (LOGICVISTA, fields(["A"]), "answer"),
        (LOGICVISTA, fields(options=["x", 7]), "options"),
        (LOGICVISTA, fields(options="AB"), "options"),
        (MATHVISION, fields(7.5), "answer"),
        (MATHVISION, fields(options=7), "options"),
        (MATHVISION, fields(options_struct="AB"), "options_struct"),
        (MATHVISION, fields(options_struct=[{"label": "A"}]), "options_struct"),
        (MATHVISION, fields(options_struct=[{"text": 7}]), "options_struct"),
        (MATHVISION, fields(options_struct=["x"]), "options_struct"),
    ],
)
def test_malformed_row_data_is_refused_by_field(scorer, row, field):
    with pytest.raises(FieldError) as fault:
        scorer.check(row)
    assert fault.value.field == field


def test_options_that_are_not_used_are_not_checked():
    LOGICVISTA.check(fields(question="Q\nA. x", options=7))
    MATHVISION.check(fields(options=7, options_struct=[{"text": "x"}]))
