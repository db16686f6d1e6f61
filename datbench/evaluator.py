"""From rows and responses to a report: direct samples by their dataset's scorer, judge samples by verdict."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any

from datbench.extraction import extract_final_answer
from datbench.report import DatBenchReport, SampleScore
from datbench.samples import (
    DatBenchSample,
    InferenceTask,
    JudgeRequest,
    JudgeResponse,
    RowError,
    VLMResponse,
    held_image,
    read_metadata,
    read_row,
    rows_with_images,
)
from datbench.scorers import SOURCE_DATASETS
from datbench.scorers.base import Details, FieldError, Fields
from datbench.verdicts import parse_judge_verdict, rewrite_rubric

COMMON_METADATA = ("options", "index2ans", "all_choices")
"""Metadata keys that every scorer may see."""

CORRECT_FROM = 0.5
"""A direct sample counts as correct from this score on."""

FIELDS_KEPT_UP_TO = 20_000
"""Metadata longer than this many characters (point masks) is decoded at each use, not held."""


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
    details, _ = score_fields(sample.dataset, _checked_fields(sample, 0), "" if model_output is None else model_output)
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


def _checked_fields(sample: DatBenchSample, position: int) -> Fields:
    try:
        return scorer_fields(sample)
    except FieldError as fault:
        raise RowError(position, sample.id, fault.field, fault.reason) from fault


class DatBenchEvaluator:
    """Scores model outputs on one capability of DatBench.

    Args:
        hf_dataset: a ``datasets.Dataset``, an ``IterableDataset`` or any iterable of rows (dicts). Images stay
            undecoded until a task's or sample's ``image`` is read.
        capability: name that the report files its numbers under.

    Raises:
        ValueError: a row is malformed or repeats an id; names its position, id and field.

    Attributes:
        samples: the rows as DatBenchSample, in dataset order.
        samples_by_id: the same by id.
    """

    def __init__(self, hf_dataset: Iterable[Mapping[str, Any]], capability: str) -> None:
        self.hf_dataset = hf_dataset
        self.capability = capability
        self.samples: list[DatBenchSample] = []
        self.samples_by_id: dict[str, DatBenchSample] = {}
        self._fields: dict[str, Fields] = {}
        for position, (row, image) in enumerate(rows_with_images(hf_dataset)):
            sample = read_row(row, position, image)
            if sample.id in self.samples_by_id:
                raise RowError(position, sample.id, "id", "is used by an earlier row")
            fields = _checked_fields(sample, position)
            if len(sample.metadata) <= FIELDS_KEPT_UP_TO:
                self._fields[sample.id] = fields
            self.samples.append(sample)
            self.samples_by_id[sample.id] = sample

    def get_inference_tasks(self) -> list[InferenceTask]:
        """One task a row, in order; the image is loaded when a task's ``image`` is read."""
        return [
            InferenceTask(sample.id, held_image(sample), sample.prompt, sample.eval_mode) for sample in self.samples
        ]

    def create_judge_tasks(self, vlm_responses: Iterable[VLMResponse]) -> list[JudgeRequest]:
        """One request for each judge-mode sample that has a response, in dataset order."""
        responses = self._by_id(vlm_responses, "responses")
        return [
            JudgeRequest(
                sample.id, responses[sample.id].scored_text, sample.answer, rewrite_rubric(sample.judge_prompt)
            )
            for sample in self.samples
            if sample.eval_mode == "judge" and sample.id in responses
        ]

    def compute_metrics(
        self,
        vlm_responses: Iterable[VLMResponse],
        judge_responses: Iterable[JudgeResponse] | None = None,
        strict_judge: bool = False,
    ) -> DatBenchReport:
        """Score all samples that have a response.

        Args:
            vlm_responses: at most one a sample counts, the last.
            judge_responses: verdicts for judge-mode samples; a sample without one scores 0 and is "missing".
            strict_judge: raise for missing or unparsed verdicts.

        Raises:
            ValueError: strict_judge, and verdicts are missing or unparsed (counts and first ids).
        """
        responses = self._by_id(vlm_responses, "responses")
        verdicts = self._by_id(judge_responses or (), "judge responses")
        scored = [sample for sample in self.samples if sample.id in responses]
        faults = 0
        results = []
        for sample in scored:
            text = responses[sample.id].scored_text
            if sample.eval_mode == "judge":
                details = _judged(verdicts.get(sample.id))
                correct = details["match"]
            else:
                fields = self._fields.get(sample.id) or scorer_fields(sample)
                details, fault = score_fields(sample.dataset, fields, text)
                faults += fault
                correct = details["score"] >= CORRECT_FROM
            results.append(self._result(sample, text, details, correct))
        _check_verdicts(scored, results, verdicts, strict_judge)
        return DatBenchReport(summarize(self.capability, results, faults), results)

    def _result(self, sample: DatBenchSample, text: Any, details: Details, correct: bool) -> SampleScore:
        metadata = {
            "capability": self.capability,
            "eval_mode": sample.eval_mode,
            "dataset": sample.dataset,
            "is_circular": sample.is_circular,
            "discrimination": sample.eval_metrics.get("discrimination") or 0.0,
            "score_details": details,
        }
        return SampleScore(sample.id, float(details["score"]), text, sample.answer, correct, metadata)

    def _by_id(self, responses: Iterable[Any], what: str) -> dict[str, Any]:
        """Responses by id; warns of unknown and of repeated ids (the last response counts)."""
        by_id: dict[str, Any] = {}
        counts: Counter[str] = Counter()
        for response in responses:
            by_id[response.id] = response
            counts[response.id] += 1
        unknown = [key for key in by_id if key not in self.samples_by_id]
        repeated = [key for key, count in counts.items() if count > 1]
        if unknown:
            _warn(f"{len(unknown)} {what} have an id that no sample has and are ignored: {_some(unknown, 3)}")
        if repeated:
            _warn(f"{len(repeated)} ids have several {what}; the last one counts: {_some(repeated, 3)}")
        return by_id


