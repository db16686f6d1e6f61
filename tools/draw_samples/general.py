"""Mixed pictures: a park, a kitchen shelf, a circuit, a market curve, a timeline."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure
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
    SKY,
    YELLOW,
    blank,
    board,
    bold,
    disc,
    font,
    label,
    person,
    rendered,
)
from tools.draw_samples.items import FILLED_RUBRIC, TWO_LINE_RUBRIC, Item, choices, lettered

LETTER = "\n{}\nAnswer with the option's letter from the given choices directly."
WORD = "\nAnswer the question using a single word or phrase."


def park() -> Image.Image:
    """A man with a red hat by a bench under a tree, and a sign."""
    image, draw = blank(520, 360, SKY)
    draw.rectangle((0, 230, 520, 360), fill=GRASS)
    disc(draw, (460, 60), 34, YELLOW)
    draw.rectangle((80, 150, 106, 270), fill=BROWN, outline=INK)
    disc(draw, (93, 110), 66, GREEN)
    for y in (236, 256):
        draw.rectangle((180, y, 300, y + 10), fill=BROWN, outline=INK)
    for x in (190, 286):
        draw.rectangle((x, 266, x + 8, 300), fill=INK)
    person(draw, (360, 310), 150, BLUE, RED)
    draw.rectangle((450, 240, 456, 320), fill=GREY)
    board(draw, (404, 190, 506, 244), ["CITY PARK"], 15, ("white", GREEN))
    return image


def shelf() -> Image.Image:
    """Four jars on a shelf with the names of what is in them."""
    image, draw = blank(520, 260, "#f6efe2")
    draw.rectangle((20, 210, 500, 226), fill=BROWN, outline=INK)
    for index, (name, colour) in enumerate(
        (("SALT", "white"), ("RICE", "#f2ead0"), ("BEANS", "#7c3b2a"), ("PEAS", GREEN))
    ):
        x = 84 + index * 118
        draw.rounded_rectangle((x - 46, 84, x + 46, 210), 12, fill=colour, outline=INK, width=2)
        draw.rectangle((x - 38, 64, x + 38, 86), fill=GREY, outline=INK)
        draw.rectangle((x - 40, 126, x + 40, 164), fill="white", outline=INK)
        label(draw, (x, 145), name, bold(19))
    return image


def circuit() -> Image.Image:
    """A battery of 12 V with two resistors in series."""
    image, draw = blank(480, 320)
    draw.rectangle((80, 80, 400, 250), outline=INK, width=3)
    draw.rectangle((76, 140, 84, 190), fill="white")
    draw.line((54, 152, 106, 152), fill=INK, width=4)
    draw.line((66, 178, 94, 178), fill=INK, width=6)
    draw.rectangle((190, 62, 290, 98), fill="white", outline=INK, width=3)
    draw.rectangle((382, 120, 418, 210), fill="white", outline=INK, width=3)
    label(draw, (26, 165), "12 V", bold(17))
    label(draw, (240, 40), "R1 = 2 ohm", bold(18))
    label(draw, (344, 165), "R2 =", bold(16))
    label(draw, (344, 188), "4 ohm", bold(16))
    label(draw, (240, 282), "Series circuit", font(18))
    return image


def market() -> Image.Image:
    """Supply and demand with the point where they cross."""
    figure = Figure(figsize=(4.8, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 10], [10, 0], color=BLUE)
    axes.plot([0, 10], [2, 12], color=RED)
    axes.plot([4], [6], "o", color=INK)
    axes.vlines(4, 0, 6, color=GREY, linestyles="--")
    axes.hlines(6, 0, 4, color=GREY, linestyles="--")
    axes.text(9.1, 2.6, "Demand", color=BLUE, fontsize=12, ha="center")
    axes.text(7.2, 10.6, "Supply", color=RED, fontsize=12, ha="center")
    axes.text(4, 6.9, "E", fontsize=14, ha="center")
    axes.set(title="Market for apples", xlabel="Quantity", ylabel="Price", xlim=(0, 10.5), ylim=(0, 12.5))
    axes.set_xticks(range(0, 11, 2))
    axes.set_yticks(range(0, 13, 2))
    return rendered(figure)


def timeline() -> Image.Image:
    """Four inventions on a line of years."""
    image, draw = blank(600, 230, "#faf8f2")
    label(draw, (300, 30), "Inventions", bold(22))
    draw.line((40, 120, 560, 120), fill=INK, width=4)
    events = (("1450", "Printing press"), ("1769", "Steam engine"), ("1876", "Telephone"), ("1903", "Aeroplane"))
    for index, ((year, name), colour) in enumerate(zip(events, (PURPLE, ORANGE, GREEN, RED), strict=True)):
        x = 80 + index * 147
        disc(draw, (x, 120), 12, colour)
        label(draw, (x, 88), year, bold(20))
        label(draw, (x, 156), name, font(16))
    return image


def items() -> Iterator[Item]:
    """The general questions; the four rotations of one mmbench item share their original index."""
    walk, jars, wires, curve, line = park(), shelf(), circuit(), market(), timeline()
    options = ["salt", "rice", "beans", "flour"]
    for turn in range(4):
        turned = options[turn:] + options[:turn]
        yield Item(
            "mmbench",
            jars,
            "Which of these is not on the shelf?",
            "ABCD"[turned.index("flour")],
            suffix=LETTER.format(lettered(turned)),
            is_circular=True,
            original_idx="241",
            metadata=choices(turned),
        )
    hats = ["yellow", "green", "blue", "red"]
    yield Item(
        "mmbench",
        walk,
        "What is the colour of the man's hat?",
        "D",
        suffix=LETTER.format(lettered(hats)),
        metadata=choices(hats),
    )
    currents = ["1 A", "2 A", "3 A", "6 A"]
    yield Item(
        "mmmu",
        wires,
        "<image 1> What current flows in the circuit?",
        "B",
        suffix=LETTER.format(lettered(currents)),
        metadata=choices(currents),
    )
    prices = ["4", "5", "6", "8"]
    yield Item(
        "mmmu",
        curve,
        "<image 1> What is the equilibrium price?",
        "C",
        suffix=LETTER.format(lettered(prices)),
        metadata=choices(prices),
    )
    years = ["1450", "1492", "1769", "1789", "1815", "1848", "1876", "1889", "1903", "1914"]
    yield Item(
        "mmmupro",
        line,
        "<image 1> In which year does the timeline place the telephone?",
        "G",
        suffix=LETTER.format(lettered(years)),
        metadata=choices(years),
    )
    yield Item("mmmupro", wires, "<image 1> What is the voltage across R2, in volts?", "8", rubric=TWO_LINE_RUBRIC)
    yield Item(
        "mmmupro",
        line,
        "<image 1> Which invention on the timeline is the oldest?",
        "Printing press",
        rubric=FILLED_RUBRIC,
    )
    for picture, question, counts, kinds in (
        (walk, "What is written on the sign?", (("city park", 10),), ("other", "what is")),
        (walk, "Is the man wearing a hat?", (("yes", 10),), ("yes/no", "is the man")),
        (jars, "How many jars are on the shelf?", (("4", 9), ("four", 1)), ("number", "how many")),
    ):
        answers = tuple(text for text, count in counts for _ in range(count))
        yield Item(
            "vqa-v2",
            picture,
            question,
            answers[0],
            suffix=WORD,
            all_answers=answers,
            metadata={"answer_type": kinds[0], "question_type": kinds[1]},
        )
