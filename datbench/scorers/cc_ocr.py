"""cc-ocr-kie and cc-ocr-doc_parsing: fields as JSON, and documents, formulas, molecules and tables as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rapidfuzz.distance import Levenshtein

from datbench.extraction import BRACE_OPEN, pipe_boxes
from datbench.scorers.base import Details, Fields, Scorer, accuracy_and_score, mean_of
from datbench.scorers.faults import OutputFault
from datbench.scorers.html_tables import structure_teds
from datbench.scorers.json_fields import (
    FULL_WIDTH,
    field_f1,
    field_set,
    find_json,
    tidy,
    tree_similarity,
    without_fences,
)
from datbench.scorers.row_checks import check_answer

# Each argument ends at the first brace on its line; an option in brackets keeps the whole command.
_DECLARATIONS = tuple(
    re.compile(rf"\\{command}\{{{argument}\}}")
    for command, argument in (
        ("documentclass", "[^}]*"),
        ("usepackage", "[^}]*"),
        ("begin", "document"),
        ("end", "document"),
        ("geometry", "[^}]*"),
        ("title", "[^}]*"),
        ("author", "[^}]*"),
    )
)
_DOCUMENT_BLANKS = str.maketrans("", "", " \n\t\r")
_FORMULA_BLANKS = str.maketrans("", "", " \n\t")
_MOLECULE_BLANKS = str.maketrans("", "", " \n")
_PLAIN_TABLE = re.compile("<table>", re.IGNORECASE)
_TABLE_END = re.compile("</table>", re.IGNORECASE)
_TABLE_TAG = re.compile("<table[^>]*>", re.IGNORECASE)
_BLANKS_BETWEEN_TAGS = re.compile(r">\s+<")


def _score_kie(fields: Fields, output: str) -> Details:
    details: Details = {
        "score": 0.0,
        "f1_score": 0.0,
        "nted_score": 0.0,
        "l2_category": fields.get("l2_category", ""),
        "ground_truth": fields["answer"],
        "model_output": output,
    }
    try:
        predicted, gold = tidy(find_json(output)), tidy(find_json(fields["answer"]))
        f1 = field_f1(field_set(predicted), field_set(gold))
        nted = tree_similarity(predicted, gold)
    except OutputFault as fault:
        return {**details, "error": str(fault)}
    return {**details, "score": (f1 + nted) / 2, "f1_score": f1, "nted_score": nted}


def _kie_metrics(details: Sequence[Details]) -> dict[str, float]:
    means = {key: mean_of(key, details) for key in ("f1_score", "nted_score")}
    return {**means, **accuracy_and_score(details)}


def _score_doc_parsing(fields: Fields, output: str) -> Details:
    category = fields.get("l2_category") or "doc"
    prediction, gold = _boxed(output), fields["answer"]
    if category == "table":
        found = _table_details(_table(prediction), _table(gold))
    else:
        normalise = _NORMALISERS.get(str(category), _document)
        found = _text_details(normalise(prediction), normalise(gold))
    return {**found, "l2_category": category, "ground_truth": gold, "model_output": output}


def _boxed(text: str) -> str:
    """The first pipe box, else all from the first ``\\boxed{`` to the last brace, else the whole text."""
    box = next(pipe_boxes(text), None)
    if box is not None:
        return box
    start = text.find(BRACE_OPEN) + len(BRACE_OPEN)
    end = text.rfind("}")
    return text[start:end] if len(BRACE_OPEN) <= start <= end else text


def _text_details(prediction: str, gold: str) -> Details:
    distance = Levenshtein.distance(prediction, gold)
    longer = max(len(prediction), len(gold))
    return {
        "score": 1 - distance / longer if longer else 1.0,
        "edit_distance": distance,
        "pred_length": len(prediction),
        "gt_length": len(gold),
    }


def _document(text: str) -> str:
    text = without_fences(text, "latex")
    if "\\" in text:
        text = "\n".join(map(_without_declarations, text.split("\n")))
    return text.translate(_DOCUMENT_BLANKS)


def _without_declarations(line: str) -> str:
    for declaration in _DECLARATIONS:
        closed = line.rfind("}") + 1  # beyond it nothing matches: linear time
        line = declaration.sub("", line[:closed]) + line[closed:]
    return line


def _formula(text: str) -> str:
    return without_fences(text, "latex").translate(_FORMULA_BLANKS)


def _molecule(text: str) -> str:
    return text.replace("<smiles>", "").replace("</smiles>", "").translate(_MOLECULE_BLANKS)


_NORMALISERS: dict[str, Callable[[str], str]] = {"formula": _formula, "molecular": _molecule}


def _table_details(prediction: str, gold: str) -> Details:
    details: Details = {"method": "teds", "pred_length": len(prediction), "gt_length": len(gold)}
    try:
        return {"score": structure_teds(prediction, gold), **details}
    except OutputFault as fault:
        return {"score": 0.0, **details, "error": str(fault)}


def _table(text: str) -> str:
    """The first table without attributes, else the whole text; tags plain, no blanks between them, widths folded."""
    start = _PLAIN_TABLE.search(text)
    end = _TABLE_END.search(text, start.end()) if start else None
    if start and end:
        text = f"<table>{text[start.end() : end.start()]}</table>"
    closed = text.rfind(">") + 1  # beyond it nothing matches: linear time
    text = _TABLE_TAG.sub("<table>", text[:closed]) + text[closed:]
    return _BLANKS_BETWEEN_TAGS.sub("><", text).replace("\n", "").translate(FULL_WIDTH)


CC_OCR_KIE = Scorer(_score_kie, _kie_metrics, optional=("l2_category",), check=check_answer)
CC_OCR_DOC_PARSING = Scorer(_score_doc_parsing, accuracy_and_score, optional=("l2_category",), check=check_answer)
