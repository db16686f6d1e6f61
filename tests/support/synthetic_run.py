"""Makes run directories as lmms-eval leaves them, with our records, of any size and without a model.

From a shell: ``python tests/support/synthetic_run.py DIRECTORY --samples 45000 --judged``.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from datbench import CAPABILITIES
from datbench.jsonio import write_json, write_jsonl
from datbench.samples import read_row
from datbench.version import REFERENCE, SCORER_VERSION
from datbench_tasks.judge.requests import prompt_hash
from datbench_tasks.reasoning import RULE
from datbench_tasks.records import apply_verdict, build_record

DATASET_ID = "DatologyAI/DatBench"
REVISION = "0123456789abcdef0123456789abcdef01234567"
MAX_NEW_TOKENS = 4096
JUDGE_TAG = "judge-30b"
JUDGE_MODEL = "acme/judge-30b"
RUBRIC = (
    "Compare the response with the reference. It is correct if both mean the same.\n"
    "Respond with exactly two lines:\nReason: <one sentence>\nanswer: true or false"
)
LETTERS = {"options": ["(A) left", "(B) right", "(C) both", "(D) neither", "(E) The image does not show it"]}
CHOICES = {"all_choices": ["A", "B", "C"], "index2ans": {"A": "goat", "B": "horse", "C": "sheep"}}

# capability -> (source dataset, eval_mode, question, answer, right output, wrong output, metadata)
TEMPLATES: dict[str, list[tuple[str, str, str, str, str, str, dict[str, Any]]]] = {
    "chart": [
        ("chartqa", "direct", "What is the value of the tallest bar?", "42.5", "42.5", "17", {}),
        ("infovqa", "direct", "What share of users is 18 to 24?", "28%", "28%", "a third", {}),
        ("charxiv_reasoning", "judge", "Which model is best at epoch 40?", "DenseNet", "DenseNet wins", "ResNet", {}),
    ],
    "counting": [
        ("countbench", "direct", "How many birds are there?", "6", "6", "7", {}),
        ("tallyqa", "direct", "How many people sit?", "3", "3", "5", {"is_simple": True}),
    ],
    "document": [
        ("docvqa", "direct", "What is the invoice number?", "INV-20417", "INV-20417", "20 May", {}),
        ("ocr-vqa", "direct", "Who wrote this book?", "Eleanor J. Marchbanks", "Eleanor J. Marchbanks", "unknown", {}),
    ],
    "general": [
        ("mmbench", "direct", "Which animal is closest to the fence?", "B", "B", "C", CHOICES),
        ("mmmupro", "judge", "Which phase does the arrow mark?", "anaphase", "anaphase", "prophase", {}),
        (
            "vqa-v2", "direct", "Is the man wearing a hat?", "yes", "yes", "no",
            {"answer_type": "yes/no", "question_type": "is the"},
        ),
    ],
    "grounding": [
        (
            "refcoco_testA", "direct", "Locate: man in the blue jacket.", "[0.2, 0.3, 0.6, 0.8]",
            "[200, 300, 600, 800]", "[700, 100, 900, 200]", {"bbox": [0.2, 0.3, 0.6, 0.8]},
        ),
    ],
    "math": [
        ("mathvista", "direct", "How many blue cubes are in the picture?", "7", "7", "8", {}),
        ("logicvista", "direct", "Which figure comes next?\nA. star\nB. moon\nC. sun", "B", "B", "C", {}),
        ("mathverse_wo", "judge", "AB is parallel to CD. Find angle 2.", "130 degrees", "130", "50", {}),
    ],
    "scene": [
        ("text-vqa", "direct", "What brand is the beer?", "heineken", "heineken", "the green one", {}),
        ("mme-realworld-ocr", "direct", "What is the phone number on the board?", "B", "B", "C", LETTERS),
    ],
    "spatial": [
        ("realworldqa", "direct", "Which way does the arrow point?\nA. Left\nB. Right", "B", "B", "A", {}),
        ("mme-realworld-ad", "direct", "What does the car ahead do?", "D", "D", "A", LETTERS),
    ],
    "table": [
        ("mme-realworld-dt", "direct", "What does the table list for March?", "C", "C", "A", LETTERS),
        ("ai2d", "judge", "Which stage comes after the pupa?", "adult butterfly", "the adult", "egg", {}),
    ],
}  # fmt: skip


def make_run(
    directory: Path,
    *,
    samples: int = 90,
    capabilities: Sequence[str] = CAPABILITIES,
    model: str = "acme/vlm-7b",
    seed: int = 0,
    accuracy: float = 0.6,
    date: str = "20260115_120000",
    variant: str = "",
    limit: int | None = None,
    judged: bool = False,
    reasoning: bool = False,
    scorer_version: str = SCORER_VERSION,
) -> Path:
    """Write a run of about ``samples`` samples, spread over the capabilities, and return its directory.

    Args:
        directory: what ``--output_path`` would name; made if need be.
        seed: which samples are answered right; equal seeds give equal files.
        accuracy: share of right answers.
        variant: "blind" for the tasks with the image withheld.
        limit: the ``--limit`` that the results file declares.
        judged: also write a judge pass (tag ``judge-30b``).
        reasoning: answers come with a long reasoning text that was set aside.
        scorer_version: what the records claim.
    """
    folder = directory / model.replace("/", "__")
    per_capability = max(1, samples // len(capabilities))
    counts = {}
    for capability in capabilities:
        task = "_".join(part for part in ("datbench", variant, capability) if part)
        counts[task] = per_capability
        run = run_fields(model, scorer_version)
        kept = {"seed": seed, "accuracy": accuracy, "reasoning": reasoning}
        for parent in (folder, directory / "judge" / JUDGE_TAG) if judged else (folder,):
            lines = _lines(capability, per_capability, run, judged=parent != folder, **kept)
            write_jsonl(parent / f"{date}_samples_{task}.jsonl", lines)
    results = results_file(counts, model, date, limit)
    write_json(folder / f"{date}_results.json", results)
    if judged:
        write_json(directory / "judge" / JUDGE_TAG / f"{date}_results.json", results)
    return directory


def run_fields(model: str, scorer_version: str = SCORER_VERSION) -> dict[str, Any]:
    """The record's ``run``: the same for all samples of a task."""
    return {
        "dataset": DATASET_ID,
        "revision": REVISION,
        "revision_resolved": REVISION,
        "split": "test",
        "scorer_version": scorer_version,
        "scorers_of": REFERENCE,
        "host": "lmms-eval 0.7.3",
        "reasoning": RULE,
        "model": model,
        "max_new_tokens": MAX_NEW_TOKENS,
    }


