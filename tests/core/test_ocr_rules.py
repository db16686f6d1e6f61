"""The rules of the OCR baseline on lines as a reader would give them."""

from __future__ import annotations

import json

import pytest

from datbench_tasks.models.ocr_rules import Line, answer

SIZE = (400, 200)

INVOICE = (
    Line("Invoice number: INV-7", (10, 10, 200, 30)),
    Line("Date: 3 March", (10, 40, 130, 60)),
    Line("Due date: 2 April", (10, 70, 160, 90)),
    Line("TOTAL", (10, 100, 70, 120)),
    Line("12.25", (300, 100, 350, 120)),
)
TABLE = (
    Line("Train", (10, 10, 60, 30)),
    Line("Leaves", (110, 10, 160, 30)),
    Line("Platform", (210, 10, 270, 30)),
    Line("R12", (10, 50, 60, 70)),
    Line("08:15", (110, 50, 160, 70)),
    Line("3", (235, 50, 245, 70)),
    Line("R14", (10, 90, 60, 110)),
    Line("09:05", (110, 90, 160, 110)),
    Line("1", (235, 90, 245, 110)),
)
SIGN = (Line("CITY PARK", (100, 20, 300, 100)), Line("open daily", (120, 120, 220, 140)))
BOTTLE = (Line("VERDANO", (10, 10, 90, 30)), Line("500 ml", (10, 40, 90, 60)))
TICKETS = tuple(Line(text, (10, 40 * row, 90, 40 * row + 20)) for row, text in enumerate(("ADULT", "CHILD", "ADULT")))

CASES = (
    ("the value after the fitting label", INVOICE, "What is the due date?", "2 April"),
    ("the instruction below is no part of the question", INVOICE, "What is the total?\nAnswer with a date.", "12.25"),
    ("a value beside its label", INVOICE, "How much is the total?", "12.25"),
    ("row and column meet", TABLE, "When does train R14 leave?", "09:05"),
    ("the largest text when no word fits", SIGN, "What is written here?", "CITY PARK"),
    ("the option that is in the image", SIGN, "Where is it?\nA. zoo\nB. city park\nC. school", "B"),
    ("options in parentheses", TABLE, "At which platform does train R12 stop?\n(A) 1\n(B) 2\n(C) 3", "C"),
    ("the first option when none is there", SIGN, "Where is it?\nA. zoo\nB. school", "A"),
    ("a number that stands with the words", BOTTLE, "How many ml does it hold?", "500"),
    ("how many lines fit", TICKETS, "How many tickets say CHILD?", "1"),
    ("how many lines there are", TICKETS, "How many tickets are there?", "3"),
    ("all text", SIGN, "Please output only the text content from the image", "CITY PARK open daily"),
    ("a table by its rows", TABLE[:6], "Convert the table to HTML.",
     "<table><tr><td>Train</td><td>Leaves</td><td>Platform</td></tr>"
     "<tr><td>R12</td><td>08:15</td><td>3</td></tr></table>"),
    ("a box in thousandths", SIGN, "Locate the region: city park.\nGive the bounding box.", "[250, 100, 750, 500]"),
    ("the whole image without a fitting line", SIGN, "Locate: red car.\nGive the bounding box.", "[0, 0, 1000, 1000]"),
    ("a point in thousandths", SIGN, "Point to the city park sign.", "(500, 300)"),
    ("no point without a fitting line", SIGN, "Point to the bicycle.", "No such object in the image."),
    ("nothing read", (), "What is the total?", ""),
    ("nothing read, options", (), "Which?\nA. one\nB. two", "A"),
    ("nothing read, a count", (), "How many birds are there?", "0"),
)  # fmt: skip


@pytest.mark.parametrize(("lines", "prompt", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_answers(lines: tuple[Line, ...], prompt: str, expected: str) -> None:
    assert answer(prompt, lines, SIZE) == expected


def test_labelled_lines_become_json() -> None:
    found = json.loads(answer("Extract the key information as JSON.", INVOICE, SIZE))
    assert found == {"invoice number": "INV-7", "date": "3 March", "due date": "2 April"}


def test_a_page_full_of_lines_is_answered() -> None:
    page = [Line(f"total word{row}", (10, 10 * row, 200, 10 * row + 8)) for row in range(1000)]
    assert answer("How much is the total?", page, (400, 10_000)) == "word0"
