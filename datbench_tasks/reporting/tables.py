"""Tables as values, and how they are written: plain text, Markdown, CSV, LaTeX."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from datbench_tasks.reporting.visible_text import visible

NOTHING = "-"
UNKNOWN = "unknown"
TEXT_WIDTH = 110

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "–": "--", "−": "$-$",
}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """Cells as readable text; the first column is flush left, the others flush right unless named in ``texts``.

    Attributes:
        title: above the table.
        columns: their headings.
        rows: cells of the body.
        totals: rows set apart below the body.
        texts: headings of columns that hold words.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    totals: tuple[tuple[str, ...], ...] = ()
    texts: frozenset[str] = frozenset()

    def left(self, position: int) -> bool:
        """Whether a column is flush left."""
        return position == 0 or self.columns[position] in self.texts


def without_empty_columns(table: Table) -> Table:
    """The table without the columns that say nothing, or only "unknown", in every row; the first stays."""
    rows = (*table.rows, *table.totals)
    kept = [n for n in range(len(table.columns)) if n == 0 or any(row[n] not in (NOTHING, UNKNOWN, "") for row in rows)]

    def pick(cells: Sequence[str]) -> tuple[str, ...]:
        return tuple(cells[n] for n in kept)

    return Table(
        table.title, pick(table.columns), tuple(map(pick, table.rows)), tuple(map(pick, table.totals)), table.texts
    )


def telling(tables: Iterable[Table]) -> list[Table]:
    """Those of the tables that hold more than the names of their rows."""
    return [table for table in tables if len(table.columns) > 1]


def as_text(tables: Iterable[Table], notes: Iterable[str], width: int = TEXT_WIDTH) -> str:
    """Tables for a terminal; the last column wraps, and notes follow."""
    blocks = [_text_table(table, width) for table in tables]
    return "\n\n".join([*blocks, "\n".join(map(visible, notes))]) + "\n"


def as_markdown(tables: Iterable[Table], notes: Iterable[str]) -> str:
    """GitHub tables under headings, notes as a list."""
    blocks = []
    for table in tables:
        marks = [":--" if table.left(n) else "--:" for n in range(len(table.columns))]
        body = [*table.rows, *(tuple(f"**{cell}**" for cell in row) for row in table.totals)]
        lines = [table.columns, marks, *body]
        cells = ("| " + " | ".join(_markdown(cell) for cell in line) + " |" for line in lines)
        blocks.append(f"### {_markdown(table.title)}\n\n" + "\n".join(cells))
    return "\n\n".join([*blocks, "\n".join(f"* {_markdown(note)}" for note in notes)]) + "\n"


def as_latex(tables: Iterable[Table], notes: Iterable[str]) -> str:
    """Tables for the ``booktabs`` package, each with its title and the notes as caption."""
    caption = " ".join(f"{visible(note)}." for note in notes)
    return "\n".join(_latex_table(table, caption) for table in tables)


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line a row under the union of their keys, in order of appearance; full precision."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    target = io.StringIO()
    writer = csv.DictWriter(target, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()


def _text_table(table: Table, width: int) -> str:
    rows = [[visible(cell) for cell in row] for row in (table.columns, *table.rows, *table.totals)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(table.columns))]
    room = max(20, width - sum(widths[:-1]) - 2 * (len(widths) - 1))
    widths[-1] = min(widths[-1], room)
    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    lines = [_text_row(row, widths, table) for row in rows]
    body = [lines[0], rule, *lines[1 : 1 + len(table.rows)]]
    if table.totals:
        body += [rule, *lines[1 + len(table.rows) :]]
    return "\n".join([visible(table.title), "", *body])


def _text_row(row: Sequence[str], widths: Sequence[int], table: Table) -> str:
    last = len(row) - 1
    wrapped = textwrap.wrap(row[last], widths[last], break_on_hyphens=False) or [""]
    first = [*row[:last], wrapped[0]]
    padded = enumerate(zip(first, widths, strict=True))
    cells = (cell.ljust(w) if table.left(n) else cell.rjust(w) for n, (cell, w) in padded)
    indent = " " * (sum(widths[:last]) + 2 * last)
    return "\n".join(["  ".join(cells).rstrip(), *(indent + more for more in wrapped[1:])])


def _markdown(text: str) -> str:
    escaped = visible(text)
    for char in "\\|<>[]`":
        escaped = escaped.replace(char, f"\\{char}")
    return escaped


def _latex_table(table: Table, caption: str) -> str:
    columns = "".join("l" if table.left(n) else "r" for n in range(len(table.columns)))
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _latex_row(table.columns),
        r"\midrule",
        *map(_latex_row, table.rows),
        *([r"\midrule", *map(_latex_row, table.totals)] if table.totals else []),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{_latex(table.title)}. {_latex(caption)}}}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(map(_latex, cells)) + r" \\"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in visible(text))


WRITERS: dict[str, Callable[[Iterable[Table], Iterable[str]], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
}
"""Formats that write tables; CSV and JSON write values."""
