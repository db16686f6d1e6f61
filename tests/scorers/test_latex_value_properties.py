"""The LaTeX evaluator against Python's own arithmetic, on expressions built from a tree that knows its value."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from datbench.scorers.latex_value import MAX_BITS, latex_value

SPACES = ("", " ", "\t", "$", "~", "\\,", "\\quad ", "\\left", "\\displaystyle\n")
"""What may stand between two tokens; ``\\left`` counts as nothing in this grammar."""

SUMS = {"+": operator.add, "-": operator.sub}
PRODUCTS = {
    **dict.fromkeys(("*", "\\times", "\\cdot"), operator.mul),
    **dict.fromkeys(("/", ":", "\\div", "\\over"), operator.truediv),
}
BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"), ("\\{", "\\}"))


class Part(NamedTuple):
    """A piece of LaTeX and its value; None if Python has no finite real one, or it is beyond the bound."""

    latex: str
    value: int | float | None


def combined(function: Callable, *values: int | float | None) -> int | float | None:
    if None in values:
        return None
    try:
        result = function(*values)
    except ArithmeticError:
        return None
    if isinstance(result, int):
        return result if result.bit_length() <= MAX_BITS else None
    return result if isinstance(result, float) and math.isfinite(result) else None


def power(base: int | float, exponent: int | float) -> int | float | None:
    if isinstance(base, int) and isinstance(exponent, int) and abs(exponent) * base.bit_length() > MAX_BITS:
        raise OverflowError
    return base**exponent


spaces = st.sampled_from(SPACES)
few = st.sampled_from((0, 0, 0, 1, 2))
whole = st.integers(0, 10**9).map(lambda n: Part(str(n), n))
grouped = st.integers(0, 10**9).map(lambda n: Part(f"{n:,}", n))
decimals = st.integers(0, 8_000).map(lambda n: Part(f"{n / 8:.3f}".removeprefix("0"), n / 8 if n % 8 else n // 8))
numbers = st.one_of(whole, grouped, decimals)


@st.composite
def chains(draw, parts, operators):
    """Operands and operators of one rank, from left to right."""
    latex, value = draw(parts)
    for _ in range(draw(few)):
        sign = draw(st.sampled_from(sorted(operators)))
        operand = draw(parts)
        latex += draw(spaces) + sign + draw(spaces) + operand.latex
        value = combined(operators[sign], value, operand.value)
    return Part(latex, value)


@st.composite
def bracketed(draw, parts):
    opening, closing = draw(st.sampled_from(BRACKETS))
    latex, value = draw(parts)
    return Part(opening + latex + closing, value)


@st.composite
def operands(draw, atoms):
    """Signs, then factors side by side: one operand, whatever is written around it."""
    signs = draw(st.text("+-", max_size=3))
    latex, value = draw(factors(atoms))
    for _ in range(draw(few)):
        beside = draw(factors(bracketed(numbers)))
        latex += draw(spaces) + beside.latex
        value = combined(operator.mul, value, beside.value)
    return Part(signs + latex, combined(operator.neg, value) if signs.count("-") % 2 else value)


@st.composite
def factors(draw, atoms):
    """An atom and its powers, from left to right."""
    latex, value = draw(atoms)
    for _ in range(draw(few)):
        exponent = draw(st.integers(-2, 3))
        plain = (f"{exponent}",) if exponent >= 0 else ()
        latex += "^" + draw(st.sampled_from((*plain, f"{{{exponent}}}", f"{{+({exponent})}}")))
        value = combined(power, value, exponent)
    return Part(latex + "'" * draw(few), value)


def sums(atoms):
    return chains(chains(operands(atoms), PRODUCTS), SUMS)


@st.composite
def fractions(draw, parts):
    upper, lower = draw(parts), draw(parts)
    command = draw(st.sampled_from(("\\frac", "\\dfrac", "\\tfrac")))
    value = combined(operator.truediv, upper.value, lower.value)
    return Part(f"{command}{{{upper.latex}}}{{{lower.latex}}}", value)


@st.composite
def roots(draw, parts):
    index = draw(st.sampled_from((1, 3, 4, -3)))
    latex, value = draw(parts)
    return Part(f"\\sqrt[{index}]{{{latex}}}", combined(power, value, 1 / index))


@st.composite
def binomials(draw):
    upper, lower = draw(st.integers(0, 12)), draw(st.integers(0, 12))
    form = draw(st.sampled_from(("\\binom{%d}{%d}", "\\dbinom{%d}{%d}", "{%d\\choose%d}")))
    return Part(form % (upper, lower), math.comb(upper, lower))


def compounds(parts):
    return st.one_of(bracketed(parts), fractions(parts), roots(parts), binomials())


flat = sums(numbers | binomials())
expressions = sums(numbers | compounds(flat | compounds(flat)))


@given(expressions)
def test_value_and_type_are_those_of_the_tree(part):
    value = latex_value(part.latex)
    assert value == part.value
    assert type(value) is type(part.value)


@given(expressions, st.sampled_from((")", "]", "}", ".x", "_", "&", "\\\\", "\\to", "triangles", "\\rightarrow x")))
def test_what_follows_a_stop_changes_nothing(part, stop):
    assert latex_value(f"{part.latex} {stop} anything (") == part.value


@given(expressions, st.sampled_from(("x", ",", "!", "|", "=1", "<2", "\\pi", "\u221a", "*", "(")))
def test_anything_else_behind_it_leaves_no_value(part, tail):
    assert latex_value(f"{part.latex} {tail}") is None


@given(expressions, st.sampled_from(("x", "X_1", "$y", "\\alpha", "k_{max}", "\\Omega _ 2")))
def test_an_assignment_has_the_value_of_its_right_side(part, symbol):
    assert latex_value(f"{symbol} = {part.latex}") == part.value


@given(st.text("0123456789+-*/^(){}[].,:'x=_ \\$%&acfhinorstbdmq", max_size=60) | st.text(max_size=40))
def test_any_text_has_a_finite_real_value_or_none(text):
    value = latex_value(text)
    assert value is None or (isinstance(value, int | float) and math.isfinite(value))
