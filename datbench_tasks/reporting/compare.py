"""Compare two runs sample by sample, or tabulate more than two.

Differences are first minus second, over the samples that neither run left pending. With a blind run as one side (tasks
datbench_blind_*) they are the vision delta: accuracy with the image minus accuracy without it. RUN twice means its
sighted against its blind tasks.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from datbench.jsonio import dumps
from datbench_tasks.errors import DONE, InputError, UsageError
from datbench_tasks.reporting.capability_chart import percent, signed
from datbench_tasks.reporting.command import add_reading_arguments
from datbench_tasks.reporting.pairing import Comparison, Difference, compare_reports, doubts
from datbench_tasks.reporting.report import Report, interval_note, load_report
from datbench_tasks.reporting.report_tables import MACRO, POOLED, rate
from datbench_tasks.reporting.tables import NOTHING, WRITERS, Table, as_csv

EXAMPLE = "datbench-tasks compare runs/qwen runs/intern"
SHOWN_FLIPS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``compare``."""
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="two or more")
    add_reading_arguments(parser)
    parser.add_argument(
        "--format", choices=[*WRITERS, "csv", "json"], default="text",
        help="of what is printed; json names every flipped sample",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="compare although the signatures say otherwise")


def run(args: argparse.Namespace) -> int:
    """Print the comparison."""
    if len(args.runs) < 2:
        raise UsageError("compare needs two runs or more")
    reports = _load(args)
    found = _all_doubts(reports)
    if found and not args.force:
        raise InputError(f"these numbers are not comparable: {'; '.join(found)}. --force compares them all the same")
    warnings = [f"! not comparable: {text}" for text in found]
    if len(reports) > 2:
        print(_render_models(reports, warnings, args.format), end="")
    else:
        print(_render(compare_reports(*reports), warnings, args.format), end="")
    return DONE


def _load(args: argparse.Namespace) -> list[Report]:
    both_kinds = len(args.runs) == 2 and args.runs[0].resolve() == args.runs[1].resolve()
    variants = [None, "blind"] if both_kinds else [None] * len(args.runs)
    return [
        load_report(path, model=args.run_model, judge=args.judge, variant=kind, dataset=args.dataset, progress=True)
        for path, kind in zip(args.runs, variants, strict=True)
    ]


def _all_doubts(reports: Sequence[Report]) -> list[str]:
    """What speaks against comparing the first report with each of the others, which are named if they are several."""
    first, *others = reports
    _, *labels = _labels(reports)
    return [
        text if len(others) == 1 else f"{label}: {text}"
        for label, other in zip(labels, others, strict=True)
        for text in doubts(first, other)
    ]


def _render(comparison: Comparison, warnings: Sequence[str], form: str) -> str:
    warnings = [*warnings, *_left_out(comparison)]
    if form == "csv":
        return as_csv([_values(comparison, found) for found in _all(comparison)])
    if form == "json":
        content = {
            "vision_delta": comparison.vision_delta,
            "first": {"model": comparison.first.model, "signature": comparison.first.signature_line},
            "second": {"model": comparison.second.model, "signature": comparison.second.signature_line},
            "differences": [asdict(found) for found in _all(comparison)],
            "warnings": warnings,
        }
        return dumps(content, indent=2) + "\n"
    notes = [*warnings, *_flip_notes(comparison), *_method_notes(comparison)]
    return WRITERS[form]([_table(comparison)], notes)


def _left_out(comparison: Comparison) -> list[str]:
    """The capabilities that the averages of the comparison lack."""
    compared = {found.name for found in comparison.capabilities}
    runs = (comparison.first, comparison.second)
    names = sorted({group.name for report in runs for group in report.capabilities} - compared)
    return [f"! not compared and not in the averages: {', '.join(names)}, without a pair of samples"] if names else []


def _all(comparison: Comparison) -> tuple[Difference, ...]:
    return (*comparison.capabilities, comparison.macro, comparison.pooled)


def _table(comparison: Comparison) -> Table:
    (first, _), (second, _) = sides = _sides(comparison)
    title = ", ".join(f"{side} = {report.model} ({', '.join(report.directories)})" for side, report in sides)
    columns = (
        "capability", first, second, f"{first} − {second}", "95 % interval", "p", "p (Holm)", "test",
        f"only {first} right", f"only {second} right", "pairs", "unpaired",
    )  # fmt: skip
    return Table(
        f"{'Vision delta' if comparison.vision_delta else 'Accuracy'} in per cent: {title}",
        columns,
        tuple(_row(found) for found in comparison.capabilities),
        (_row(comparison.macro), _row(comparison.pooled)),
    )


