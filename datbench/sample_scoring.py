"""One output to a details dict: direct samples by their dataset's scorer, judge samples by verdict."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from datbench.extraction import extract_final_answer
from datbench.samples import DatBenchSample, RowError, read_metadata, read_row
from datbench.scorers import SOURCE_DATASETS
from datbench.scorers.base import Details, FieldError, Fields

COMMON_METADATA = ("options", "index2ans", "all_choices")
"""Metadata keys that every scorer may see."""

CORRECT_FROM = 0.5
"""A direct sample counts as correct from this score on."""


def scorer_fields(sample: DatBenchSample) -> Fields:
    """What the sample's scorer may read: row fields and the metadata keys that its dataset names.

    Raises:
        FieldError: metadata is no JSON object, a required key is missing, or a value cannot be worked with.
    """
    try:
        metadata = read_metadata(sample.metadata)
    except ValueError as fault:
        raise FieldError("metadata", str(fault)) from fault
    fields: dict[str, Any] = {
        "question_id": sample.id,
        "question": sample.question,
        "answer": sample.answer,
        "all_answers": sample.all_answers,
    }
    scorer = SOURCE_DATASETS.get(sample.dataset)
    if scorer is None or sample.eval_mode == "judge":
        return fields
    missing = [key for key in scorer.required if key not in metadata]
    if missing:
        raise FieldError(", ".join(missing), f"required by {sample.dataset}, missing in the metadata")
    for key in (*COMMON_METADATA, *scorer.required, *scorer.optional):
        if key in metadata:
            fields[key] = metadata[key]
    if scorer.prepare is not None:
        fields = scorer.prepare(fields, metadata)
    if scorer.check is not None:
        scorer.check(fields)
    return fields


def checked_fields(sample: DatBenchSample, position: int) -> Fields:
    """``scorer_fields`` of the row at a position of its table.

    Raises:
        RowError: what ``scorer_fields`` refuses, with the position and the id.
    """
    try:
        return scorer_fields(sample)
    except FieldError as fault:
        raise RowError(position, sample.id, fault.field, fault.reason) from fault


def score_fields(dataset: str, fields: Fields, output: Any) -> tuple[Details, bool]:
    """Score one output by the rule of a source dataset (an unknown one: exact match of the final answer).

    Returns:
        The scorer's details, and whether the scorer failed (a defect of ours: score 0.0, ``error`` in the details).
    """
    scorer = SOURCE_DATASETS.get(dataset)
    try:
        if scorer is None:
            final = extract_final_answer(output).strip().lower()
            return {"score": float(final == str(fields["answer"]).strip().lower())}, False
        if not issubclass(type(output), scorer.accepts):
            refused = {"score": 0.0, "error": f"the output is no text but {type(output).__name__}"}
            return scorer.score(fields, "") | refused, False
        return scorer.score(fields, output), False
    except Exception as fault:
        return {"score": 0.0, "error": f"scorer fault: {type(fault).__name__}: {fault}"[:500]}, True


def score_sample(row_or_sample: Mapping[str, Any] | DatBenchSample, model_output: Any) -> Details:
    """Score one output by the direct rule of its source dataset.

    Args:
        row_or_sample: a row of the dataset (its image is not needed) or a DatBenchSample.
        model_output: the text to score; None counts as empty.

    Returns:
        The details dict that ends up in ``score_details``; ``score`` is in [0, 1].

    Raises:
        ValueError: the row is malformed (names id and field). No model output raises.
    """
    sample = copy(row_or_sample) if isinstance(row_or_sample, DatBenchSample) else read_row(row_or_sample, 0, None)
    sample.eval_mode = "direct"  # whatever the row says: its scorer reads the metadata only then
    details, _ = score_fields(sample.dataset, checked_fields(sample, 0), "" if model_output is None else model_output)
    return details


def judge_details(verdict: bool | None, raw_judge_output: str, *, missing: bool) -> Details:
    """The details of a judge-mode sample; verdict None means unparsed (or missing)."""
    word = "missing" if missing else {True: "correct", False: "incorrect", None: "unparsed"}[verdict]
    return {
        "score": float(bool(verdict)),
        "eval_mode": "judge",
        "match": bool(verdict),
        "judge_verdict": word,
        "judge_raw_output": raw_judge_output,
        "judge_missing_response": missing,
    }
