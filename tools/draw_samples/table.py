"""Tables to read and diagrams with lettered parts."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import Image, ImageDraw

from tools.draw_samples.canvas import (
    BROWN,
    GRASS,
    GREEN,
    INK,
    ORANGE,
    RED,
    SKY,
    YELLOW,
    Point,
    blank,
    bold,
    disc,
    font,
    label,
)
from tools.draw_samples.document import grid
from tools.draw_samples.items import FILLED_RUBRIC, TWO_LINE_RUBRIC, Item, lettered, real_world

TRAINS = (
    ("Train", "Leaves", "Arrives", "Platform"),
    ("R12", "08:15", "09:40", "3"),
    ("R14", "09:05", "10:20", "1"),
    ("R18", "10:30", "12:05", "4"),
    ("R21", "11:45", "13:00", "2"),
)
SALES = (
    ("Month", "North", "South", "Total"),
    ("January", "120", "95", "215"),
    ("February", "134", "88", "222"),
    ("March", "128", "141", "269"),
    ("April", "99", "150", "249"),
)
LETTER = "\n{}\nAnswer with the option's letter from the given choices directly."


def arrow(draw: ImageDraw.ImageDraw, start: Point, end: Point) -> None:
    """A thick arrow along one axis."""
    draw.line((*start, *end), fill=INK, width=3)
    dx, dy = (end[0] > start[0]) - (end[0] < start[0]), (end[1] > start[1]) - (end[1] < start[1])
    x, y = end
    draw.polygon(
        [(x, y), (x - 12 * dx - 7 * dy, y - 12 * dy - 7 * dx), (x - 12 * dx + 7 * dy, y - 12 * dy + 7 * dx)], fill=INK
    )


def food_chain() -> Image.Image:
    """Grass, grasshopper, frog, hawk, with arrows to the eater."""
    image, draw = blank(600, 240, "#f3f8ee")
    label(draw, (300, 30), "A food chain", bold(22))
    for index, (name, colour) in enumerate(
        (("Grass", GREEN), ("Grasshopper", YELLOW), ("Frog", GRASS), ("Hawk", BROWN))
    ):
        x = 80 + index * 147
        disc(draw, (x, 120), 38, colour)
        label(draw, (x, 186), name, font(18))
        if index < 3:
            arrow(draw, (x + 46, 120), (x + 101, 120))
    return image


def life_cycle() -> Image.Image:
    """The four stages of a butterfly around a circle."""
    image, draw = blank(480, 400, "#fbf7ee")
    label(draw, (240, 200), "Life of a butterfly", bold(18))
    for (x, y), name, colour in (
        ((240, 60), "Egg", "white"),
        ((390, 190), "Caterpillar", GREEN),
        ((240, 310), "Pupa", BROWN),
        ((90, 190), "Adult", ORANGE),
    ):
        disc(draw, (x, y), 30, colour)
        label(draw, (x, y + 48), name, font(18))
    arrow(draw, (285, 60), (390, 60))
    arrow(draw, (390, 60), (390, 148))
    arrow(draw, (390, 265), (390, 310))
    arrow(draw, (390, 310), (285, 310))
    arrow(draw, (195, 310), (90, 310))
    arrow(draw, (90, 310), (90, 262))
    arrow(draw, (90, 148), (90, 60))
    arrow(draw, (90, 60), (195, 60))
    return image


def plant() -> Image.Image:
    """A flower whose parts carry the letters A to D."""
    image, draw = blank(420, 420, SKY)
    draw.rectangle((0, 310, 420, 420), fill="#b08968")
    draw.line((200, 310, 200, 120), fill=GREEN, width=10)
    for side in (-1, 1):
        draw.line((200, 312, 200 + side * 44, 380), fill="#f2e3c6", width=5)
        draw.line((200, 312, 200 + side * 16, 396), fill="#f2e3c6", width=5)
    draw.ellipse((205, 205, 290, 250), fill=GREEN, outline=INK)
    for x, y in ((165, 90), (235, 90), (200, 55), (200, 125)):
        disc(draw, (x, y), 28, RED)
    disc(draw, (200, 90), 22, YELLOW)
    for letter, y, end in (("A", 55, 232), ("B", 160, 208), ("C", 226, 292), ("D", 366, 240)):
        draw.line((end, y, 350, y), fill=INK, width=2)
        label(draw, (368, y), letter, bold(26))
    return image


def items() -> Iterator[Item]:
    """The table questions. The direct rule of ai2d can never be met by a text answer, hence its judge items."""
    trains, sales = grid(TRAINS, (110,) * 4, "Morning trains"), grid(SALES, (130, 100, 100, 100), "Sales 2023")
    chain, cycle, flower = food_chain(), life_cycle(), plant()
    yield real_world("mme-realworld-dt", trains, "At which platform does train R18 stop?", ("1", "2", "3", "4"), "D")
    yield real_world(
        "mme-realworld-dt", trains, "When does train R14 arrive?", ("09:40", "10:20", "12:05", "13:00"), "B"
    )
    yield real_world("mme-realworld-dt", sales, "What is the total of March?", ("269", "249", "222", "215"), "A")
    yield real_world(
        "mme-realworld-dt",
        sales,
        "In which month did the south sell more than in any other month?",
        ("January", "February", "March", "April"),
        "D",
    )
    yield real_world("mme-realworld-dt", sales, "What is the total of July?", ("215", "222", "269", "249"), "E")
    for picture, question, options, answer in (
        (chain, "What does the frog eat?", ("grass", "hawk", "grasshopper", "nothing"), "C"),
        (flower, "Which letter marks the roots of the plant?", ("A", "B", "C", "D"), "D"),
    ):
        yield Item(
            "ai2d",
            picture,
            question,
            answer,
            suffix=LETTER.format(lettered(options)),
            metadata={"answer_choices": list(options)},
        )
    for picture, question, answer, rubric in (
        (cycle, "Which stage follows the pupa?", "Adult", TWO_LINE_RUBRIC),
        (cycle, "How many stages does the diagram show?", "4", FILLED_RUBRIC),
        (chain, "Which animal in the diagram is eaten by the hawk?", "Frog", TWO_LINE_RUBRIC),
        (flower, "Which part of the plant is marked with the letter C?", "Leaf", FILLED_RUBRIC),
    ):
        yield Item("ai2d", picture, question, answer, rubric=rubric)
