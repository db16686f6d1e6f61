"""Referring expressions: one box for each row of the ``refcoco`` family."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from datbench.extraction import brace_boxes, last
from datbench.scorers.base import Details, FieldError, Fields, Scorer, mean_of

Box = list[float]
"""Corners x1, y1, x2, y2 as fractions of width and height."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_THRESHOLDS = (0.3, 0.5, 0.7)


def _score(fields: Fields, output: str) -> Details:
    truth = [float(value) for value in fields["bbox"][:4]]
    prediction = _parse_box(output)
    overlap = box_iou(truth, prediction)
    recalls = {f"recall@{threshold}": float(overlap >= threshold) for threshold in _THRESHOLDS}
    return {
        "iou": overlap,
        "center_acc": float(_centre_lies_in(prediction, truth)),
        "pred_bbox": prediction,
        "gt_bbox": fields["bbox"],
        "model_output": output,
        **recalls,
        "score": recalls["recall@0.5"],
    }


def _parse_box(output: str) -> Box:
    """The predicted box, scaled and clipped to [0, 1]; all zeros if the output holds none."""
    for candidate in _candidates(output):
        values = [float(match[0]) for match in islice(_NUMBER.finditer(candidate), 4)]
        if len(values) == 4:
            break
    else:
        values = [0.0] * 4
    # Everything beyond 1.5 is read as thousandths, percentages and pixels too: the benchmark's rule.
    scale = 1.0 if max(map(abs, values)) <= 1.5 else 1000.0
    return [min(max(value / scale, 0.0), 1.0) for value in values]


def _candidates(output: str) -> Iterator[str]:
    """The last brace box, then the first bracket group; later groups are never tried."""
    box = last(brace_boxes(output, allow_empty=True))
    if box is not None:
        yield box
    start = output.find("[")
    while start >= 0:
        end = output.find("]", start + 1)
        if end < 0:
            return
        if end > start + 1:
            yield output[start + 1 : end]
            return
        start = output.find("[", end + 1)


def box_iou(truth: Box, prediction: Box) -> float:
    """Intersection over union in [0, 1]; 0.0 where the union has no area.

    The order of operations is the benchmark's: thresholds are hit exactly.
    """
    gx1, gy1, gx2, gy2 = truth
    px1, py1, px2, py2 = prediction
    intersection = max(0.0, min(gx2, px2) - max(gx1, px1)) * max(0.0, min(gy2, py2) - max(gy1, py1))
    truth_area = max(0.0, gx2 - gx1) * max(0.0, gy2 - gy1)
    prediction_area = max(0.0, px2 - px1) * max(0.0, py2 - py1)
    union = truth_area + prediction_area - intersection
    return intersection / union if union > 0 else 0.0


def _centre_lies_in(box: Box, frame: Box) -> bool:
    x, y = 0.5 * (box[0] + box[2]), 0.5 * (box[1] + box[3])
    return frame[0] <= x <= frame[2] and frame[1] <= y <= frame[3]


def _check(fields: Fields) -> None:
    box = fields["bbox"]
    if not isinstance(box, list) or len(box) < 4 or not all(map(_is_number, box[:4])):
        raise FieldError("bbox", "must be a list of at least four numbers")


def _is_number(value: object) -> bool:
    return isinstance(value, float) or (type(value) is int and abs(value) < 2**1000)


def _metrics(details: Sequence[Details]) -> dict[str, Any]:
    if not details:
        return {}
    overlap = mean_of("iou", details)
    return {
        **{key: mean_of(key, details) for key in (f"recall@{threshold}" for threshold in _THRESHOLDS)},
        "iou_mean": overlap,
        "iou": overlap,
        "center_acc": mean_of("center_acc", details),
    }


REFCOCO = Scorer(score=_score, metrics=_metrics, required=("bbox",), check=_check)
