"""ocrbench-v2: a rule for each task type, and its thirteen category means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from datbench.extraction import extract_final_answer
from datbench.scorers.base import Details, Fields, Scorer, mean
from datbench.scorers.faults import OutputFault
from datbench.scorers.html_tables import cell_teds
from datbench.scorers.ocrbench_fields import dict_f1
from datbench.scorers.ocrbench_position import answer_with_position, check_box
from datbench.scorers.ocrbench_text import (
    cased_text_match,
    chinese_formula,
    chinese_text_match,
    contains_count,
    formula,
    letters,
    near_count,
    text_match,
)
from datbench.scorers.page_similarity import page_similarity
from datbench.scorers.row_checks import list_of, texts_of

_check_list = partial(list_of, name="all_answers")
_check_texts = partial(texts_of, name="all_answers")


def _check_page(fields: Fields) -> None:
    texts_of({"all_answers": list_of(fields, "all_answers")[:1]}, "all_answers")


def _check_handwriting(fields: Fields) -> None:
    (_check_page if _asks_for_short_answer(fields) else _check_list)(fields)


def _check_position(fields: Fields) -> None:
    _check_list(fields)
    check_box(fields.get("bbox"))


class Rule(NamedTuple):
    """How a task type is scored.

    Attributes:
        method: its name in the details.
        score: (text, fields) -> score in [0, 1]; raises OutputFault for what cannot be scored.
        raw: whether the text is the whole output, not the final answer in it.
        check: raises FieldError for answers and boxes that the rule cannot work with.
    """

    method: str
    score: Callable[[str, Fields], float]
    raw: bool = False
    check: Callable[[Fields], object] = _check_list


def _on_answers(score: Callable[[str, Sequence[Any]], float]) -> Callable[[str, Fields], float]:
    return lambda text, fields: score(text, fields["all_answers"])


def _table(text: str, fields: Fields) -> float:
    answers = fields["all_answers"]
    if "html" not in fields["question"].lower():
        return text_match(text, answers)
    if not answers or not isinstance(answers[0], str):
        return 0.0
    text = text.replace("\n", "")
    start = text.find("<body") if "<body" in text else text.find("<table")
    return cell_teds(text[start:], answers[0].replace("\n", "")) if start >= 0 else 0.0


def _position(text: str, fields: Fields) -> float:
    return answer_with_position(text, fields["all_answers"], fields.get("bbox"))


def _asks_for_short_answer(fields: Fields) -> bool:
    return "简答" in fields["question"]


def _handwriting(text: str, fields: Fields) -> float:
    rule = page_similarity if _asks_for_short_answer(fields) else chinese_text_match
    return rule(text, fields["all_answers"])


_TEXT_MATCH = _on_answers(text_match)
_PAGE = _on_answers(page_similarity)
_CHINESE_MATCH = Rule("cn_vqa", _on_answers(chinese_text_match))
_FALLBACK = Rule("vqa_fallback", _TEXT_MATCH)
_VQA = Rule("vqa", _TEXT_MATCH)
_FORMULA = partial(Rule, check=_check_texts)
_COUNT = partial(Rule, "counting", check=_check_texts)
_DICT = partial(Rule, score=_on_answers(dict_f1), raw=True)
_TABLE = Rule("teds", _table, raw=True)
_POSITION = Rule("vqa_with_position", _position, raw=True, check=_check_position)
_FULL_PAGE = Rule("full_page_ocr", _PAGE, check=_check_page)

_LETTERS = {"multiple choice": Rule("multiple_choice", _on_answers(letters))}
_QUESTION = _LETTERS | {"case sensitive": Rule("vqa_case_sensitive", _on_answers(cased_text_match))}

ByEval = Mapping[str, Rule]

RULES: dict[str, tuple[Rule, ByEval]] = {
    "APP agent en": (_VQA, _QUESTION),
    "ASCII art classification en": (_VQA, _QUESTION),
    "reasoning VQA en": (_VQA, _QUESTION),
    "science QA en": (_VQA, _QUESTION),
    "text recognition en": (_VQA, _QUESTION),
    "document classification en": (_VQA, _QUESTION),
    "cognition VQA en": (_VQA, _QUESTION),
    "diagram QA en": (_VQA, _QUESTION),
    "fine-grained text recognition en": (_VQA, _QUESTION),
    "cognition VQA cn": (_CHINESE_MATCH, _QUESTION),
    "reasoning VQA cn": (_CHINESE_MATCH, _QUESTION),
    "text translation cn": (_CHINESE_MATCH, {}),
    "math QA en": (_VQA, _LETTERS),
    "formula recognition en": (_FORMULA("math_expression", _on_answers(formula)), {}),
    "formula recognition cn": (_FORMULA("cn_math_expression", _on_answers(chinese_formula)), {}),
    "text counting en": (_COUNT(_on_answers(contains_count)), {"regression": _COUNT(_on_answers(near_count))}),
    "key information extraction en": (_DICT("kie_f1"), {}),
    "key information mapping en": (_DICT("kie_f1"), {}),
    "key information extraction cn": (_DICT("kie_f1"), {}),
    "document parsing en": (_DICT("doc_parsing_f1"), {}),
    "document parsing cn": (_DICT("doc_parsing_f1"), {}),
    "chart parsing en": (_DICT("chart_parsing_f1"), {}),
    "table parsing en": (_TABLE, {}),
    "table parsing cn": (_TABLE, {}),
    "text grounding en": (_POSITION, {}),
    "VQA with position en": (_POSITION, {}),
    "text spotting en": (Rule("text_spotting", _TEXT_MATCH, raw=True), {}),
    "full-page OCR en": (_FULL_PAGE, {}),
    "full-page OCR cn": (_FULL_PAGE, {}),
    "handwritten answer extraction cn": (
        Rule("handwritten_extraction", _handwriting, check=_check_handwriting),
        {},
    ),
}
"""Task type -> its rule, and the rules that the row's ``eval`` chooses instead."""

