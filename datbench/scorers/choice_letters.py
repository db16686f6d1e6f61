"""Option letters in an answer: the rules that the multiple-choice scorers share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

_ANSWER_LINE = {last: re.compile(rf"(?:final\s+)?answer\s*:\s*([A-{last}])\b", re.IGNORECASE) for last in ("E", "H")}
_EDGE_MARKS = (",", ".", "!", "?", ";", ":", "'")
_LONG_FROM_WORDS = 6  # shorter responses are not searched for option texts

# What stands around a choice for it to be a candidate; by which surroundings several candidates are ranked.
_SURROUNDINGS = (
    (("(", ")"), ("(", ")")),
    (("", " "), (" ", " ")),
    (("", "."), (" ", " ")),  # the benchmark's: ranked by blanks although found by a period
)


def free_standing_letter(answer: str, choices: Sequence[str], *, bar_is_a_choice: bool = False) -> str | None:
    """The first choice letter in an extracted answer that stands between two word boundaries.

    The answer is upper-cased first, so the article "a" and the d of "I'd" are letters like any other, and a
    lower-case choice is never found. A rule of the benchmark, not ours.

    Args:
        answer: the extracted final answer.
        choices: one-letter choices.
        bar_is_a_choice: the benchmark's slip of an ``|`` inside a character class: with two or more choices a
            bar between word characters is found as well.
    """
    answer = answer.upper()
    if len(answer) == 1 and answer in choices:
        return answer
    bar = "|" if bar_is_a_choice and len(choices) > 1 else ""
    found = _any_of("".join(choices) + bar).search(answer)
    return found[0] if found else None


@lru_cache(maxsize=256)
def _any_of(characters: str) -> re.Pattern[str]:
    return re.compile(rf"\b[{re.escape(characters)}]\b" if characters else r"(?!)")


def labelled_letter(response: str, last_letter: str) -> str | None:
    """The letter after the last ``Answer:`` or ``Final Answer:`` that begins a line and is followed by a letter.

    Args:
        response: the whole output.
        last_letter: letters count from A to this one, "E" or "H", in either case.

    Returns:
        The letter in upper case, or None.
    """
    pattern = _ANSWER_LINE[last_letter]
    for line in reversed(response.splitlines()):
        found = pattern.match(line.strip())
        if found:
            return found[1].upper()
    return None


def letter_in_response(response: str, choices: Sequence[str], texts: Mapping[str, Any]) -> str | None:
    """The choice that a whole response names, by letter or, in a longer response, by its option text.

    A choice in brackets goes first, then one before a blank, then one before a period (whatever precedes the
    letter, so the end of ``NASA `` is an A), then an option text. Of several the one mentioned last counts.
    Source: the benchmark's fallback parse; it never guesses.

    Args:
        response: the whole output.
        choices: letters in order of precedence; case matters.
        texts: letter -> option text, in order of precedence; case does not matter.
    """
    for mark in _EDGE_MARKS:
        response = response.strip(mark)
    padded = f" {response} "
    for (before, after), (left, right) in _SURROUNDINGS:
        candidates = [choice for choice in choices if before + choice + after in padded]
        if candidates:
            return max(candidates, key=lambda choice: padded.rfind(left + choice + right))
    if len(padded.split(None, _LONG_FROM_WORDS)) < _LONG_FROM_WORDS:
        return None
    padded = padded.lower()
    last_places = {letter: padded.rfind(str(text).lower()) for letter, text in texts.items()}
    latest = max(last_places, key=last_places.__getitem__, default=None)
    return latest if latest is not None and last_places[latest] >= 0 else None
