"""The page's pictures as PNG and SVG files for papers (extra ``plots``)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from datbench.jsonio import scratch_beside
from datbench_tasks.errors import UsageError
from datbench_tasks.reporting.capability_chart import Dot, Line, Picture, Text
from datbench_tasks.reporting.page_overview import capability_picture
from datbench_tasks.reporting.report import Report

PIXELS_PER_INCH = 100
DOTS_PER_INCH = 300

_COLOURS = {
    "grid": "#e3dfd6",
    "rule": "#a3a6aa",
    "first": "#2b5c8a",
    "second": "#a8703a",
    "label": "#23262b",
    "strong": "#23262b",
    "muted": "#5f646b",
}
"""Role of a shape -> its colour, as on the light page."""

_SETTINGS = {"svg.hashsalt": "datbench", "font.family": "sans-serif", "font.size": 9.4}


def require_matplotlib() -> None:
    """Raise UsageError, with the extra to install, unless matplotlib is there."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as fault:
        raise UsageError("plots need matplotlib: pip install 'datbench-tasks[plots]'") from fault


def write_plots(report: Report, directory: str | os.PathLike[str], other: Report | None = None) -> list[Path]:
    """Write each picture as PNG (300 dpi) and SVG; the same report gives the same bytes.

    Args:
        report: the numbers of the run.
        directory: where the files go; made if need be.
        other: the numbers of a second run, drawn beside the first.

    Returns:
        The paths written.

    Raises:
        UsageError: matplotlib is not installed.
    """
    require_matplotlib()
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    return _write(capability_picture(report, other), folder / "accuracy_by_capability")


def _write(picture: Picture, target: Path) -> list[Path]:
    import matplotlib
    from matplotlib.figure import Figure

    files = {".png": {"Software": None}, ".svg": {"Date": None, "Creator": None}}
    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=(picture.width / PIXELS_PER_INCH, picture.height / PIXELS_PER_INCH))
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, picture.width), ylim=(picture.height, 0))
        axes.set_axis_off()
        for shape in picture.shapes:
            _draw(axes, shape)
        with scratch_beside(target) as scratch:
            for suffix, metadata in files.items():
                drawn = scratch / f"drawn{suffix}"
                figure.savefig(drawn, dpi=DOTS_PER_INCH, metadata=metadata, bbox_inches="tight", pad_inches=0.1)
                drawn.replace(target.with_suffix(suffix))
    return [target.with_suffix(suffix) for suffix in files]


def _draw(axes: Any, shape: Line | Dot | Text) -> None:
    colour = _COLOURS[shape.role]
    measured = shape.role in ("first", "second")
    if isinstance(shape, Line):
        axes.plot(
            (shape.x1, shape.x2),
            (shape.y1, shape.y2),
            color=colour,
            linewidth=2.2 if measured else 0.7,
            alpha=0.4 if measured else 1,
            solid_capstyle="round",
        )
    elif isinstance(shape, Dot):
        hollow = shape.role == "second"
        axes.plot(
            shape.x,
            shape.y,
            marker="o",
            markersize=shape.radius * 2 * 72 / PIXELS_PER_INCH,
            markerfacecolor="white" if hollow else colour,
            markeredgecolor=colour,
            markeredgewidth=1.4 if hollow else 0,
        )
    else:
        axes.text(
            shape.x,
            shape.y,
            shape.text,
            color=colour,
            ha={"start": "left", "middle": "center", "end": "right"}[shape.anchor],
            va="center_baseline",
            weight="bold" if shape.role == "strong" else "normal",
            parse_math=False,
        )
