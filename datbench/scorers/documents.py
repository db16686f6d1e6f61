"""docvqa, infovqa and ocr-vqa: a short answer against short golds, by ANLS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rapidfuzz.distance import Levenshtein

from datbench.extraction import extract_final_answer
from datbench.scorers.anls import THRESHOLD, anls, exact_match_share, normalise, thresholded
from datbench.scorers.base import Details, FieldError, Fields, Scorer, mean, mean_of
from datbench.scorers.row_checks import check_answer


def _docvqa_golds(fields: Fields) -> list[Any]:
    """The accepted answers; ``answer`` counts only where ``all_answers`` is empty."""
    golds = fields["all_answers"] or fields["answer"]
    return [gold for gold in (golds if isinstance(golds, list) else [golds]) if gold != ""]


def _check_docvqa(fields: Fields) -> None:
    for gold in _docvqa_golds(fields):
        if not isinstance(gold, str):
            raise FieldError("all_answers", f"must hold texts, holds {type(gold).__name__}")


def _score_docvqa(fields: Fields, output: str) -> Details:
    golds = _docvqa_golds(fields)
    prediction = extract_final_answer(output)
    value = anls(prediction, golds)
    return {
        "score": value,
        "anls": value,
        **thresholded(value),
        "ground_truth": fields["answer"] or None,
        "all_ground_truth_answers": golds,
        "model_output": output,
        "pred_answer": prediction,
    }


def _docvqa_metrics(details: Sequence[Details]) -> dict[str, float]:
    return {
        "accuracy__DocVQA-ANLS": mean([item["anls"] if "anls" in item else item.get("score", 0.0) for item in details]),
        "accuracy__DocVQA-ANLS-thresholded-0.5": mean_of("anls_thresholded_0_5", details),
        "accuracy__DocVQA-threshold@0.5": mean_of("threshold_0_5_accuracy", details),
        "accuracy__DocVQA-ExactMatch": exact_match_share(details),
    }


def _infographic_similarity(prediction: str, gold: str) -> float:
    """1 - distance / length where that distance is below the threshold, else 0.0; both texts normalised."""
    # The benchmark divides by the length of the upper-cased texts, which can be longer.
    longer = max(len(prediction.upper()), len(gold.upper()))
    distance = Levenshtein.distance(prediction, gold) / longer if longer else 0.0
    return 1 - distance if distance < THRESHOLD else 0.0


def _score_infovqa(fields: Fields, output: str) -> Details:
    answer = fields["answer"]  # the benchmark looks at no other gold
    prediction = extract_final_answer(output)
    value = _infographic_similarity(normalise(prediction), normalise(answer)) if answer else 0.0
    return {
        "score": value,
        "anls": value,
        "ground_truth": answer or None,
        "all_ground_truth_answers": [answer] if answer else [],
        "model_output": output,
        "pred_answer": prediction,
    }


def _infovqa_metrics(details: Sequence[Details]) -> dict[str, float]:
    return {
        "accuracy__InfoVQA-ANLS": mean_of("score", details),
        "accuracy__InfoVQA-ExactMatch": exact_match_share(details),
    }


def _score_ocr_vqa(fields: Fields, output: str) -> Details:
    answer = fields["answer"]
    prediction = extract_final_answer(output)
    value = anls(prediction, [answer] if answer else [])
    return {
        "score": value,
        "anls": value,
        **thresholded(value),
        # Also of two empty texts, whose score is 0.0: the benchmark's rule.
        "exact_match": 1.0 if normalise(prediction) == normalise(answer) else 0.0,
        "ground_truth": answer,
        "model_output": output,
        "pred_answer": prediction,
    }


def _ocr_vqa_metrics(details: Sequence[Details]) -> dict[str, float]:
    keys = ("anls", "anls_thresholded_0_5", "threshold_0_5_accuracy", "exact_match")
    means = {key: mean_of(key, details) for key in keys}
    return {**means, "accuracy": means["anls"], "score": means["anls"]}


DOCVQA = Scorer(_score_docvqa, _docvqa_metrics, check=_check_docvqa)
INFOVQA = Scorer(_score_infovqa, _infovqa_metrics, check=check_answer)
OCR_VQA = Scorer(_score_ocr_vqa, _ocr_vqa_metrics, check=check_answer)
