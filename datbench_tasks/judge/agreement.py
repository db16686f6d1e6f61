"""Compare the verdicts of several judges on one run.

For each pair of judge passes and each source dataset: how often they agree, Cohen's kappa with a 95 % interval, how the
accuracy moves from the first judge to the second, and the ids where they differ.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from datbench.jsonio import write_json
from datbench_tasks.errors import DONE, InputError
from datbench_tasks.reporting.intervals import Interval, bootstrap_means, percentile_interval, seed_of
from datbench_tasks.reporting.tables import NOTHING, Table, as_text
from datbench_tasks.run_directory import Run, open_run
from datbench_tasks.run_samples import iter_records, judge_tags

EXAMPLE = "datbench-tasks agreement results/ --out agreement.json"

ALL = "all"
IDS_SHOWN = 10

Verdicts = Mapping[str, tuple[str, str]]
"""Sample id -> (source dataset, verdict)."""


@dataclass(frozen=True)
class Agreement:
    """Two judges on one source dataset (or on all).

    Attributes:
        samples: that both judges were asked about.
        unread: of these, without a readable verdict from at least one; they are left out of agreement and kappa.
        agreement: share of equal verdicts, None if none can be compared.
        kappa: Cohen's, in [-1, 1]; None where both judges always say the same one thing.
        kappa_interval: 95 %, percentile bootstrap over samples.
        accuracy: of the judge samples by the first and by the second, no verdict counting as wrong.
        differing: ids with different verdicts, unread ones included, sorted.
    """

    first: str
    second: str
    dataset: str
    samples: int
    unread: int
    agreement: float | None
    kappa: float | None
    kappa_interval: Interval | None
    accuracy: tuple[float, float]
    differing: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument("run", metavar="RUN", type=Path, help="the run directory, judged under several tags")
    parser.add_argument("--tags", nargs="+", metavar="TAG", help="judge passes to compare (default: all)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write everything, all ids included, as JSON")
    parser.add_argument("--date", help="of the run, where it holds several")
    parser.add_argument("--run-model", metavar="NAME", help="the model whose run it is, where it holds several")


def run(args: argparse.Namespace) -> int:
    """Print a table for each pair; write JSON when asked."""
    opened = open_run(args.run, date=args.date, model=args.run_model)
    tags = tuple(args.tags or judge_tags(opened))
    if len(tags) < 2:
        raise InputError(f"{args.run}: {len(tags)} judge pass; judge it twice, with --tag A and --tag B")
    verdicts = {tag: read_verdicts(opened, tag) for tag in tags}
    pairs = [compare(first, verdicts[first], second, verdicts[second]) for first, second in combinations(tags, 2)]
    print(as_text(map(_table, pairs), ["kappa: Cohen's, with a 95 % bootstrap interval"]), end="")
    for rows in pairs:
        for row in rows[:-1]:
            if row.differing:
                more = f" and {len(row.differing) - IDS_SHOWN:,} more" if len(row.differing) > IDS_SHOWN else ""
                print(
                    f"{row.first} / {row.second} differ in {row.dataset}: {', '.join(row.differing[:IDS_SHOWN])}{more}"
                )
    if args.out:
        write_json(args.out, {"schema": 1, "pairs": [asdict(row) for rows in pairs for row in rows]})
    return DONE


def read_verdicts(opened: Run, tag: str) -> dict[str, tuple[str, str]]:
    """The verdicts of one judge pass; a sample that it was not asked about is missing."""
    found = {}
    for _, sample in iter_records(opened, tag):
        record = sample.record
        if record.get("eval_mode") == "judge":
            verdict = (record.get("judge") or {}).get("verdict", "missing")
            found[record["id"]] = (record.get("dataset") or "", verdict)
    return found


def compare(first: str, verdicts: Verdicts, second: str, others: Verdicts) -> list[Agreement]:
    """One row a source dataset, in alphabetical order, then one for all of them."""
    both = sorted(verdicts.keys() & others.keys())
    datasets = sorted({verdicts[sample_id][0] for sample_id in both})
    groups = [(name, [sample_id for sample_id in both if verdicts[sample_id][0] == name]) for name in datasets]
    return [
        agreement((first, second), name, {i: (verdicts[i][1], others[i][1]) for i in ids})
        for name, ids in [*groups, (ALL, both)]
    ]


def agreement(tags: tuple[str, str], dataset: str, verdicts: Mapping[str, tuple[str, str]]) -> Agreement:
    """Agreement of two judges, given the pair of their verdicts for each sample id."""
    pairs = list(verdicts.values())
    right = np.array([[verdict == "correct" for verdict in pair] for pair in pairs], dtype=float).reshape(-1, 2)
    readable = [set(pair) <= {"correct", "incorrect"} for pair in pairs]
    first, second = right[readable].T
    known = len(first) > 0
    kappa = float(_kappa((first == second).mean(), first.mean(), second.mean())) if known else np.nan
    defined = bool(np.isfinite(kappa))
    return Agreement(
        *tags,
        dataset,
        samples=len(pairs),
        unread=len(pairs) - len(first),
        agreement=float((first == second).mean()) if known else None,
        kappa=kappa if defined else None,
        kappa_interval=_kappa_interval(first, second, seed_of(*tags, dataset)) if defined else None,
        accuracy=(float(right[:, 0].mean()), float(right[:, 1].mean())) if pairs else (0.0, 0.0),
        differing=tuple(sample_id for sample_id, (mine, other) in verdicts.items() if mine != other),
    )


def _kappa_interval(a: np.ndarray, b: np.ndarray, seed: int) -> Interval | None:
    """Equal seeds draw the same samples, so the three means of a resample belong together."""
    means = [bootstrap_means(values.tolist(), None, seed) for values in ((a == b).astype(float), a, b)]
    kappas = _kappa(*means)
    defined = kappas[np.isfinite(kappas)]
    return percentile_interval(defined) if len(defined) else None


def _kappa(observed: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Cohen's kappa of two binary raters, from the share of equal verdicts and each one's share of "correct"."""
    expected = first * second + (1 - first) * (1 - second)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (observed - expected) / np.where(expected < 1, 1 - expected, np.nan)


def _table(rows: Sequence[Agreement]) -> Table:
    columns = ("source dataset", "samples", "unread", "agreement", "kappa", "95 %", "accuracy", "moves by", "differ")
    cells = [_cells(row) for row in rows]
    title = f"{rows[0].first} against {rows[0].second}"
    return Table(title, columns, tuple(cells[:-1]), (cells[-1],))


def _cells(row: Agreement) -> tuple[str, ...]:
    before, after = row.accuracy
    interval = row.kappa_interval
    return (
        row.dataset,
        f"{row.samples:,}",
        f"{row.unread:,}",
        NOTHING if row.agreement is None else f"{row.agreement:.1%}",
        NOTHING if row.kappa is None else f"{row.kappa:.3f}",
        NOTHING if interval is None else f"{interval.low:.3f} to {interval.high:.3f}",
        f"{before:.1%} to {after:.1%}",
        f"{100 * (after - before):+.1f}",
        f"{len(row.differing):,}",
    )
