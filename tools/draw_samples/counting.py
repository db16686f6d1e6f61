"""Fields of things to count, placed on a jittered grid so that nothing overlaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PIL import Image, ImageDraw

from tools.draw_samples.canvas import (
    BLUE,
    BROWN,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    YELLOW,
    Point,
    blank,
    bold,
    disc,
    label,
    person,
    regular,
    square,
    star,
)
from tools.draw_samples.items import Item

NUMBER = "\nAnswer with a number."
Mark = Callable[[ImageDraw.ImageDraw, Point], object]


def field(marks: Sequence[Mark], columns: int, colour: str, cell: int = 84) -> Image.Image:
    """Marks in reading order, each shifted a little by a fixed rule."""
    lines = -(-len(marks) // columns)
    image, draw = blank(columns * cell + 30, lines * cell + 30, colour)
    for index, mark in enumerate(marks):
        row, column = divmod(index, columns)
        shift = ((index * 7) % 5 - 2, (index * 11) % 7 - 3)
        mark(draw, (15 + (column + 0.5) * cell + 3 * shift[0], 15 + (row + 0.5) * cell + 3 * shift[1]))
    return image


def balloon(draw: ImageDraw.ImageDraw, at: Point, fill: str) -> None:
    """A balloon on a string."""
    draw.line((at[0], at[1] + 18, at[0] + 4, at[1] + 38), fill=INK, width=2)
    draw.ellipse((at[0] - 18, at[1] - 26, at[0] + 18, at[1] + 18), fill=fill, outline=INK)


def cup(draw: ImageDraw.ImageDraw, at: Point, fill: str) -> None:
    """A cup with a handle."""
    draw.arc((at[0] + 10, at[1] - 14, at[0] + 34, at[1] + 12), -90, 90, fill=INK, width=5)
    draw.polygon(
        [(at[0] - 24, at[1] - 22), (at[0] + 22, at[1] - 22), (at[0] + 16, at[1] + 24), (at[0] - 18, at[1] + 24)],
        fill=fill,
        outline=INK,
    )


def bird(draw: ImageDraw.ImageDraw, at: Point) -> None:
    """A bird in flight, as one stroke."""
    offsets = ((-32, -4), (-16, -14), (0, 6), (16, -14), (32, -4))
    draw.line([(at[0] + x, at[1] + y) for x, y in offsets], fill=INK, width=6, joint="curve")


def walker(draw: ImageDraw.ImageDraw, at: Point, coat: str, hat: str = "") -> None:
    """A person whose middle is at the point."""
    person(draw, (at[0], at[1] + 40), 80, coat, hat)


def ticket(draw: ImageDraw.ImageDraw, at: Point, text: str) -> None:
    """A ticket with a word on it."""
    draw.rounded_rectangle((at[0] - 38, at[1] - 22, at[0] + 38, at[1] + 22), 8, fill=YELLOW, outline=INK, width=2)
    label(draw, at, text, bold(16))


def items() -> Iterator[Item]:
    """The counting questions."""
    balloons = field([partial(balloon, fill=(RED, BLUE, GREEN)[index % 3]) for index in range(7)], 4, SKY)
    stars = field([partial(star, radius=26, fill=YELLOW)] * 10, 5, "#1d2a52")
    cups = field([partial(cup, fill=colour) for colour in (RED, "white", RED, BLUE, "white", RED)], 3, "#efe3cf", 100)
    birds = field([bird] * 5, 3, SKY)
    tickets = field(
        [partial(ticket, text=text) for text in ("ADULT", "CHILD", "ADULT", "ADULT", "CHILD", "ADULT")],
        3,
        "#e8e8e8",
        104,
    )
    walkers = field(
        [
            partial(walker, coat=coat, hat=hat)
            for coat, hat in (
                (RED, ""),
                (BLUE, GREEN),
                (RED, BROWN),
                (GREEN, ""),
                (RED, ""),
                (PURPLE, GREEN),
                (BLUE, ""),
                (ORANGE, BROWN),
            )
        ],
        4,
        "#dfe7d8",
        100,
    )
    shapes = field(
        [
            partial(disc, radius=24, fill=RED),
            partial(square, radius=24, fill=BLUE),
            partial(disc, radius=24, fill=BLUE),
            partial(regular, radius=30, sides=3, fill=GREEN),
            partial(square, radius=24, fill=RED),
            partial(disc, radius=24, fill=RED),
            partial(square, radius=24, fill=GREY),
            partial(disc, radius=24, fill=GREEN),
            partial(disc, radius=24, fill=RED),
        ],
        5,
        "white",
    )
    for picture, question, answer in (
        (balloons, "How many balloons are there in the image?", "7"),
        (stars, "How many stars are there in the image?", "10"),
        (cups, "How many cups are there in the image?", "6"),
        (birds, "How many birds are there in the image?", "5"),
        (tickets, "How many tickets are there in the image?", "6"),
    ):
        yield Item("countbench", picture, question, answer, suffix=NUMBER)
    for picture, question, answer, is_simple in (
        (walkers, "How many people are in the image?", "8", True),
        (walkers, "How many people wear a hat?", "4", False),
        (shapes, "How many red circles are there?", "3", False),
        (shapes, "How many squares are there?", "3", True),
        (cups, "How many white cups are there?", "2", False),
        (tickets, "How many tickets say CHILD?", "2", False),
    ):
        yield Item("tallyqa", picture, question, answer, suffix=NUMBER, metadata={"is_simple": is_simple})
