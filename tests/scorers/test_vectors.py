"""Every golden case through the public interface: the same score, verdict, details and metrics."""

from __future__ import annotations

import json
import math
import warnings
from typing import Any

import pytest
from support.vectors import VECTORS, dataset_names, evaluate, read_cases, scorable_cases

from datbench import SOURCE_DATASETS, DatBenchEvaluator, score_sample
from datbench.capabilities import SOURCE_DATASETS_BY_CAPABILITY

TOLERANCE = 1e-9

UNORDERED = {"parsed_response"}
"""Details that the published scorers build from a set."""

HANGING = {
    "mathvision-p-h01": 0.0,
    "mathvision-p-h02": 0.0,
    "mmmupro_pub_126": 1.0,
    "ocrbench-v2_p0129_00": 0.0,
}
"""Scores of the cases on which the published scorers do not return."""


def differences(expected: Any, got: Any, path: str = "") -> list[str]:
    """Where two values differ; floats within the tolerance, non-finite ones as texts."""
    if isinstance(expected, dict) and isinstance(got, dict):
        got = {str(key): value for key, value in got.items()}  # in JSON the key None is a text
        found = [f"{path}.{key}: missing" for key in expected.keys() - got.keys()]
        found += [f"{path}.{key}: not expected" for key in got.keys() - expected.keys()]
        for key in expected.keys() & got.keys():
            values = [expected[key], got[key]]
            if key in UNORDERED:
                values = [sorted(map(str, value)) for value in values]
            found += differences(*values, f"{path}.{key}")
        return found
    if isinstance(expected, list) and isinstance(got, list | tuple) and len(expected) == len(got):
        return [
            line
            for i, pair in enumerate(zip(expected, got, strict=True))
            for line in differences(*pair, f"{path}[{i}]")
        ]
    return [] if _same(expected, got) else [f"{path}: expected {expected!r:.200}, got {got!r:.200}"]


def _same(expected: Any, got: Any) -> bool:
    if isinstance(got, float) and not math.isfinite(got):
        return expected == str(got)
    numbers = [isinstance(v, int | float) and not isinstance(v, bool) for v in (expected, got)]
    if all(numbers):
        return abs(expected - got) <= TOLERANCE
    return type(expected) is type(got) and expected == got


def test_every_source_dataset_has_golden_cases():
    assert set(dataset_names()) == {*SOURCE_DATASETS, "_unknown_dataset"}
    assert sorted(SOURCE_DATASETS) == sorted(name for names in SOURCE_DATASETS_BY_CAPABILITY.values() for name in names)


@pytest.mark.parametrize("name", dataset_names())
def test_golden_cases(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # datasets without a direct scorer warn
        cases = scorable_cases(name)
        report = evaluate(cases)
    assert "scorer_errors" not in report.summary
    failed = {}
    for case, result in zip(cases, report.results, strict=True):
        details = result.metadata["score_details"]
        if case.get("hangs"):
            wrong = differences(HANGING[case["row"]["id"]], result.score, "score")
        elif "raises" in case:
            wrong = differences([0.0, False, True], [result.score, result.is_correct, bool(details.get("error"))])
        else:
            wrong = differences(
                {key: case[key] for key in ("score", "is_correct", "details")},
                {"score": result.score, "is_correct": result.is_correct, "details": details},
            )
        wrong += differences(details["score"], score_sample(case["row"], case["output"])["score"], "score_sample")
        if wrong:
            failed[case["row"]["id"]] = [case.get("note", ""), f"output {case['output']!r:.300}", *wrong]
    assert not failed, f"{len(failed)} of {len(cases)} cases differ:\n{json.dumps(failed, indent=1)[:20_000]}"


@pytest.mark.parametrize("name", [name for name in dataset_names() if name in SOURCE_DATASETS])
def test_golden_metrics(name):
    expected = json.loads((VECTORS / f"{name}.metrics.json").read_text(encoding="utf-8"))
    cases = [case for case in scorable_cases(name) if "raises" not in case and not case.get("hangs")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # none of the two mathverse files has a case left
        summary = evaluate(cases).summary
    assert not differences(expected, {key: summary[key] for key in expected})


FAULTY_ROWS = [
    pytest.param(case, id=case["row"]["id"])
    for name in dataset_names()
    for case in read_cases(name)
    if case.get("row_fault")
]


@pytest.mark.parametrize("case", FAULTY_ROWS)
def test_a_malformed_row_is_refused_when_the_evaluator_is_built(case):
    with pytest.raises(ValueError, match=case["row"]["id"]):
        DatBenchEvaluator([case["row"]], "vectors")
