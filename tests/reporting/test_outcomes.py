"""What counts as a rotation of one item, and what a judge sample's verdict is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from datbench_tasks.reporting.outcomes import circular_groups, verdict_of


@pytest.mark.parametrize(
    ("items", "sizes"),
    [
        ([("a", "1", True), ("a", "1", True), ("a", "2", True)], [2, 1]),
        ([("a", "1", True), ("a", "1", True), ("a", "1", False)], [2]),
        ([("a", "1", True), ("b", "1", True)], None),
        ([("a", "", True), ("a", "", True)], None),
        ([("a", "1", True)], None),
        ([], None),
    ],
)
def test_rotations_share_source_dataset_and_item(items: list[tuple[str, str, bool]], sizes: list[int] | None) -> None:
    outcomes: list[Any] = [
        SimpleNamespace(dataset=dataset, original_idx=item, circular=circular) for dataset, item, circular in items
    ]
    groups = circular_groups(outcomes)
    assert sizes == (None if groups is None else [len(group) for group in groups])


@pytest.mark.parametrize(
    ("mode", "pending", "word", "verdict"),
    [
        ("direct", False, "correct", ""),
        ("judge", True, "correct", "pending"),
        ("judge", False, "correct", "correct"),
        ("judge", False, "unparsed", "unparsed"),
        ("judge", False, "missing", "pending"),
        ("judge", False, None, "pending"),
    ],
)
def test_verdicts_of_records(mode: str, pending: bool, word: str | None, verdict: str) -> None:
    record = {"eval_mode": mode, "pending": pending, "score_details": {"judge_verdict": word}}
    assert verdict_of(record) == verdict
