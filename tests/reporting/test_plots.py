"""The picture of the capabilities, as shapes and as files."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from support.synthetic_run import make_run

from datbench_tasks.cli import main
from datbench_tasks.errors import USAGE, UsageError
from datbench_tasks.reporting.capability_chart import ChartRow, Dot, Estimate, Line, Picture, Text, draw
from datbench_tasks.reporting.page import ASSETS
from datbench_tasks.reporting.page_overview import capability_picture
from datbench_tasks.reporting.plots import _COLOURS, write_plots
from datbench_tasks.reporting.report import Report, load_report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return load_report(make_run(tmp_path_factory.mktemp("run"), samples=90), dataset="none")


def dots(picture: Picture, role: str = "first") -> list[Dot]:
    return [shape for shape in picture.shapes if isinstance(shape, Dot) and shape.role == role]


def texts(picture: Picture) -> list[str]:
    return [shape.text for shape in picture.shapes if isinstance(shape, Text)]


def position_of(picture: Picture, per_cent: float) -> float:
    """Where a value lies, from the places of the ticks 0 and 100."""
    ticks = {shape.text: shape.x for shape in picture.shapes if isinstance(shape, Text) and shape.anchor == "middle"}
    left, right = ticks["0"], ticks["80"]
    return left + per_cent / 80 * (right - left)


@pytest.mark.parametrize("width", [760, 340])
@pytest.mark.parametrize("accuracy", [0.0, 0.25, 0.5, 1.0])
def test_dot_and_interval_lie_where_the_axis_says(width: int, accuracy: float) -> None:
    low, high = max(accuracy - 0.1, 0), min(accuracy + 0.1, 1)
    picture = draw([ChartRow("math", Estimate(accuracy, low, high))], width=width)
    assert dots(picture)[0].x == pytest.approx(position_of(picture, 100 * accuracy), abs=0.2)
    (interval,) = [shape for shape in picture.shapes if isinstance(shape, Line) and shape.role == "first"]
    assert interval.x1 == pytest.approx(position_of(picture, 100 * low), abs=0.2)
    assert interval.x2 == pytest.approx(position_of(picture, 100 * high), abs=0.2)


@pytest.mark.parametrize("width", [760, 340])
@pytest.mark.parametrize("other", [False, True])
def test_everything_lies_on_the_canvas(report: Report, width: int, other: bool) -> None:
    picture = capability_picture(report, report if other else None, width)
    for shape in picture.shapes:
        xs = (shape.x1, shape.x2) if isinstance(shape, Line) else (shape.x,)
        ys = (shape.y1, shape.y2) if isinstance(shape, Line) else (shape.y,)
        assert all(0 <= x <= picture.width for x in xs)
        assert all(0 <= y <= picture.height for y in ys)


def test_one_row_for_each_capability_and_average(report: Report) -> None:
    picture = capability_picture(report)
    names = [figures.name for figures in report.capabilities]
    assert [text for text in texts(picture) if text in names] == names
    assert len(dots(picture)) == len(names) + 2
    assert {"macro average", "sample-weighted"} <= set(texts(picture))


def test_a_second_run_comes_with_differences_and_a_legend(report: Report) -> None:
    weaker = replace(report, model="small", macro_accuracy=report.macro_accuracy - 0.05)
    picture = capability_picture(report, weaker)
    assert len(dots(picture, "second")) == len(dots(picture)) == 9 + 2 + 1
    assert {"acme/vlm-7b", "small", "+5.0", "+0.0"} <= set(texts(picture))


def test_a_capability_without_a_number_has_a_row_without_a_dot() -> None:
    picture = draw([ChartRow("math", Estimate(None)), ChartRow("chart", Estimate(0.5))])
    assert len(dots(picture)) == 1
    assert "n/a" in texts(picture)


def test_capabilities_of_the_first_run_alone_have_one_dot(report: Report) -> None:
    picture = capability_picture(report, replace(report, capabilities=report.capabilities[:3]))
    assert len(dots(picture, "second")) == 3 + 2 + 1


def test_plots_are_written_as_png_and_svg(report: Report, tmp_path: Path) -> None:
    png, svg = write_plots(report, tmp_path / "plots", report)
    with Image.open(png) as image:
        assert image.width > 1_500
        assert len(image.convert("RGB").getcolors(1 << 24)) > 10
    assert ET.parse(svg).getroot().tag.endswith("svg")
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == [png.name, svg.name]


def test_the_same_report_gives_the_same_files(report: Report, tmp_path: Path) -> None:
    for one, two in zip(write_plots(report, tmp_path / "one"), write_plots(report, tmp_path / "two"), strict=True):
        assert one.read_bytes() == two.read_bytes()


def test_hostile_names_are_drawn_as_text(report: Report, tmp_path: Path) -> None:
    named = tuple(replace(figures, name=f"{figures.name}$\x00_^{{$") for figures in report.capabilities)
    hostile = replace(report, model="$\\frac{$ \ud800 \u202e <script>", capabilities=named)
    _, svg = write_plots(hostile, tmp_path, hostile)
    assert not [node for node in ET.parse(svg).iter() if node.tag.endswith("script")]


def test_without_matplotlib_the_remedy_is_named(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"datbench-tasks\[plots\]"):
        write_plots(report, tmp_path)
    assert main(["report", str(tmp_path / "not read"), "--plots", str(tmp_path)]) == USAGE


def test_plots_wear_the_colours_of_the_light_page() -> None:
    style = (ASSETS / "page.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"--(\w+): (#\w{6});", style.split("@media")[0]))
    names = {"grid": "line", "first": "accent", "second": "second", "label": "ink", "strong": "ink", "muted": "soft"}
    assert {role: _COLOURS[role] for role in names} == {role: light[name] for role, name in names.items()}
