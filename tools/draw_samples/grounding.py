"""Things to box and to point at; the gold comes from where they were drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from PIL import Image

from tools.draw_samples.canvas import (
    BLUE,
    BROWN,
    GRASS,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    RED,
    ROAD,
    SKY,
    YELLOW,
    Box,
    Point,
    blank,
    board,
    car,
    disc,
    font,
    person,
    star,
)
from tools.draw_samples.items import Item

BOX = "\nGive the bounding box as [x1, y1, x2, y2] with coordinates normalised to 0-1000, in \\boxed{}."
POINTS = "\nGive points as (x, y) from 0 to 1000 in \\boxed{}."
MASK_WIDTH, MASK_HEIGHT = 48, 32


def people() -> tuple[Image.Image, dict[str, Box]]:
    """Three people on a lawn: blue coat, red coat with a green hat, orange coat."""
    image, draw = blank(540, 360, SKY)
    draw.rectangle((0, 220, 540, 360), fill=GRASS)
    boxes = {
        "blue": person(draw, (110, 320), 210, BLUE),
        "hat": person(draw, (280, 300), 170, RED, GREEN),
        "orange": person(draw, (440, 330), 220, ORANGE),
    }
    return image, boxes


def road() -> tuple[Image.Image, dict[str, Box]]:
    """Two cars and two signs with words."""
    image, draw = blank(540, 360, SKY)
    draw.rectangle((0, 250, 540, 360), fill=ROAD)
    signs: dict[str, Box] = {"cafe": (40, 50, 200, 120), "exit": (350, 60, 480, 124)}
    for x in (120, 415):
        draw.rectangle((x - 4, 100, x + 4, 250), fill=GREY)
    board(draw, signs["cafe"], ["CAFE LUNA"], 24, ("#7a3b12", "white"))
    board(draw, signs["exit"], ["EXIT"], 34, (GREEN, "white"))
    boxes = {"red": car(draw, (50, 320), 170, RED), "yellow": car(draw, (310, 340), 190, YELLOW)}
    return image, signs | boxes


def table_top() -> tuple[Image.Image, dict[str, Box]]:
    """A plate, a book with a title, a ball and a star on a table."""
    image, draw = blank(540, 340, "#d8b48a")
    disc(draw, (120, 110), 70, "white", 2)
    disc(draw, (120, 110), 46, "#e9e9e9")
    draw.rectangle((320, 40, 490, 150), fill=PURPLE, outline=INK, width=2)
    draw.text((405, 95), "ATLAS", font=font(30, "DejaVuSerif-Bold"), fill="white", anchor="mm")
    disc(draw, (150, 260), 42, RED)
    star(draw, (390, 250), 60, YELLOW)
    return image, {"plate": (50, 40, 190, 180), "book": (320, 40, 490, 150), "ball": (108, 218, 192, 302)}


def apples() -> tuple[Image.Image, list[Point]]:
    """A tree with four apples."""
    image, draw = blank(480, 320, SKY)
    draw.rectangle((0, 270, 480, 320), fill=GRASS)
    draw.rectangle((220, 180, 260, 290), fill=BROWN, outline=INK)
    draw.ellipse((110, 20, 370, 210), fill=GREEN, outline=INK)
    spots = [(168.0, 96.0), (240.0, 64.0), (312.0, 112.0), (240.0, 160.0)]
    for spot in spots:
        disc(draw, spot, 18, RED)
    return image, spots


def boxed(dataset: str, picture: tuple[Image.Image, dict[str, Box]], name: str, phrase: str) -> Item:
    """A refcoco item; the box is in fractions of width and height."""
    image, boxes = picture
    x1, y1, x2, y2 = boxes[name]
    box = [round(value, 4) for value in (x1 / image.width, y1 / image.height, x2 / image.width, y2 / image.height)]
    return Item(
        dataset,
        image,
        f"Locate the region described by: {phrase}.",
        json.dumps(box),
        suffix=BOX,
        metadata={"bbox": box},
    )


def pointed(image: Image.Image, question: str, spots: Sequence[Point], radius: float) -> Item:
    """A pixmo item: targets in per cent, one coarse mask for each."""
    targets = [{"x": round(100 * x / image.width, 2), "y": round(100 * y / image.height, 2)} for x, y in spots]
    metadata: dict[str, Any] = {
        "points_target": targets,
        "points_mask": [_mask(image, spot, radius) for spot in spots],
        "has_target": bool(spots),
    }
    return Item("pixmo_points_eval", image, question, json.dumps(targets), suffix=POINTS, metadata=metadata)


def _mask(image: Image.Image, at: Point, radius: float) -> list[list[bool]]:
    step_x, step_y = image.width / MASK_WIDTH, image.height / MASK_HEIGHT
    return [
        [
            ((column + 0.5) * step_x - at[0]) ** 2 + ((row + 0.5) * step_y - at[1]) ** 2 <= radius**2
            for column in range(MASK_WIDTH)
        ]
        for row in range(MASK_HEIGHT)
    ]


def items() -> Iterator[Item]:
    """The grounding questions; refcoco+ describes without words of place."""
    group, traffic, things, (tree, spots) = people(), road(), table_top(), apples()
    yield boxed("refcoco_testA", group, "blue", "man on the left")
    yield boxed("refcoco_testA", group, "hat", "person in the middle")
    yield boxed("refcoco_testB", traffic, "yellow", "car on the right")
    yield boxed("refcoco_testB", traffic, "exit", "sign that says EXIT")
    yield boxed("refcoco_plus_testA", group, "hat", "person with the green hat")
    yield boxed("refcoco_plus_testB", traffic, "red", "red car")
    yield boxed("refcoco_plus_testB", traffic, "cafe", "sign with the words CAFE LUNA")
    yield boxed("refcocog_test", things, "book", "a purple book with the title ATLAS")
    yield boxed("refcocog_test", group, "orange", "a person who wears an orange coat and no hat")
    yield boxed("refcoco_m_val", things, "plate", "white plate")
    yield pointed(tree, "Point to all the apples in the image.", spots, 18)
    yield pointed(things[0], "Point to the red ball.", [(150, 260)], 42)
    yield pointed(tree, "Point to the bicycle.", [], 0)
