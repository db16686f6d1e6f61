"""Chart questions: relaxed matching of one answer (``chartqa``) and of lists over turns (``chartqapro``)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from datbench.extraction import extract_final_answer
from datbench.scorers.base import Details, FieldError, Fields, Scorer, accuracy, mean_of
from datbench.scorers.faults import OutputFault
from datbench.scorers.literals import MAX_DIGITS, is_giant, read_literal

_NEITHER_WORD_NOR_SPACE = re.compile(r"[^\w\s]")


def text_form(text: str) -> str:
    """Lower case, without punctuation and extra white space; the benchmark loses signs and points here."""
    return " ".join(_NEITHER_WORD_NOR_SPACE.sub("", text.lower()).split())


def chart_number(text: str) -> tuple[float, bool] | None:
    """The number that the whole text is, and whether a percent sign follows it; None if it is none."""
    text = text.strip().replace(",", "")
    percent = text.endswith("%")
    try:
        return float(text.rstrip("%") if percent else text), percent
    except ValueError:
        return None


def relaxed_match(prediction: str, target: str, *, pro: bool = False, percentage: bool = False) -> bool:
    """Whether a prediction is the target, within 5% of it, the same bracketed items, or the same text.

    Args:
        prediction: one answer.
        target: the answer it should be.
        pro: the rules of ``chartqapro``: a rounding margin on the limit, and a target of zero decides.
        percentage: read values from 0 to 1.5 without a percent sign as ratios.
    """
    if prediction == target:
        return True
    predicted, wanted = chart_number(prediction), chart_number(target)
    if predicted and wanted:
        p, t = _aligned(*predicted, *wanted, percentage)
        if t != 0:
            error = abs(p - t)
            # A miss is not final: the text forms may still be equal ("1.5" and "15", the benchmark's rule).
            if error / abs(t) <= (0.05 + 1e-10 if pro else 0.05) or (abs(t) < 1e-6 and error <= 1e-6):
                return True
        elif pro:
            return p == 0
    predicted_items, wanted_items = _bracket_items(prediction), _bracket_items(target)
    if predicted_items and wanted_items:
        return predicted_items == wanted_items
    return text_form(prediction) == text_form(target)


def _aligned(p: float, p_percent: bool, t: float, t_percent: bool, percentage: bool) -> tuple[float, float]:
    """Both values on one scale, where one is a percentage and the other may be a ratio."""
    if percentage and not t_percent and 0 <= t <= 1.5:
        t, t_percent = t * 100, True
    if percentage and not p_percent and 0 <= p <= 1.5:
        p, p_percent = p * 100, True
    if t_percent and not p_percent and t >= 2 and 0 <= p <= 1.5:
        p *= 100
    elif p_percent and not t_percent and p >= 2 and 0 <= t <= 1.5:
        t *= 100
    return p, t


def _bracket_items(text: str) -> list[str]:
    text = text.strip()
    if len(text) < 2 or text[0] != "[" or text[-1] != "]":
        return []
    return sorted(filter(None, map(text_form, text[1:-1].split(","))))


# chartqa


def _score_chartqa(fields: Fields, output: str) -> Details:
    answers = _chartqa_answers(fields)
    prediction = extract_final_answer(output)
    return {
        "score": 1.0 if any(relaxed_match(prediction, answer) for answer in answers) else 0.0,
        "ground_truth": fields["answer"] or None,
        "all_ground_truth_answers": answers,
        "model_output": output,
        "pred_answer": prediction,
    }


def _chartqa_answers(fields: Fields) -> list[Any]:
    answers = fields.get("all_answers") or fields["answer"]
    return [answer for answer in (answers if isinstance(answers, list) else [answers]) if answer]


def _check_chartqa(fields: Fields) -> None:
    if not all(isinstance(answer, str) for answer in _chartqa_answers(fields)):
        raise FieldError("all_answers", "must hold only texts")


def _chartqa_metrics(details: Sequence[Details]) -> dict[str, Any]:
    return {"accuracy__ChartQA-Relaxed": mean_of("score", details)}


CHARTQA = Scorer(score=_score_chartqa, metrics=_chartqa_metrics, check=_check_chartqa)


# chartqapro

_EXACT_TYPES = ("Fact Checking", "Multi Choice")
_CHOICES = ("A", "B", "C", "D", "E")
_LEADING_LETTER = re.compile(r"[A-Za-z](?=[).])")
_UNQUOTED_RUN = re.compile(r"(?<![\w'])(\w[\w']*)")


class _Turn(NamedTuple):
    score: float
    target: str
    prediction: str


def _score_chartqapro(fields: Fields, output: str | list[str]) -> Details:
    question_type = fields.get("question_type", "unknown")
    several = isinstance(output, list) or bool(fields.get("is_multi_turn"))
    details = {
        "score": 0.0,
        "ground_truth": fields["all_answers"] if several else _cut(str(fields["all_answers"][-1])),
        "model_output": [output] if several and isinstance(output, str) else output,
        "pred_answer": None,
        "question_type": question_type,
        "is_multi_turn": several,
    }
    try:
        return details | (_score_turns if several else _score_single)(fields, details)
    except OutputFault as error:
        return details | {"error": str(error)}


def _score_single(fields: Fields, details: Details) -> Details:
    flags = fields.get("year_flags", [])
    if details["question_type"] == "Conversational":
        flags = _as_list(flags)[-1:]
    turn = _score_turn(fields, fields["all_answers"][-1], details["model_output"], flags)
    return {"score": turn.score, "pred_answer": turn.prediction}


def _score_turns(fields: Fields, details: Details) -> Details:
    answers, outputs = details["ground_truth"], details["model_output"]
    flags = _as_list(fields.get("year_flags", []))
    turns = []
    # Turns without an answer, a reply or a flag do not count: the benchmark's rule.
    for i in range(min(len(answers), len(outputs), len(flags) or len(answers))):
        last_flag_counts = details["question_type"] == "Conversational"
        turn_flags = flags[-1:] if last_flag_counts else flags[i : i + 1]
        turns.append(_score_turn(fields, answers[i], outputs[i], turn_flags))
    scores = [turn.score for turn in turns]
    return {
        "score": sum(scores) / len(scores) if scores else 0.0,
        "pred_answer": [_cut(extract_final_answer(output)) for output in outputs],
        "turn_scores": scores,
        "turn_details": [
            {"turn": i, "score": turn.score, "ground_truth": turn.target, "prediction": turn.prediction}
            for i, turn in enumerate(turns, 1)
        ],
    }


def _score_turn(fields: Fields, answer: object, output: object, flags: object) -> _Turn:
    question_type = fields.get("question_type", "unknown")
    target = _cut(str(answer))
    prediction = _cut(extract_final_answer(output))
    if question_type == "Multi Choice" and target.strip().upper() in _CHOICES:
        prediction = _choice(prediction)
    exact = question_type in _EXACT_TYPES
    percentage = "percentage" in str(fields["question"]).lower()
    years = [str(flag).upper() == "YES" for flag in _as_list(flags)] or [False]
    targets, predictions = _target_items(target), _items(prediction)
    matches = 0
    for i, (wanted, predicted) in enumerate(zip(targets, predictions, strict=False)):
        if exact or years[i % len(years)]:
            matches += text_form(predicted) == text_form(wanted)
        else:
            matches += relaxed_match(predicted, wanted, pro=True, percentage=percentage)
    return _Turn(matches / max(len(targets), len(predictions)), target, prediction)


def _cut(text: str) -> str:
    """Without full stops, then line feeds, at both ends; ``.5`` becomes ``5``, the benchmark's rule."""
    return text.strip(".").strip("\n")


