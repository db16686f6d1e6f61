"""The operator's construction, its edges, its judge and its templates."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import pytest
from support.unified_vectors import Judge, LikelihoodServing, MemoryStorage

from datbench.unified import AnswerJudgePrompt, MathVerifyError, UnifiedBenchDatasetEvaluator
from datbench.unified.formula import FormulaComparer

KEYS = {"input_question_key": "q", "input_target_key": "target"}
ROWS = [
    {"q": "Capital?", "target": "Paris", "generated_ans": "Paris {x}"},
    {"q": "Sum?", "target": "4", "generated_ans": "five"},
]


def objects(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=object) for name in rows[0]})


def judge_run(tmp_path: Path, responses: Any, rows: Any = ROWS, **options: Any) -> tuple[Any, pd.DataFrame, Any]:
    serving = options.pop("llm_serving", None) or Judge(responses)
    storage = MemoryStorage(objects(rows))
    operator = UnifiedBenchDatasetEvaluator(
        llm_serving=serving, use_semantic_judge=True, eval_result_path=str(tmp_path / "s.json"), **options
    )
    operator.run(storage=storage, **KEYS)
    return serving, storage.written[0], operator


def test_import_needs_no_heavy_library() -> None:
    check = (
        "import sys, datbench.unified; from datbench.unified import UnifiedBenchDatasetEvaluator as E; E();"
        "print([m for m in ('torch', 'transformers', 'pandas', 'sympy', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_it_constructs_without_arguments_and_with_any_template() -> None:
    class Template:
        def build_prompt(self, answer: Any, reference_answer: Any) -> str:
            return "p"

    assert UnifiedBenchDatasetEvaluator().prompt_template is None
    assert isinstance(UnifiedBenchDatasetEvaluator(prompt_template=Template).prompt_template, Template)
    assert isinstance(
        UnifiedBenchDatasetEvaluator(prompt_template=AnswerJudgePrompt()).prompt_template, AnswerJudgePrompt
    )
    for wrong in ("text", 5, object, object()):
        with pytest.raises(TypeError, match="build_prompt"):
            UnifiedBenchDatasetEvaluator(prompt_template=wrong)
    with pytest.raises(ValueError, match="label_base"):
        UnifiedBenchDatasetEvaluator(label_base=2)


def test_descriptions_are_in_two_languages() -> None:
    assert "评测" in UnifiedBenchDatasetEvaluator.get_desc()
    assert "benchmark" in UnifiedBenchDatasetEvaluator.get_desc("en")
    assert UnifiedBenchDatasetEvaluator.get_desc("fr") == UnifiedBenchDatasetEvaluator.get_desc("en")


def test_without_math_verify_a_formula_type_stops_before_any_row(tmp_path: Path) -> None:
    empty = tmp_path / "python"
    empty.write_text('#!/bin/sh\necho \'{"error": "ModuleNotFoundError: No module named math_verify"}\'\n')
    empty.chmod(0o755)
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho 5\nexec cat\n")
    other.chmod(0o755)
    for python in (str(empty), str(other), str(tmp_path / "missing"), "/bin/true", "/bin/echo"):
        with pytest.raises(MathVerifyError, match=r"math-verify\[antlr4_13_2\].*DATBENCH_MATH_PYTHON"):
            FormulaComparer(python).start()


def test_an_interrupted_comparison_leaves_no_verdict_for_the_next_one(tmp_path: Path) -> None:
    answers = "read x; echo '{\"match\": false}'"
    interrupts = 'touch "$0.used"; read x; kill -INT $PPID; read y; echo \'{"match": true}\'; read z'
    worker = tmp_path / "python"
    worker.write_text(
        f'#!/bin/sh\necho \'{{"ready": true}}\'\nif [ -e "$0.used" ]; then {answers}; else {interrupts}; fi\n'
    )
    worker.chmod(0o755)
    comparer = FormulaComparer(str(worker))
    with pytest.raises(KeyboardInterrupt):
        comparer.compare("$x$", "$x$")
    assert comparer.compare("$x$", "$y$") is False
    comparer.close()


@pytest.mark.parametrize("eval_type", ["key2_qa", "key2_q_ma"])
def test_the_operator_writes_nothing_without_math_verify(
    eval_type: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparer = FormulaComparer(str(tmp_path / "missing"))
    monkeypatch.setattr("datbench.unified.evaluator.shared_comparer", lambda: comparer)
    storage = MemoryStorage(objects(ROWS))
    operator = UnifiedBenchDatasetEvaluator(eval_type=eval_type, eval_result_path=str(tmp_path / "s.json"))
    with pytest.raises(MathVerifyError):
        operator.run(storage=storage, input_targets_key="target", **KEYS)
    assert storage.written == []
    assert not (tmp_path / "s.json").exists()


def test_a_live_frame_is_not_changed(tmp_path: Path) -> None:
    frame = objects(ROWS)
    storage = MemoryStorage(frame)
    UnifiedBenchDatasetEvaluator(
        llm_serving=Judge(["true", "false"]), use_semantic_judge=True, eval_result_path=str(tmp_path / "s.json")
    ).run(storage=storage, **KEYS)
    assert list(frame.columns) == ["q", "target", "generated_ans"]


def test_repeated_index_labels_are_kept_and_rows_scored_by_position(tmp_path: Path) -> None:
    frame = objects(ROWS)
    frame.index = [5, 5]
    storage = MemoryStorage(frame)
    UnifiedBenchDatasetEvaluator(
        llm_serving=Judge(["true", "false"]), use_semantic_judge=True, eval_result_path=str(tmp_path / "s.json")
    ).run(storage=storage, **KEYS)
    assert list(storage.written[0].index) == [5, 5]
    assert list(storage.written[0]["eval_score"]) == [1.0, 0.0]


@pytest.mark.parametrize("missing", [pd.NA, pd.NaT, None])
def test_pandas_missing_values_are_none(tmp_path: Path, missing: Any) -> None:
    rows = [{"q": "q", "target": missing, "generated_ans": "x"}, {"q": "q", "target": "x", "generated_ans": missing}]
    _, frame, _ = judge_run(tmp_path, [], rows)
    assert list(frame["eval_error"]) == ["empty_reference", "empty_prediction"]


def test_result_path_without_a_folder_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    operator = UnifiedBenchDatasetEvaluator(
        llm_serving=Judge(["true", "true"]), use_semantic_judge=True, eval_result_path="stats.json"
    )
    operator.run(storage=MemoryStorage(objects(ROWS)), **KEYS)
    assert json.loads(Path("stats.json").read_text())[0]["accuracy"] == 1.0


def test_storage_without_a_prefix_is_taken(tmp_path: Path) -> None:
    storage = MemoryStorage(objects(ROWS))
    del storage.file_name_prefix
    UnifiedBenchDatasetEvaluator(
        llm_serving=Judge(["true", "true"]), use_semantic_judge=True, eval_result_path=str(tmp_path / "s.json")
    ).run(storage=storage, **KEYS)
    assert json.loads((tmp_path / "s.json").read_text())[0]["bench_name_or_prefix"] == ""


def test_strict_mode_refuses_missing_columns_before_writing(tmp_path: Path) -> None:
    storage = MemoryStorage(objects(ROWS))
    operator = UnifiedBenchDatasetEvaluator(strict=True, eval_result_path=str(tmp_path / "s.json"))
    with pytest.raises(ValueError, match="no_such"):
        operator.run(storage=storage, input_question_key="q", input_target_key="no_such")
    with pytest.raises(ValueError, match="key9"):
        UnifiedBenchDatasetEvaluator(strict=True, eval_type="key9").run(storage=storage, **KEYS)
    assert storage.written == []


def test_strict_statistics(tmp_path: Path) -> None:
    rows = [*ROWS, {"q": "q", "target": None, "generated_ans": "x"}, {"q": "q", "target": "y", "generated_ans": "x"}]
    judge_run(tmp_path, ['{"judgement_result": true}', "no", "hm"], rows, strict=True)
    (found,) = json.loads((tmp_path / "s.json").read_text())
    assert list(found)[-3:] == ["accuracy_all", "invalid_by_error", "strict"]
    assert (found["accuracy"], found["accuracy_all"], found["strict"]) == (0.5, 0.25, True)
    assert found["invalid_by_error"] == {"empty_reference": 1, "judge_parse_failed": 1}


def test_strict_mode_finds_the_base_of_digit_labels(tmp_path: Path) -> None:
    rows = [
        {"q": "q", "choices": ["a", "b", "c"], "label": label, "generated_ans": answer}
        for label, answer in ((1.0, "1"), (2.0, "B"), (3.0, "3"))
    ]
    scores = {}
    for strict in (False, True):
        storage = MemoryStorage(objects(rows))
        UnifiedBenchDatasetEvaluator(
            eval_type="key3_q_choices_a", strict=strict, eval_result_path=str(tmp_path / "s.json")
        ).run(storage=storage, input_question_key="q", input_choices_key="choices", input_label_key="label")
        scores[strict] = list(storage.written[0]["eval_error"]), list(storage.written[0]["eval_pred"])
    assert scores[False] == (["parse_failed"] * 3, [None] * 3)
    assert scores[True] == ([""] * 3, [0, 1, 2])


def test_judge_prompt_of_a_template(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = []

    class Template:
        def build_prompt(self, answer: Any, reference_answer: Any) -> Any:
            calls.append({"answer": answer, "reference_answer": reference_answer})
            return 7

    serving, _, _ = judge_run(tmp_path, ["true", "true"], prompt_template=Template)
    assert calls == [{"answer": row["generated_ans"], "reference_answer": row["target"]} for row in ROWS]
    assert serving.calls == [(["7", "7"], "You are a helpful assistant specialized in evaluating answer correctness.")]


def test_built_in_judge_prompt_holds_all_cells_between_marks(tmp_path: Path) -> None:
    serving, _, _ = judge_run(tmp_path, ["true", "true"], system_prompt="judge!")
    ((prompts, system_prompt),) = serving.calls
    assert system_prompt == "judge!"
    assert "<question>\nCapital?\n</question>" in prompts[0]
    assert "<reference>\nParis\n</reference>" in prompts[0]
    assert "<candidate>\nParis {x}\n</candidate>" in prompts[0]
    assert '"judgement_result"' in prompts[0]


def test_a_failing_template(tmp_path: Path) -> None:
    class Template:
        def build_prompt(self, answer: Any, reference_answer: Any) -> str:
            raise RuntimeError("broken")

    serving, frame, _ = judge_run(tmp_path, ["true", "true"], prompt_template=Template)
    assert "<candidate>" in serving.calls[0][0][0]
    assert list(frame["eval_score"]) == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="broken"):
        judge_run(tmp_path, ["true", "true"], prompt_template=Template, strict=True)


def test_a_judge_that_takes_no_system_prompt_gets_the_prompts_alone(tmp_path: Path) -> None:
    class Plain:
        def generate_from_input(self, prompts: list[str]) -> list[str]:
            return ["true"] * len(prompts)

    _, frame, _ = judge_run(tmp_path, [], llm_serving=Plain())
    assert list(frame["eval_score"]) == [1.0, 1.0]


def test_a_type_error_inside_the_serving_does_not_repeat_the_call(tmp_path: Path) -> None:
    class Broken:
        calls = 0

        def generate_from_input(self, user_inputs: list[str], system_prompt: str) -> list[str]:
            self.calls += 1
            raise TypeError("inside")

        def loglikelihood(self, prompts: list[str], continuations: list[str]) -> list[float]:
            self.calls += 1
            raise TypeError("inside")

    broken = Broken()
    _, frame, _ = judge_run(tmp_path, [], llm_serving=broken)
    assert list(frame["eval_error"]) == ["semantic_judge_failed"] * 2
    preference_run(tmp_path, broken)
    assert broken.calls == 2


def test_empty_responses_are_counted_over_the_life_of_the_object(tmp_path: Path) -> None:
    _, _, operator = judge_run(tmp_path, ["", None])
    assert operator.empty_responses_count == 2
    operator.run(storage=MemoryStorage(objects(ROWS)), **KEYS)
    assert operator.empty_responses_count == 4


def preference_run(tmp_path: Path, serving: Any, **options: Any) -> pd.DataFrame:
    storage = MemoryStorage(objects([{"q": "q", "better": "a", "rejected": "b"}]))
    UnifiedBenchDatasetEvaluator(
        eval_type="key3_q_a_rejected", llm_serving=serving, eval_result_path=str(tmp_path / "s.json"), **options
    ).run(storage=storage, input_question_key="q", input_better_key="better", input_rejected_key="rejected")
    return storage.written[0]


@pytest.mark.parametrize("shape", ["keywords", "positional", "pairs"])
def test_shapes_of_log_likelihood_methods(tmp_path: Path, shape: str) -> None:
    seen: list[Any] = []

    class Keywords:
        def score(self, *, prompts: list[str], continuations: list[str]) -> list[float]:
            seen.append((prompts, continuations))
            return [-1.0, -2.0]

    class Positional:
        def score(self, contexts: list[str], texts: list[str], /) -> list[float]:
            seen.append((contexts, texts))
            return [-1.0, -2.0]

    class Pairs:
        def score(self, requests: list[tuple[str, str]]) -> list[float]:
            seen.append(tuple(map(list, zip(*requests, strict=True))))
            return [-1.0, -2.0]

    serving = {"keywords": Keywords, "positional": Positional, "pairs": Pairs}[shape]()
    frame = preference_run(tmp_path, serving)
    prompt = "Question:\nq\n\nAnswer:"
    assert seen == [([prompt, prompt], [" a", " b"])]
    assert frame["eval_score"][0] == 1.0


def test_only_the_first_method_is_tried(tmp_path: Path) -> None:
    class Two(LikelihoodServing):
        def loglikelihood_batch(self, prompts: list[str], continuations: list[str]) -> Any:
            raise RuntimeError("down")

    two = Two([[-1.0, -2.0]])
    assert preference_run(tmp_path, two)["eval_error"][0] == "ll_unavailable"
    assert two.ll_calls == []


def test_a_mock_that_has_every_method_gives_no_number(tmp_path: Path) -> None:
    assert preference_run(tmp_path, MagicMock())["eval_error"][0] == "ll_unavailable"


def test_templates_for_log_likelihoods(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Fitting:
        def build_prompt(
            self, *, question: Any, context: Any, text: Any, choices: Any, choices_text: Any, task: str
        ) -> str:
            return f"{task}|{question}|{context}|{text}|{choices}|{choices_text}|"

    class Formatted:
        def build_prompt(self, need_fields: set[str], **cells: Any) -> str:
            return f"{sorted(need_fields)} {cells['question']}\n"

    serving = LikelihoodServing([[-1.0, -2.0]] * 3)
    preference_run(tmp_path, serving, prompt_template=Fitting)
    preference_run(tmp_path, serving, prompt_template=Formatted)
    with caplog.at_level(logging.ERROR):
        preference_run(tmp_path, serving, prompt_template=AnswerJudgePrompt)
    assert [call["prompts"][0] for call in serving.ll_calls] == [
        "pairwise|q|None|None|None|None|",
        "['question'] q\n",
        "Question:\nq\n\nAnswer:",
    ]
    assert serving.ll_calls[1]["continuations"] == ["a", "b"]
    assert caplog.text == ""


def choices_run(tmp_path: Path, serving: Any, metric: str | None) -> pd.DataFrame:
    storage = MemoryStorage(objects([{"q": "q", "choices": ["ab", "a much longer one"], "label": 1}]))
    UnifiedBenchDatasetEvaluator(
        eval_type="key3_q_choices_a", llm_serving=serving, metric_type=metric, eval_result_path=str(tmp_path / "s.json")
    ).run(storage=storage, input_question_key="q", input_choices_key="choices", input_label_key="label")
    return storage.written[0]


def test_likelihood_per_byte_does_not_prefer_short_choices(tmp_path: Path) -> None:
    values = [[-3.0, -6.0]] * 2
    assert choices_run(tmp_path, LikelihoodServing(values), None)["eval_pred"][0] == 0
    assert choices_run(tmp_path, LikelihoodServing(values), "ll_choice_acc_norm")["eval_pred"][0] == 1


@pytest.mark.parametrize(
    ("serving", "scores"),
    [
        (type("P", (), {"perplexity": lambda self, texts: [2.0, None]})(), [2.0, 1.0]),
        (type("T", (), {"token_logprobs": lambda self, texts: [[-1.0, -3.0], []]})(), [np.exp(2.0), 1.0]),
    ],
)
def test_a_serving_can_offer_perplexities_itself(tmp_path: Path, serving: Any, scores: list[float]) -> None:
    storage = MemoryStorage(objects([{"text": "a b c"}, {"text": "a"}]))
    UnifiedBenchDatasetEvaluator(
        eval_type="key1_text_score", llm_serving=serving, eval_result_path=str(tmp_path / "s.json")
    ).run(storage=storage, input_text_key="text")
    assert list(storage.written[0]["eval_score"]) == pytest.approx(scores)


def test_a_local_model_without_torch_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)

    class Named:
        hf_model_name_or_path = str(tmp_path)

    storage = MemoryStorage(objects([{"text": "a b c"}]))
    operator = UnifiedBenchDatasetEvaluator(eval_type="key1_text_score", llm_serving=Named())
    with pytest.raises(ModuleNotFoundError, match=r"datbench-tasks\[local\]"):
        operator.run(storage=storage, input_text_key="text")
    assert storage.written == []


def test_a_judge_for_another_type_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    UnifiedBenchDatasetEvaluator(eval_type="key2_q_ma", use_semantic_judge=True)
    assert "use_semantic_judge has no effect on key2_q_ma" in caplog.text


def test_rules_run_in_threads(tmp_path: Path) -> None:
    results: list[list[int]] = []

    def run() -> None:
        results.append(list(choices_parse_run(tmp_path)["eval_pred"]))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[1]] * 4


def choices_parse_run(tmp_path: Path) -> pd.DataFrame:
    storage = MemoryStorage(objects([{"q": "q", "choices": ["a", "b"], "label": 1, "generated_ans": "B"}]))
    name = f"{threading.get_ident()}.json"
    UnifiedBenchDatasetEvaluator(eval_type="key3_q_choices_a", eval_result_path=str(tmp_path / name)).run(
        storage=storage, input_question_key="q", input_choices_key="choices", input_label_key="label"
    )
    return storage.written[0]


def scored(tmp_path: Path, frame: pd.DataFrame, eval_type: str, serving: Any = None, **options: Any) -> pd.DataFrame:
    """The written frame; the statistics lie in s.json."""
    roles = {name: name for name in frame.columns if name not in ("generated_ans", "q")}
    keys = {f"input_{role}_key": column for role, column in roles.items()}
    storage = MemoryStorage(frame)
    UnifiedBenchDatasetEvaluator(
        eval_type=eval_type, llm_serving=serving, eval_result_path=str(tmp_path / "s.json"), **options
    ).run(storage=storage, input_question_key="q", **keys)
    return storage.written[0]


@pytest.mark.parametrize("repeated", ["q", "label", "generated_ans", "eval_score"])
def test_a_name_that_two_columns_have_is_refused_before_anything_is_written(tmp_path: Path, repeated: str) -> None:
    names = ["q", "choices", "label", "generated_ans", "eval_score", repeated]
    storage = MemoryStorage(pd.DataFrame([["q", ["a", "b"], 0, "A", None, "x"]], columns=names))
    operator = UnifiedBenchDatasetEvaluator(eval_type="key3_q_choices_a", eval_result_path=str(tmp_path / "s.json"))
    with pytest.raises(ValueError, match=f"several columns are named '{repeated}'"):
        operator.run(storage=storage, input_question_key="q", input_choices_key="choices", input_label_key="label")
    assert storage.written == []


def test_a_repeated_name_that_nobody_reads_does_no_harm(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        [["q", ["a", "b"], 0, "A", 1, 2]], columns=["q", "choices", "label", "generated_ans", "note", "note"]
    )
    storage = MemoryStorage(frame)
    UnifiedBenchDatasetEvaluator(eval_type="key3_q_choices_a", eval_result_path=str(tmp_path / "s.json")).run(
        storage=storage, input_question_key="q", input_choices_key="choices", input_label_key="label"
    )
    assert list(storage.written[0]["eval_score"]) == [1.0]


@pytest.mark.parametrize("dtype", [object, bool, "boolean", "int8", "uint64", "Int64"])
def test_labels_of_every_dtype_of_whole_numbers(tmp_path: Path, dtype: Any) -> None:
    labels = pd.Series([True, False], dtype=dtype) if dtype == "boolean" else pd.Series([1, 0], dtype=dtype)
    frame = pd.DataFrame({"q": "q", "choices": [["a", "b"]] * 2, "label": labels, "generated_ans": ["B", "B"]})
    assert list(scored(tmp_path, frame, "key3_q_choices_a")["eval_score"]) == [1.0, 0.0]


def test_a_gap_in_a_column_of_short_floats_is_nan(tmp_path: Path) -> None:
    labels = pd.Series([1.0, np.nan], dtype="float32")
    frame = pd.DataFrame({"q": "q", "choices": [["a", "b"]] * 2, "labels": labels, "generated_ans": "B"})
    found = scored(tmp_path, frame, "key3_q_choices_as", strict=True)
    assert list(found["eval_error"]) == ["", "parse_failed"]
    found = scored(tmp_path, frame, "key3_q_choices_as")
    assert list(found["eval_error"]) == ["", "parse_failed"]


class NamesNoModel:
    """Has neither a log-likelihood method nor a model."""


@pytest.mark.parametrize(
    ("eval_type", "columns", "serving", "last"),
    [
        ("key1_text_score", ["text"], None, {"note": "ppl unavailable in llm_serving"}),
        ("key1_text_score", ["text"], NamesNoModel(), {"note": "ppl unavailable in llm_serving"}),
        (
            "key3_q_a_rejected",
            ["q", "better", "rejected"],
            None,
            {"note": "pairwise requires llm_serving loglikelihood"},
        ),
        ("key3_q_a_rejected", ["q", "better", "rejected"], NamesNoModel(), None),
        ("key3_q_choices_a", ["q", "choices", "label"], NamesNoModel(), None),
    ],
)
def test_statistics_of_an_empty_table(
    tmp_path: Path, eval_type: str, columns: list[str], serving: Any, last: dict[str, str] | None
) -> None:
    scored(tmp_path, pd.DataFrame({name: pd.Series([], dtype=object) for name in columns}), eval_type, serving)
    (found,) = json.loads((tmp_path / "s.json").read_text())
    head = {"bench_name_or_prefix": "bench", "type": eval_type}
    counts = {"total_samples": 0, "valid_samples": 0}
    if last:
        metric = "ppl" if eval_type == "key1_text_score" else "pairwise_ll_winrate"
        assert list(found.items()) == list({**head, "metric": metric, **counts, **last}.items())
    else:
        assert {**found, **head, **counts, "accuracy": 0.0} == found


def test_strict_mode_reads_a_gap_in_a_column_of_texts_as_no_text(tmp_path: Path) -> None:
    class Lengths:
        def perplexity(self, texts: list[str]) -> list[float]:
            return [float(len(text)) for text in texts]

    frame = objects([{"text": np.nan}, {"text": None}, {"text": "  "}])
    assert list(scored(tmp_path, frame, "key1_text_score", Lengths())["eval_score"]) == [3.0, 0.0, 2.0]
    assert list(scored(tmp_path, frame, "key1_text_score", Lengths(), strict=True)["eval_score"]) == [0.0, 0.0, 2.0]


def test_an_impossible_answer_keeps_its_likelihood(tmp_path: Path) -> None:
    frame = preference_run(tmp_path, LikelihoodServing([[-1.0, -np.inf]]))
    assert frame["eval_score"][0] == 1.0
    assert json.loads(frame["eval_pred"][0]) == {"ll_better": -1.0, "ll_rejected": -np.inf}


def broken_half_way() -> Any:
    yield -1.0
    raise RuntimeError("connection lost")


@pytest.mark.parametrize(
    "values", [[10**400, -1.0], ["-1", "-2"], "12", {"a": -1.0}, [[], -1.0], [None, -1.0], [np.zeros(2), -1.0]]
)
def test_values_that_are_no_likelihoods(tmp_path: Path, values: Any) -> None:
    assert preference_run(tmp_path, LikelihoodServing([values]))["eval_error"][0] == "ll_unavailable"


def test_likelihoods_that_break_off_cost_their_row(tmp_path: Path) -> None:
    assert preference_run(tmp_path, LikelihoodServing([broken_half_way()]))["eval_error"][0] == "ll_unavailable"


def test_likelihoods_may_come_as_an_array_or_one_by_one(tmp_path: Path) -> None:
    for values in (np.array([-1.0, -2.0]), iter([-1.0, -2.0])):
        assert preference_run(tmp_path, LikelihoodServing([values]))["eval_score"][0] == 1.0


def test_responses_of_a_judge_may_come_as_an_array(tmp_path: Path) -> None:
    _, frame, _ = judge_run(tmp_path, np.array(["true", "false"], dtype=object))
    assert list(frame["eval_score"]) == [1.0, 0.0]
