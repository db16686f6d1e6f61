"""Questions on scientific charts: ``charxiv_descriptive`` and ``charxiv_reasoning``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from datbench.extraction import extract_final_answer
from datbench.scorers.base import Details, Fields, Scorer, mean_of
from datbench.scorers.row_checks import check_answer

_NOT_APPLICABLE = "not applicable"
_DESCRIPTIVE = "descriptive"
_WITHOUT_COMMA_AND_PERCENT = str.maketrans("", "", ",%")


def _score(fields: Fields, output: str) -> Details:
    # The name of the dataset decides nothing: without a type, both are descriptive (the benchmark's rule).
    question_type = fields.get("question_type") or _DESCRIPTIVE
    matches = _descriptive_match if question_type == _DESCRIPTIVE else _reasoning_match
    truth = fields["answer"] or ""
    prediction = extract_final_answer(output)
    correct = truth and prediction and matches(prediction.strip().lower(), truth.strip().lower())
    return {
        "score": 1.0 if correct else 0.0,
        "ground_truth": truth,
        "model_output": output,
        "pred_answer": prediction,
        "question_type": question_type,
    }


def _descriptive_match(prediction: str, truth: str) -> bool:
    if truth == _NOT_APPLICABLE:
        return _NOT_APPLICABLE in prediction
    if prediction == truth:
        return True
    try:
        return abs(_number(prediction) - _number(truth)) < 1e-6
    except ValueError:
        return False


def _reasoning_match(prediction: str, truth: str) -> bool:
    """Either text within the other: one letter of the answer is enough, the benchmark's rule."""
    return truth in prediction or prediction in truth


def _number(text: str) -> float:
    return float(text.translate(_WITHOUT_COMMA_AND_PERCENT))


def _metrics(details: Sequence[Details]) -> dict[str, Any]:
    descriptive = [item for item in details if item.get("question_type") == _DESCRIPTIVE]
    reasoning = [item for item in details if item.get("question_type") != _DESCRIPTIVE]
    metrics = {"accuracy__CharXiv-Overall": mean_of("score", details)}
    if descriptive:
        metrics["accuracy__CharXiv-Descriptive"] = mean_of("score", descriptive)
    if reasoning:
        metrics["accuracy__CharXiv-Reasoning"] = mean_of("score", reasoning)
    return metrics


CHARXIV = Scorer(score=_score, metrics=_metrics, optional=("question_type",), check=check_answer)
