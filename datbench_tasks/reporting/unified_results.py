"""Results of the unified evaluator as a report: scored rows (``eval_valid``, ``eval_score``) and their statistics."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from datbench.unified.tables import read_records
from datbench.version import __version__
from datbench_tasks.errors import InputError
from datbench_tasks.reporting.completeness import Problem
from datbench_tasks.reporting.figures import DatasetFigures, mean
from datbench_tasks.reporting.gathering import Gathered
from datbench_tasks.reporting.official import VERDICT_COUNTS
from datbench_tasks.reporting.outcomes import Outcome
from datbench_tasks.reporting.report import Report, assemble

COLUMNS = ("eval_valid", "eval_error", "eval_score")
PERPLEXITY = "key1_text_score"
ERRORS = "invalid_by_error"
"""The one object among the statistics."""


def load_unified(paths: Sequence[Path]) -> Report:
    """Read scored tables, one benchmark each; invalid rows are left out of the accuracy and named as problems.

    Rows are paired by their column ``id``, else by position.

    Raises:
        InputError: not scored by the unified evaluator, unreadable, perplexities, which are no accuracy, or two tables
            of one benchmark.
    """
    groups: dict[str, Gathered] = {}
    for path in paths:
        found = _gather(path)
        if found.capability in groups:
            raise InputError(f"{path}: a second table of {found.capability}; compare them with datbench-tasks compare")
        groups[found.capability] = found
    report = assemble(", ".join(path.stem for path in paths), [groups[name] for name in sorted(groups)])
    return replace(report, directories=tuple(map(str, paths)), origins=tuple(map(str, paths)))


def statistics_file(path: Path) -> Path:
    """Where the statistics of a scored table lie unless the user said otherwise."""
    return path.with_suffix(".statistics.json")


def _gather(path: Path) -> Gathered:
    statistics = _statistics(path)
    if statistics.get("type") == PERPLEXITY:
        raise InputError(f"{path}: perplexities are no accuracy; their mean is in {statistics_file(path)}")
    name = str(statistics.get("bench_name_or_prefix") or path.stem)
    valid: list[Outcome] = []
    invalid: dict[str, list[str]] = {}
    for number, row in enumerate(_rows(path)):
        row_id = str(row["id"]) if row.get("id") is not None else f"row {number:08d}"
        if str(row["eval_valid"]).lower() == "true":
            valid.append(_outcome(row_id, name, _score(path, number, row)))
        else:
            invalid.setdefault(str(row.get("eval_error") or "invalid"), []).append(row_id)
    if not valid:
        raise InputError(f"{path}: no valid row")
    valid.sort(key=lambda outcome: outcome.id)
    _check_ids(path, valid)
    accuracy = mean([outcome.counted_score for outcome in valid])
    return Gathered(
        capability=name,
        outcomes=tuple(valid),
        summary={
            "capability_accuracy": {name: accuracy},
            "capability_counts": {name: len(valid)},
            "dataset_metrics": {name: statistics},
            **dict.fromkeys(VERDICT_COUNTS, 0),
        },
        datasets=(DatasetFigures(name, len(valid) + sum(map(len, invalid.values())), statistics),),
        settings=((name, _settings(statistics)),),
        run={},
        judges=frozenset(),
        problems=tuple(
            Problem("invalid", name, len(ids), tuple(ids), f"{name}: {len(ids):,} invalid rows, {error} ({ids[0]})")
            for error, ids in sorted(invalid.items())
        ),
    )


def _score(path: Path, number: int, row: Mapping[str, Any]) -> float:
    try:
        score = float(row["eval_score"])
    except (OverflowError, TypeError, ValueError):
        score = math.nan
    if not 0 <= score <= 1:
        raise InputError(
            f"{path}, row {number + 1}: eval_score is {row['eval_score']!r}, must be a number from 0 to 1; "
            "score the table again with datbench-tasks unified"
        )
    return score


def _outcome(row_id: str, name: str, score: float) -> Outcome:
    return Outcome(
        id=row_id, capability=name, dataset=name, judge=False, score=score, verdict="", flags=frozenset(),
        truncated=None, output_tokens=None, reformatted=score, discrimination=None, frontier=None, circular=False,
        original_idx="", cluster=None, lines=1,
    )  # fmt: skip


def _settings(statistics: dict[str, Any]) -> dict[str, Any]:
    return {
        "scorer_version": f"unified {__version__}",
        "dataset": None,  # each benchmark stands among the capabilities
        "split": None,
        "variant": "unified",
        "reasoning": None,
        "host": None,
        "model": None,
        "revision": None,
        "generation": {key: statistics[key] for key in ("type", "metric", "strict") if key in statistics},
        "limit": None,
    }


def _rows(path: Path) -> Any:
    try:
        for row in read_records(path):
            lacking = [column for column in COLUMNS if column not in row]
            if lacking:
                raise InputError(f"{path}: no column {lacking[0]}; score it with datbench-tasks unified")
            yield row
    except (OSError, ValueError) as fault:
        raise InputError(f"{fault}; of a run of lmms-eval name the directory, not a file in it") from fault


def _statistics(path: Path) -> dict[str, Any]:
    """The statistics beside a table: an array of one object; {} where there is no such file."""
    beside = statistics_file(path)
    if not beside.is_file():
        return {}
    try:
        (content,) = json.loads(beside.read_bytes())
        nested = [key for key, value in dict(content).items() if isinstance(value, (list, dict)) and key != ERRORS]
        if nested:
            raise TypeError(f"{nested[0]} is of type {type(content[nested[0]]).__name__}")
        return dict(content)
    except (ValueError, TypeError, RecursionError) as fault:
        raise InputError(f"{beside}: not the statistics of the unified evaluator ({fault})") from fault


def _check_ids(path: Path, outcomes: Sequence[Outcome]) -> None:
    repeated = [row_id for row_id, count in Counter(outcome.id for outcome in outcomes).items() if count > 1]
    if repeated:
        raise InputError(f"{path}: id {repeated[0]} stands in several rows")
