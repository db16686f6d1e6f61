"""Score a table of questions and answers by one of six evaluation types.

Reads JSON Lines, JSON, CSV or parquet row by row, without guessing types; writes the rows with the columns
eval_valid, eval_error, eval_pred and eval_score, and the statistics beside them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

from tqdm import tqdm

from datbench import jsonio
from datbench.unified import local_model
from datbench.unified.batches import make_batch_scorer
from datbench.unified.cells import cell_value
from datbench.unified.eval_types import (
    EVAL_TYPES,
    LIKELIHOOD_METRICS,
    OUTPUTS,
    SEMANTIC_JUDGE,
    default_metric,
    key_name,
)
from datbench.unified.formula import MathVerifyError
from datbench.unified.likelihood import ModelSource
from datbench.unified.likelihood_rows import Likelihoods
from datbench.unified.rows import ROW_SCORERS
from datbench.unified.rules import rules_for
from datbench.unified.statistics import Totals, statistics
from datbench.unified.tables import Record, TableError, check_ending, write_records
from datbench_tasks.errors import DONE, INCOMPLETE, InputError, UsageError
from datbench_tasks.judge.journal import Journal
from datbench_tasks.judge.options import add_server_arguments, endpoints_from, limits_from, prices_from
from datbench_tasks.unified.chunks import ChunkScorer, RuleScorer, Scored, score_chunks
from datbench_tasks.unified.joined import Join, Rows
from datbench_tasks.unified.judging import JudgeScorer, journal_path
from datbench_tasks.unified.options import ROLES, add_rule_arguments, check_rules, label_base

EXAMPLE = (
    "datbench-tasks unified bench.jsonl --eval-type key2_qa --question question --target golden_answer "
    "--pred generated_ans --out result.jsonl"
)

_JUDGE_MAX_TOKENS = 256


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument("bench", type=Path, metavar="BENCH", help="the table: .jsonl, .json, .csv or .parquet")
    parser.add_argument("--eval-type", required=True, choices=list(EVAL_TYPES))
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the scored rows go")
    parser.add_argument("--statistics", type=Path, metavar="FILE", help="default: OUT with the ending .statistics.json")
    columns = parser.add_argument_group("columns")
    for role in ROLES:
        columns.add_argument(f"--{role}", metavar="COLUMN", help=f"column of the {role}")
    columns.add_argument("--pred", metavar="COLUMN", default="generated_ans", help="default: generated_ans")
    columns.add_argument("--pred-file", type=Path, metavar="FILE", help="table that holds the predictions")
    columns.add_argument("--id", metavar="COLUMN", help="column that joins the rows of both tables")
    rules = parser.add_argument_group("rules")
    rules.add_argument("--metric", help="default: the one of the evaluation type")
    add_rule_arguments(rules)
    rules.add_argument("--local-model", metavar="MODEL", help="folder, .gguf file or hub name, for log-likelihoods")
    parser.add_argument("--workers", type=_positive, default=os.cpu_count() or 1, help="default: all cores")
    add_server_arguments(parser)
    parser.set_defaults(max_tokens=_JUDGE_MAX_TOKENS)


def run(args: argparse.Namespace) -> int:
    """Score the table; the exit status is 3 when the judge left rows without an answer."""
    _check(args)
    columns = _columns(args)
    with ExitStack() as stack:
        join = Join(args.pred_file, args.id, args.pred) if args.pred_file else None
        rows = stack.enter_context(Rows(args.bench, join))
        _check_columns(rows, columns, args.bench)
        score, workers, judge = _scorer(args, columns, rows, stack)
        totals, hits = Totals(), 0

        def scored_rows() -> Iterator[Record]:
            nonlocal hits
            with tqdm(unit=" rows", disable=not sys.stderr.isatty()) as bar:
                for chunk in score_chunks(rows, score, workers):
                    totals.add(chunk.outcomes)
                    hits += chunk.limit_hits
                    bar.update(len(chunk.rows))
                    yield from _with_outcomes(chunk)

        try:
            write_records(args.out, scored_rows())
        except TableError as fault:
            raise UsageError(str(fault)) from fault
        _report(args, totals, hits, rows)
        return INCOMPLETE if judge and judge.unanswered else DONE


def _scorer(
    args: argparse.Namespace, columns: dict[str, str], rows: Rows, stack: ExitStack
) -> tuple[ChunkScorer, int, JudgeScorer | None]:
    """Who scores the chunks, in how many processes, and the judge if there is one."""
    base = label_base(args, columns, rows)
    if _judged(args):
        endpoints = endpoints_from(args)
        journal = stack.enter_context(Journal(journal_path(args.out, endpoints.model)))
        judge = JudgeScorer(endpoints, limits_from(args), columns, rules_for(args.strict), journal)
        asked = judge.ask(rows)
        if asked.requests:
            print(asked.describe(prices_from(args)), file=sys.stderr)
        return judge, 1, judge
    if args.local_model:
        return _ModelScorer(args, columns, base), 1, None
    if args.eval_type == "key3_q_choices_a":
        print("single choices are read from the generated text, not from log-likelihoods", file=sys.stderr)
    keys = {key_name(role): name for role, name in columns.items()}
    try:
        scorer = make_batch_scorer(
            eval_type=args.eval_type, keys=keys, strict=args.strict, label_base=base, metric_type=args.metric
        )
    except MathVerifyError as fault:
        raise UsageError(str(fault)) from fault
    return RuleScorer(scorer), args.workers, None


class _ModelScorer:
    """Rows by the log-likelihoods of a model on this machine, loaded at once: UsageError where that fails."""

    def __init__(self, args: argparse.Namespace, columns: dict[str, str], base: int | None) -> None:
        self.hf_model_name_or_path = args.local_model
        try:
            local_model.load(ModelSource(args.local_model))
        except ModuleNotFoundError as fault:
            raise UsageError(str(fault)) from fault
        except Exception as fault:
            raise UsageError(f"--local-model {args.local_model} cannot be loaded: {fault}") from fault
        self._columns = columns
        likelihoods = Likelihoods(self, None, rules_for(args.strict, base, args.metric))
        self._score = {
            "key1_text_score": likelihoods.texts,
            "key3_q_choices_a": lambda rows: likelihoods.choices(rows, _metric(args)),
            "key3_q_a_rejected": likelihoods.preferences,
        }[args.eval_type]

    def __call__(self, rows: list[Record]) -> Scored:
        cells = [{role: cell_value(row.get(name)) for role, name in self._columns.items()} for row in rows]
        return Scored(rows, self._score(cells))


def _check(args: argparse.Namespace) -> None:
    """Refuse what cannot be, before anything is read or paid for."""
    try:
        check_ending(args.out)
    except TableError as fault:
        raise UsageError(f"--out {fault}") from fault
    by_model = args.eval_type not in ROW_SCORERS
    if by_model and not args.local_model:
        raise UsageError(f"{args.eval_type} is scored by log-likelihoods: give --local-model MODEL")
    if args.local_model and args.eval_type in ("key2_qa", "key2_q_ma", "key3_q_choices_as"):
        raise UsageError(f"{args.eval_type} takes no --local-model")
    if args.local_model and args.eval_type == "key3_q_choices_a" and _metric(args) not in LIKELIHOOD_METRICS:
        raise UsageError(f"with --local-model --metric is {' or '.join(LIKELIHOOD_METRICS)}, not {args.metric}")
    if args.judge_model and args.eval_type != "key2_qa":
        raise UsageError(f"only key2_qa can be judged, not {args.eval_type}")
    if (_judged(args) or args.judge_base_url) and not (args.judge_model and args.judge_base_url):
        raise UsageError("a judge needs both --judge-model NAME and --judge-base-url URL")
    check_rules(args)
    if bool(args.pred_file) != bool(args.id):
        raise UsageError("--pred-file FILE and --id COLUMN go together")


def _metric(args: argparse.Namespace) -> str:
    return str(args.metric or default_metric(args.eval_type, use_semantic_judge=bool(args.judge_model)))


def _judged(args: argparse.Namespace) -> bool:
    return args.eval_type == "key2_qa" and _metric(args) == SEMANTIC_JUDGE


def _columns(args: argparse.Namespace) -> dict[str, str]:
    """Column names by role; every role that the type reads must be named."""
    needed = [*EVAL_TYPES[args.eval_type].roles]
    if args.eval_type == "key3_q_choices_a" and not args.local_model:
        needed.append("pred")
    absent = [role for role in needed if not getattr(args, role)]
    if absent:
        raise UsageError(f"{args.eval_type} needs {' '.join(f'--{role} COLUMN' for role in absent)}")
    return {role: getattr(args, role) for role in (*needed, *(["context"] if args.context else []))}


def _check_columns(rows: Rows, columns: dict[str, str], path: Path) -> None:
    first = next(iter(rows), None)
    absent = [name for name in columns.values() if first is not None and name not in first]
    if absent:
        known = ", ".join(first or ())
        raise InputError(f"{path}: row 1 has no column {', '.join(map(repr, absent))}; it has {known}")


def _with_outcomes(chunk: Scored) -> Iterator[Record]:
    for row, outcome in zip(chunk.rows, chunk.outcomes, strict=True):
        score = outcome.score if outcome.valid else None
        yield {**row, **dict(zip(OUTPUTS, (*outcome[:3], score), strict=True))}


def _report(args: argparse.Namespace, totals: Totals, hits: int, rows: Rows) -> None:
    rules = rules_for(args.strict, args.label_base, args.metric)
    result: dict[str, Any] = statistics(
        totals,
        eval_type=args.eval_type,
        metric=_metric(args),
        prefix=args.bench.stem,
        strict=args.strict,
        set_score=rules.set_score,
    )
    jsonio.write_json(args.statistics or args.out.with_suffix(".statistics.json"), [result])
    why = ', which is all; the number 1 is not the text "1"' if rows.unmatched == totals.total else ""
    lines = chain(
        (f"{name}: {value}" for name, value in result.items() if name != "invalid_by_error"),
        (f"invalid, {error}: {count:,}" for error, count in sorted(totals.errors.items())),
        [f"formula comparisons at their limit, counted as no match: {hits:,}"] * bool(hits),
        [f"rows without a partner in {args.pred_file}: {rows.unmatched:,}{why}"] * bool(rows.unmatched),
    )
    print("\n".join(lines))


def _positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return int(text)
