"""The usage example of the operator's document, with our own storage and serving."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.chat_server import Call, ChatServer, Reply

from datbench import UnifiedBenchDatasetEvaluator
from datbench.unified import APILLMServing_request, FileStorage
from datbench.unified.tables import read_records

ROWS = [
    {"question": "Capital of France?", "golden_answer": "Paris", "generated_ans": "It is Paris."},
    {"question": "2 + 2?", "golden_answer": "4", "generated_ans": "five"},
    {"question": "007?", "golden_answer": None, "generated_ans": "Bond"},
]


def judge(call: Call) -> Reply:
    verdict = json.dumps({"judgement_result": "Paris" in call.text.split("<candidate>")[1]})
    return Reply(f"```json\n{verdict}\n```", delay=0.1 if "Paris" in call.text else 0.0)


def test_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DF_API_KEY", "secret")
    Path("data").mkdir()
    Path("data/bench.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")

    with ChatServer(judge) as server:

        class MyPipeline:
            def __init__(self) -> None:
                self.storage = FileStorage(
                    first_entry_file_name="./data/bench.jsonl",
                    cache_path="./cache",
                    file_name_prefix="step",
                    cache_type="jsonl",
                )
                self.llm_serving = APILLMServing_request(
                    api_url=server.base_url + "/chat/completions",
                    key_name_of_api_key="DF_API_KEY",
                    model_name="gpt-4o",
                    max_workers=10,
                )
                self.evaluator = UnifiedBenchDatasetEvaluator(
                    eval_type="key2_qa",
                    llm_serving=self.llm_serving,
                    prompt_template=None,
                    use_semantic_judge=True,
                )

            def forward(self) -> list[str]:
                return self.evaluator.run(
                    storage=self.storage.step(),
                    input_question_key="question",
                    input_target_key="golden_answer",
                    input_pred_key="generated_ans",
                )

        returned = MyPipeline().forward()

    assert returned == ["question", "golden_answer", "generated_ans", "eval_score", "eval_valid", "eval_error"]
    rows = list(read_records("cache/step_step1.jsonl"))
    assert [list(row)[-4:] for row in rows] == [["eval_valid", "eval_error", "eval_pred", "eval_score"]] * 3
    assert [(row["eval_valid"], row["eval_error"], row["eval_score"]) for row in rows] == [
        (True, "", 1.0),
        (True, "", 0.0),
        (False, "empty_reference", None),
    ]
    (path,) = Path("result_bencheval").glob("UnifiedBenchDatasetEvaluator_result_*.json")
    assert json.loads(path.read_text("utf-8")) == [
        {
            "total_samples": 3,
            "valid_samples": 2,
            "accuracy": 0.5,
            "bench_name_or_prefix": "step",
            "type": "key2_qa",
            "metric": "semantic_judge",
        }
    ]
