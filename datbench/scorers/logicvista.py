"""Scorer of logicvista: the set of letters A to H in an answer against that of the gold answer."""

from __future__ import annotations

import re
from functools import lru_cache

from datbench.extraction import extract_final_answer
from datbench.scorers.base import Details, Fields, Scorer, accuracy
from datbench.scorers.choice_letters import labelled_letter, letter_in_response
from datbench.scorers.row_checks import text_of, texts_of

_LETTERS = "ABCDEFGH"
_LETTER_SET = frozenset(_LETTERS)
_LETTER_RUNS = tuple(
    re.compile(label + r"([A-H,\s]+)", re.IGNORECASE)
    for label in (r"answer\s*:", r"answer\s+is\s", r"correct\s+answer\s+is\s")
)
_CHOICE = re.compile(r"([A-H])\.\s+(\S[^\n]*)")
_MOST_LETTERS = 4  # more of them in a text without an answer mean nothing


def _score(fields: Fields, output: str) -> Details:
    predicted = _letters(output)
    texts = _choices_of_question(fields["question"]) or fields.get("options")
    if texts:
        choices = dict(zip(_LETTERS, texts, strict=False))
        letter = labelled_letter(output, "H") or letter_in_response(output, list(choices), choices)
        predicted = predicted.union(letter or ())
    correct = predicted == _gold_letters(fields["answer"])
    shown = ", ".join(sorted(predicted)) or None
    return {
        "score": float(correct),
        "extracted_output": shown,
        "predicted_index": _LETTERS.index(shown) if shown and len(predicted) == 1 else None,
        "is_correct": correct,
        "pred_answer": shown,
    }


def _letters(text: str) -> frozenset[str]:
    """The letters that a text names: in its final answer, after an answer label, or at most four anywhere.

    The benchmark counts every letter A to H of the upper-cased final answer: "The answer is B" names A, B, E, H.
    """
    if found := _LETTER_SET.intersection(extract_final_answer(text).upper()):
        return found
    for run in _LETTER_RUNS:
        match = run.search(text)
        if match and (found := _LETTER_SET.intersection(match[1].upper())):
            return found
    found = _LETTER_SET.intersection(text.upper())
    return found if len(found) <= _MOST_LETTERS else frozenset()


_gold_letters = lru_cache(maxsize=4096)(_letters)


@lru_cache(maxsize=4096)
def _choices_of_question(question: str) -> list[str]:
    """Texts of the choices that the question lists, by letter; the last text of a letter counts."""
    texts = {letter: text.strip() for letter, text in _CHOICE.findall(question)}
    return [text for _, text in sorted(texts.items())]


def _check(fields: Fields) -> None:
    text_of(fields, "answer")
    if not _choices_of_question(fields["question"]):
        texts_of(fields, "options")


LOGICVISTA = Scorer(_score, accuracy, check=_check)
