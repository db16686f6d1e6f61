"""The golden cases: rows, outputs and what the published scorers answered, one file a source dataset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from datbench import DatBenchEvaluator, DatBenchReport, VLMResponse

VECTORS = Path(__file__).parents[1] / "vectors"

Case = dict[str, Any]

RULE_KEYS = ("type", "l2_category", "question_type", "answer_type", "is_multi_turn", "has_target")
"""Metadata keys that choose between the rules of one scorer."""


def read_cases(name: str) -> list[Case]:
    """The cases of one vector file; lines end at line feeds only."""
    lines = (VECTORS / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def dataset_names() -> list[str]:
    """Names of the vector files that hold scored rows: the source datasets, and one of unknown names."""
    return sorted(
        path.stem
        for path in VECTORS.glob("*.jsonl")
        if not path.stem.startswith("_") or path.stem == "_unknown_dataset"
    )


def scorable_cases(name: str) -> list[Case]:
    """The cases whose row is well-formed."""
    return [case for case in read_cases(name) if not case.get("row_fault")]


def one_case_a_rule(name: str) -> list[Case]:
    """The first case of each combination of rule-choosing metadata."""
    cases: dict[str, Case] = {}
    for case in scorable_cases(name):
        metadata = json.loads(case["row"].get("metadata") or "{}")
        cases.setdefault(json.dumps([metadata.get(key) for key in RULE_KEYS]), case)
    return list(cases.values())


def evaluate(cases: list[Case]) -> DatBenchReport:
    """Run the evaluator over the rows and outputs of cases, as a user would."""
    evaluator = DatBenchEvaluator([case["row"] for case in cases], "vectors")
    return evaluator.compute_metrics([VLMResponse(case["row"]["id"], case["output"]) for case in cases])