_ENGLISH = {
    "Recognition": ("text recognition en", "fine-grained text recognition en", "full-page OCR en"),
    "Referring": ("text grounding en", "VQA with position en"),
    "Spotting": ("text spotting en",),
    "Extraction": ("key information extraction en", "key information mapping en"),
    # The Chinese parsing tasks count here, and CN_Parsing stays empty: the benchmark's rule.
    "Parsing": (
        "document parsing en",
        "chart parsing en",
        "table parsing en",
        "formula recognition en",
        "document parsing cn",
        "table parsing cn",
        "formula recognition cn",
    ),
    "Calculation": ("math QA en", "text counting en"),
    "Understanding": ("document classification en", "cognition VQA en", "diagram QA en"),
    "Reasoning": ("reasoning VQA en", "science QA en", "APP agent en", "ASCII art classification en"),
}
_CHINESE = {
    "CN_Recognition": ("full-page OCR cn",),
    "CN_Extraction": ("key information extraction cn", "handwritten answer extraction cn"),
    "CN_Parsing": (),
    "CN_Understanding": ("cognition VQA cn",),
    "CN_Reasoning": ("reasoning VQA cn", "text translation cn"),
}


def _rule(fields: Fields) -> Rule:
    rule, by_eval = RULES.get(str(fields.get("type")), (_FALLBACK, {}))
    return by_eval.get(str(fields.get("eval")), rule)


def _score(fields: Fields, output: str) -> Details:
    rule = _rule(fields)
    text = output if rule.raw else extract_final_answer(output)
    details: Details = {
        "score": 0.0,
        "task_type": fields.get("type", ""),
        "dataset_name": "",
        "scoring_method": rule.method,
        "ground_truth": fields["all_answers"],
        "model_output": output,
        "pred_answer": text,
    }
    try:
        details["score"] = rule.score(text, fields)
    except OutputFault as fault:
        details["error"] = str(fault)
    return details


def _check(fields: Fields) -> None:
    _rule(fields).check(fields)


def _metrics(details: Sequence[Details]) -> dict[str, float]:
    if not details:
        return {"accuracy": 0.0}
    scores: dict[str, list[float]] = {}
    for item in details:
        scores.setdefault(str(item.get("task_type")), []).append(item.get("score", 0.0))

    def category(task_types: Sequence[str]) -> float:
        return mean([score for task_type in task_types for score in scores.get(task_type, ())])

    english = {name: category(task_types) for name, task_types in _ENGLISH.items()}
    chinese = {name: category(task_types) for name, task_types in _CHINESE.items()}
    average = mean(list(english.values()))
    return {
        **english,
        **chinese,
        "Average": average,
        "CN_Average": mean(list(chinese.values())),
        "accuracy": average,
        "score": average,
    }


OCRBENCH_V2 = Scorer(_score, _metrics, optional=("type", "eval", "bbox", "bbox_list", "content"), check=_check)