def results_file(counts: Mapping[str, int], model: str, date: str, limit: int | None = None) -> dict[str, Any]:
    """What the host writes into ``<date>_results.json``, as far as anybody reads it."""
    generation = {"max_new_tokens": MAX_NEW_TOKENS, "temperature": 0, "do_sample": False, "until": []}
    return {
        "results": {task: {"alias": task, "datbench_score,none": 0.5} for task in counts},
        "configs": {task: {"task": task, "generation_kwargs": generation} for task in counts},
        "versions": dict.fromkeys(counts, "1.0"),
        "n-shot": dict.fromkeys(counts, 0),
        "n-samples": {task: {"original": count, "effective": count} for task, count in counts.items()},
        "config": {
            "model": "vllm", "model_args": f"model={model}", "gen_kwargs": "", "limit": limit, "offset": 0,
            "resolved_cli_args": {"timezone": "Asia/Singapore", "repeats": 1},
        },
        "lmms_eval_version": "0.7.3",
        "date": date,
        "model_source": "vllm",
        "model_name": model,
        "model_name_sanitized": model.replace("/", "__"),
    }  # fmt: skip


def rows(capability: str, count: int) -> Iterator[dict[str, Any]]:
    """Dataset rows without image; three questions share an image (``docId``), every tenth item is circular."""
    templates = TEMPLATES[capability]
    for number in range(count):
        dataset, mode, question, answer, _, _, metadata = templates[number % len(templates)]
        yield {
            "id": f"db_{capability}_{number:06d}",
            "question": question,
            "prompt_format": {"prefix": "", "suffix": "\nAnswer shortly."},
            "answer": answer,
            "all_answers": [answer] * (10 if dataset in ("vqa-v2", "text-vqa") else 1),
            "eval_mode": mode,
            "judge_prompt": RUBRIC if mode == "judge" else "",
            "is_circular": number % 10 == 0,
            "source_info": {"dataset": dataset, "original_idx": str(number)},
            "eval_metrics": {"discrimination": round(number % 17 / 20 - 0.1, 3), "is_frontier": number % 23 == 0},
            "metadata": json.dumps({**metadata, "docId": number // 3}),
        }


def _lines(
    capability: str, count: int, run: Mapping[str, Any], *, judged: bool, seed: int, accuracy: float, reasoning: bool
) -> Iterator[dict[str, Any]]:
    templates = TEMPLATES[capability]
    for doc_id, row in enumerate(rows(capability, count)):
        draw = random.Random(f"{seed} {row['id']}")
        right = draw.random() < accuracy
        kind = 1.0 if right else draw.random()
        output = templates[doc_id % len(templates)][4 if right else 5]
        if kind < 0.02:
            output = ""
        elif kind < 0.04:
            output = "[LMMS_EVAL_REQUEST_FAILED after 3 tries]"
        elif kind < 0.10 and row["eval_mode"] == "direct":
            output = f"I looked closely.\n**{templates[doc_id % len(templates)][4]}**"
        thoughts = f"<think>{'Let us look at the picture. ' * draw.randint(20, 200)}</think>\n"
        raw = thoughts + output if reasoning and output else output
        tokens = MAX_NEW_TOKENS if 0.10 <= kind < 0.15 else 1 + len(raw) // 4
        record = make_record(row, raw, run, doc_id)
        if judged and row["eval_mode"] == "judge":
            record = judged_record(record, "correct" if right else "incorrect" if kind > 0.2 else "unparsed")
        yield {
            "doc_id": doc_id,
            "target": row["answer"],
            "filtered_resps": raw,
            "token_counts": [{"input_tokens": 300, "output_tokens": tokens}],
            "doc_hash": "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b",
            "datbench_score": record.get("score"),
            "datbench_pooled": record.get("score"),
            "datbench_record": record,
            "input": record["question"],
        }


def make_record(row: Mapping[str, Any], raw: str, run: Mapping[str, Any], doc_id: int) -> dict[str, Any]:
    """The record that the hooks would make of a row and an output."""
    sample = read_row(row, doc_id, None)
    return {**build_record(sample, row["id"].split("_")[1], raw, dict(run), sample.prompt), "doc_id": doc_id}


def judged_record(record: dict[str, Any], verdict: str) -> dict[str, Any]:
    """The record with a verdict: correct, incorrect or unparsed."""
    raw = {"correct": "true", "incorrect": "false"}.get(verdict, "cannot say")
    judge = {
        "tag": JUDGE_TAG, "model": JUDGE_MODEL, "prompt_hash": prompt_hash(), "verdict": verdict, "raw": raw,
        "journal_key": "0" * 64,
    }  # fmt: skip
    return apply_verdict(record, judge)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--samples", type=int, default=900)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--accuracy", type=float, default=0.6)
    parser.add_argument("--model", default="acme/vlm-7b")
    parser.add_argument("--variant", default="")
    parser.add_argument("--date", default="20260115_120000")
    parser.add_argument("--judged", action="store_true")
    parser.add_argument("--reasoning", action="store_true")
    make_run(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
