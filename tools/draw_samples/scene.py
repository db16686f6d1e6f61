"""Words in scenes: shop front, road sign, bottle, notice board, market stall, van."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import Image

from tools.draw_samples.canvas import (
    BLUE,
    BROWN,
    GRASS,
    GREEN,
    INK,
    RED,
    ROAD,
    SKY,
    YELLOW,
    blank,
    board,
    bold,
    disc,
    font,
    label,
)
from tools.draw_samples.items import Item, real_world

READ_ALL = "Please output only the text content from the image without any additional descriptions or formatting."


def shop() -> Image.Image:
    """A shop front with its name, its hours and a street number."""
    image, draw = blank(480, 380, SKY)
    draw.rectangle((40, 60, 440, 340), fill="#d9c3a0", outline=INK, width=2)
    draw.rectangle((0, 340, 480, 380), fill=ROAD)
    board(draw, (60, 80, 420, 150), ["MILLER BAKERY"], 32, ("#8c2f1b", "white"))
    draw.rectangle((70, 180, 230, 310), fill="#bfe0ee", outline=INK, width=3)
    board(draw, (85, 200, 215, 290), ["OPEN", "7 am - 6 pm"], 17, ("white", INK))
    draw.rectangle((290, 190, 380, 340), fill=BROWN, outline=INK, width=3)
    disc(draw, (366, 270), 5, YELLOW)
    label(draw, (335, 172), "No. 27", bold(20))
    return image


def road_sign() -> Image.Image:
    """A green sign above a road with two distances."""
    image, draw = blank(480, 340, SKY)
    draw.rectangle((0, 250, 480, 340), fill=GRASS)
    draw.polygon([(180, 340), (300, 340), (250, 250), (230, 250)], fill=ROAD)
    for x in (120, 360):
        draw.rectangle((x - 5, 180, x + 5, 290), fill="#9a9a9a")
    draw.rounded_rectangle((70, 40, 410, 190), 12, fill="#0a6b3d", outline="white", width=4)
    for row, (town, distance) in enumerate((("Ashford", "12 km"), ("Brightsea", "48 km"))):
        draw.text((100, 86 + row * 58), town, font=bold(30), fill="white", anchor="lm")
        draw.text((384, 86 + row * 58), distance, font=bold(30), fill="white", anchor="rm")
    return image


def bottle() -> Image.Image:
    """A bottle with a label."""
    image, draw = blank(340, 440, "#efe8dc")
    draw.rectangle((145, 30, 195, 110), fill=GREEN, outline=INK)
    draw.rounded_rectangle((85, 100, 255, 420), 34, fill=GREEN, outline=INK)
    draw.rectangle((88, 180, 252, 340), fill="#fff6d8", outline=INK)
    label(draw, (170, 220), "VERDANO", bold(26), RED)
    label(draw, (170, 262), "olive oil", font(22, "DejaVuSerif-Italic"))
    label(draw, (170, 306), "500 ml", bold(20))
    return image


def notice() -> Image.Image:
    """A notice on a fence."""
    image, draw = blank(440, 280, GRASS)
    for x in range(10, 440, 44):
        draw.rectangle((x, 20, x + 26, 280), fill="#b98a5a", outline=BROWN)
    board(draw, (60, 50, 380, 230), ["NO PARKING", "ANY TIME", "Gate in use"], 30, ("white", RED))
    return image


def stall() -> Image.Image:
    """A market stall's price board."""
    image, draw = blank(440, 320, "#f4e2c4")
    for index in range(8):
        draw.polygon(
            [(index * 55, 0), (index * 55 + 55, 0), (index * 55 + 55, 50), (index * 55, 50)],
            fill=RED if index % 2 else "white",
        )
    draw.rounded_rectangle((60, 80, 380, 290), 8, fill="#26352b", outline=BROWN, width=8)
    label(draw, (220, 116), "TODAY", bold(26), YELLOW)
    for row, (name, price) in enumerate((("Plums", "3.20"), ("Pears", "2.75"), ("Figs", "5.90"))):
        draw.text((100, 166 + row * 42), name, font=bold(24), fill="white", anchor="lm")
        draw.text((340, 166 + row * 42), price, font=bold(24), fill="white", anchor="rm")
    return image


def van() -> Image.Image:
    """A delivery van with a name, a telephone number and a plate."""
    image, draw = blank(520, 320, SKY)
    draw.rectangle((0, 250, 520, 320), fill=ROAD)
    draw.rounded_rectangle((40, 60, 370, 250), 10, fill="white", outline=INK, width=2)
    draw.polygon([(370, 110), (430, 110), (480, 180), (480, 250), (370, 250)], fill="white", outline=INK)
    draw.polygon([(382, 122), (424, 122), (462, 178), (382, 178)], fill="#bfe0ee", outline=INK)
    for x in (120, 410):
        disc(draw, (x, 252), 30, "#2b2b2b")
        disc(draw, (x, 252), 12, "#c8c8c8")
    label(draw, (205, 110), "SWIFT PARCELS", bold(30), BLUE)
    label(draw, (205, 160), "555-0134", bold(30), INK)
    draw.rectangle((190, 206, 320, 240), fill=YELLOW, outline=INK, width=2)
    label(draw, (255, 223), "KX19 TBD", bold(20))
    return image


def items() -> Iterator[Item]:
    """The scene-text questions; text-vqa has the answers of ten people."""
    front, sign, oil, fence, prices, lorry = shop(), road_sign(), bottle(), notice(), stall(), van()
    yield Item(
        "text-vqa",
        front,
        "what is the name of the bakery?",
        "miller bakery",
        all_answers=("miller bakery",) * 6 + ("miller",) * 3 + ("Miller Bakery",),
    )
    yield Item(
        "text-vqa", sign, "how far is it to brightsea?", "48 km", all_answers=("48 km",) * 8 + ("48", "48 kilometers")
    )
    yield Item(
        "text-vqa",
        oil,
        "what brand is on the bottle?",
        "verdano",
        all_answers=("verdano",) * 9 + ("verdano olive oil",),
    )
    yield Item("text-vqa", oil, "how many ml does the bottle hold?", "500", all_answers=("500",) * 7 + ("500 ml",) * 3)
    for picture, text, kind in (
        (fence, "NO PARKING ANY TIME Gate in use", "scene_text"),
        (sign, "Ashford 12 km Brightsea 48 km", "scene_text"),
        (prices, "TODAY Plums 3.20 Pears 2.75 Figs 5.90", "ugc_text"),
    ):
        yield Item("cc-ocr-multi_scene_ocr", picture, READ_ALL, text, metadata={"l2_category": kind})
    yield real_world(
        "mme-realworld-ocr",
        lorry,
        "What is the phone number on the van?",
        ("555-0143", "555-0134", "555-1034", "555-0314"),
        "B",
    )
    yield real_world(
        "mme-realworld-ocr",
        lorry,
        "What is the license plate of the van?",
        ("KX91 TBD", "KY19 TBD", "KX19 TDB", "KX19 TBD"),
        "D",
    )
    yield real_world(
        "mme-realworld-ocr", front, "What time does the shop close?", ("7 am", "5 pm", "6 pm", "8 pm"), "C"
    )
    yield real_world(
        "mme-realworld-ocr", prices, "What is the price of melons on the board?", ("3.20", "2.75", "5.90", "4.10"), "E"
    )
