"""Documents: an invoice, a receipt, a book cover, a page, a table on paper."""

from __future__ import annotations

import json
from collections.abc import Iterator
from textwrap import wrap

from PIL import Image

from tools.draw_samples.canvas import GREY, INK, PAPER, blank, bold, font, label
from tools.draw_samples.items import Item

WORD = "\nAnswer the question using a single word or phrase."
RECEIPT = {
    "store": "HARBOUR GROCERY",
    "date": "14/05/2024",
    "items": [
        {"name": "Bread", "price": "2.40"},
        {"name": "Cheese", "price": "6.75"},
        {"name": "Apples", "price": "3.10"},
    ],
    "total": "12.25",
}
PARAGRAPH = (
    "The committee met on Monday to review the annual budget. All members agreed that "
    "spending on road repair should increase next year."
)
PAGE = (
    "\\documentclass{article}\n\\begin{document}\n\\section{Minutes}\n" + PARAGRAPH + "\n"
    "\\section{Next meeting}\nThe next meeting is on 12 June in room 204.\n\\end{document}"
)
STOCK = (("Part", "Bin", "Count"), ("Bolt M6", "A1", "240"), ("Nut M6", "A2", "310"), ("Washer", "B4", "95"))


def html(table: tuple[tuple[str, ...], ...]) -> str:
    """A plain HTML table."""
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in line) + "</tr>" for line in table)
    return f"<table>{body}</table>"


def invoice() -> Image.Image:
    """An invoice with a head and three lines."""
    image, draw = blank(480, 420, PAPER)
    draw.text((30, 24), "NORTHWIND SUPPLIES LTD", font=bold(22), fill=INK)
    draw.text((30, 54), "18 Quay Street, Porthaven", font=font(15), fill=INK)
    for row, line in enumerate(
        ("Invoice number: INV-20417", "Date: 3 March 2024", "Due date: 2 April 2024", "Bill to: Marlow & Finch")
    ):
        draw.text((30, 92 + row * 28), line, font=font(17), fill=INK)
    draw.rectangle((30, 214, 450, 242), fill="#e6e6e0")
    for row, (name, amount) in enumerate(
        (("Description", "Amount"), ("Desk lamp", "$86.00"), ("Paper, 10 boxes", "$54.50"))
    ):
        face = bold(16) if row == 0 else font(16)
        draw.text((40, 228 + row * 32), name, font=face, fill=INK, anchor="lm")
        draw.text((440, 228 + row * 32), amount, font=face, fill=INK, anchor="rm")
    draw.line((30, 320, 450, 320), fill=INK, width=2)
    draw.text((40, 344), "Total due: $140.50", font=bold(19), fill=INK, anchor="lm")
    draw.text((30, 386), "Questions? Call 555-0142", font=font(15), fill=INK)
    return image


def receipt() -> Image.Image:
    """A till receipt in a monospaced face."""
    image, draw = blank(360, 380, PAPER)
    mono = font(18, "DejaVuSansMono")
    label(draw, (180, 36), str(RECEIPT["store"]), font(20, "DejaVuSansMono-Bold"))
    label(draw, (180, 72), f"Date: {RECEIPT['date']}", mono)
    label(draw, (180, 104), "-" * 28, mono, GREY)
    for row, (name, price) in enumerate((("Bread", "2.40"), ("Cheese", "6.75"), ("Apples", "3.10"))):
        draw.text((40, 140 + row * 36), name, font=mono, fill=INK, anchor="lm")
        draw.text((320, 140 + row * 36), price, font=mono, fill=INK, anchor="rm")
    label(draw, (180, 248), "-" * 28, mono, GREY)
    draw.text((40, 284), "TOTAL", font=font(20, "DejaVuSansMono-Bold"), fill=INK, anchor="lm")
    draw.text((320, 284), "12.25", font=font(20, "DejaVuSansMono-Bold"), fill=INK, anchor="rm")
    label(draw, (180, 340), "THANK YOU", mono)
    return image


def cover() -> Image.Image:
    """A book cover."""
    image, draw = blank(340, 460, "#1f4e5f")
    draw.rectangle((16, 16, 324, 444), outline="#f0e0b0", width=3)
    label(draw, (170, 100), "The Silent", bold(38), "#f0e0b0")
    label(draw, (170, 150), "Orchard", bold(38), "#f0e0b0")
    label(draw, (170, 210), "A novel", font(22, "DejaVuSerif-Italic"), "white")
    draw.ellipse((120, 250, 220, 350), fill="#c0392b")
    draw.line((170, 252, 186, 230), fill="#f0e0b0", width=4)
    label(draw, (170, 404), "Eleanor Marchbanks", font(24, "DejaVuSerif"), "white")
    return image


