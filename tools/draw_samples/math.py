"""Geometry, graphs of functions, number problems and visual logic."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure
from PIL import Image

from tools.draw_samples.canvas import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    RED,
    YELLOW,
    blank,
    bold,
    disc,
    font,
    label,
    regular,
    rendered,
    square,
    star,
)
from tools.draw_samples.items import FILLED_RUBRIC, TWO_LINE_RUBRIC, Item, lettered


def triangle() -> Image.Image:
    """A triangle with two known angles."""
    image, draw = blank(460, 340)
    a, b, c = (60, 280), (400, 280), (180, 60)
    draw.polygon([a, b, c], fill="#eaf1fb", outline=INK, width=3)
    for corner, name, shift in ((a, "A", (-22, 8)), (b, "B", (22, 8)), (c, "C", (0, -22))):
        label(draw, (corner[0] + shift[0], corner[1] + shift[1]), name, bold(22))
    label(draw, (112, 258), "62°", font(20))
    label(draw, (336, 262), "48°", font(20))
    label(draw, (182, 100), "x", font(22, "DejaVuSerif-Italic"), RED)
    return image


def parallels() -> Image.Image:
    """Two parallel lines and a line across, with angles 1 and 2."""
    image, draw = blank(460, 340)
    draw.line((40, 100, 420, 100), fill=INK, width=3)
    draw.line((40, 240, 420, 240), fill=INK, width=3)
    draw.line((110, 310, 350, 30), fill=BLUE, width=3)
    for text, at in (("A", (30, 84)), ("B", (430, 84)), ("C", (30, 224)), ("D", (430, 224))):
        label(draw, at, text, bold(20))
    label(draw, (326, 84), "1", bold(22), RED)
    label(draw, (148, 222), "2", bold(22), RED)
    return image


def rectangle() -> Image.Image:
    """A rectangle with a square cut out of its corner, all sides given."""
    image, draw = blank(460, 320)
    draw.polygon(
        [(80, 60), (300, 60), (300, 140), (380, 140), (380, 260), (80, 260)], fill="#fff1d6", outline=INK, width=3
    )
    for at, text in (
        ((48, 160), "10"),
        ((230, 282), "15"),
        ((190, 40), "11"),
        ((318, 92), "4"),
        ((356, 122), "4"),
        ((402, 200), "6"),
    ):
        label(draw, at, text, font(20))
    return image


def parabola() -> Image.Image:
    """A parabola on squared paper."""
    figure = Figure(figsize=(4.6, 4), layout="constrained")
    axes = figure.subplots()
    xs = [x / 20 for x in range(-22, 63)]
    axes.plot(xs, [(x - 1) ** 2 - 2 for x in xs], color=BLUE, linewidth=2)
    axes.axhline(0, color=INK, linewidth=1)
    axes.axvline(0, color=INK, linewidth=1)
    axes.plot([1], [-2], "o", color=RED)
    axes.annotate("vertex", (1, -2), (1.35, -2.5), color=RED, fontsize=12)
    axes.set(xticks=range(-2, 5), yticks=range(-3, 4), xlim=(-2, 4), ylim=(-3, 3), aspect="equal", title="y = f(x)")
    axes.grid(alpha=0.5)
    return rendered(figure)


def scales() -> Image.Image:
    """A balance: three equal cubes against a weight of 12 kg."""
    image, draw = blank(460, 300)
    draw.polygon([(230, 150), (190, 270), (270, 270)], fill="#c9c9c9", outline=INK)
    draw.line((60, 150, 400, 150), fill=INK, width=6)
    for x in (90, 130, 170):
        square(draw, (x, 130), 17, BLUE)
        label(draw, (x, 130), "n", bold(18), "white")
    square(draw, (340, 117), 30, ORANGE)
    label(draw, (340, 117), "12 kg", bold(17))
    return image


def sequence() -> Image.Image:
    """Star, disc, square, star, disc and a question mark; below, the choices."""
    image, draw = blank(540, 290)
    for index in range(6):
        x = 60 + index * 84
        draw.rectangle((x - 36, 30, x + 36, 102), outline=INK, width=2)
        if index == 5:
            label(draw, (x, 66), "?", bold(34))
        else:
            (star, disc, square)[index % 3](draw, (x, 66), 24, (YELLOW, RED, BLUE)[index % 3])
    for index, letter in enumerate("ABCD"):
        x = 102 + index * 112
        label(draw, (x, 252), letter, bold(22))
        if letter == "A":
            star(draw, (x, 190), 26, YELLOW)
        elif letter == "B":
            disc(draw, (x, 190), 24, RED)
        elif letter == "C":
            regular(draw, (x, 190), 28, 3, GREEN)
        else:
            square(draw, (x, 190), 23, BLUE)
    return image


def odd_one() -> Image.Image:
    """Three pentagons and a hexagon, lettered."""
    image, draw = blank(520, 200)
    for index, (letter, sides) in enumerate((("A", 5), ("B", 5), ("C", 6), ("D", 5))):
        x = 80 + index * 120
        regular(draw, (x, 80), 46, sides, "#bcd7f2", turn=18 * index - 90)
        label(draw, (x, 166), letter, bold(22))
    return image


def number_wall() -> Image.Image:
    """Each brick is the sum of the two below it."""
    image, draw = blank(420, 280)
    for row, numbers in enumerate((("?",), ("9", "12"), ("4", "5", "7"))):
        for column, text in enumerate(numbers):
            x, y = 210 + (column - (len(numbers) - 1) / 2) * 110, 60 + row * 74
            draw.rectangle((x - 54, y - 36, x + 54, y + 36), fill="#f7d9b5", outline=INK, width=2)
            label(draw, (x, y), text, bold(26))
    return image


def items() -> Iterator[Item]:
    """The math questions; mathverse has no rule of its own, so its items go to a judge."""
    angles, lines, area, curve, balance = triangle(), parallels(), rectangle(), parabola(), scales()
    row, polygons, wall = sequence(), odd_one(), number_wall()
    yield Item("mathvista", angles, "What is the size of angle x, in degrees?", "70")
    yield Item(
        "mathvista",
        balance,
        "The balance is level. What is the weight of one cube n, in kg?",
        "4",
        metadata={"question_type": "free_form"},
    )
    shapes = ("circle", "triangle", "square", "star")
    yield Item(
        "mathvista",
        row,
        "Which shape replaces the question mark?\nChoices:\n" + lettered(shapes, "({}) {}"),
        "C",
        metadata={"question_type": "multi_choice", "choices": list(shapes)},
    )
    yield Item("mathvision", area, "What is the area of the figure?\n<image1>", "134", metadata={"options": []})
    sums = ["19", "20", "21", "22", "24"]
    yield Item(
        "mathvision",
        wall,
        "Each brick holds the sum of the two bricks below it. What is the number in the top brick?\n<image1>\n"
        + lettered(sums, "({}) {}"),
        "C",
        metadata={"options": sums},
    )
    yield Item(
        "logicvista",
        row,
        "Which figure continues the sequence?\nA. the star\nB. the disc\nC. the triangle\nD. the square",
        "D",
    )
    yield Item(
        "logicvista",
        polygons,
        "Which figure differs from the others?\nA. figure A\nB. figure B\nC. figure C\nD. figure D",
        "C",
        metadata={"correct_answer_letters": ["C"]},
    )
    yield Item(
        "mathverse_reasoning",
        lines,
        "As shown in the figure, AB is parallel to CD and angle 1 is 50 degrees. Find angle 2.\n"
        "Choices:\nA:40°\nB:50°\nC:65°\nD:130°",
        "D",
        rubric=TWO_LINE_RUBRIC,
    )
    yield Item(
        "mathverse_reasoning",
        curve,
        "What is the y-coordinate of the vertex of the parabola in the figure?",
        "-2",
        rubric=FILLED_RUBRIC,
    )
    yield Item(
        "mathverse_wo", angles, "According to the figure, find the size of angle x.", "70°", rubric=FILLED_RUBRIC
    )
    yield Item(
        "mathverse_wo",
        curve,
        "According to the figure, find an equation of the function.",
        "y = (x - 1)^2 - 2",
        rubric=TWO_LINE_RUBRIC,
        is_frontier=True,
    )
