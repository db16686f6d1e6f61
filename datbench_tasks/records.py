"""The record of one sample: all that scoring, judging and reporting need, with no dataset at hand.

Schema 1. A judge sample without a verdict is ``pending`` and has no ``score``; docs/run_files.md lists the keys.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from typing import Any

from datbench.reformatting import score_if_reformatted
from datbench.sample_scoring import CORRECT_FROM, judge_details, score_fields, scorer_fields
from datbench.samples import DatBenchSample, read_metadata
from datbench.scorers.base import Details
from datbench_tasks.reasoning import AS_IS, set_reasoning_aside

SCHEMA = 1

Record = dict[str, Any]

IMAGE_KEYS = ("image_id", "imageId", "docId", "doc_id", "image_name", "figure_path", "ucsf_document_page_no")
"""Keys under which source datasets name the image or document that several questions share."""

REQUEST_FAILED_PREFIXES = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED]")
"""What lmms-eval puts in place of an answer when a request failed."""

ASYNC_OPENAI_ERROR = "Error: "
"""What its async_openai model puts there."""


def build_record(sample: DatBenchSample, capability: str, raw_output: str, run: dict[str, Any], prompt: str) -> Record:
    """Score a sample (direct) or mark it pending (judge).

    Args:
        sample: the row.
        capability: name that its numbers are filed under.
        raw_output: the model's output as the host hands it over.
        run: what is the same for all samples of a task (dataset, revisions, split, versions, reasoning rule...).
        prompt: the prompt that was sent.

    Raises:
        ValueError: the row is malformed.
    """
    answer = (raw_output, False) if run.get("reasoning") == AS_IS else set_reasoning_aside(raw_output)
    output, unclosed = answer
    fields = scorer_fields(sample)
    record: Record = {
        "schema": SCHEMA,
        "id": sample.id,
        "capability": capability,
        "dataset": sample.dataset,
        "source_info": sample.source_info,
        "image_key": _image_key(sample),
        "is_circular": sample.is_circular,
        "eval_metrics": sample.eval_metrics,
        "eval_mode": sample.eval_mode,
        "pending": sample.eval_mode == "judge",
        "question": prompt,
        "answer": sample.answer,
        "all_answers": sample.all_answers,
        "judge_prompt": sample.judge_prompt,
        "scorer_input": _packed({key: value for key, value in fields.items() if _adds(key, value, sample)}),
        "output": output,
        "flags": _output_flags(output, raw_output, unclosed, run.get("model", "")),
        "run": run,
    }
    if output != raw_output:
        record["raw_output"] = raw_output
    if sample.eval_mode == "direct":
        _grade(record, *score_fields(sample.dataset, fields, output))
        _add_reformatted(record, sample.dataset, fields)
    return record


def failed_record(row: Mapping[str, Any], raw_output: str, fault: Exception) -> Record:
    """The record of a sample that could not be scored by a defect of ours: 0.0, flagged ``scorer_error``."""
    record: Record = {
        "schema": SCHEMA,
        "id": row.get("id"),
        "capability": "",
        "dataset": (row.get("source_info") or {}).get("dataset") or "",
        "source_info": row.get("source_info") or {},
        "image_key": None,
        "is_circular": bool(row.get("is_circular")),
        "eval_metrics": row.get("eval_metrics") or {},
        "eval_mode": row.get("eval_mode") or "direct",
        "pending": False,
        "question": str(row.get("question")),
        "answer": row.get("answer"),
        "all_answers": row.get("all_answers"),
        "judge_prompt": row.get("judge_prompt") or "",
        "scorer_input": {},
        "output": raw_output,
        "flags": [],
        "run": {},
    }
    _grade(record, {"score": 0.0, "error": f"{type(fault).__name__}: {fault}"[:500]}, True)
    return record


def score_record(record: Record) -> Details:
    """Score a direct record again from what it holds; the details dict of its dataset's scorer."""
    details, _ = score_fields(record["dataset"], record_fields(record), record["output"])
    return details


def record_fields(record: Record) -> dict[str, Any]:
    """The scorer's fields, put together again from a record."""
    fields = {"question_id": record["id"], "answer": record["answer"], "all_answers": record["all_answers"]}
    return {**fields, **_unpacked(record["scorer_input"])}


