"""Scorer of mathvista: equal numbers, to two decimals, or a gold text inside the predicted one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from datbench.extraction import extract_final_answer
from datbench.scorers.base import Details, Fields, Scorer, accuracy
from datbench.scorers.row_checks import check_answer

_CLAUSE_MARKERS = ("could be ", "so ", "is ", "thus ", "therefore ", "final ", "answer ", "result ")
_NO_CLAUSES = frozenset(":,.!?;'")
# A run of digits is tried from its first digit only: any later start fails for the same reason, quadratically.
_NUMBER_KINDS = (
    re.compile(r"-?\b\d{1,3}(?:,\d{3})+\b"),
    re.compile(r"-?(?<!\d)\d+(?:\.\d+)?[eE][+-]?\d+"),
    re.compile(r"-?(?:(?<!\d)\d+\.\d+|\.\d+|(?<!\d)\d+\b)(?![eE][+-]?\d)(?![,\d])"),
)

Value = str | float


def _score(fields: Fields, output: str) -> Details:
    answer = fields["answer"]
    final = extract_final_answer(output).strip()
    predictions = _normalised(final) if final else _clause_values(output)
    golds = _gold_values(answer)
    return {
        "score": float(any(_meet(prediction, gold) for prediction in predictions for gold in golds)),
        "ground_truth": answer,
        "question_type": "free_form",  # the benchmark's, whatever the metadata says
        "parsed_response": predictions,
        "model_output": output,
    }


def _meet(prediction: Value, gold: Value) -> bool:
    """Whether a gold text is part of a predicted text, or two numbers are equal; texts never meet numbers."""
    if isinstance(prediction, str):
        return isinstance(gold, str) and gold in prediction
    return prediction == gold


def _normalised(text: str) -> list[Value]:
    """A number rounded to two decimals, or the lower-cased text, one letter with a blank on either side."""
    text = text.strip()
    try:
        return [round(float(text.replace(",", "")), 2)]
    except ValueError:
        text = text.lower()
        return [f" {text}", f"{text} "] if len(text) == 1 else [text]


@lru_cache(maxsize=4096)
def _gold_values(answer: str) -> list[Value]:
    return _normalised(answer)


def _clause_values(output: str) -> list[Value]:
    """What an output without a final answer may mean: its clauses and the numbers in them, no value twice."""
    response = output.strip().strip(".").lower()
    clauses = list(_clauses(response.split("\n"))) or [response]
    numbers = (number for clause in clauses for kind in _NUMBER_KINDS for number in kind.findall(clause))
    return list(dict.fromkeys(value for text in (*clauses, *numbers) for value in _normalised(text)))


def _clauses(lines: Sequence[str]) -> Iterator[str]:
    """For each line the shortest text after a marker, where there is one."""
    for place, line in enumerate(lines, start=1):
        clause = ""
        for marker in (*_CLAUSE_MARKERS, "=") if place == len(lines) else _CLAUSE_MARKERS:
            if marker in line:
                candidate = line.rpartition(marker)[2].strip()
                if not clause or len(candidate) < len(clause):
                    clause = candidate
        if clause and clause not in _NO_CLAUSES:
            yield clause


MATHVISTA = Scorer(_score, accuracy, check=check_answer)
