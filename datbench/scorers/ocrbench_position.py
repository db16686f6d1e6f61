"""Answers with a place in OCRBench v2: half for the text, half for the box."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from datbench.scorers.base import FieldError
from datbench.scorers.faults import OutputFault
from datbench.scorers.literals import MAX_DIGITS, read_json, read_literal
from datbench.scorers.ocrbench_text import text_match

LARGEST_COORDINATE = 1000
"""Boxes in free text are on a scale of 0 to 1000."""

_BOX = re.compile(r"[(\[]\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*[)\]]")


def check_box(box: Any) -> None:
    """Raise FieldError for a reference box with some of its corners only."""
    if isinstance(box, list) and 0 < len(box) < 4:
        raise FieldError("bbox", f"must hold four numbers, holds {len(box)}")


def answer_with_position(output: str, answers: Sequence[Any], box: Any) -> float:
    """Mean of the text match and the IoU with ``box``, which is [x1, y1, x2, y2] or empty; in [0, 1].

    Raises:
        OutputFault: the output is a dict whose ``answer`` is no text or number, or holds too long a number.
    """
    value = _read(output)
    if isinstance(value, dict) and "answer" in value:
        content = _content_score(value["answer"], answers)
        overlap = _literal_iou(value["bbox"], box) if box and "bbox" in value else 0.0
    else:
        content = text_match(output, answers)
        boxes = _boxes(output)
        overlap = iou(boxes[-1], box) if boxes and box else 0.0
    return 0.5 * content + 0.5 * overlap


def _read(output: str) -> Any:
    for read in (read_json, read_literal):
        try:
            return read(output)
        except ValueError:
            continue
    return None


def _content_score(answer: Any, answers: Sequence[Any]) -> float:
    if not answers:
        return 0.0
    if not isinstance(answer, (str, int, float)):
        raise OutputFault(f"the answer is no text but {type(answer).__name__}")
    try:
        return text_match(str(answer), answers)
    except ValueError as fault:
        raise OutputFault("the answer is too large to be printed") from fault


def _literal_iou(value: Any, box: Any) -> float:
    try:
        return iou(read_literal(str(value)), box)
    except (ValueError, RecursionError):
        return 0.0


def _boxes(text: str) -> list[tuple[int, ...]]:
    """The boxes of a text in order, each once, where it first stands."""
    found: dict[tuple[int, ...], None] = {}
    for match in _BOX.finditer(text):
        if any(len(digits) > MAX_DIGITS for digits in match.groups()):
            raise OutputFault(f"number of more than {MAX_DIGITS} digits")
        corners = tuple(map(int, match.groups()))
        if max(corners) <= LARGEST_COORDINATE:
            found.setdefault(corners)
    return list(found)


def iou(box: Any, other: Any) -> float:
    """Intersection over union with a reference box [x1, y1, x2, y2]; 0.0 for what is no box; in [0, 1].

    Corners are truncated to integers and taken as they come: areas are signed, as in the benchmark.
    """
    if isinstance(other, str):  # no box, though each of its characters may be a number
        return 0.0
    try:
        x1, y1, x2, y2 = _corners(box)
        u1, v1, u2, v2 = _corners(other)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    intersection = max(0, min(x2, u2) - max(x1, u1)) * max(0, min(y2, v2) - max(y1, v1))
    union = (x2 - x1) * (y2 - y1) + (u2 - u1) * (v2 - v1) - intersection
    return intersection / union if union else 0.0


def _corners(box: Any) -> list[int]:
    return [int(corner) for corner in box][:4]
