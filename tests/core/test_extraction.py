from __future__ import annotations

import json
from pathlib import Path

import pytest

from datbench.extraction import (
    brace_boxes,
    closing_brace,
    extract_final_answer,
    last_line,
    pipe_boxes,
)

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "vectors" / "_extract_final_answer.jsonl").read_text("utf-8").split("\n")
    if line
]


def test_every_golden_case_gives_the_expected_answer():
    wrong = [
        (case["text"][:200], case["expected"], got)
        for case in CASES
        if (got := extract_final_answer(case["text"])) != case["expected"]
    ]
    assert CASES
    assert not wrong


@pytest.mark.parametrize("value", [None, 42, 4.2, True, b"Answer: x", ["Answer: x"], {"answer": "x"}])
def test_anything_but_text_gives_the_empty_text(value):
    assert extract_final_answer(value) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # which rule decides, even if nothing is left of what it found
        ("<|begin_of_box|><|end_of_box|> \\boxed{b}\nAnswer: c", ""),
        ("\\boxed{ }\nAnswer: c\nd", ""),
        ("\\boxed{a}\n<|begin_of_box|>b", "a"),
        ("Answer: a\nb", "a"),
        # pipe boxes
        ("<|begin_of_box|>a<|end_of_box|><|begin_of_box|>b<|end_of_box|>c<|end_of_box|>", "b"),
        ("<|begin_of_box|>a <|begin_of_box|>b<|end_of_box|>", "a <|begin_of_box|>b"),
        ("<|begin_of_box|>\\boxed{a}<|end_of_box|>", "\\boxed{a}"),
        ("<|BEGIN_OF_BOX|>a<|END_OF_BOX|>", "<|BEGIN_OF_BOX|>a<|END_OF_BOX|>"),
        # brace boxes
        ("\\boxed{\\frac{1}{2}}", "\\frac{1"),
        ("\\boxed{a \\boxed{b}}", "a \\boxed{b"),
        ("\\boxed{a} then \\boxed{}", "a"),
        ("\\boxed{} and \\boxed{a}", "a"),
        ("\\boxed{a} then \\boxed{b", "a"),
        ("\\\\\\boxed{a}", "a"),
        ("\\ boxed{a}", "\\ boxed{a}"),
        ("\\boxed{a\n b}", "a b"),
        # answer lines
        ("Answer:\n\n42", "42"),
        ("Answer:\nFinal Answer: 42", "Final Answer: 42"),
        ("answer: answer: x", "answer: x"),
        ("final\n\n answer\n:\n x\ny", "x"),
        ("x\n \u3000\t\n\x0b aNSWER : y\nz", "y"),
        ("Answer: a\nAnswer: b\nc", "b"),
        ("An\u017fwer: a\nb", "a"),
        ("F\u0131nal answer: a\nb", "a"),
        ("x\rAnswer: a", "Answer: a"),
        ("**Answer:** x", "**Answer:** x"),
        ("Answers: x", "Answers: x"),
        ("Answer is: x", "Answer is: x"),
        ("Answer： x", "Answer： x"),
        ("finalanswer: x", "finalanswer: x"),
        ("b\nAnswer: ", ""),
        ("b\nAnswer:\n\t\n", ""),
        ("b\nAnswer:\n\n", "Answer:"),
        ("b\nAnswer:", "Answer:"),
        # last line
        ("a\x85b\u2028 \x0c\n", "b"),
        (" \n\u3000", ""),
        ("```\n42\n```", ""),
        # cleaning
        (" \"'`a b`' ", "a b"),
        ("\u201ca\u201d", "\u201ca\u201d"),
        ("'\u00a0a\u00a0'", "a"),
        ("< ANSWER ><b></ answer >", "<b>"),
        ("<answer>a</answer> <answer>b</answer>", "a</answer> <answer>b"),
        ("<answer><answer>a</answer></answer>", "<answer>a</answer>"),
        ("<answer>'a'</answer>", "'a'"),
        ("<answer>a</final>", "<answer>a</final>"),
        ("<final_answer>a</final_answer>", "a"),
        ("<answer>a</answer>.", "<answer>a</answer>."),
        ("<answer>\na\n</answer>", "</answer>"),
        ("</answer>", "</answer>"),
        ("a \t\u2003 b", "a b"),
        ("<answer>", ""),
        ("< Answer >", ""),
        ("<final answer>", ""),
        ("<Final>", ""),
        ("<answer>< answer></answer>", ""),
        ("< final >", "< final >"),
    ],
)
def test_rules_of_extraction(text, expected):
    assert extract_final_answer(text) == expected


@pytest.mark.parametrize(
    "unit",
    [
        "\n", " ", "\\", "\\boxed{", "\\boxed{}", "<|begin_of_box|>", "<answer>", "</answer>", "answer",
        "answer ", "\nanswer\n", "final ", "\nfinal", "answer:\n", "< ", "{", "'", ":\n", "a", "\n answer:x",
    ],
)  # fmt: skip
@pytest.mark.parametrize("frame", ["{}", "Answer:{}", "<answer>{}</answer>", "final{}answer{}:x"])
def test_a_megabyte_of_markers_does_not_stall(unit, frame):
    text = frame.replace("{}", unit * (1_000_000 // len(unit)))
    assert isinstance(extract_final_answer(text), str)


def test_box_finders():
    assert list(pipe_boxes("<|begin_of_box|> a <|end_of_box|><|begin_of_box|><|end_of_box|>")) == [" a ", ""]
    assert list(brace_boxes("\\boxed{}\\boxed{ a}}\\boxed{b")) == [" a"]
    assert list(brace_boxes("\\boxed{}\\boxed{ a}}", allow_empty=True)) == ["", " a"]
    assert closing_brace("{a{b}c}d}", 1) == 6
    assert closing_brace("{a{b}c", 1) == -1


def test_last_line_is_right_trimmed_only():
    assert last_line("a\n  b \n\n") == "  b"
