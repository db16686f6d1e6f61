"""From rows and responses to a report."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from datbench.report import DatBenchReport, SampleScore
from datbench.sample_scoring import CORRECT_FROM, checked_fields, judge_details, score_fields, scorer_fields
from datbench.samples import (
    DatBenchSample,
    InferenceTask,
    JudgeRequest,
    JudgeResponse,
    RowError,
    VLMResponse,
    held_image,
    read_row,
    rows_with_images,
)
from datbench.scorers.base import Details, Fields
from datbench.summary import summarize
from datbench.verdicts import parse_judge_verdict, rewrite_rubric

FIELDS_KEPT_UP_TO = 20_000
"""Metadata longer than this many characters (point masks) is decoded at each use, not held."""


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
            fields = checked_fields(sample, position)
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


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=3)


def _some(ids: list[str], most: int) -> str:
    return ", ".join(map(repr, ids[:most])) + (", ..." if len(ids) > most else "")
