"""The number that a LaTeX expression of plain arithmetic stands for; a bounded parser, nothing is ever executed.

The benchmark parses LaTeX with a grammar of its own and evaluates the result. Only arithmetic on plain numbers
survives that, with some precedences and lexer habits of that grammar; this module gives the same verdicts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

Number = int | float

MAX_TOKENS = 2_000
MAX_NUMBER_LENGTH = 1_000
MAX_NESTING = 50
MAX_BITS = 16_384
MAX_BINOMIAL = 1_000

_SKIPPED = r"(?:[ \t\r\n~$]|\\,|\\q?quad|\\displaystyle|\\left|\\right(?!arrow))*"

# The lexer's keywords: a word that begins with one ends the expression, so "12 triangles" is 12.
_KEYWORDS = (
    "tr", "eig", "eye", "gcd", "lcm", "svd", "zeros", "ones", "cols", "rows", "diag", "norm", "rank", "rref",
    "hstack", "vstack", "orth", "nullspace", "floor", "ceil", "arsinh", "arcsinh", "arcosh", "arccosh", "artanh",
    "arctanh", "matrix", "pmatrix", "bmatrix", "vmatrix",
)  # fmt: skip
_STOP_COMMANDS = (r"\to", r"\rightarrow", r"\rceil", r"\rfloor", r"\rvert", r"\end{")
_SYNONYMS = {
    r"\dfrac": r"\frac",
    r"\tfrac": r"\frac",
    r"\dbinom": r"\binom",
    r"\tbinom": r"\binom",
    r"\times": "*",
    r"\cdot": "*",
    r"\div": "/",
    r"\over": "/",
    ":": "/",
}
_SYMBOLS = (
    *_SYNONYMS, r"\frac", r"\binom", r"\sqrt", r"\choose", r"\{", r"\}", r"\\", *"+-*/^'()[]{}_&.",
)  # fmt: skip


def _any_of(words: tuple[str, ...]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_TOKEN = re.compile(
    _SKIPPED
    + r"(?:(?P<number>[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?|\.[0-9]+)(?P<percent>\\%)?"
    + rf"|(?P<stop>{_any_of(_STOP_COMMANDS + _KEYWORDS)})"
    + rf"|(?P<symbol>{_any_of(_SYMBOLS)})"
    + r"|(?P<end>\Z))"
)
_STOPS = frozenset((")", "]", "}", r"\}", "_", "&", r"\\", ".", r"\choose", "stop", "end"))
_CLOSING = {"(": ")", "[": "]", "{": "}", r"\{": r"\}"}
_SIGNS_AND_BRACKETS = frozenset(("+", "-", *_CLOSING, *_CLOSING.values()))
_FACTOR_STARTS = frozenset(("number", *_CLOSING, r"\frac", r"\sqrt", r"\binom"))

_GREEK = (
    "alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|vartheta|iota|kappa|lambda|mu|nu|xi|rho|varrho|sigma"
    "|varsigma|tau|upsilon|phi|varphi|chi|psi|omega"
)
_ASSIGNMENT = re.compile(
    # Two runs of skipped tokens side by side would be tried in all their splits.
    rf"{_SKIPPED}(?:[A-Za-df-z]|\\(?i:{_GREEK})){_SKIPPED}(?:_{_SKIPPED}(?:[A-Za-z0-9]|\{{[^{{}}]*\}}){_SKIPPED})?="
)
# The shape of a function call with a subscript, which has no value wherever it stands.
_SUBSCRIPTED_CALL = re.compile(r"\([A-Za-z0-9+\-*/\\ ]+\)_\{[A-Za-z0-9+\-*/\\ ]+\}")


class _NoValueError(Exception):
    """The text is no plain arithmetic, or exceeds a bound."""


def latex_value(text: str) -> Number | None:
    r"""The value of a LaTeX text, or None if it has none by the benchmark's rules. Never raises.

    What follows a complete expression is ignored if it begins with a closing bracket, a full stop or another stop
    of the grammar. Integers stay exact (at most 16,384 bits), division gives a float, results are finite and real.
    Work is bounded: 2,000 tokens, 50 levels of nesting, numbers of 1,000 characters.

    >>> latex_value(r"\frac{1}{2} + 2^2^3"), latex_value("6/2(3)"), latex_value("x")
    (64.5, 1.0, None)
    """
    if ")_{" in text and _SUBSCRIPTED_CALL.search(text):
        return None
    assignment = _ASSIGNMENT.match(text)
    try:
        return _Parser(text, assignment.end() if assignment else 0).whole()
    except (_NoValueError, ArithmeticError):
        return None


class _Parser:
    """Recursive descent over tokens that are read one ahead, so that text behind a stop costs nothing."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._place = start
        self._tokens = 0
        self._operands = 0  # tokens taken that are neither sign nor bracket
        self._depth = 0
        self._number: Number = 0
        self._next = ""
        self._read()

    def whole(self) -> Number:
        value = self._sum()
        if self._next not in _STOPS:
            raise _NoValueError
        return value

    def _read(self) -> None:
        match = _TOKEN.match(self._text, self._place)
        if match is None:
            self._next = "unknown"
            return
        self._place = match.end()
        kind = match.lastgroup
        if kind == "symbol":
            self._next = _SYNONYMS.get(match["symbol"], match["symbol"])
        elif kind in ("stop", "end"):
            self._next = kind
        else:
            self._next = "number"
            self._number = _literal(match["number"], percent=kind == "percent")

    def _take(self) -> str:
        """The next token, which is used up."""
        taken = self._next
        self._tokens += 1
        if self._tokens > MAX_TOKENS:
            raise _NoValueError
        if taken not in _SIGNS_AND_BRACKETS:
            self._operands += 1
        self._read()
        return taken

    def _expect(self, token: str) -> None:
        if self._next != token:
            raise _NoValueError
        self._take()

    def _sum(self) -> Number:
        value = self._term()
        while self._next in ("+", "-"):
            operator = self._take()
            term = self._term()
            value = _bounded(value + term if operator == "+" else value - term)
        return value

    def _term(self) -> Number:
        value = self._signed()
        while self._next in ("*", "/"):
            operator = self._take()
            operand = self._signed()
            value = _bounded(value * operand if operator == "*" else value / operand)
        return value

    def _signed(self) -> Number:
        """Signs, then factors side by side: their product binds tighter than a written operator."""
        sign = 1
        while self._next in ("+", "-"):
            if self._take() == "-":
                sign = -sign
        value = self._factor()
        while self._next in _FACTOR_STARTS:
            value = _bounded(value * self._factor())
        return sign * value

    def _factor(self) -> Number:
        value = self._atom()
        while self._next == "^":
            self._take()
            value = _power(value, self._exponent())
        while self._next == "'":
            self._take()
        return value

    def _exponent(self) -> Number:
        before = self._operands
        value = self._bracketed(self._sum) if self._next == "{" else self._plain_number()
        # The benchmark turns a literal one-half into a square root, which has no value there.
        if self._operands == before + 1 and abs(value) == 0.5:
            raise _NoValueError
        return value

    def _atom(self) -> Number:
        start = self._next
        if start in _CLOSING:
            return self._bracketed(self._sum_or_choose if start == "{" else self._sum)
        if start == "number":
            return self._plain_number()
        if start not in _FACTOR_STARTS:
            raise _NoValueError
        self._take()
        if start == r"\sqrt":
            return self._root()
        first, second = self._braced(), self._braced()
        return _binomial(first, second) if start == r"\binom" else _bounded(first / second)

    def _plain_number(self) -> Number:
        value = self._number
        self._expect("number")
        return value

    def _root(self) -> Number:
        if self._next != "[":
            raise _NoValueError
        index = self._bracketed(self._sum)
        if abs(index) == 2:
            raise _NoValueError
        return _power(self._braced(), 1 / index)

    def _sum_or_choose(self) -> Number:
        value = self._sum()
        if self._next != r"\choose":
            return value
        self._take()
        return _binomial(value, self._sum())

    def _braced(self) -> Number:
        if self._next != "{":
            raise _NoValueError
        return self._bracketed(self._sum)

    def _bracketed(self, inside: Callable[[], Number]) -> Number:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise _NoValueError
        closing = _CLOSING[self._take()]
        value = inside()
        self._expect(closing)
        self._depth -= 1
        return value


def _literal(digits: str, *, percent: bool) -> Number:
    """A whole decimal is an integer, any other the nearest double."""
    if len(digits) > MAX_NUMBER_LENGTH:
        raise _NoValueError
    whole, _, fraction = digits.replace(",", "").partition(".")
    value = float(f"{whole}.{fraction}") if fraction.strip("0") else int(whole or "0")
    return _bounded(value / 100 if percent else value)


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and abs(exponent) * base.bit_length() > MAX_BITS:
        raise _NoValueError
    return _bounded(base**exponent)


def _binomial(upper: Number, lower: Number) -> Number:
    if not (isinstance(upper, int) and isinstance(lower, int) and 0 <= upper <= MAX_BINOMIAL and lower >= 0):
        raise _NoValueError
    return math.comb(upper, lower)


def _bounded(value: Number | complex) -> Number:
    if isinstance(value, int):
        if value.bit_length() > MAX_BITS:
            raise _NoValueError
    elif isinstance(value, complex) or not math.isfinite(value):
        raise _NoValueError
    return value
