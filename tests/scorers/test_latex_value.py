"""The bounded evaluator of LaTeX arithmetic: precedences, tokens, stops, what has no value, and the bounds."""

from __future__ import annotations

import pytest
from support.hang_guard import no_longer_than

from datbench.scorers.latex_value import latex_value

VALUES = [
    # Numbers
    ("12", 12),
    ("1,234,567", 1234567),
    ("1,234.50", 1234.5),
    ("1,0000", 0),
    (".5", 0.5),
    ("2.00", 2),
    ("50\\%", 0.5),
    ("5.5.5", 2.75),
    ("3 000", 0),
    # Sums and terms
    ("1-2-3", -4),
    ("12/2/3", 2.0),
    ("2*6/3*2", 8.0),
    ("1+2\\times3", 7),
    ("1+6\\over3", 3.0),
    ("8\\div2:4", 1.0),
    ("3\\cdot-2", -6),
    ("--+-2", -2),
    ("--2", 2),
    # Factors side by side bind tighter than a written operator
    ("6/2(3)", 1.0),
    ("1\\frac{1}{2}", 0.5),
    ("2(3)[4]\\{5\\}", 120),
    ("-2(3)", -6),
    # Powers go left to right, before the sign
    ("2^2^3", 64),
    ("-2^2", -4),
    ("(-2)^2", 4),
    ("2^{-1}", 0.5),
    ("2^10", 1024),
    ("0^0", 1),
    ("2^{1/2}", 2**0.5),
    ("2^{\\frac{1}{2}}", 2**0.5),
    ("4^{1.5}", 8.0),
    ("12'''", 12),
    ("3^2'4", 36),
    # Fractions, roots, binomials
    ("\\frac{1}{3}", 1 / 3),
    ("\\dfrac{\\tfrac{1}{2}}{4}", 0.125),
    ("\\sqrt[3]{8}", 2.0),
    ("\\sqrt[-3]{8}", 0.5),
    ("\\binom{5}{2}", 10),
    ("\\tbinom{2}{5}", 0),
    ("\\binom{5}{0}", 1),
    ("{5\\choose2}", 10),
    ("{{5}\\choose{1+1}}+1", 11),
    # Nothing to see
    ("\t~$ 1\\,\\quad\\displaystyle+\\left(2\\right)\r\n", 3),
    # Assignments
    ("x=5", 5),
    ("$ x_1 = 5", 5),
    ("\\theta_{max}=2^3", 8),
    # What follows a stop is ignored
    ("12)x", 12),
    ("12]", 12),
    ("12}^", 12),
    ("12\\}", 12),
    ("12_x", 12),
    ("12&x", 12),
    ("12\\\\x", 12),
    ("12. Then x", 12),
    ("12\\choose x", 12),
    ("12\\tox", 12),
    ("12\\rightarrow x", 12),
    ("12\\rceil", 12),
    ("12\\end{x}", 12),
    ("12triangles", 12),
    ("5 rows", 5),
    ("9diagonals", 9),
    ("5 eighths", 5),
    ("1+1\\quad trees", 2),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_value(text, value):
    assert latex_value(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("text", ["2.00", "2^10", "0^0", "1,234", "\\binom{5}{2}", "6-2*2"])
def test_whole_numbers_stay_integers(text):
    assert type(latex_value(text)) is int


@pytest.mark.parametrize("text", ["4/2", "\\frac{4}{2}", "2^{-1}", "100\\%", "2.5"])
def test_divisions_give_floats(text):
    assert type(latex_value(text)) is float


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "x",
        "e",
        "\\pi",
        "2\\pi",
        "\\sin(1)",
        "1e5",
        "12 squares",
        "12 elephants",
        "12,",
        "1,00",
        "1;2",
        "5!",
        "|5|",
        "5<6",
        "1=1",
        "e=5",
        "ab=5",
        "x=y=5",
        "\\pi=5",
        "1+",
        "*2",
        "()",
        "(1",
        "(1]",
        "(12 triangles)",
        "(1.)",
        "\\frac12",
        "\\frac{1}",
        "\\frac(1)(2)",
        "\\binom{-1}{2}",
        "\\binom{2.5}{1}",
        "[5\\choose2]",
        "2^-1",
        "2^(3)",
        "2^",
        "2'^2",
        "\\sqrt{4}",
        "\\sqrt4",
        "\\sqrt[2]{4}",
        "\\sqrt[-2]{4}",
        "\\sqrt[0]{4}",
        "2^{0.5}",
        "2^{-.5}",
        "2^0.5",
        "2^{(0.50)}",
        "1/0",
        "0^{-1}",
        "(-8)^{1/3}",
        "(a)_{b}",
        "2.(a+1)_{3}",
        "1.5^{9999}",
        "2\\,\\%",
        "\\variable{1}",
        "\ud800",
        "1\x00",
    ],
)
def test_no_value(text):
    assert latex_value(text) is None


BOUNDS = [
    ("1" * 1_000, True),
    ("1" * 1_001, False),
    ("1+" * 999 + "1", True),
    ("1+" * 1_000 + "1", False),
    ("(" * 50 + "1" + ")" * 50, True),
    ("(" * 51 + "1" + ")" * 51, False),
    ("2^{8192}", True),
    ("2^{8193}", False),
    ("3^{8192}3^{8192}", False),
    ("2^{-8193}", False),
    ("9^{9^{9}}", False),
    ("7^{7^{7^{7}}}", False),
    ("2^{1000}/3", True),
    ("3^{5000}/2", False),
    ("\\binom{1000}{500}", True),
    ("\\binom{1001}{1}", False),
    ("\\binom{10000000}{5000000}", False),
]


@pytest.mark.parametrize(("text", "has_value"), BOUNDS, ids=range(len(BOUNDS)))
def test_bounds(text, has_value):
    assert (latex_value(text) is not None) is has_value


def test_text_behind_a_stop_costs_nothing():
    assert latex_value("12)" + "(1+" * 1_000_000) == 12


@pytest.mark.parametrize("start", ["", "x", "x_", "x_{", "x_1", "1", "(a", "(a)_{", "\\alpha"])
@pytest.mark.parametrize("unit", ["~", "$", "\\,", "\\left", "\\quad", "(a)_{b", "_{", "1,", "1^", "-"])
def test_long_runs_of_one_thing_take_linear_time(start, unit):
    with no_longer_than(20):
        assert latex_value(start + unit * 100_000 + "!") in (None, 1)
