"""The text rules of OCRBench v2: letters, text match in English and Chinese, formulas, counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from datbench.scorers.anls import similarity
from datbench.scorers.faults import OutputFault
from datbench.scorers.literals import MAX_DIGITS

LEAST_SIMILARITY = 0.5
_DIGITS = re.compile(r"\d+")
_LATEX_TEXT = re.compile(r"\\text\{([^{}]*)\}")


def letters(prediction: str, answers: Sequence[Any]) -> float:
    """1.0 if the letters of the prediction, of any script, equal the one answer; case counts."""
    return float(len(answers) == 1 and "".join(filter(str.isalpha, prediction)) == answers[0])


def text_match(prediction: str, answers: Sequence[Any], *, keep_case: bool = False) -> float:
    """Best over the answers: a short one (under 5 words) must occur, a longer one be similar; in [0, 1]."""
    prediction = _flat(prediction, keep_case)
    golds = [_flat(answer, keep_case) for answer in _texts(answers)]
    return max((_match(prediction, gold, short=len(gold.split()) < 5) for gold in golds), default=0.0)


def cased_text_match(prediction: str, answers: Sequence[Any]) -> float:
    """`text_match` in which case counts."""
    return text_match(prediction, answers, keep_case=True)


def chinese_text_match(prediction: str, answers: Sequence[Any]) -> float:
    """`text_match` without blanks; short is an answer of under 4 parts between ASCII commas."""
    prediction = _flat(prediction).replace(" ", "")
    golds = [_flat(answer).replace(" ", "") for answer in _texts(answers)]
    return max((_match(prediction, gold, short=gold.count(",") < 3) for gold in golds), default=0.0)


def _match(prediction: str, answer: str, *, short: bool) -> float:
    if short:
        return float(answer in prediction)
    value = similarity(prediction, answer)
    return value if value >= LEAST_SIMILARITY else 0.0


def _flat(text: str, keep_case: bool = False) -> str:
    return (text if keep_case else text.lower()).strip().replace("\n", " ")


def _texts(answers: Sequence[Any]) -> list[str]:
    """The answers that are texts, and numbers as Python prints them."""
    return [str(answer) for answer in answers if isinstance(answer, (str, int, float))]


def formula(prediction: str, answers: Sequence[str]) -> float:
    """1.0 if an answer occurs in the prediction, blanks aside; nothing else is normalised."""
    prediction = _without_blanks(prediction)
    return float(any(_without_blanks(answer) in prediction for answer in answers))


def chinese_formula(prediction: str, answers: Sequence[str]) -> float:
    r"""`formula` with ``\text{...}`` opened; in the answers only if there is just one, as in the benchmark."""
    if len(answers) == 1:
        answers = [_LATEX_TEXT.sub(r"\1", answers[0])]
    return formula(_LATEX_TEXT.sub(r"\1", prediction), answers)


def _without_blanks(text: str) -> str:
    return text.strip().replace("\n", " ").replace(" ", "")


def contains_count(prediction: str, answers: Sequence[str]) -> float:
    """1.0 if an answer occurs in the prediction, at any place and length; case does not count."""
    prediction = _flat(prediction)
    return float(any(_flat(answer) in prediction for answer in answers))


def near_count(prediction: str, answers: Sequence[str]) -> float:
    """Closeness of the first number in the prediction to an answer, where over 0.5; in [0, 1].

    Raises:
        OutputFault: the number has more than 4300 digits.
    """
    digits = _DIGITS.search(prediction)
    if digits is None:
        return 0.0
    if len(digits[0]) > MAX_DIGITS:
        raise OutputFault(f"number of more than {MAX_DIGITS} digits")
    return max((_closeness(int(digits[0]), answer) for answer in answers), default=0.0)


def _closeness(count: int, answer: str) -> float:
    try:
        expected = int(answer)
    except ValueError:
        return 0.0
    if not 0 < count < 2 * expected:
        return 0.0
    closeness = 1 - abs(count - expected) / expected
    return closeness if closeness > LEAST_SIMILARITY else 0.0