def _judged(response: JudgeResponse | None) -> Details:
    if response is None:
        return judge_details(None, "", missing=True)
    raw = response.raw_judge_output
    return judge_details(parse_judge_verdict(response.verdict, raw), raw if isinstance(raw, str) else "", missing=False)


def _check_verdicts(
    scored: list[DatBenchSample], results: list[SampleScore], verdicts: Mapping[str, JudgeResponse], strict: bool
) -> None:
    judged = [sample.id for sample in scored if sample.eval_mode == "judge"]
    if judged and not any(key in verdicts for key in judged):
        _warn(f"none of the {len(judged)} judge-mode samples has a judge response; they score 0")
    if strict:
        groups = {
            word: [r.id for r in results if r.metadata["score_details"].get("judge_verdict") == word]
            for word in ("missing", "unparsed")
        }
        found = [f"{len(ids)} {word} ({_some(ids, 5)})" for word, ids in groups.items() if ids]
        if found:
            raise ValueError(f"judge verdicts: {', '.join(found)}")
    unjudged = Counter(
        r.metadata["dataset"] for r in results if r.metadata["score_details"].get("error") == "judge_required"
    )
    for dataset, count in unjudged.items():
        _warn(f"{dataset}: {count} samples can only be judged, have no verdict and score 0")
    if not results:
        _warn("no sample was scored; all accuracies are 0.0")


def summarize(capability: str, results: list[SampleScore], scorer_errors: int = 0) -> dict[str, Any]:
    """The summary over scored samples (its keys are those of ``DatBenchReport.summary``).

    Sums are exact (``math.fsum``), so the order of rows cannot move a digit of the accuracies.
    """
    direct = [r.score for r in results if r.metadata["eval_mode"] != "judge"]
    judged = [r for r in results if r.metadata["eval_mode"] == "judge"]
    total = math.fsum(r.score for r in results)
    overall = total / len(results) if results else 0.0
    verdicts = judge_summary(judged)
    summary: dict[str, Any] = {
        "overall_accuracy": overall,
        "total_samples": len(results),
        "total_correct": int(total),
        "capability_accuracy": {capability: overall} if results else {},
        "capability_counts": {capability: len(results)} if results else {},
        "direct_samples": len(direct),
        "direct_accuracy": math.fsum(direct) / len(direct) if direct else 0.0,
        **{key: verdicts[key] for key in ("judge_samples", "judge_accuracy")},
        **{key: verdicts[key] for key in ("judge_missing_responses", "judge_unparsed_verdicts")},
        "dataset_metrics": dataset_metrics(results),
    }
    if scorer_errors:
        summary["scorer_errors"] = scorer_errors
    return summary


def judge_summary(judged: list[SampleScore]) -> dict[str, Any]:
    """Accuracy and counts over judge-mode results; missing and unparsed verdicts count as wrong."""
    words = Counter(r.metadata["score_details"]["judge_verdict"] for r in judged)
    return {
        "judge_accuracy": math.fsum(r.score for r in judged) / len(judged) if judged else 0.0,
        "judge_samples": len(judged),
        "judge_missing_responses": words["missing"],
        "judge_unparsed_verdicts": words["unparsed"],
    }


def dataset_metrics(results: list[SampleScore]) -> dict[str, dict[str, Any]]:
    """Per source dataset: its scorer's metrics over direct results, and judge keys where it has judged ones.

    Datasets come in the order of their first result. An unknown dataset has no metrics of its own, so it appears
    only if it has judged results.
    """
    by_dataset: dict[str, tuple[list[Details], list[SampleScore]]] = {}
    for result in results:
        direct, judged = by_dataset.setdefault(result.metadata["dataset"], ([], []))
        if result.metadata["eval_mode"] == "judge":
            judged.append(result)
        else:
            direct.append(result.metadata["score_details"])
    metrics: dict[str, dict[str, Any]] = {}
    for dataset, (direct, judged) in by_dataset.items():
        scorer = SOURCE_DATASETS.get(dataset)
        if scorer is not None and direct:
            metrics[dataset] = scorer.compute_metrics(direct)
        if judged:
            metrics.setdefault(dataset, {}).update(judge_summary(judged))
    return metrics


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=3)


def _some(ids: list[str], most: int) -> str:
    return ", ".join(map(repr, ids[:most])) + (", ..." if len(ids) > most else "")
