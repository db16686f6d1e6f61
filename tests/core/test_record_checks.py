"""Records that no numbers can be made of are told what is wrong with them."""

from __future__ import annotations

import pytest

from datbench_tasks.record_checks import record_problem

DIRECT = {"capability": "math", "eval_mode": "direct", "pending": False, "score": 1.0, "score_details": {"score": 1.0}}
PENDING = {"capability": "math", "eval_mode": "judge", "pending": True}


@pytest.mark.parametrize("record", [DIRECT, PENDING, {**DIRECT, "eval_mode": "judge"}])
def test_sound_records_pass(record):
    assert record_problem(record) is None


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"capability": 7}, "capability is 7, must be a text"),
        ({"flags": "empty"}, "must be a list"),
        ({"flags": [1]}, "flags must be texts"),
        ({"run": {"split": 1}}, "run, split is 1, must be a text"),
        ({"eval_mode": "both"}, "must be direct or judge"),
        ({"pending": True}, "a direct sample waits for no verdict"),
        ({"score_details": None}, "score_details is missing"),
        ({"score": None}, "score is None, must be a number from 0 to 1"),
        ({"score": float("nan")}, "score is nan, must be a number from 0 to 1"),
        ({"score": 1.1}, "score is 1.1, must be a number from 0 to 1"),
        ({"score_if_reformatted": -1}, "score_if_reformatted is -1, must be a number"),
        ({"eval_metrics": {"discrimination": "high"}}, "discrimination is 'high', must be a number"),
    ],
)
def test_other_records_are_told_what_is_wrong(change, problem):
    assert problem in str(record_problem({**DIRECT, **change}))
