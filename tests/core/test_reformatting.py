from __future__ import annotations

import pytest

from datbench import score_sample
from datbench.reformatting import candidates, score_if_reformatted


def exact(expected):
    return lambda text: float(text == expected)


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        # the last balanced box, unwrapped
        ("so \\boxed{\\frac{1}{2}} holds", "\\frac{1}{2}"),
        ("\\boxed{\\text{Paris}}", "Paris"),
        ("\\boxed{\\textbf{\\mathrm{kg} m}}", "kg m"),
        ("\\boxed{$x$} then text", "x"),
        ("\\boxed{\\$5}", "$5"),
        ("\\boxed {**x**}", "x"),
        ("\\boxed{a} \\boxed{b} \\boxed{c", "b"),
        ("\\boxed{a \\boxed{b}}", "b"),
        ("{ \\boxed{a}", "a"),
        # the last label, wherever on its line
        ("**Answer:** Paris", "Paris"),
        ("**Final Answer**: Paris\nBye", "Paris"),
        ("- *Answer:* Paris\nBye", "Paris"),
        ("__Answer:__ `Paris`\nBye", "Paris"),
        ("The answer is: 42\nBye", "42"),
        ("Answer: a\nso the answer: b, answer： c\nBye", "c"),
        ("Answer: x_1 * 2\nBye", "x_1 * 2"),
        # the last element
        ("<answer>\nParis\n</answer>", "Paris"),
        ("<answer>a</answer> <Answer >\nb\nc</ answer> d", "b\nc"),
        ("<answer>a</answer> <answer>b", "a"),
        # the last fenced block
        ("```\n42\n```", "42"),
        ("```json\n{}\n```\nthen\n```python title\nx = 1\n```", "python title\nx = 1"),
        ("```c++\nx\n```\nBye\n```\nopen", "x"),
        ("It is ```42``` here", "42"),
        # the last line
        ("I think\n\n**Paris.**\n", "Paris"),
        ("It is Paris.", "It is Paris"),
        ("**Paris**.", "Paris"),
    ],
)
def test_an_answer_lost_to_its_form_is_found(output, answer):
    assert score_if_reformatted(exact(answer), output, 0.0) == 1.0


@pytest.mark.parametrize(
    "output",
    ["the answerer: x\nBye", "<answer>x\nBye", "```\nx\nBye", "\\boxed{x\nBye", "{x} Bye", "reanswer: x\nBye"],
)
def test_nothing_is_read_from_marks_that_are_none(output):
    assert "x" not in list(candidates(output))


def test_never_below_the_official_score():
    assert score_if_reformatted(lambda text: 0.2, "**a**", 0.7) == 0.7


def test_at_most_five_distinct_readings_are_scored_and_none_is_the_output():
    output = "\\boxed{a}\n**Answer:** b\n<answer>c</answer>\n```\nd\n```\ne."
    texts = []
    assert score_if_reformatted(lambda text: texts.append(text) or 0.0, output, 0.0) == 0.0
    assert texts == ["a", "b", "c", "d", "e"]
    assert list(candidates("Paris")) == []
    assert list(candidates("\\boxed{a} a.\n**a**")) == ["a"]
    assert list(candidates(" \n\u3000")) == []


def test_a_perfect_score_asks_for_no_more():
    def fail(text):
        raise AssertionError(text)

    assert score_if_reformatted(fail, "**a**", 1.0) == 1.0


def test_a_scorer_of_the_benchmark_gets_the_whole_reading():
    row = {"id": "a", "question": "?", "answer": "Paris", "source_info": {"dataset": "chartqa"}}
    output = "<answer>\nParis\n</answer>"
    official = score_sample(row, output)["score"]
    assert official == 0.0
    assert score_if_reformatted(lambda text: score_sample(row, text)["score"], output, official) == 1.0


@pytest.mark.parametrize(
    "unit",
    ["\\boxed{", "}", "{", "\\text{", "answer", "answer:", "answer *", "<answer>", "</answer>", "< ", "```", "`",
     "\n", " ", "**", "\n.", "\\$", "\\", "a"],
)  # fmt: skip
@pytest.mark.parametrize("frame", ["{}", "\\boxed{{}}", "<answer>{}</answer>", "```{}```"])
def test_half_a_megabyte_of_marks_does_not_stall(unit, frame):
    assert len(list(candidates(frame.replace("{}", unit * (500_000 // len(unit)))))) <= 5
