"""The picture of accuracies: one row each, a dot with its interval; a second run hollow beside the first.

A picture is a list of shapes in pixels, y downwards. The page draws them as inline SVG, ``plots`` as PNG and SVG files:
the layout is decided here once. A shape's ``role`` names its colour and weight, which belong to whoever draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from datbench_tasks.reporting.visible_text import shorten, visible

Role = Literal["grid", "rule", "first", "second", "label", "strong", "muted"]

ROW, ROW_OF_TWO, TOP, BOTTOM = 30, 38, 12, 30
LEGEND = 30
INTERVAL_OFFSET = 6
RADIUS = 4.5
CHARACTER = 7.6  # mean width of a letter of 13 pixels
TICKS = (0, 20, 40, 60, 80, 100)


@dataclass(frozen=True)
class Line:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    role: Role
    kind: str = "line"


@dataclass(frozen=True)
class Dot:
    """A disc around (x, y); hollow in the role ``second``."""

    x: float
    y: float
    radius: float
    role: Role
    kind: str = "dot"


@dataclass(frozen=True)
class Text:
    """One line of text, vertically centred on y."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "middle", "end"]
    role: Role
    kind: str = "text"


Shape = Line | Dot | Text


@dataclass(frozen=True)
class Picture:
    """Shapes on a canvas of ``width`` x ``height`` pixels."""

    width: float
    height: float
    shapes: tuple[Shape, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values: width, height and the shapes as dicts."""
        return {"width": self.width, "height": self.height, "shapes": [asdict(shape) for shape in self.shapes]}


@dataclass(frozen=True)
class Estimate:
    """An accuracy with the ends of its interval, all in [0, 1]; None where nothing was graded."""

    accuracy: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class ChartRow:
    """One row: a name, the first run's estimate and the second's, if there is one. ``total`` sets it apart below."""

    name: str
    first: Estimate
    second: Estimate | None = None
    total: bool = False


def draw(rows: Sequence[ChartRow], *, legend: tuple[str, str] | None = None, width: int = 760) -> Picture:
    """Lay out the picture.

    Args:
        rows: from top to bottom.
        legend: names of the two runs; None for a picture of one run.
        width: of the canvas in pixels, at least 300.
    """
    height = TOP + (LEGEND if legend else 0) + sum(map(_row_height, rows)) + BOTTOM
    return Picture(width, height, tuple(_shapes(rows, legend, width, height)))


def _shapes(rows: Sequence[ChartRow], legend: tuple[str, str] | None, width: int, height: float) -> Iterator[Shape]:
    narrow = width < 480
    longest = max((len(visible(row.name)) for row in rows), default=0)
    left = min(longest * CHARACTER + 20, width * 0.42)
    right = width - (58 if narrow else 132 if legend is None else 104)
    top, bottom = TOP + (LEGEND if legend else 0), height - BOTTOM

    def at(value: float) -> float:
        return round(left + value * (right - left), 1)

    if legend:
        yield from _legend(legend, width)
    for tick in TICKS:
        if tick % 40 == 0 or not narrow:
            yield Line(at(tick / 100), top, at(tick / 100), bottom, "grid")
            yield Text(at(tick / 100), bottom + 14, f"{tick}", "middle", "muted")
    y: float = top
    previous_total = False
    for row in rows:
        row_height = _row_height(row)
        if row.total and not previous_total:
            yield Line(0, y, width, y, "rule")
        middle = y + row_height / 2
        name = shorten(visible(row.name), int((left - 12) / CHARACTER))
        yield Text(0, middle, name, "start", "strong" if row.total else "label")
        offset = INTERVAL_OFFSET if row.second else 0
        yield from _mark(row.first, "first", middle - offset, at)
        if row.second:
            yield from _mark(row.second, "second", middle + offset, at)
        yield from _figures(row, width, middle, narrow)
        y += row_height
        previous_total = row.total


def _row_height(row: ChartRow) -> int:
    return ROW_OF_TWO if row.second else ROW


def _mark(estimate: Estimate, role: Role, y: float, at: Any) -> Iterator[Shape]:
    if estimate.accuracy is None:
        return
    if estimate.low is not None and estimate.high is not None:
        yield Line(at(estimate.low), y, at(estimate.high), y, role)
    yield Dot(at(estimate.accuracy), y, RADIUS, role)


def _figures(row: ChartRow, width: int, y: float, narrow: bool) -> Iterator[Shape]:
    """The numbers at the right edge: the accuracy, and its interval or the difference from the second run."""
    first = row.first
    if first.accuracy is None:
        yield Text(width, y, "n/a", "end", "muted")
        return
    aside = ""
    if row.second is not None:
        if row.second.accuracy is not None:
            aside = signed(first.accuracy - row.second.accuracy)
    elif first.low is not None and first.high is not None:
        aside = f"{percent(first.low)}–{percent(first.high)}"
    if narrow or not aside:
        yield Text(width, y, percent(first.accuracy), "end", "strong")
        return
    yield Text(width - (82 if row.second is None else 54), y, percent(first.accuracy), "end", "strong")
    yield Text(width, y, aside, "end", "muted")


def _legend(names: tuple[str, str], width: int) -> Iterator[Shape]:
    room = width / 2
    roles: tuple[Role, Role] = ("first", "second")
    for position, (name, role) in enumerate(zip(names, roles, strict=True)):
        x = position * room
        yield Dot(x + 5, TOP + 6, RADIUS, role)
        yield Text(x + 16, TOP + 6, shorten(visible(name), int((room - 24) / CHARACTER)), "start", "label")


def percent(fraction: float) -> str:
    """A fraction as per cent with one decimal and no sign: 0.638 -> "63.8"."""
    return f"{100 * fraction:.1f}"


def signed(difference: float) -> str:
    """A difference of fractions in points, always signed: -0.021 -> "−2.1"."""
    return f"{100 * difference:+.1f}".replace("-", "−")
