"""text-vqa: agreement with ten annotators; cc-ocr-multi_scene_ocr: the characters read, in any order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache, partial

from datbench.extraction import extract_final_answer
from datbench.scorers.base import Details, Fields, Scorer, harmonic_mean, mean_of
from datbench.scorers.contractions import agreement, normalise_annotation
from datbench.scorers.row_checks import check_answer, texts_of

_UNIT_SIGN = re.compile("[$£€¥₹%]")
_NEITHER_DIGIT_NOR_POINT = re.compile(r"[^0-9.]")
_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[^a-z0-9]")
_COMMA_AND_QUESTION_MARK = str.maketrans("", "", ",?")


def _normalise(text: str) -> str:
    """The VQA challenge's form, after a first step of TextVQA's own: no commas, a possessive is a word."""
    return normalise_annotation(text.lower().translate(_COMMA_AND_QUESTION_MARK).replace("'s", " 's"))


_normalise_gold = lru_cache(maxsize=4096)(_normalise)


def _score_text_vqa(fields: Fields, output: str) -> Details:
    golds = fields["all_answers"]
    prediction = extract_final_answer(output)
    score = agreement(_normalise(prediction), [_normalise_gold(gold) for gold in golds])
    if not score and _same_amount(prediction, golds):
        score = 1.0
    return {
        "score": score,
        "ground_truth_answers": golds,
        "model_output": output,
        "pred_answer": prediction,
    }


def _same_amount(prediction: str, golds: Sequence[str]) -> bool:
    """Whether one gold has the prediction's digits, where any of the texts has a unit sign."""
    amount = _amount(prediction)
    return (
        amount != ""
        and any(map(_UNIT_SIGN.search, (prediction, *golds)))
        and any(amount == _amount(gold) for gold in golds)
    )


def _amount(text: str) -> str:
    """The ASCII digits of a text and the first point between them; "" if there is none.

    >>> _amount("$1,200.50 (2.5%)")
    '1200.5025'
    """
    parts = [part for part in _NEITHER_DIGIT_NOR_POINT.sub("", text).split(".") if part]
    return parts[0] + "." + "".join(parts[1:]) if len(parts) > 1 else "".join(parts)


def _text_vqa_metrics(details: Sequence[Details]) -> dict[str, float]:
    return {"accuracy__TextVQA-OCR": mean_of("score", details)}


def _score_scene(fields: Fields, output: str) -> Details:
    gold = _characters(fields["answer"])
    prediction = _characters(output)
    matched = sum(min(gold.count(character), prediction.count(character)) for character in set(gold))
    recall, precision = _shares(matched, len(gold), len(prediction))
    f1 = harmonic_mean(precision, recall)
    return {
        "score": f1,
        "f1_score": f1,
        "recall": recall,
        "precision": precision,
        "matched_tokens": matched,
        "gt_token_count": len(gold),
        "pred_token_count": len(prediction),
        "l2_category": fields.get("l2_category", ""),
        "ground_truth": fields["answer"],
        "model_output": output,
    }


def _characters(text: str) -> str:
    """ASCII letters and digits only; all other scripts are dropped, which is the benchmark's rule."""
    return _NEITHER_LETTER_NOR_DIGIT.sub("", text.lower())


def _shares(matched: int, gold: int, predicted: int) -> tuple[float, float]:
    """Recall and precision of counts; without gold both are 1.0 if nothing was predicted either."""
    if not gold:
        return (0.0, 0.0) if predicted else (1.0, 1.0)
    return (matched / gold, matched / predicted) if predicted else (0.0, 0.0)


def _scene_metrics(details: Sequence[Details]) -> dict[str, float]:
    if not details:
        return {"macro_f1": 0.0, "micro_f1": 0.0, "accuracy": 0.0}
    counts = ("matched_tokens", "gt_token_count", "pred_token_count")
    recall, precision = _shares(*(sum(item.get(key, 0) for item in details) for key in counts))
    micro_f1 = harmonic_mean(precision, recall)
    return {
        "macro_f1": mean_of("f1_score", details),
        "micro_f1": micro_f1,
        "macro_recall": mean_of("recall", details),
        "macro_precision": mean_of("precision", details),
        "micro_recall": recall,
        "micro_precision": precision,
        "accuracy": micro_f1,
        "score": micro_f1,
    }


TEXT_VQA = Scorer(_score_text_vqa, _text_vqa_metrics, check=partial(texts_of, name="all_answers"))
CC_OCR_SCENE = Scorer(_score_scene, _scene_metrics, optional=("l2_category",), check=check_answer)
