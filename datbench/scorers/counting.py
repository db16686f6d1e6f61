"""Counting questions: ``countbench`` and ``tallyqa``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from datbench.extraction import extract_final_answer, last
from datbench.scorers.base import Details, Fields, Scorer, mean, mean_of
from datbench.scorers.faults import OutputFault
from datbench.scorers.literals import MAX_DIGITS

_STANDALONE_DIGITS = re.compile(r"\b\d+\b")
_MAX_COUNT = 1_000_000
"""Larger counts, and larger errors, are left out of the error metrics."""


def _last_digits(text: str) -> str:
    """The last run of digits that stands between word boundaries, or the empty text."""
    runs = _STANDALONE_DIGITS.findall(text)
    return runs[-1] if runs else ""


def _error_metrics(prefix: str, counts: Iterable[tuple[int | None, object]], n: int) -> dict[str, float]:
    """Parse rate, mean absolute error and shares within 1 and 3 over (parsed, truth) pairs of n items."""
    parsed = [(count, truth) for count, truth in counts if count is not None and 0 <= count <= _MAX_COUNT]
    errors = [abs(count - truth) for count, truth in parsed if isinstance(truth, int)]
    errors = [error for error in errors if error <= _MAX_COUNT]
    return {
        f"{prefix}-ParseRate": len(parsed) / n if n else 0.0,
        f"{prefix}-MAE": mean(errors),
        f"{prefix}-Within1": sum(error <= 1 for error in errors) / n if n else 0.0,
        f"{prefix}-Within3": sum(error <= 3 for error in errors) / n if n else 0.0,
    }


# countbench

SMALL_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _score_countbench(fields: Fields, output: str) -> Details:
    truth = _countbench_truth(fields["answer"])
    parsed = _countbench_count(extract_final_answer(output))
    return {
        "score": 1.0 if parsed is not None and parsed == truth else 0.0,
        "ground_truth": truth,
        "parsed_answer": parsed,
        "model_output": output,
    }


def _countbench_truth(answer: Any) -> int | str | None:
    if answer is None or answer == "":
        return None
    try:
        return int(str(answer).strip())
    except ValueError:
        return str(answer)


def _countbench_count(answer: str) -> int | None:
    digits = _last_digits(answer)
    if 0 < len(digits) <= MAX_DIGITS:
        return int(digits)
    lowered = answer.lower()
    # In this order and anywhere in a word, so "none" counts as one: the benchmark's rule.
    return next((value for value, word in enumerate(SMALL_NUMBERS) if word in lowered), None)


def _countbench_metrics(details: Sequence[Details]) -> dict[str, Any]:
    prefix = "accuracy__CountBench"
    counts = ((item.get("parsed_answer"), item.get("ground_truth")) for item in details)
    accuracy = {f"{prefix}-Accuracy": mean_of("score", details)}
    return accuracy | _error_metrics(prefix, counts, len(details))


COUNTBENCH = Scorer(score=_score_countbench, metrics=_countbench_metrics)


# tallyqa

_UNITS = dict(zip(SMALL_NUMBERS[:10], range(10), strict=True))
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_NUMBER_WORDS = {
    **_UNITS, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, **_TENS, "hundred": 100, "thousand": 1000,
}  # fmt: skip
_COMPOUND = re.compile(rf"\b({'|'.join(_TENS)})[-\s]+({'|'.join(_UNITS)})\b")

# Each pattern with words of which a text must hold one for it to match, so that most are never tried.
# No word boundary before the first word, so "so" counts inside "also": the benchmark's rule.
_CUES = [
    (words, re.compile(pattern.replace("_", r"\s+")))
    for words, pattern in (
        # cues
        (
            ("number", "answer"),
            r"(?:therefore|thus|hence|so),?\s*(?:the_)?(?:number_of_\w+_is_|answer_is_)(\w+)",
        ),
        (("number", "count"), r"(?:number_of_\w+_is_|count_is_)(\w+)"),
        (("count", "there"), r"(?:i_count_|there_are_)(\w+)"),
        (("answer",), r"answer_is_(\w+)"),
        (("final",), r"final_answer:?\s*(\w+)"),
        (("result",), r"result:?\s*(\w+)"),
        # sentences
        (("there",), r"there_are_(\w+)_\w+_in_the_image"),
        (("there",), r"there_are_(\w+)_\w+"),
        (("see",), r"i_(?:can_)?see_(\w+)_\w+"),
        (("contains",), r"contains_(\w+)_\w+"),
        (("shows",), r"shows_(\w+)_\w+"),
    )
]
_NEITHER_WORD_NOR_SPACE = re.compile(r"[^\w\s]")


def _score_tallyqa(fields: Fields, output: str) -> Details:
    answer = fields["answer"]
    truth = _tallyqa_truth(answer)
    extracted = extract_final_answer(output)
    details: Details = {
        "score": 0.0,
        "ground_truth": answer or None,
        "parsed_answer": None,
        "extracted_output": extracted,
        "model_output": output,
        "is_simple": fields["is_simple"],
    }
    try:
        parsed = _tallyqa_count(extracted)
    except OutputFault as error:
        return details | {"error": str(error)}
    details["parsed_answer"] = parsed
    if parsed is not None and parsed == truth:
        details["score"] = 1.0
    return details


def _tallyqa_truth(answer: Any) -> int | None:
    digits = "" if answer is None else str(answer).strip()
    return _digits_value(digits) if digits.isdigit() else None


def _digits_value(digits: str) -> int | None:
    """The integer that a digits-only text is; None for the likes of a superscript, and for too many digits."""
    if len(digits) > MAX_DIGITS:
        return None
    try:
        return int(digits)
    except ValueError:
        return None


def _tallyqa_count(text: str) -> int | None:
    """The count that a text states. Raises OutputFault where the reference fails."""
    text = text.strip().lower()
    if text.isdecimal() and len(text) <= 9:
        return int(text)
    if "ty" in text and (compound := last(_COMPOUND.finditer(text))):
        return _TENS[compound[1]] + _UNITS[compound[2]]
    for words, pattern in _CUES:
        if any(word in text for word in words) and (match := last(pattern.finditer(text))):
            value = _word_value(match[1])
            if value is not None:
                return value
    # A longer last run gives nothing, and earlier runs are not tried: the benchmark's rule.
    if 0 < len(digits := _last_digits(text)) <= 9:
        return int(digits)
    words_only = _NEITHER_WORD_NOR_SPACE.sub("", text).split()
    return next((_NUMBER_WORDS[word] for word in reversed(words_only) if word in _NUMBER_WORDS), None)


def _word_value(word: str) -> int | None:
    if not word.isdigit():
        return _NUMBER_WORDS.get(word)
    value = _digits_value(word)
    if value is None:
        raise OutputFault("a count of digits that is no integer")
    return value


def _tallyqa_metrics(details: Sequence[Details]) -> dict[str, Any]:
    prefix = "accuracy__TallyQA"
    simple = [item for item in details if item.get("is_simple") is True]
    complex_ = [item for item in details if item.get("is_simple") is False]
    counts = ((_reported_count(item), _tallyqa_truth(item.get("ground_truth"))) for item in details)
    return {
        f"{prefix}-Accuracy": mean_of("score", details),
        f"{prefix}-AccuracySimple": mean_of("score", simple),
        f"{prefix}-AccuracyComplex": mean_of("score", complex_),
    } | _error_metrics(prefix, counts, len(details))


def _reported_count(item: Details) -> int | None:
    """The parsed answer, else the count that the whole output states: the benchmark's rule for its metrics."""
    if item.get("parsed_answer") is not None or "error" in item:
        return item.get("parsed_answer")
    try:
        return _tallyqa_count(item.get("model_output", ""))
    except OutputFault:
        return None


TALLYQA = Scorer(score=_score_tallyqa, metrics=_tallyqa_metrics, required=("is_simple",))
