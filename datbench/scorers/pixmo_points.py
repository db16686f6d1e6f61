"""Pointing: ``pixmo_points_eval``. Points are matched to targets and must lie in the targets' masks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from datbench.extraction import brace_boxes
from datbench.scorers.base import Details, FieldError, Fields, Scorer, harmonic_mean, mean, mean_of

Point = list[float]
"""x and y as fractions of width and height."""

# A digit right before a pair is ruled out so that a long run of digits is tried once; no result changes.
_NUMBER = r"(\d+(?:\.\d+)?)"
_COMMA_PAIR = re.compile(rf"(?<!\d){_NUMBER}\s*,\s*{_NUMBER}")
_BLANK_PAIR = re.compile(rf"(?<!\d){_NUMBER}\s+{_NUMBER}")
_ROUND_PAIR = re.compile(rf"\({_NUMBER}\s*,\s*{_NUMBER}\)")
_SQUARE_PAIR = re.compile(rf"\[{_NUMBER}\s*,\s*{_NUMBER}\]")

# The benchmark's phrases, without those that contain another of them.
_ABSENCE = (
    "no target", "no such object", "no object", "target not found", "object not found", "not present", "absent",
    "missing", "cannot find", "cannot locate", "can't find", "can't locate",
)  # fmt: skip


def _score(fields: Fields, output: str) -> Details:
    predicted = _predicted_points(output)
    targets = _target_points(fields["points_target"])
    precision = recall = score = 0.0
    if not fields["has_target"]:
        lowered = output.lower()
        score = 1.0 if any(phrase in lowered for phrase in _ABSENCE) else 0.0
    elif predicted and targets:
        hits = _hits(predicted, targets, fields["points_mask"])
        precision, recall = hits / len(predicted), hits / len(targets)
        score = harmonic_mean(precision, recall)
    return {
        "score": score,
        "predicted_points": predicted,
        "ground_truth_points": targets,
        "has_target": fields["has_target"],
        "precision": precision,
        "recall": recall,
        "model_output": output,
    }


def _predicted_points(output: str) -> list[Point]:
    pairs = next((pairs for pairs in _pair_sources(output) if pairs), [])
    return [_predicted_point(float(x), float(y)) for x, y in pairs]


def _pair_sources(output: str) -> Iterator[list[tuple[str, str]]]:
    """Pairs of number texts from each place where points may stand, the preferred place first."""
    for box in reversed(list(brace_boxes(output, allow_empty=True))):
        # Both kinds count, so "1,2 3,4" also holds (2, 3): the benchmark's rule.
        yield _COMMA_PAIR.findall(box) + _BLANK_PAIR.findall(box)
    for pattern in (_ROUND_PAIR, _SQUARE_PAIR, _COMMA_PAIR):
        yield pattern.findall(output)


def _predicted_point(x: float, y: float) -> Point:
    return [x, y] if x <= 1.0 and y <= 1.0 else [min(x, 1000.0) / 1000.0, min(y, 1000.0) / 1000.0]


def _target_points(entries: list[Any]) -> list[Point]:
    """Points that can be read; the benchmark keeps the mask of one that cannot, and pairs it with the next."""
    points = []
    for entry in entries:
        point = _target_point(*_coordinates(entry))
        if point is not None:
            points.append(point)
    return points


def _coordinates(entry: Any) -> tuple[float, float]:
    """x and y of an object or a list, NaN where there are none."""
    try:
        if isinstance(entry, dict):
            return float(entry["x"]), float(entry["y"])
        if isinstance(entry, list):
            return float(entry[0]), float(entry[1])
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        pass
    return math.nan, math.nan


def _target_point(x: float, y: float) -> Point | None:
    if math.isnan(x) or math.isnan(y):
        return None
    largest = max(abs(x), abs(y))
    if largest > 100:
        if x < 0 or y < 0:
            return None
        x, y = min(x, 1000.0) / 1000.0, min(y, 1000.0) / 1000.0
    elif largest > 1:
        x, y = x / 100.0, y / 100.0
    return [min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0)]


def _hits(predicted: list[Point], targets: list[Point], masks: Any) -> int:
    """Number of matched points that lie in their target's mask; 0 if any mask on the way is malformed."""
    try:
        return sum(
            column < len(masks) and _lies_in(predicted[row], masks[column])
            for row, column in _assignment(predicted, targets)
        )
    except (TypeError, IndexError, KeyError):
        return 0


def _assignment(predicted: list[Point], targets: list[Point]) -> list[tuple[int, int]]:
    """The (prediction, target) pairs of least total distance, each used once.

    The solver, its orientation and the cost formula decide between equal totals: they are the benchmark's.
    """
    if len(predicted) == len(targets) == 1:
        return [(0, 0)]
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    offsets = np.array(predicted)[:, None, :] - np.array(targets)[None, :, :]
    squares = offsets * offsets
    rows, columns = linear_sum_assignment(np.sqrt(squares[..., 0] + squares[..., 1]))
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _lies_in(point: Point, mask: Any) -> bool:
    """Whether a point lies in a mask of shape [height][width]; the right and lower border are outside."""
    height = len(mask)
    if not height or not len(mask[0]):
        return False
    width = len(mask[0])
    column, row = int(point[0] * width), int(point[1] * height)
    return column < width and row < height and bool(mask[row][column])


def _check(fields: Fields) -> None:
    entries = fields["points_target"]
    if not isinstance(entries, list):
        raise FieldError("points_target", "must be a list of points")
    for entry in entries:
        named = isinstance(entry, dict) and "x" in entry and "y" in entry
        if named and any(map(math.isnan, _coordinates(entry))):
            raise FieldError("points_target", "must hold numbers under x and y")


def _metrics(details: Sequence[Details]) -> dict[str, Any]:
    if not details:
        return {}
    no_target = [item for item in details if not item.get("has_target", True)]
    unparsed = [item for item in details if item.get("has_target", True) and not item.get("predicted_points")]
    return {
        "precision__PixmoPointsEval-Precision": mean_of("precision", details),
        "recall__PixmoPointsEval-Recall": mean_of("recall", details),
        "f1__PixmoPointsEval-F1": mean(
            [harmonic_mean(item.get("precision", 0.0), item.get("recall", 0.0)) for item in details]
        ),
        "accuracy__PixmoPointsEval-NoTargetAccuracy": mean([float(item["score"] >= 0.5) for item in no_target]),
        "accuracy__PixmoPointsEval-ParsingFailureRate": len(unparsed) / len(details),
    }


PIXMO_POINTS = Scorer(
    score=_score,
    metrics=_metrics,
    required=("points_target", "points_mask", "has_target"),
    check=_check,
)
