"""The golden cases of the unified evaluator: decoding, fakes of every kind of serving, one runner."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from datbench.unified import UnifiedBenchDatasetEvaluator

FOLDER = Path(__file__).parents[1] / "vectors" / "unified_bench"


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


def decode(value: Any) -> Any:
    """A cell from its JSON form: floats, tuples and arrays are marked."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"$float"}:
        return float(value["$float"])
    if set(value) == {"$tuple"}:
        return tuple(decode(item) for item in value["$tuple"])
    if set(value) == {"$ndarray"}:
        items = value["$ndarray"]
        return np.array(items, dtype=object if any(isinstance(item, str) for item in items) else None)
    return {key: decode(item) for key, item in value.items()}


class MemoryStorage:
    """A storage that holds one frame and keeps what was written."""

    def __init__(self, frame: pd.DataFrame, prefix: str = "bench") -> None:
        self.frame, self.file_name_prefix = frame, prefix
        self.written: list[pd.DataFrame] = []

    def read(self, output_type: str) -> pd.DataFrame:
        assert output_type == "dataframe"
        return self.frame

    def write(self, frame: pd.DataFrame) -> None:
        self.written.append(frame)


class Judge:
    def __init__(self, responses: Any) -> None:
        self.responses = responses
        self.calls: list[tuple[list[str], str]] = []

    def generate_from_input(self, user_inputs: list[str], system_prompt: str) -> Any:
        self.calls.append((user_inputs, system_prompt))
        return self.responses


class LikelihoodServing(Judge):
    """Gives one prepared list for each call."""

    def __init__(self, values: list[Any]) -> None:
        super().__init__(["unused"])
        self.values = values
        self.ll_calls: list[dict[str, Any]] = []

    def loglikelihood(self, prompts: list[str], continuations: list[str]) -> Any:
        self.ll_calls.append({"prompts": prompts, "continuations": continuations})
        return self.values[len(self.ll_calls) - 1]


class Bare:
    pass


class Raising:
    def generate_from_input(self, user_inputs: list[str], system_prompt: str) -> list[str]:
        raise RuntimeError("no connection")

    def loglikelihood(self, prompts: list[str], continuations: list[str]) -> list[float]:
        raise RuntimeError("no connection")


class ToyModelServing:
    hf_model_name_or_path = "toy-bigram"


class LocalToyModelServing(ToyModelServing):
    real_model_path = "toy-bigram-local"
    hf_cache_dir = "cache"
    trust_remote_code = False


def serving(case: dict[str, Any]) -> Any:
    kind = case["serving"]
    if kind == "ll":
        values = decode(case.get("loglikelihoods") or [])
        return LikelihoodServing(values if "rows" in case else [values] * 9)
    if kind == "judge":
        return Judge(case["judge_responses"] if "judge_responses" in case else [case.get("judge_response")])
    kinds = {
        "none": lambda: None,
        "bare": Bare,
        "no_ll": lambda: Judge(["unused"]),
        "judge_raises": Raising,
        "ll_raises": Raising,
        "toy_hf": ToyModelServing,
        "toy_hf_local": LocalToyModelServing,
    }
    return kinds[kind]()


def frame(case: dict[str, Any]) -> pd.DataFrame:
    rows = [decode(row) for row in case.get("rows", [case.get("row")])]
    if case.get("dtype") == "natural":
        return pd.DataFrame(rows, columns=case.get("columns"))
    names = case.get("columns") or list(dict.fromkeys(name for row in rows for name in row))
    columns = {}
    for name in names:
        column = np.empty(len(rows), dtype=object)
        for index, row in enumerate(rows):
            column[index] = row.get(name)
        columns[name] = pd.Series(column, dtype=object)
    return pd.DataFrame(columns)


