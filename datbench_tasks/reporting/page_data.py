"""What the page shows of one sample, in the page's own keys; long texts are cut here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from datbench.jsonio import dumps
from datbench_tasks.reporting.outcomes import Outcome, read_outcome
from datbench_tasks.sample_logs import Sample

TEXT_LIMIT = 4_000
"""Characters of one text that the page holds; the whole stays in the run's files."""

STATES = {
    "right": "Right",
    "wrong": "Wrong",
    "pending": "Pending",
    "unparsed": "Unparsed verdict",
    "lost_to_formatting": "Lost to formatting",
    "truncated": "Truncated",
    "empty": "Empty",
    "request_failed": "Request failed",
    "unclosed_reasoning": "Unclosed reasoning",
    "scorer_error": "Scorer error",
}
"""State of a sample -> its label; a sample has one of the first four and any of the others."""

_EXTRACTED = (
    "pred_answer",
    "extracted_letter",
    "parsed_answer",
    "pred_bbox",
    "predicted_points",
    "parsed_response",
    "extracted_output",
)
"""Where scorers keep the answer they found in the output; the first that is there counts."""

_SHOWN_ELSEWHERE = {"score", "model_output", "judge_raw_output", "ground_truth", "ground_truth_answers"}
_SHOWN_ELSEWHERE |= {"all_ground_truth_answers"}


def sample_data(sample: Sample) -> dict[str, Any]:
    """A sample as the page shows it: texts, cut and labelled; absent things are left out.

    A text is a str, or {"text": its first ``TEXT_LIMIT`` characters, "length": of the whole} where it was cut.
    """
    record = sample.record
    details = record.get("score_details") or {}
    score, best = record.get("score"), record.get("score_if_reformatted")
    data = {
        "id": cut(record.get("id")),
        "dataset": cut(record.get("dataset")),
        "states": _states(read_outcome(sample)),
        "score": score,
        "reformatted": best if best is not None and score is not None and best > score else None,
        "question": cut(record.get("question")),
        "references": [cut(answer) for answer in _references(record)],
        "output": cut(record.get("output")),
        "raw": cut(record["raw_output"]) if record.get("raw_output") is not None else None,
        "extracted": next((cut(details[key]) for key in _EXTRACTED if details.get(key) is not None), None),
        "details": _pairs((key, value) for key, value in details.items() if key not in _SHOWN_ELSEWHERE),
        "judge": _judge(record, details) if record.get("eval_mode") == "judge" else None,
        "facts": _pairs(_facts(record)),
    }
    return {key: value for key, value in data.items() if value is not None and value != []}


def cut(value: Any) -> str | dict[str, Any]:
    """A value as text for the page: str as it is, None empty, anything else as JSON; cut at ``TEXT_LIMIT``."""
    text = value if isinstance(value, str) else "" if value is None else dumps(value)
    return text if len(text) <= TEXT_LIMIT else {"text": text[:TEXT_LIMIT], "length": len(text)}


def embed(value: Any) -> str:
    """JSON that cannot end a script element, open a comment in it, or break a line of JavaScript."""
    text = dumps(value)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _states(outcome: Outcome) -> list[str]:
    known = {True: "right", False: "wrong", None: outcome.verdict}[outcome.right]
    found = {known, *outcome.flags, *(["truncated"] if outcome.truncated else [])}
    return [state for state in STATES if state in found]


def _references(record: Mapping[str, Any]) -> list[Any]:
    """The distinct references, in order."""
    answers = record.get("all_answers") or [record.get("answer")]
    return list({json.dumps(answer, sort_keys=True): answer for answer in answers}.values())


def _judge(record: Mapping[str, Any], details: Mapping[str, Any]) -> dict[str, Any]:
    judge = record.get("judge") or {}
    verdict = judge.get("verdict", details.get("judge_verdict"))
    shown = {
        "prompt": cut(record.get("judge_prompt")),
        "verdict": cut(verdict) if verdict is not None else None,
        "raw": cut(judge.get("raw", details.get("judge_raw_output"))),
        "facts": _pairs((key, judge[key]) for key in ("model", "confidence", "reason") if judge.get(key) is not None),
    }
    return {key: value for key, value in shown.items() if value not in (None, "", [])}


def _facts(record: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    source, metrics = record.get("source_info") or {}, record.get("eval_metrics") or {}
    yield "scored by", record.get("eval_mode")
    yield "source row", source.get("original_idx")
    yield "discrimination", metrics.get("discrimination")
    yield "frontier", "yes" if metrics.get("is_frontier") else None
    yield "circular", "yes" if record.get("is_circular") else None


def _pairs(items: Iterable[tuple[str, Any]]) -> list[list[Any]]:
    return [[cut(key), cut(value)] for key, value in items if value is not None]
