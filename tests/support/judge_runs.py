"""Runs whose judge prompts all differ, a judge that reads them, and what a pass wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from support.chat_server import Call, Reply
from support.synthetic_run import make_record, results_file, run_fields

from datbench.jsonio import write_json, write_jsonl

DATE = "20260115_120000"
MODEL = "acme/vlm-7b"
RUBRIC = "The response must name the same number.\nRespond with exactly two lines:\nReason: why\nanswer: true or false"


def make_judge_run(directory: Path, count: int, outputs: Sequence[str] | None = None) -> Path:
    """Write a run of datbench_math in a group of one task: every fifth sample is direct, the others wait for a judge.

    Without ``outputs``, sample n is answered rightly unless n is a multiple of 3.
    """
    folder = directory / MODEL.replace("/", "__")
    write_jsonl(folder / f"{DATE}_samples_datbench_math.jsonl", _lines(count, outputs))
    results = results_file({"datbench_math": count}, MODEL, DATE)
    group = {"alias": "datbench", "datbench_score,none": 0.1, "datbench_pooled,none": 0.1}
    results["results"]["datbench"] = group
    results["groups"] = {"datbench": group}
    results["group_subtasks"] = {"datbench": ["datbench_math"]}
    write_json(folder / f"{DATE}_results.json", results)
    return directory


def _lines(count: int, outputs: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    for number in range(count):
        direct = number % 5 == 4
        row = {
            "id": f"db_math_{number:06d}",
            "question": f"What is {number} plus 1?",
            "answer": str(number + 1),
            "all_answers": [str(number + 1)],
            "eval_mode": "direct" if direct else "judge",
            "judge_prompt": "" if direct else RUBRIC,
            "source_info": {"dataset": "mathvista" if direct else "mathverse_wo"},
            "metadata": "{}",
        }
        output = outputs[number] if outputs else str(number + 1 if number % 3 else -1)
        record = make_record(row, output, run_fields(MODEL), number)
        yield {
            "doc_id": number,
            "target": row["answer"],
            "filtered_resps": output,
            "datbench_score": record.get("score"),
            "datbench_pooled": record.get("score"),
            "datbench_record": record,
            "input": row["question"],
        }


def reading_judge(call: Call) -> Reply:
    """Right when the text between the marks is the reference answer."""
    reference = re.search(r"Reference answer:\n(.*)", call.text)
    candidate = re.search(r"<<<CANDIDATE \w+>>>\n(.*)\n<<<END", call.text, re.DOTALL)
    assert reference and candidate
    return Reply(f"answer: {str(reference[1] == candidate[1]).lower()}")


def judged_records(run: Path, tag: str) -> dict[str, dict[str, Any]]:
    """Records of a judged run by id."""
    path = run / "judge" / tag / f"{DATE}_samples_datbench_math.jsonl"
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {line["datbench_record"]["id"]: line["datbench_record"] for line in lines}
