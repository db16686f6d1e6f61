"""No output may make a scorer raise, stall or leave [0, 1]."""

from __future__ import annotations

import json
import math
import warnings

import pytest
from support.hang_guard import no_longer_than
from support.hostile import HOSTILE
from support.vectors import dataset_names, evaluate, one_case_a_rule

from datbench.scorers import SOURCE_DATASETS

SECONDS_A_SCORER = 120
"""A guard against hangs for all outputs together; how fast they are is the benchmark's business."""


@pytest.mark.parametrize("name", dataset_names())
def test_hostile_outputs_are_scored(name):
    cases = one_case_a_rule(name)
    assert cases
    faults = []
    with warnings.catch_warnings(), no_longer_than(SECONDS_A_SCORER):
        warnings.simplefilter("ignore")
        for i, (label, output) in enumerate(HOSTILE.items()):
            # Each output meets some of the rules, each rule some of the outputs.
            some = cases if len(cases) <= 3 else [cases[(3 * i + j) % len(cases)] for j in range(3)]
            report = evaluate([case | {"output": output} for case in some])
            for result in report.results:
                if not (math.isfinite(result.score) and 0.0 <= result.score <= 1.0):
                    faults.append((label, result.id, result.score))
            if "scorer_errors" in report.summary:
                errors = [result.metadata["score_details"].get("error") for result in report.results]
                faults.append((label, [result.id for result in report.results], errors))
            assert json.loads(report.to_json())["summary"]["total_samples"] == len(some)
    assert not faults


def test_all_scorers_are_covered():
    assert set(SOURCE_DATASETS) <= set(dataset_names())
