"""Judge verdicts and rubrics, by the rules of the evaluation library's documentation."""

import json
from pathlib import Path

import pytest

from datbench import parse_judge_verdict
from datbench.verdicts import ANSWER_INSTRUCTION, rewrite_rubric, split_rubric

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "vectors" / "_parse_judge_verdict.jsonl").read_text("utf-8").splitlines()
]
TWO_LINES = "Respond with exactly two lines:\nReason: <one sentence>\nanswer: true or false"


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr((case["verdict"], case["raw_judge_output"]))[:80])
def test_vector(case):
    assert parse_judge_verdict(case["verdict"], case["raw_judge_output"]) is case["expected"]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("1. answer: true", True),
        ("**answer:** false", False),
        ("`answer`: `yes`", True),
        ("answer: “no”.", False),
        ("answer: true..", None),
        ("\u2003answer\u202f:\u2002true\u2009", True),
        ("\u3000answer:\u3000true\u3000", True),
        ("answer: true" + " " * 500 + "\nx", True),
        ("> 12)  **answer**: no", False),
        ("ans1. wer: true", None),
        ("```true\n```", True),
        ('{"Answer": True}', True),
        ('```JSON\n{"ANSWER": "No"}\n```', False),
        ("```\nFALSE\n```", False),
        ('"true"', None),
        ("{}", None),
        ("```json\nfalse\n```", False),
        ('```python {"answer": true}```', None),
        ('```{"answer": true}```', True),
        ("Reason: x\r\nanswer: true\r\n", True),
        ("answer:\ntrue", None),
        ("NaN", None),
        (True, None),
        (b"answer: true", None),
    ],
)
def test_reading_of_a_raw_output(raw, expected):
    assert parse_judge_verdict(None, raw) is expected


@pytest.mark.parametrize("piece", ["{", "[", "`", "```", "answer:", "answer: \n", "\n", " ", "1. ", '{"answer":'])
def test_a_megabyte_of_one_piece_is_unparsed(piece):
    assert parse_judge_verdict(None, piece * (1_000_000 // len(piece))) is None


@pytest.mark.parametrize(
    ("rubric", "kept"),
    [
        (f"Judge it.\n\n{TWO_LINES}", "Judge it."),
        (f"Judge it.  \n{TWO_LINES.upper()}", "Judge it."),
        ("Judge it.\nRespond with\nexactly two  lines:\n1. Reason: ...\n2. answer: true or false", "Judge it."),
        (f"{TWO_LINES}\nmore\n{TWO_LINES}", f"{TWO_LINES}\nmore"),
        (TWO_LINES, ""),
    ],
)
def test_two_line_instruction_is_replaced(rubric, kept):
    assert split_rubric(rubric) == kept
    assert rewrite_rubric(rubric) == f"{kept}\n\n{ANSWER_INSTRUCTION}"
    assert ANSWER_INSTRUCTION.endswith("answer:")


@pytest.mark.parametrize("rubric", ["", "Is {model_answer} right?  \n", "Respond with two lines: a and b"])
def test_other_rubrics_stay_byte_for_byte(rubric):
    assert split_rubric(rubric) is None
    assert rewrite_rubric(rubric) == rubric