def page() -> Image.Image:
    """A page with two headed paragraphs."""
    image, draw = blank(520, 330)
    serif, head = font(18, "DejaVuSerif"), font(22, "DejaVuSerif-Bold")
    draw.text((36, 28), "1  Minutes", font=head, fill=INK)
    for row, line in enumerate(wrap(PARAGRAPH, 46)):
        draw.text((36, 72 + row * 30), line, font=serif, fill=INK)
    draw.text((36, 208), "2  Next meeting", font=head, fill=INK)
    draw.text((36, 252), "The next meeting is on 12 June in room 204.", font=serif, fill=INK)
    return image


def paragraph() -> Image.Image:
    """A paragraph alone."""
    image, draw = blank(520, 170)
    for row, line in enumerate(wrap(PARAGRAPH, 46)):
        draw.text((30, 28 + row * 32), line, font=font(18, "DejaVuSerif"), fill=INK)
    return image


def grid(table: tuple[tuple[str, ...], ...], widths: tuple[int, ...], title: str = "", size: int = 18) -> Image.Image:
    """A ruled table, its first line in bold."""
    top, height = (60 if title else 20), 42
    image, draw = blank(sum(widths) + 40, top + height * len(table) + 20)
    if title:
        label(draw, (image.width / 2, 32), title, bold(size + 2))
    for row, line in enumerate(table):
        x = 20
        for text, width in zip(line, widths, strict=True):
            y = top + row * height
            draw.rectangle((x, y, x + width, y + height), outline=INK, fill="#dfe8f0" if row == 0 else "white")
            label(draw, (x + width / 2, y + height / 2), text, bold(size) if row == 0 else font(size))
            x += width
    return image


def items() -> Iterator[Item]:
    """The document questions."""
    bill, slip, book, stock = invoice(), receipt(), cover(), grid(STOCK, (160, 90, 110))
    docvqa = {"question_types": ["form"], "docId": 9271}
    yield Item("docvqa", bill, "What is the invoice number?", "INV-20417", metadata=docvqa)
    yield Item("docvqa", bill, "What is the due date?", "2 April 2024", metadata=docvqa)
    yield Item("docvqa", bill, "What is the total due?", "$140.50", all_answers=("$140.50", "140.50"), metadata=docvqa)
    yield Item("ocr-vqa", book, "Who wrote this book?", "Eleanor Marchbanks")
    yield Item("ocr-vqa", book, "What is the title of this book?", "The Silent Orchard")
    schema = json.dumps({"store": "", "date": "", "items": [{"name": "", "price": ""}], "total": ""})
    yield Item(
        "cc-ocr-kie",
        slip,
        f"Extract the key information of the receipt in the given JSON schema.\n{schema}",
        json.dumps(RECEIPT),
        metadata={"l2_category": "constrained_category"},
    )
    yield Item(
        "cc-ocr-doc_parsing", page(), "Convert the document image to LaTeX.", PAGE, metadata={"l2_category": "doc"}
    )
    yield Item(
        "cc-ocr-doc_parsing", stock, "Convert the table to HTML.", html(STOCK), metadata={"l2_category": "table"}
    )
    yield Item(
        "ocrbench-v2",
        slip,
        "How much is the total on the receipt?",
        "12.25",
        suffix=WORD,
        metadata={"type": "cognition VQA en", "eval": "None"},
    )
    yield Item(
        "ocrbench-v2",
        paragraph(),
        "Please read all the text in the image.",
        PARAGRAPH,
        metadata={"type": "full-page OCR en", "eval": "None"},
    )
    fields = {"company": ["NORTHWIND SUPPLIES LTD"], "date": ["3 March 2024"], "total": ["$140.50", "140.50"]}
    yield Item(
        "ocrbench-v2",
        bill,
        "Extract company, date and total due as JSON.",
        str(fields),
        metadata={"type": "key information extraction en", "eval": "None"},
    )
    yield Item(
        "ocrbench-v2",
        stock,
        "Please convert the table in the image into HTML format.",
        html(STOCK),
        metadata={"type": "table parsing en", "eval": "None"},
    )
