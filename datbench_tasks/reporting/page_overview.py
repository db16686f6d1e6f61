"""The numbers of a report as the page's headline, rates, picture and tables: formatted text in the page's own keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from datbench_tasks.reporting.capability_chart import ChartRow, Estimate, Picture, draw, percent, signed
from datbench_tasks.reporting.figures import Figures
from datbench_tasks.reporting.intervals import Interval
from datbench_tasks.reporting.pairing import doubts
from datbench_tasks.reporting.report import Report
from datbench_tasks.reporting.report_tables import (
    MACRO,
    POOLED,
    accuracy_table,
    dataset_table,
    difficulty_table,
    rate,
    rates_table,
    span,
)
from datbench_tasks.reporting.tables import NOTHING, Table

BROAD, SLIM = 760, 340
"""Widths of the picture in pixels, for broad and for narrow screens."""


def overview(report: Report, other: Report | None) -> dict[str, Any]:
    """Everything above the samples."""
    pictures = [capability_picture(report, other, width) for width in (BROAD, SLIM)]
    accuracies = accuracy_table(report)
    if other:
        accuracies = _beside(accuracies, report, other)
    return {
        "title": report.model,
        "signatures": list(_signatures(report, other)),
        "headline": list(_headline(report)),
        "rates": list(_rates(report.total)),
        "problems": [
            *(problem.text for problem in report.problems),
            *(_problems_of_second(report, other) if other else ()),
        ],
        "notes": list(report.notes),
        "whole": ", ".join(report.directories),
        "sections": [
            _section(title, text, table, drawn)
            for title, text, table, drawn in (
                ("Capabilities", "Accuracy in per cent; a lacking verdict counts 0.", accuracies, pictures),
                ("Rates", "What did not go as it should, and what it may hide.", rates_table(report), ()),
                ("Other views", "Accuracy by other weights, and what answers cost.", difficulty_table(report), ()),
                ("Source datasets", "The benchmark's own metrics on their own scales.", dataset_table(report), ()),
            )
            if len(table.columns) > 1
        ],
    }


def capability_picture(report: Report, other: Report | None = None, width: int = BROAD) -> Picture:
    """Accuracy of each capability and both averages, with 95 % intervals; the second run's hollow."""
    theirs = {average.name: average.estimate for average in _accuracies(other)} if other else {}
    rows = [
        ChartRow(average.name, average.estimate, theirs.get(average.name), average.over_all)
        for average in _accuracies(report)
    ]
    return draw(rows, legend=(report.model, other.model) if other else None, width=width)


class _Accuracy(NamedTuple):
    """Of a capability, or over all of them."""

    name: str
    value: float | None
    interval: Interval | None
    over_all: bool = False

    @property
    def estimate(self) -> Estimate:
        low, high = self.interval or (None, None)
        return Estimate(self.value, low, high)


def _accuracies(report: Report) -> Iterator[_Accuracy]:
    for figures in report.capabilities:
        yield _Accuracy(figures.name, figures.accuracy, figures.interval)
    yield _Accuracy(MACRO, report.macro_accuracy, report.macro_interval, over_all=True)
    yield _Accuracy(POOLED, report.total.accuracy, report.total.interval, over_all=True)


def _signatures(report: Report, other: Report | None) -> Iterator[dict[str, str]]:
    yield {"label": "Signature", "text": report.signature_line}
    if other:
        yield {"label": f"Second run, {other.model}", "text": other.signature_line}


def _problems_of_second(report: Report, other: Report) -> Iterator[str]:
    """What speaks against reading the two runs side by side, and what the second one lacks."""
    for doubt in doubts(report, other):
        yield f"not comparable with the second run: {doubt}"
    ours, theirs = ({figures.name for figures in run.capabilities} for run in (report, other))
    if ours != theirs:
        yield f"averages not comparable with the second run: only one has {', '.join(sorted(ours ^ theirs))}"
    for problem in other.problems:
        yield f"second run: {problem.text}"


def _headline(report: Report) -> Iterator[dict[str, str]]:
    for accuracy in _accuracies(report):
        if accuracy.over_all:
            interval = f"95 % interval {span(accuracy.interval)}"
            yield {"label": accuracy.name, "value": f"{rate(accuracy.value)} %", "note": interval}


def _rates(total: Figures) -> Iterator[dict[str, str]]:
    yield _count("Truncated", total.truncated, total.samples - total.truncation_unknown)
    yield _count("Empty", total.empty, total.samples)
    yield _count("Failed requests", total.request_failed, total.samples)
    yield _count("Lost to formatting", total.lost_to_formatting, total.samples)
    yield _count("Unscored", total.unscored, total.expected)
    if total.unscored:
        yield {"label": "Unscored wrong – right", "value": span(total.bounds), "note": f"accuracy, {POOLED}"}


def _count(label: str, count: int, samples: int) -> dict[str, str]:
    """A count and its share of the samples for which it is known."""
    if not samples:
        return {"label": label, "value": "unknown", "note": ""}
    return {"label": label, "value": f"{count:,}", "note": f"{percent(count / samples)} % of {samples:,}"}


def _beside(table: Table, report: Report, other: Report) -> Table:
    """The table of accuracies with the second run's and the differences after the first run's interval."""
    theirs = {accuracy.name: accuracy.value for accuracy in _accuracies(other)}
    added = {
        name: (rate(theirs.get(name)), _difference(value, theirs.get(name))) for name, value, *_ in _accuracies(report)
    }
    place = table.columns.index("95 % interval") + 1

    def widened(cells: tuple[str, ...], extra: tuple[str, ...]) -> tuple[str, ...]:
        return (*cells[:place], *extra, *cells[place:])

    return replace(
        table,
        columns=widened(table.columns, ("second run", "difference")),
        rows=tuple(widened(row, added[row[0]]) for row in table.rows),
        totals=tuple(widened(row, added[row[0]]) for row in table.totals),
    )


def _difference(first: float | None, second: float | None) -> str:
    return NOTHING if first is None or second is None else signed(first - second)


def _section(heading: str, note: str, table: Table, pictures: Iterable[Picture] = ()) -> dict[str, Any]:
    return {
        "heading": heading,
        "note": note,
        "pictures": [picture.as_json() for picture in pictures],
        "table": {
            "columns": [
                {"label": label, "numeric": not table.left(position)} for position, label in enumerate(table.columns)
            ],
            "rows": table.rows,
            "averages": table.totals,
        },
    }
