"""Samples of a bundle, scored again from their raw outputs: by their own fields, or by the dataset's rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from datbench.reformatting import score_if_reformatted
from datbench.sample_scoring import CORRECT_FROM, score_fields
from datbench.samples import read_row
from datbench.verdicts import parse_judge_verdict
from datbench_tasks.judge.answers import without_reasoning
from datbench_tasks.records import apply_verdict, build_record, record_fields
from datbench_tasks.reporting.bundle import PUBLIC_DETAILS, Line

Rows = Mapping[str, Mapping[str, Any]]
"""Dataset rows by id, without images."""

WORDS = {True: "correct", False: "incorrect", None: "unparsed"}


def rescore(
    lines: Iterable[Line], run: Mapping[str, Any], rows: Rows | None, differs: Callable[[str], None]
) -> Iterator[Line]:
    """Lines with every derived value computed again; a line that cannot be is told and left out.

    Args:
        lines: of one capability.
        run: what is the same for all of them.
        rows: of the dataset; None: work from the fields in the lines.
        differs: called with a text for each value that is not as recorded.
    """
    for line in lines:
        try:
            fresh = _judged(line, _from_fields(line, run) if rows is None else _from_row(line, run, rows))
        except Exception as fault:  # a line made up by a stranger may fail in any way
            differs(f"{line['id']}: cannot be scored again ({type(fault).__name__}: {fault})")
            continue
        for key in _differing(line, fresh):
            differs(f"{line['id']}: {key} is {_short(line.get(key))}, computed {_short(fresh.get(key))}")
        yield {**{key: fresh[key] for key in line if key in fresh}, **fresh}


def _raw(line: Line) -> str:
    return str(line["output"] if line.get("raw_output") is None else line["raw_output"])


def _from_fields(line: Line, run: Mapping[str, Any]) -> Line:
    """The line with output, score, details and verdict derived again from its own raw output and fields."""
    fresh: Line = line | _read_output(line, run)
    if line["eval_mode"] == "judge":
        return fresh
    dataset, fields, output = line["dataset"], record_fields(line), fresh["output"]

    def score(text: str) -> float:
        return float(score_fields(dataset, fields, text)[0]["score"])

    details, _ = score_fields(dataset, fields, output)
    fresh |= {
        "score": float(details["score"]),
        "is_correct": details["score"] >= CORRECT_FROM,
        "score_details": details,
        "score_if_reformatted": score_if_reformatted(score, output, float(details["score"])),
    }
    if fresh["score_if_reformatted"] > fresh["score"]:
        fresh["flags"].append("lost_to_formatting")
    return fresh


def _read_output(line: Line, run: Mapping[str, Any]) -> Line:
    """The text that is scored, and its flags, as the hooks make them of a raw output; a judge sample is not scored."""
    unscored = read_row({"id": line["id"], "question": "", "answer": "", "eval_mode": "judge"}, 0, None)
    record = build_record(unscored, line["capability"], _raw(line), dict(run), "")
    return {"output": record["output"], "flags": record["flags"]}


def _from_row(line: Line, run: Mapping[str, Any], rows: Rows) -> Line:
    """The line as the hooks would make it of the dataset's row and the raw output."""
    if line["id"] not in rows:
        raise ValueError("not in the dataset")
    sample = read_row(rows[line["id"]], 0, None)
    if sample.prompt not in line["question"]:
        raise ValueError("the question is not that of the dataset")
    record = build_record(sample, line["capability"], _raw(line), dict(run), line["question"])
    del record["run"]
    extras = ("doc_id", "task", "output_tokens", "image", "judge")
    return {**record, **{key: line[key] for key in extras if key in line}}


def _judged(line: Line, fresh: Line) -> Line:
    """The verdict, read again from the judge's answer."""
    if line["eval_mode"] != "judge":
        return fresh
    judge = line["judge"]
    verdict = WORDS[parse_judge_verdict(None, without_reasoning(judge.get("raw") or ""))]
    return apply_verdict(fresh, {**judge, "verdict": verdict})


def _differing(line: Line, fresh: Line) -> list[str]:
    """Keys whose values differ; a line without gold has fewer keys and fewer details."""
    details = line.get("score_details") or {}
    found = [key for key in line if key != "score_details" and (key not in fresh or line[key] != fresh[key])]
    if {key: value for key, value in (fresh.get("score_details") or {}).items() if key in details} != details:
        found.append("score_details")
    absent = [key for key in PUBLIC_DETAILS if key in fresh["score_details"] and key not in details]
    return found + [f"score_details.{key}" for key in absent]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
