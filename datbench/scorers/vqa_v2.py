"""Scorer of vqa-v2: agreement with the human annotators, each left out in turn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from datbench.extraction import extract_final_answer
from datbench.scorers.base import Details, FieldError, Fields, Scorer, mean, mean_of
from datbench.scorers.contractions import agreement, normalise_annotation, normalise_gold
from datbench.scorers.row_checks import list_of


def _score(fields: Fields, output: str) -> Details:
    prediction = extract_final_answer(output)
    annotations = fields["all_answers"]
    return {
        "score": agreement(normalise_annotation(prediction), [normalise_gold(a or "") for a in annotations or ()]),
        "ground_truth_answers": annotations,
        "model_output": output,
        "pred_answer": prediction,
        "answer_type": fields["answer_type"],
        "question_type": fields["question_type"],
    }


def _metrics(details: Sequence[Details]) -> dict[str, Any]:
    return {
        "accuracy": mean_of("score", details),
        "accuracy-by-answer-type": _mean_by("answer_type", details),
        "accuracy-by-question-type": _mean_by("question_type", details),
    }


def _mean_by(key: str, details: Sequence[Details]) -> dict[Any, float]:
    """Mean score for each value of ``key``, in order of first appearance."""
    scores: dict[Any, list[float]] = {}
    for item in details:
        value = item.get(key, "unknown")
        scores.setdefault(value if isinstance(value, Hashable) else str(value), []).append(item.get("score", 0.0))
    return {value: mean(group) for value, group in scores.items()}


def _check(fields: Fields) -> None:
    for annotation in list_of(fields, "all_answers"):
        if annotation is not None and not isinstance(annotation, str):
            raise FieldError("all_answers", f"must hold texts, has {type(annotation).__name__}")


VQA_V2 = Scorer(_score, _metrics, required=("answer_type", "question_type"), check=_check)
