"""Scorer of the four mme-realworld datasets: the first free letter of a response, A to E."""

from __future__ import annotations

import re

from datbench.scorers.base import Details, Fields, Scorer, accuracy_and_score
from datbench.scorers.row_checks import text_of

_ANNOUNCEMENTS = (
    "The best answer is",
    "The correct answer is",
    "The answer is",
    "The answer",
    "The best option is",
    "The correct option is",
    "Best answer:",
    "Best option:",
)
_LETTERS = frozenset("ABCDE")
_FREE_LETTER = re.compile(r"(?<![A-Za-z0-9])[A-Ea-e](?![A-Za-z0-9])")
_CAPITAL = re.compile(r"[A-E]")
_MOST_WORDS = 10  # a longer response without a capital letter is not looked up among the options


def _score(fields: Fields, output: str) -> Details:
    letter = _letter(output, fields.get("options"))
    truth = fields["answer"] or ""
    return {
        # The benchmark's: two empty texts are equal.
        "score": float(letter.upper() == truth.upper()),
        "extracted_letter": letter,
        "ground_truth": truth,
        "model_output": output,
    }


def _letter(output: str, options: object) -> str:
    """The response's letter, or that of the first option that contains the response; else the empty text."""
    text = output.strip()
    for announcement in _ANNOUNCEMENTS:
        text = text.replace(announcement, "")
    found = _FREE_LETTER.search(text)
    if found:
        return found[0].upper()
    if len(text.split(None, _MOST_WORDS)) > _MOST_WORDS and not _CAPITAL.search(text):
        return ""
    text = text.lower()
    for option in map(str, options if isinstance(options, list) else ()):
        # Options look like "(A) text". The benchmark's: an empty response is contained in the first one.
        if option[1:2] in _LETTERS and text in option.lower():
            return option[1]
    return ""


def _check(fields: Fields) -> None:
    if fields["answer"]:
        text_of(fields, "answer")


MME_REALWORLD = Scorer(_score, accuracy_and_score, check=_check)