def _row(found: Difference) -> tuple[str, ...]:
    flips = found.corrected is not None
    return (
        found.name,
        percent(found.first),
        percent(found.second),
        signed(found.difference),
        f"{signed(found.interval.low)} to {signed(found.interval.high)}",
        _p(found.p_value),
        NOTHING if found.corrected is None else _p(found.corrected),
        found.test,
        f"{len(found.only_first):,}" if flips else NOTHING,
        f"{len(found.only_second):,}" if flips else NOTHING,
        f"{found.pairs:,}",
        f"{found.unpaired:,}" if found.unpaired else NOTHING,
    )


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _flip_notes(comparison: Comparison) -> list[str]:
    (first, _), (second, _) = _sides(comparison)
    notes = []
    for found in comparison.capabilities:
        flips = [
            f"only {side} right: {', '.join(ids[:SHOWN_FLIPS])}{', ...' if len(ids) > SHOWN_FLIPS else ''}"
            for side, ids in ((first, found.only_first), (second, found.only_second))
            if ids
        ]
        notes += [f"{found.name}: {'; '.join(flips)}"] if flips else []
    return notes


def _method_notes(comparison: Comparison) -> list[str]:
    return [
        interval_note(comparison.first.capabilities, "paired bootstrap resamples"),
        "p: exact McNemar, sample by sample, where all scores are 0 or 1, else by the same resamples; Holm over the "
        "capabilities compared",
        "pairs: samples pending in neither run, an unreadable verdict counting 0; --format json names all that flipped",
        *(f"signature of {side}: {report.signature_line}" for side, report in _sides(comparison)),
    ]


def _sides(comparison: Comparison) -> list[tuple[str, Report]]:
    names = ("sighted", "blind") if comparison.vision_delta else ("A", "B")
    return list(zip(names, (comparison.first, comparison.second), strict=True))


def _values(comparison: Comparison, found: Difference) -> dict[str, Any]:
    values = asdict(found) | {"interval_low": found.interval.low, "interval_high": found.interval.high}
    values |= {"only_first": len(found.only_first), "only_second": len(found.only_second)}
    del values["interval"]
    signatures = {f"signature_{side}": report.signature_line for side, report in _sides(comparison)}
    return values | signatures


def _render_models(reports: Sequence[Report], warnings: Sequence[str], form: str) -> str:
    """A table of models: one row a run, one column a capability."""
    names = sorted({group.name for report in reports for group in report.capabilities})
    accuracies = [{group.name: group.accuracy for group in report.capabilities} for report in reports]
    labels = _labels(reports)
    warnings = [*warnings, *_cautions(reports, labels)]
    if form in ("csv", "json"):
        rows = [
            {"model": label, **{name: found.get(name) for name in names}, MACRO: report.macro_accuracy,
             POOLED: report.total.accuracy, "signature": report.signature_line}
            for label, report, found in zip(labels, reports, accuracies, strict=True)
        ]  # fmt: skip
        return as_csv(rows) if form == "csv" else dumps({"models": rows, "warnings": warnings}, indent=2) + "\n"
    cells = (
        (label, *map(rate, (*map(found.get, names), report.macro_accuracy, report.total.accuracy)))
        for label, report, found in zip(labels, reports, accuracies, strict=True)
    )
    table = Table("Accuracy in per cent", ("model", *names, "macro", "weighted"), tuple(cells))
    signatures = (f"signature of {name}: {found.signature_line}" for name, found in zip(labels, reports, strict=True))
    return WRITERS[form]([table], [*warnings, *signatures])


def _cautions(reports: Sequence[Report], labels: Sequence[str]) -> Iterator[str]:
    """What the cells of a table of models do not say."""
    names = {group.name for report in reports for group in report.capabilities}
    for label, report in zip(labels, reports, strict=True):
        lacking = sorted(names - {group.name for group in report.capabilities})
        if lacking:
            yield f"! the averages of {label} are without {', '.join(lacking)}"
        if report.total.pending:
            yield f"! {label}: {report.total.pending:,} pending verdicts count as wrong"


def _labels(reports: Sequence[Report]) -> list[str]:
    """Names of the models and of tasks other than the benchmark's, with the directories where that is not enough."""
    kinds = [report.signature["variant"] for report in reports]
    names = [f"{report.model}, {kind}" if kind else report.model for report, kind in zip(reports, kinds, strict=True)]
    return [
        name if names.count(name) == 1 else f"{name} ({', '.join(report.directories)})"
        for report, name in zip(reports, names, strict=True)
    ]
