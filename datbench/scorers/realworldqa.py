"""Scorer of realworldqa: a short answer, or a letter or option text where the question lists choices."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from datbench.extraction import extract_final_answer
from datbench.scorers.base import Details, Fields, Scorer, mean_of
from datbench.scorers.counting import SMALL_NUMBERS

_NUMBER_WORDS = {word: str(number) for number, word in enumerate(SMALL_NUMBERS)}
_CHOICE_LINE = re.compile(r"\s*([A-Ea-e])\s*\.(.+)")
_ANSWER_LINE = re.compile(r"answer\s*:\s*(.+)", re.IGNORECASE)
_FREE_LETTER = re.compile(r"\b[A-Ea-e]\b")
_THINK_OPEN = re.compile("<think>", re.IGNORECASE)
_THINK_CLOSE = re.compile("</think>", re.IGNORECASE)
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_NOT_PLAIN = re.compile(r"[^a-z0-9\s]")
_SHORT_LINE_WORDS = 10
_ENOUGH_WORDS_SHARED = 0.8

Choices = dict[str, str]
"""Lower-case letter -> normalised option text."""


def _score(fields: Fields, output: str) -> Details:
    truth = fields["answer"] or ""
    prediction = _prediction(fields, output)
    normalised = prediction.lower().strip().rstrip(".")
    return {
        "score": float(bool(normalised) and normalised == str(truth).lower().strip()),
        "ground_truth": truth,
        "pred_answer": prediction,
        "model_output": output,
    }


def _prediction(fields: Fields, output: str) -> str:
    final = extract_final_answer(output)
    plain = _NUMBER_WORDS.get(final.lower().strip(), final)
    choices = _choices_of_question(fields["question"]) or _choices_of_options(fields.get("options"))
    if not choices:
        return plain
    letter = final.strip().upper()
    if letter in ("A", "B", "C", "D", "E") and letter.lower() in choices:
        return letter
    letter = _letter_in(_without_thoughts(output)).upper()
    if letter.lower() in choices:
        return letter
    return _letter_by_words(plain, choices) or plain


@lru_cache(maxsize=4096)
def _choices_of_question(question: str) -> Choices:
    """The choices that the question lists, one a line; a line such as ``e.g. the red one`` is one, too."""
    lines = filter(None, map(_CHOICE_LINE.match, question.splitlines()))
    return {line[1].lower(): _option_text(line[2]) for line in lines}


def _choices_of_options(options: object) -> Choices:
    if not isinstance(options, list):
        return {}
    return {chr(ord("a") + place): _option_text(str(option)) for place, option in enumerate(options)}


def _option_text(text: str) -> str:
    return " ".join(text.lower().translate(_NO_PUNCTUATION).split())


def _without_thoughts(output: str) -> str:
    """The output less each ``<think>...</think>``; an unclosed one stays."""
    kept = []
    place = 0
    while (opening := _THINK_OPEN.search(output, place)) and (closing := _THINK_CLOSE.search(output, opening.end())):
        kept.append(output[place : opening.start()])
        place = closing.end()
    return "".join(kept) + output[place:]


def _letter_in(response: str) -> str:
    """The letter that the last ``answer:`` line names, else the one in the last short line, as it stands there.

    No other line is looked at. The article "a", "e.g." and the C of "25°C" are letters here, as in the benchmark.
    """
    lines = [stripped for line in reversed(response.splitlines()) if (stripped := line.strip())]
    labelled = next(filter(None, map(_ANSWER_LINE.match, lines)), None)
    found = _FREE_LETTER.search(labelled[1]) if labelled else None
    if found is None:
        short = (line for line in lines if len(line.split(None, _SHORT_LINE_WORDS)) <= _SHORT_LINE_WORDS)
        found = _FREE_LETTER.search(next(short, ""))
    return found[0] if found else ""


def _letter_by_words(text: str, choices: Choices) -> str:
    """The letter of the choice most of whose distinct words are in the text, if they are enough."""
    words = set(_plain_words(text))
    best_letter, best_share = "", 0.0
    for letter, option in choices.items():
        option_words = set(_plain_words(option))
        share = len(option_words & words) / len(option_words) if option_words else 0.0
        if share > best_share:
            best_letter, best_share = letter, share
    return best_letter.upper() if best_share >= _ENOUGH_WORDS_SHARED else ""


def _plain_words(text: str) -> list[str]:
    return _NOT_PLAIN.sub(" ", text.lower()).split()


def _metrics(details: Sequence[Details]) -> dict[str, Any]:
    return {"accuracy__RealWorldQA-Accuracy": mean_of("score", details)}


REALWORLDQA = Scorer(_score, _metrics)