def apply_verdict(record: Record, judge: dict[str, Any]) -> Record:
    """A judge record with its verdict; the record given is not changed.

    Args:
        record: a record of a judge-mode sample.
        judge: {tag, model, verdict, raw, ...}; verdict is correct, incorrect, unparsed (scores 0) or missing
            (the sample stays pending).
    """
    judged = {**record, "judge": judge}
    if judge["verdict"] == "missing":
        return judged
    verdict = {"correct": True, "incorrect": False}.get(judge["verdict"])
    _grade(judged, judge_details(verdict, judge.get("raw") or "", missing=False), False)
    judged["pending"] = False
    return judged


def _grade(record: Record, details: Details, scorer_failed: bool) -> None:
    score = float(details["score"])
    record["score"] = score
    record["is_correct"] = score >= CORRECT_FROM
    record["score_details"] = details
    if scorer_failed:
        record["flags"].append("scorer_error")


def _add_reformatted(record: Record, dataset: str, fields: Any) -> None:
    def score(text: str) -> float:
        return float(score_fields(dataset, fields, text)[0]["score"])

    best = score_if_reformatted(score, record["output"], record["score"])
    record["score_if_reformatted"] = best
    if best > record["score"]:
        record["flags"].append("lost_to_formatting")


def _output_flags(output: str, raw_output: str, unclosed: bool, model: str) -> list[str]:
    failed = (
        raw_output.strip() in ("", "None")
        or raw_output.startswith(REQUEST_FAILED_PREFIXES)
        or (model.startswith("async_openai") and raw_output.startswith(ASYNC_OPENAI_ERROR))
    )
    found = {"empty": not output.strip(), "request_failed": failed, "unclosed_reasoning": unclosed}
    return [flag for flag, present in found.items() if present]


def _image_key(sample: DatBenchSample) -> str | None:
    """What questions on one image or document have in common, None if the row does not name it."""
    metadata = sample.metadata
    if isinstance(metadata, str):
        metadata = read_metadata(metadata) if any(key in metadata for key in IMAGE_KEYS) else {}
    for key in IMAGE_KEYS:
        for place in (sample.source_info, metadata):
            if isinstance(place.get(key), (str, int)):
                return f"{sample.dataset}/{place[key]}"
    return None


def _adds(key: str, value: Any, sample: DatBenchSample) -> bool:
    """Whether a scorer field says more than the record's own keys do."""
    known = {"question_id": sample.id, "answer": sample.answer, "all_answers": sample.all_answers}
    return key not in known or known[key] != value


MASKS = "points_mask"

MOST_POINTS = 100_000_000
"""In all masks of a sample: a few bytes of a record could ask for all memory there is."""


def _packed(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields with point masks as packed bits (zlib, base64); a mask that is no rectangle stays as it is."""
    masks = fields.get(MASKS)
    if not isinstance(masks, list):
        return fields
    return {**fields, MASKS: [_pack_mask(mask) for mask in masks]}


def _pack_mask(mask: Any) -> Any:
    rows = mask if isinstance(mask, list) else []
    widths = {len(row) if isinstance(row, list) else -1 for row in rows}
    if len(widths) != 1 or widths & {-1, 0} or not all(type(v) in (bool, int, float) for row in rows for v in row):
        return mask
    import numpy as np

    bits = np.array(rows, dtype=bool)
    packed = zlib.compress(np.packbits(bits).tobytes(), 9)
    return {"shape": list(bits.shape), "bits": base64.b64encode(packed).decode("ascii")}


def _unpacked(fields: dict[str, Any]) -> dict[str, Any]:
    masks = fields.get(MASKS)
    if not isinstance(masks, list):
        return fields
    points = sum(abs(math.prod(mask["shape"])) for mask in masks if isinstance(mask, dict))
    if points > MOST_POINTS:
        raise ValueError(f"{MASKS}: masks of {points:,} points, at most {MOST_POINTS:,} are read")
    return {**fields, MASKS: [_unpack_mask(mask) if isinstance(mask, dict) else mask for mask in masks]}


def _unpack_mask(mask: dict[str, Any]) -> list[list[bool]]:
    import numpy as np

    height, width = mask["shape"]
    size = -(-height * width // 8)
    try:
        packed = zlib.decompressobj().decompress(base64.b64decode(mask["bits"]), size + 1)
    except zlib.error as fault:
        raise ValueError(f"{MASKS}: {fault}") from fault
    if len(packed) != size:
        raise ValueError(f"{MASKS}: not the bits of {height} x {width} points")
    bits = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=height * width)
    rows: list[list[bool]] = bits.astype(bool).reshape(height, width).tolist()
    return rows