def _choice(prediction: str) -> str:
    prediction = prediction.strip()
    if letter := _LEADING_LETTER.match(prediction):
        return letter[0].upper()
    return prediction.upper() if len(prediction) == 1 and prediction.isalpha() else prediction


def _items(text: str) -> list[str]:
    """Elements of the list literal that a text is, else the text as the only item."""
    return _texts(_list_literal(text)) or [text]


def _target_items(target: str) -> list[str]:
    """As ``_items``, but words without quotation marks are quoted first: the benchmark repairs targets only."""
    trimmed = target.strip()
    items = None
    if trimmed[:1] == "[" and trimmed[-1:] == "]" and "\n" not in trimmed:
        quoted = _UNQUOTED_RUN.sub(r"'\1'", trimmed[1:-1])
        items = _list_literal(f"[{quoted}]")
    if items is None:
        items = _list_literal(target)
    if items and "..." in target:
        # The benchmark writes the list out and reads it again, which an ellipsis does not survive.
        items = _list_literal(str(items))
    return _texts(items) or [target]


def _list_literal(text: str) -> list[Any] | None:
    """The list that a text is when read as a Python literal, or None. No code is run."""
    if text.lstrip()[:1] not in ("[", "("):
        return None
    try:
        value = read_literal(text)
    except ValueError:
        return None
    return value if isinstance(value, list) else None


def _texts(items: list[Any] | None) -> list[str]:
    """Elements as texts; Python itself refuses to write a giant integer, unless its limit was lifted."""
    try:
        if not any(map(is_giant, items or ())):
            return [str(item).strip(" '") for item in items or ()]
    except ValueError:
        pass
    raise OutputFault(f"an integer of more than {MAX_DIGITS} digits in a list")


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _prepare_chartqapro(fields: dict[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Answers of the metadata before the row's, the row's before the single one."""
    listed = metadata.get("all_answers")
    if not (isinstance(listed, list) and listed):
        listed = _as_list(fields.get("all_answers") or [fields["answer"]])
    return fields | {"all_answers": listed}


CHARTQAPRO = Scorer(
    score=_score_chartqapro,
    metrics=accuracy,
    optional=("question_type", "year_flags", "is_multi_turn"),
    prepare=_prepare_chartqapro,
    accepts=(str, list),
)
