"""Scorers of ai2d, mmbench, mmmupro and mmmu: one option letter against the answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from datbench.extraction import extract_final_answer
from datbench.scorers.base import Details, FieldError, Fields, Scorer, accuracy
from datbench.scorers.choice_letters import free_standing_letter, labelled_letter, letter_in_response
from datbench.scorers.literals import read_literal
from datbench.scorers.row_checks import list_of, texts_of

_AI2D_CHOICES = "ABCD"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Choices = tuple[Sequence[str], dict[str, Any]]
"""The letters in order, and letter -> option text."""


def _details(prediction: str | None, correct: bool) -> Details:
    return {
        "score": float(correct),
        "extracted_output": prediction,
        "pred_answer": prediction,
        "is_correct": correct,
    }


def _score_ai2d(fields: Fields, output: str) -> Details:
    letter = free_standing_letter(extract_final_answer(output), _AI2D_CHOICES)
    index = None if letter is None else _AI2D_CHOICES.index(letter)
    # The benchmark's: an answer of 0 counts as none, and the text "2" never equals the number 2.
    truth = fields["answer"] or None
    correct = index is not None and bool(index == truth)
    return {
        "score": float(correct),
        "extracted_output": letter,
        "predicted_index": index,
        "is_correct": correct,
        "pred_answer": letter,
        "ground_truth": truth,
    }


def _score_mmbench(fields: Fields, output: str) -> Details:
    prediction = _predicted(_choices(fields), output)
    return _details(prediction, _same_letter(fields["answer"], prediction))


def _score_mmmupro(fields: Fields, output: str) -> Details:
    prediction = _predicted(_choices_or_literal(fields), output)
    answer = fields["answer"]
    accepted = answer if isinstance(answer, list) else [answer]
    return _details(prediction, any(_same_letter(item, prediction) for item in accepted))


def _score_mmmu(fields: Fields, output: str) -> Details:
    # The benchmark scores every question as multiple choice, and reads neither boxes nor tags here.
    choices, texts = _listed_choices(fields)
    prediction = labelled_letter(output, "E") or letter_in_response(output, choices, texts)
    answer = fields["answer"]
    # The benchmark's: an unparsed response equals the answer text "None".
    correct = prediction in answer if isinstance(answer, list) else str(prediction) == str(answer)
    return _details(prediction, correct)


def _predicted(choices: Choices, output: str) -> str | None:
    letters, texts = choices
    letter = free_standing_letter(extract_final_answer(output), letters, bar_is_a_choice=True)
    return letter or letter_in_response(output, letters, texts)


def _same_letter(answer: Any, prediction: str | None) -> bool:
    return prediction is not None and str(answer or "").upper() == str(prediction).upper()


def _choices(fields: Fields) -> Choices:
    """Choices by ``all_choices`` and ``index2ans``, else one letter for each of the ``options``."""
    if fields.get("all_choices") and fields.get("index2ans"):
        return _listed_choices(fields)
    return _lettered(list_of(fields, "options"))


def _choices_or_literal(fields: Fields) -> Choices:
    """The same, where ``options`` may be the text of a Python list."""
    if isinstance(fields.get("options"), str) and not (fields.get("all_choices") and fields.get("index2ans")):
        return _lettered(_literal_list(fields["options"]))
    return _choices(fields)


def _listed_choices(fields: Fields) -> Choices:
    """Choices by ``all_choices`` and ``index2ans``, each on its own; absent ones are empty."""
    texts = fields.get("index2ans") or {}
    if not isinstance(texts, dict):
        raise FieldError("index2ans", f"must be an object, is {type(texts).__name__}")
    return texts_of(fields, "all_choices"), texts


def _lettered(options: Sequence[Any]) -> Choices:
    if len(options) > len(_LETTERS):
        raise FieldError("options", f"holds {len(options)} options, there are {len(_LETTERS)} letters")
    texts = dict(zip(_LETTERS, options, strict=False))
    return list(texts), texts


@lru_cache(maxsize=4096)
def _literal_list(text: str) -> Sequence[Any]:
    try:
        value = read_literal(text)
    except ValueError as fault:
        raise FieldError("options", "is text, but not that of a Python list") from fault
    if not isinstance(value, (list, tuple)):
        raise FieldError("options", f"must be the text of a list, is that of {type(value).__name__}")
    return value


AI2D = Scorer(_score_ai2d, accuracy)
MMBENCH = Scorer(_score_mmbench, accuracy, check=_choices)
MMMUPRO = Scorer(_score_mmmupro, accuracy, check=_choices_or_literal)
MMMU = Scorer(_score_mmmu, accuracy, check=_listed_choices)
