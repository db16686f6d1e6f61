"""The operator with DataFlow's own storage, servings of DataFlow's shape, and its registry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dataflow.core import OperatorABC
from dataflow.utils.registry import OPERATOR_REGISTRY
from dataflow.utils.storage import FileStorage

from datbench.unified import UnifiedBenchDatasetEvaluator, register_with_dataflow

ROWS = [
    {"question": "q", "golden_answer": "1/2", "generated_ans": "It is \\boxed{\\frac{1}{2}}"},
    {"question": "q", "golden_answer": "Paris", "generated_ans": "Rome"},
    {"question": "q", "golden_answer": "x", "generated_ans": None},
]


class ServingOfDataFlowsShape:
    """As LLMServingABC: a system prompt, answers of the same length, None after failures."""

    def start_serving(self) -> None:
        raise AssertionError("the operator starts no serving")

    def cleanup(self) -> None:
        raise AssertionError("the operator cleans no serving up")

    def generate_from_input(self, user_inputs: list[str], system_prompt: str) -> list[str | None]:
        return ['{"judgement_result": true}', None][: len(user_inputs)]


@pytest.fixture
def storage(tmp_path: Path) -> Any:
    path = tmp_path / "bench.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    return FileStorage(
        first_entry_file_name=str(path), cache_path=str(tmp_path / "cache"), file_name_prefix="step", cache_type="jsonl"
    )


def run(operator: Any, storage: Any) -> list[dict[str, Any]]:
    operator.run(storage=storage.step(), input_question_key="question", input_target_key="golden_answer")
    return list(storage.step().read("dict"))


def test_rules(storage: Any, tmp_path: Path) -> None:
    rows = run(UnifiedBenchDatasetEvaluator(eval_result_path=str(tmp_path / "s.json")), storage)
    assert [(row["eval_valid"], row["eval_error"]) for row in rows] == [
        (True, ""),
        (True, ""),
        (False, "empty_prediction"),
    ]
    assert [row["eval_pred"] for row in rows[:2]] == ["\\frac{1}{2}", "Rome"]


def test_judge(storage: Any, tmp_path: Path) -> None:
    operator = UnifiedBenchDatasetEvaluator(
        llm_serving=ServingOfDataFlowsShape(), use_semantic_judge=True, eval_result_path=str(tmp_path / "s.json")
    )
    rows = run(operator, storage)
    assert [row["eval_score"] for row in rows[:2]] == [1.0, 0.0]
    assert operator.empty_responses_count == 1


def test_registration(storage: Any, tmp_path: Path) -> None:
    operator = register_with_dataflow("OurEvaluator")
    assert issubclass(operator, OperatorABC)
    assert OPERATOR_REGISTRY.get("OurEvaluator") is operator
    assert run(operator(eval_result_path=str(tmp_path / "s.json")), storage)[0]["eval_score"] == 1.0
    with pytest.raises(ValueError, match="already holds"):
        register_with_dataflow("OurEvaluator")
