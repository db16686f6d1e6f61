"""The nine DatBench capabilities in lm-evaluation-harness, with a multimodal API model and a scripted server."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import Call, ChatServer, Reply
from support.host import answer_by_gold, hub_layout, run, sample_rows

from datbench import CAPABILITIES
from datbench_tasks.task_folders import lm_eval_folder

MARK = "<image>\n"


def answer(call: Call) -> Reply:
    messages = [{"role": "user", "content": call.text.removeprefix(MARK)}]
    return answer_by_gold(replace(call, body={**call.body, "messages": messages}))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Call]]:
    folder = tmp_path_factory.mktemp("datbench in lm-eval")
    hub_layout(folder / "DatologyAI" / "DatBench")
    with ChatServer(answer) as server:
        model = f"model=scripted,base_url={server.base_url}/chat/completions,num_concurrent=4,max_images=1"
        done = run(
            *("lm_eval", "--model", "local-chat-completions", "--model_args", model, "--apply_chat_template"),
            *("--tasks", "datbench", "--include_path", lm_eval_folder(), "--log_samples", "--output_path", "out"),
            cwd=folder,
        )
    assert (folder / "out").is_dir(), done.stdout + done.stderr
    return folder / "out", server.calls


def records(out: Path) -> dict[str, dict[str, Any]]:
    logs = [out_file for name in CAPABILITIES for out_file in out.rglob(f"samples_datbench_{name}_*.jsonl")]
    lines = [json.loads(line) for log in logs for line in log.read_text("utf-8").splitlines()]
    return {line["datbench_record"]["id"]: line["datbench_record"] for line in lines}


def test_every_row_has_a_record_that_needs_no_dataset(finished: tuple[Path, list[Call]]) -> None:
    found = records(finished[0])
    rows = {row["id"]: row for row in sample_rows()}
    assert set(found) == set(rows)
    for row_id, record in found.items():
        form = rows[row_id]["prompt_format"]
        assert record["question"] == f"{form['prefix']}{rows[row_id]['question']}{form['suffix']}"
        assert record["run"]["host"].startswith("lm-eval 0.4")
        assert record["run"]["max_new_tokens"] == 4096
        assert record["pending"] == ("score" not in record)
        assert "<think>" not in record["output"]


def test_every_prompt_goes_out_with_its_image_and_mark(finished: tuple[Path, list[Call]]) -> None:
    _, calls = finished
    assert len(calls) == len(sample_rows())
    assert all(call.text.startswith(MARK) and len(call.images) == 1 for call in calls)


def test_the_table_has_macro_and_pooled_means(finished: tuple[Path, list[Call]]) -> None:
    out, _ = finished
    (file,) = out.rglob("results_*.json")
    results = json.loads(file.read_text("utf-8"))["results"]
    scores = {name: [] for name in CAPABILITIES}
    for record in records(out).values():
        if "score" in record:
            scores[record["capability"]].append(record["score"])
    means = {name: math.fsum(values) / len(values) for name, values in scores.items()}
    for name, mean in means.items():
        assert results[f"datbench_{name}"]["datbench_score,none"] == pytest.approx(mean)
    assert results["datbench"]["datbench_score,none"] == pytest.approx(math.fsum(means.values()) / len(means))
