"""Streets, a crossing, a car park from above: where things are."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import Image, ImageDraw

from tools.draw_samples.canvas import (
    BLUE,
    BROWN,
    GRASS,
    GREEN,
    GREY,
    INK,
    ORANGE,
    RED,
    ROAD,
    SKY,
    YELLOW,
    Point,
    blank,
    board,
    bold,
    car,
    disc,
    label,
    person,
    regular,
)
from tools.draw_samples.items import Item, lettered, real_world

LETTER = "\nPlease answer directly with only the letter of the correct option and nothing else."


def street() -> Image.Image:
    """A red car left of a house, a tree right of it, a blue car on the road in front."""
    image, draw = blank(560, 360, SKY)
    draw.rectangle((0, 200, 560, 360), fill=GRASS)
    draw.rectangle((0, 270, 560, 350), fill=ROAD)
    for x in range(10, 560, 60):
        draw.rectangle((x, 308, x + 30, 313), fill="white")
    draw.rectangle((220, 120, 340, 240), fill="#e7cfa8", outline=INK, width=2)
    draw.polygon([(205, 120), (355, 120), (280, 60)], fill=BROWN, outline=INK)
    draw.rectangle((264, 180, 296, 240), fill=RED, outline=INK)
    draw.rectangle((434, 150, 452, 240), fill=BROWN, outline=INK)
    disc(draw, (443, 120), 48, GREEN)
    car(draw, (50, 250), 120, RED)
    car(draw, (330, 340), 150, BLUE)
    return image


def signals() -> Image.Image:
    """The view of a driver: a light that is red, a sign, a person waiting on the right."""
    image, draw = blank(560, 360, SKY)
    draw.rectangle((0, 200, 560, 360), fill=GRASS)
    draw.polygon([(80, 360), (480, 360), (310, 200), (250, 200)], fill=ROAD)
    for top, bottom in ((210, 226), (246, 270), (296, 334)):
        draw.rectangle((277, top, 283, bottom), fill="white")
    draw.rectangle((156, 60, 166, 240), fill=GREY, outline=INK)
    draw.rounded_rectangle((136, 30, 186, 150), 10, fill="#222222")
    for y, colour in ((52, RED), (90, "#4a4a2a"), (128, "#24452a")):
        disc(draw, (161, y), 15, colour)
    draw.rectangle((418, 130, 424, 230), fill=GREY)
    disc(draw, (421, 110), 34, RED)
    disc(draw, (421, 110), 24, "white")
    label(draw, (421, 110), "50", bold(22))
    person(draw, (500, 320), 110, ORANGE)
    return image


def arrows() -> Image.Image:
    """A lane arrow that points to the right, seen from above."""
    image, draw = blank(420, 360, ROAD)
    draw.rectangle((20, 0, 28, 360), fill="white")
    draw.rectangle((392, 0, 400, 360), fill="white")
    for y in range(0, 360, 60):
        draw.rectangle((206, y, 212, y + 34), fill="white")
    draw.rectangle((110, 100, 124, 290), fill="white")
    draw.polygon([(117, 60), (86, 110), (148, 110)], fill="white")
    draw.rectangle((300, 140, 314, 290), fill="white")
    draw.rectangle((300, 140, 344, 154), fill="white")
    draw.polygon([(378, 147), (336, 116), (336, 178)], fill="white")
    label(draw, (117, 326), "LANE 1", bold(18), "white")
    label(draw, (306, 326), "LANE 2", bold(18), "white")
    return image


def top_car(draw: ImageDraw.ImageDraw, at: Point, colour: str) -> None:
    """A car from above."""
    x, y = at
    draw.rounded_rectangle((x - 20, y - 36, x + 20, y + 36), 10, fill=colour, outline=INK)
    draw.rectangle((x - 14, y - 18, x + 14, y - 4), fill="#cfe4f0", outline=INK)
    draw.rectangle((x - 14, y + 14, x + 14, y + 24), fill="#cfe4f0", outline=INK)


def car_park() -> Image.Image:
    """Eight bays with letters and numbers, five of them taken, seen from above."""
    image, draw = blank(480, 380, ROAD)
    colours = {"A1": RED, "A3": "white", "A4": BLUE, "B2": YELLOW, "B3": RED}
    for row, letter in enumerate("AB"):
        for column in range(4):
            bay, x, y = f"{letter}{column + 1}", 90 + column * 100, 80 + row * 210
            draw.rectangle((x - 44, y - 62, x + 44, y + 62), outline="white", width=3)
            label(draw, (x - 24, y - 46), bay, bold(18), "white")
            if bay in colours:
                top_car(draw, (x, y + 18), colours[bay])
    regular(draw, (70, 184), 18, 3, "white", turn=180)
    draw.line((70, 184, 420, 184), fill="white", width=4)
    return image


def square_from_above() -> Image.Image:
    """A square with a fountain, trees and a kiosk, and a compass."""
    image, draw = blank(480, 400, "#e9e2d0")
    disc(draw, (240, 210), 54, "#7db7dd", 3)
    disc(draw, (240, 210), 16, "white", 2)
    label(draw, (240, 284), "Fountain", bold(16))
    for x, y in ((80, 80), (150, 60), (90, 150)):
        disc(draw, (x, y), 26, GREEN)
    board(draw, (350, 300, 450, 360), ["KIOSK"], 18, (YELLOW, INK))
    draw.line((420, 130, 420, 60), fill=INK, width=4)
    draw.polygon([(420, 44), (410, 66), (430, 66)], fill=INK)
    label(draw, (420, 30), "N", bold(20))
    return image


def items() -> Iterator[Item]:
    """The spatial questions; realworldqa carries its options in the question."""
    road, lights, lanes, bays, place = street(), signals(), arrows(), car_park(), square_from_above()
    for picture, question, options, answer in (
        (road, "On which side of the house is the tree?", ("Left", "Right", "In front"), "B"),
        (road, "Which car is closer to the camera?", ("The red car", "The blue car"), "B"),
        (lights, "What is the speed limit on the sign?", ("30", "50", "70"), "B"),
    ):
        yield Item("realworldqa", picture, f"{question}\n{lettered(options)}", answer, suffix=LETTER)
    yield Item(
        "realworldqa",
        place,
        "How many trees are in the square?",
        "3",
        suffix="\nPlease answer directly with a single word or number.",
    )
    yield real_world(
        "mme-realworld-ad",
        lights,
        "What is the colour of the traffic light ahead?",
        ("Red", "Yellow", "Green", "It is off"),
        "A",
    )
    yield real_world(
        "mme-realworld-ad",
        lights,
        "Where is the pedestrian?",
        (
            "On the left of the road",
            "In the middle of the road",
            "On the right of the road",
            "Behind the traffic light",
        ),
        "C",
    )
    yield real_world(
        "mme-realworld-ad",
        lanes,
        "Where does the arrow in lane 2 point?",
        ("Straight ahead", "To the left", "To the right", "Backwards"),
        "C",
    )
    yield real_world("mme-realworld-mo", bays, "How many bays of the car park are taken?", ("3", "4", "5", "6"), "C")
    yield real_world("mme-realworld-mo", bays, "In which bay is the yellow car?", ("A2", "B2", "B3", "B4"), "B")
    yield real_world(
        "mme-realworld-mo",
        place,
        "In which direction from the fountain is the kiosk?",
        ("North-east", "South-east", "South-west", "North-west"),
        "B",
    )
    yield real_world(
        "mme-realworld-mo",
        place,
        "What is the colour of the bus in the square?",
        ("Red", "Blue", "White", "Green"),
        "E",
    )
