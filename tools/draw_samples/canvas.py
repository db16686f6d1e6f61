"""Pillow and matplotlib helpers that all pictures share."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from math import cos, radians, sin
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from PIL import Image, ImageDraw, ImageFont

Point = tuple[float, float]
Box = tuple[float, float, float, float]

INK = "#1c1c1c"
RED, BLUE, GREEN, YELLOW = "#d62728", "#1f5fb4", "#2e8b3d", "#f2c230"
ORANGE, PURPLE, GREY, BROWN = "#f0801e", "#7a3fa0", "#8a8a8a", "#7a5230"
SKY, GRASS, ROAD, PAPER = "#cfe8f7", "#a9d18e", "#6b6f75", "#fdfcf7"


@cache
def font(size: int, family: str = "DejaVuSans") -> ImageFont.FreeTypeFont:
    """One of the DejaVu fonts inside matplotlib: the same glyphs on every machine."""
    path = Path(mpl.get_data_path(), "fonts", "ttf", f"{family}.ttf")
    return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)


def bold(size: int) -> ImageFont.FreeTypeFont:
    """The bold sans-serif face."""
    return font(size, "DejaVuSans-Bold")


def blank(width: int, height: int, colour: str = "white") -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """A picture of one colour and the pen for it."""
    image = Image.new("RGB", (width, height), colour)
    return image, ImageDraw.Draw(image)


def label(draw: ImageDraw.ImageDraw, at: Point, text: str, face: ImageFont.FreeTypeFont, fill: str = INK) -> None:
    """Text centred on a point."""
    draw.text(at, text, font=face, fill=fill, anchor="mm")


def board(draw: ImageDraw.ImageDraw, box: Box, lines: Sequence[str], size: int, colours: tuple[str, str]) -> None:
    """A rounded board (fill, text colour) with centred bold lines."""
    draw.rounded_rectangle(box, 10, fill=colours[0], outline=INK, width=2)
    step = (box[3] - box[1]) / (len(lines) + 1)
    for row, line in enumerate(lines, start=1):
        label(draw, ((box[0] + box[2]) / 2, box[1] + row * step), line, bold(size), colours[1])


def star(draw: ImageDraw.ImageDraw, at: Point, radius: float, fill: str) -> None:
    """A five-pointed star."""
    draw.polygon(_polygon(at, [radius, radius * 0.45] * 5, -90), fill=fill, outline=INK)


def regular(draw: ImageDraw.ImageDraw, at: Point, radius: float, sides: int, fill: str, *, turn: int = -90) -> None:
    """A regular polygon, one corner up unless turned (degrees)."""
    draw.polygon(_polygon(at, [radius] * sides, turn), fill=fill, outline=INK)


def disc(draw: ImageDraw.ImageDraw, at: Point, radius: float, fill: str, width: int = 1) -> None:
    """A circle with an outline."""
    draw.ellipse((at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius), fill=fill, outline=INK, width=width)


def square(draw: ImageDraw.ImageDraw, at: Point, radius: float, fill: str) -> None:
    """An upright square of side ``2 * radius``."""
    draw.rectangle((at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius), fill=fill, outline=INK)


def _polygon(at: Point, radii: Sequence[float], turn: int) -> list[Point]:
    step = 360 / len(radii)
    return [
        (at[0] + radius * cos(radians(turn + index * step)), at[1] + radius * sin(radians(turn + index * step)))
        for index, radius in enumerate(radii)
    ]


def person(draw: ImageDraw.ImageDraw, foot: Point, height: float, coat: str, hat: str = "") -> Box:
    """A plain figure that stands on ``foot``; returns the box around it (x1, y1, x2, y2), in pixels."""
    x, y = foot
    head = height * 0.13
    top = y - height
    for side in (-1, 1):
        draw.line(
            (x + side * height * 0.06, y - height * 0.4, x + side * height * 0.08, y),
            fill=INK,
            width=int(height * 0.07),
        )
        draw.line(
            (x, top + height * 0.32, x + side * height * 0.2, top + height * 0.55), fill=coat, width=int(height * 0.06)
        )
    draw.rounded_rectangle(
        (x - height * 0.13, top + height * 0.27, x + height * 0.13, y - height * 0.35), 6, fill=coat, outline=INK
    )
    disc(draw, (x, top + head), head, "#f0c8a0")
    if hat:
        draw.pieslice((x - head, top, x + head, top + 2 * head), 180, 360, fill=hat, outline=INK)
        draw.line((x - head * 1.3, top + head, x + head * 1.3, top + head), fill=hat, width=4)
    return (x - height * 0.22, top, x + height * 0.22, y)


def car(draw: ImageDraw.ImageDraw, at: Point, length: float, colour: str) -> Box:
    """A car from the side, ``at`` being its lower left corner; returns the box around it, in pixels."""
    x, y = at
    wheel = length * 0.1
    draw.rounded_rectangle((x, y - length * 0.3, x + length, y - wheel), 8, fill=colour, outline=INK)
    draw.polygon(
        [
            (x + length * 0.2, y - length * 0.3),
            (x + length * 0.32, y - length * 0.48),
            (x + length * 0.7, y - length * 0.48),
            (x + length * 0.85, y - length * 0.3),
        ],
        fill="#d8ecf8",
        outline=INK,
    )
    for share in (0.22, 0.78):
        disc(draw, (x + length * share, y - wheel), wheel, "#303030")
    return (x, y - length * 0.48, x + length, y)


def rendered(figure: Figure) -> Image.Image:
    """The pixels of a matplotlib figure."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100, metadata={"Software": None})
    return Image.open(buffer).convert("RGB")
