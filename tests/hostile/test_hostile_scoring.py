"""Every attack through every scorer, the verdict parser and the judge's prompt: an answer each time, and no effect."""

from __future__ import annotations

import json
import math
import re
import warnings
from typing import Any

import pytest
from support.hang_guard import no_longer_than
from support.hostile import HOSTILE
from support.hostile_corpus import ALL_TEXTS, TEXTS, VALUES, nothing_written_outside
from support.vectors import dataset_names, one_case_a_rule

from datbench import DatBenchEvaluator, VLMResponse, parse_judge_verdict
from datbench.samples import read_row
from datbench.verdicts import ANSWER_INSTRUCTION
from datbench_tasks.judge.requests import build_messages, build_prompt
from datbench_tasks.reasoning import set_reasoning_aside
from datbench_tasks.records import apply_verdict, build_record

SECONDS = 120
"""A guard against hangs, far above what is needed."""


@pytest.mark.parametrize("name", dataset_names())
def test_every_text_gets_a_record(name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cases = one_case_a_rule(name)
    with warnings.catch_warnings(), no_longer_than(SECONDS), nothing_written_outside(tmp_path):
        warnings.simplefilter("ignore")
        for number, text in enumerate(ALL_TEXTS):
            row = cases[number % len(cases)]["row"]
            record = build_record(read_row(row, 0, None), "math", text, {}, row["question"])
            assert record["id"] == row["id"]
            assert "scorer_error" not in record["flags"], (text, record["score_details"])
            if not record["pending"]:
                assert math.isfinite(record["score"]) and 0 <= record["score"] <= 1


@pytest.mark.parametrize("name", dataset_names())
def test_rows_with_hostile_values_are_refused_or_scored(name: str) -> None:
    row = one_case_a_rule(name)[0]["row"]
    metadata = row["metadata"] if isinstance(row.get("metadata"), dict) else json.loads(row.get("metadata") or "{}")
    places = [("answer",), ("all_answers",), ("question",), ("metadata",)] + [("metadata", key) for key in metadata]
    with warnings.catch_warnings(), no_longer_than(SECONDS):
        warnings.simplefilter("ignore")
        for place in places:
            for value in _readable_values():
                changed = (
                    row | {"metadata": metadata | {place[-1]: value}} if len(place) > 1 else row | {place[0]: value}
                )
                try:
                    evaluator = DatBenchEvaluator([changed], "")
                except ValueError:
                    continue
                report = evaluator.compute_metrics([VLMResponse(changed["id"], "[1, 2, 3, 4]")])
                json.loads(report.to_json())
                assert all(0 <= result.score <= 1 for result in report.results), (place, str(value)[:50])


def _readable_values() -> list[Any]:
    """Those that a typed column of a dataset can hold."""
    values = []
    for text in (VALUES[name] for name in VALUES if "deep" not in name or name == "nested 100 deep"):
        try:
            values.append(json.loads(text))
        except (ValueError, RecursionError):
            continue
    return values


@pytest.mark.parametrize("kind", TEXTS)
def test_verdicts_are_read_from_anything(kind: str) -> None:
    for text in TEXTS[kind]:
        for verdict, raw in ((None, text), (text, ""), (text, text), (None, text * 1000)):
            assert parse_judge_verdict(verdict, raw) in (True, False, None)


def test_verdicts_of_long_texts_are_read_in_bounded_time() -> None:
    with no_longer_than(SECONDS):
        for text in HOSTILE.values():
            assert parse_judge_verdict(None, text) in (True, False, None)
            set_reasoning_aside(text)


@pytest.mark.parametrize("verdict", [None, 1, [], {}, b"true", "x", True])
def test_a_verdict_of_any_type_is_read(verdict: Any) -> None:
    assert parse_judge_verdict(verdict, verdict) is None


@pytest.mark.parametrize("kind", TEXTS)
def test_a_candidate_stays_between_its_marks(kind: str) -> None:
    for text in TEXTS[kind]:
        _check_fence(build_prompt("Rubric.", "Question?", ["gold"], text), text)
        _check_fence(build_prompt("{question} {correct_answer} {model_answer}", "q", ["gold"], text), text)


def test_long_candidates_stay_between_their_marks() -> None:
    with no_longer_than(SECONDS):
        for text in HOSTILE.values():
            prompt = build_prompt("Rubric.", "Question?", ["gold"], text)
            _check_fence(prompt, text)
            assert len(prompt) < 12_000


def _check_fence(prompt: str, text: str) -> None:
    prompt.encode("utf-8")
    marks = re.findall(r"<<<(END )?CANDIDATE ([0-9a-f]{32})>>>", prompt)
    assert [end for end, _ in marks] == ["", "END "], text
    assert marks[0][1] == marks[1][1]
    closing = prompt.rindex("<<<END CANDIDATE")
    assert prompt.endswith(ANSWER_INSTRUCTION) and closing < len(prompt) - len(ANSWER_INSTRUCTION)


@pytest.mark.parametrize("kind", TEXTS)
def test_rubrics_questions_and_references_of_any_text_make_a_prompt(kind: str) -> None:
    for text in TEXTS[kind]:
        record = {"judge_prompt": text, "question": text, "answer": text, "all_answers": [text, text], "output": "42"}
        (message,) = build_messages(record)
        message["content"].encode("utf-8")
        assert message["content"].endswith(ANSWER_INSTRUCTION)
        assert "\n42\n<<<END" in message["content"]


def test_any_judge_output_can_be_applied() -> None:
    record = {"id": "x", "pending": True, "eval_mode": "judge", "flags": []}
    for text in ALL_TEXTS:
        judged = apply_verdict(record, {"verdict": "unparsed", "raw": text})
        assert judged["score"] == 0.0 and judged["pending"] is False