class Run:
    """One case through the operator."""

    def __init__(self, case: dict[str, Any], folder: Path, **options: Any) -> None:
        self.serving = serving(case)
        self.storage = MemoryStorage(frame(case), case.get("file_name_prefix", "bench"))
        self.path = folder / "statistics" / "result.json"
        self.operator = UnifiedBenchDatasetEvaluator(
            eval_type=case["eval_type"],
            metric_type=case.get("metric_type"),
            llm_serving=self.serving,
            use_semantic_judge=case.get("use_semantic_judge", False),
            eval_result_path=str(self.path),
            **options,
        )
        self.keys = case["keys"]
        self.returned = self.operator.run(storage=self.storage, **self.keys)
        (self.frame,) = self.storage.written

    @property
    def statistics(self) -> Any:
        return json.loads(self.path.read_text("utf-8")) if self.path.exists() else None

    def cells(self, index: int = 0) -> dict[str, Any]:
        names = {
            name: self.keys.get(f"output_{name}_key", name)
            for name in ("eval_valid", "eval_error", "eval_pred", "eval_score")
        }
        return {name: self.frame[column].iloc[index] for name, column in names.items()}


def close(found: Any, expected: Any) -> bool:
    """Equality of JSON values, floats to a relative 1e-5, keys in the same order."""
    if isinstance(expected, dict):
        return list(found) == list(expected) and all(close(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, float):
        return found is not None and math.isclose(found, expected, rel_tol=1e-5)
    return bool(found == expected)


def assert_cells(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert bool(found["eval_valid"]) is expected["eval_valid"]
    assert found["eval_error"] == expected["eval_error"]
    assert close(None if math.isnan(found["eval_score"]) else float(found["eval_score"]), expected["eval_score"])
    assert type(found["eval_pred"]) is type(expected["eval_pred"])
    if found["eval_pred"] != expected["eval_pred"]:  # JSON text may differ in the last digits
        assert close(json.loads(found["eval_pred"]), json.loads(expected["eval_pred"]))


def check_case(case: dict[str, Any], folder: Path) -> None:
    """One row: its four cells, the judge's calls and the log-likelihood calls."""
    run = Run(case, folder)
    assert_cells(run.cells(), case.get("recommended") or case["expected"])
    if "expected_judge_calls" in case and isinstance(run.serving, Judge):
        assert len(run.serving.calls) == case["expected_judge_calls"]
    if "expected_ll_calls" in case and isinstance(run.serving, LikelihoodServing):
        assert run.serving.ll_calls == case["expected_ll_calls"]


def check_frame(case: dict[str, Any], folder: Path) -> None:
    """A whole frame: rows, columns, returned list and statistics file."""
    run = Run(case, folder)
    assert run.returned == case["expected_return"]
    assert list(run.frame.columns) == case["expected_columns"]
    assert len(run.frame) == len(case["expected_rows"])
    for index, expected in enumerate(case["expected_rows"]):
        assert_cells(run.cells(index), expected)
    if case["expected_stats"] is None:
        assert run.statistics is None
        return
    (found,) = run.statistics
    (expected,) = case["expected_stats"]
    assert close(found, expected)
    assert list(found) == case["expected_stats_key_order"]


def needs_formulas(case: dict[str, Any]) -> bool:
    """Whether the case compares formulas, and so wants math-verify."""
    judged = case.get("metric_type") == "semantic_judge" or (
        case.get("use_semantic_judge") and case.get("metric_type") is None and case["eval_type"] == "key2_qa"
    )
    return (
        case["eval_type"] in ("key2_qa", "key2_q_ma")
        and not judged
        and ("expected_stats" not in case or case["expected_stats"] is not None)
    )


def needs_model(case: dict[str, Any]) -> bool:
    """Whether the case wants the toy language model, and so torch."""
    return case["serving"].startswith("toy_hf") and case["eval_type"] != "key2_qa"


def labelled(found: list[dict[str, Any]]) -> Any:
    return pytest.mark.parametrize("case", found, ids=[str(index) for index in range(len(found))])
