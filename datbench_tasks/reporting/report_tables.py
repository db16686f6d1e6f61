"""The tables of a report, and its rows for CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from datbench_tasks.reporting.capability_chart import percent
from datbench_tasks.reporting.figures import Figures
from datbench_tasks.reporting.intervals import Interval
from datbench_tasks.reporting.official import VERDICT_COUNTS
from datbench_tasks.reporting.report import Report, flat_figures
from datbench_tasks.reporting.tables import NOTHING, UNKNOWN, Table, telling, without_empty_columns

MACRO, POOLED = "macro average", "sample-weighted"


def report_tables(report: Report) -> list[Table]:
    """Accuracy, rates, other views and metrics by source dataset, in per cent unless a heading says otherwise.

    Rates and other views are left out where they would say nothing.
    """
    return telling([accuracy_table(report), rates_table(report), difficulty_table(report), dataset_table(report)])


def accuracy_table(report: Report) -> Table:
    """Accuracy with interval by capability, its direct and judge parts, and the counts that qualify it."""
    columns = (
        "capability", "accuracy", "95 % interval", "graded only", "direct", "judge", "samples", "pending", "missing",
        "unparsed",
    )  # fmt: skip
    blank = (NOTHING,) * (len(columns) - 3)
    return without_empty_columns(
        Table(
            f"{report.model}: accuracy in per cent",
            columns,
            tuple(_accuracy_row(group.name, group) for group in report.capabilities),
            (
                (MACRO, rate(report.macro_accuracy), span(report.macro_interval), *blank),
                _accuracy_row(POOLED, report.total),
            ),
        )
    )


def rates_table(report: Report) -> Table:
    """What share of the samples did not go as they should, and what that can do to the accuracy."""
    columns = (
        "per cent of samples", "truncated", "empty", "request failed", "lost to formatting", "open reasoning",
        "scorer error", "unscored", "accuracy if wrong – right",
    )  # fmt: skip
    return without_empty_columns(
        Table(
            "Rates (unscored: pending, unparsed or missing; beside it the accuracy if all of them were wrong or right)",
            columns,
            tuple(_rates_row(group.name, group) for group in report.capabilities),
            (_rates_row("all", report.total),),
        )
    )


def difficulty_table(report: Report) -> Table:
    """Accuracy by other weights, and what answers cost."""
    columns = (
        "accuracy in per cent", "weighted", "frontier", "frontier samples", "reformatted", "circular",
        "tokens right", "tokens wrong",
    )  # fmt: skip
    return without_empty_columns(
        Table(
            "Other views (weighted by discrimination; items that no model solved; answers lost to formatting forgiven)",
            columns,
            tuple(_difficulty_row(group.name, group) for group in report.capabilities),
            (_difficulty_row("all", report.total),),
        )
    )


def dataset_table(report: Report) -> Table:
    """The benchmark's own metrics, by source dataset, under their own names and on their own scales."""
    rows = [
        (data.name, group.name, f"{data.samples:,}", ", ".join(shown(data.metrics)))
        for group in report.capabilities
        for data in group.datasets
    ]
    columns = ("source dataset", "capability", "samples", "metrics")
    return Table("By source dataset", columns, tuple(rows), texts=frozenset({"capability", "metrics"}))


def csv_rows(report: Report) -> list[dict[str, Any]]:
    """One row a capability, the averages, and one row a metric of a source dataset; all with the signature."""
    low, high = report.macro_interval or (None, None)
    macro = {"name": MACRO, "accuracy": report.macro_accuracy, "interval_low": low, "interval_high": high}
    groups = [flat_figures(group) for group in report.capabilities]
    total = flat_figures(report.total) | {"name": POOLED}
    metrics = [
        {"name": group.name, "dataset": data.name, "samples": data.samples, "metric": name, "value": value}
        for group in report.capabilities
        for data in group.datasets
        for name, value in flat_metrics(data.metrics)
    ]
    origin = {"model": report.model, "signature": report.signature_line}
    return [row | origin for row in (*groups, macro, total, *metrics)]


def closing_notes(report: Report) -> list[str]:
    """What follows the tables: problems, notes, and the signature."""
    problems = [f"! {found.text}" for found in report.problems]
    return [*problems, *report.origins, *report.notes, f"signature: {report.signature_line}"]


def rate(value: float | None) -> str:
    """A fraction as per cent."""
    return NOTHING if value is None else percent(value)


def span(interval: Interval | None) -> str:
    """Both ends of an interval as per cent."""
    return NOTHING if interval is None else f"{percent(interval[0])} – {percent(interval[1])}"


def number(value: Any) -> str:
    """A metric's value on its own scale."""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def shown(metrics: Mapping[str, Any]) -> Iterator[str]:
    """``name=value`` of the metrics that are one value; breakdowns and verdict counts of 0 stand in CSV and JSON."""
    for name, value in metrics.items():
        if not isinstance(value, dict) and (value or name not in VERDICT_COUNTS):
            yield f"{name}={number(value)}"


def flat_metrics(metrics: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """All metrics; those of a breakdown are named ``metric/part``."""
    for name, value in metrics.items():
        if isinstance(value, dict):
            yield from flat_metrics(value, f"{prefix}{name}/")
        else:
            yield prefix + name, value


def _accuracy_row(name: str, group: Figures) -> tuple[str, ...]:
    differs = group.graded_accuracy != group.accuracy
    return (
        name,
        rate(group.accuracy),
        span(group.interval),
        rate(group.graded_accuracy) if differs else NOTHING,
        rate(group.direct_accuracy),
        "pending" if 0 < group.pending == group.judge_samples else rate(group.judge_accuracy),
        f"{group.samples:,}",
        _count(group.pending),
        _count(group.missing),
        _count(group.unparsed),
    )


def _rates_row(name: str, group: Figures) -> tuple[str, ...]:
    def share(count: int, samples: int = group.samples) -> str:
        return rate(count / samples) if count else NOTHING

    known = group.samples - group.truncation_unknown
    truncated = rate(group.truncated / known) if group.truncated else NOTHING
    return (
        name,
        truncated if known else UNKNOWN,
        share(group.empty),
        share(group.request_failed),
        share(group.lost_to_formatting),
        share(group.unclosed_reasoning),
        share(group.scorer_errors),
        share(group.unscored, group.expected),
        span(group.bounds) if group.unscored else NOTHING,
    )


def _difficulty_row(name: str, group: Figures) -> tuple[str, ...]:
    return (
        name,
        rate(group.weighted_accuracy),
        rate(group.frontier_accuracy),
        _count(group.frontier_samples),
        rate(group.reformatted_accuracy) if group.lost_to_formatting else NOTHING,
        rate(group.circular_accuracy),
        NOTHING if group.tokens_right is None else f"{group.tokens_right:,.0f}",
        NOTHING if group.tokens_wrong is None else f"{group.tokens_wrong:,.0f}",
    )


def _count(count: int) -> str:
    return f"{count:,}" if count else NOTHING
