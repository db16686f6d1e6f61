"""What the OCR baseline answers, given a prompt and the lines of text that were read in the image.

A handful of rules, tried in a fixed order. They know words and where they stand, nothing of what a picture shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_WORD = re.compile(r"\w+")

STOP_WORDS = frozenset(
    _WORD.findall(
        "a all an and are at be by can did do does for from has have how in is it its many me most much of on or point "
        "that the their there these this to was were what when where which who whose will with you"
    )
)
"""Words that say nothing about where an answer stands."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_OPTION = re.compile(r"^\s*\(?([A-J])[).:] ?(.+)$", re.MULTILINE)
_ASKS_FOR_NUMBER = re.compile(r"\bhow (?:much|far)\b|\bwhen\b|\b(?:year|value|price|total|percentage)\b", re.IGNORECASE)
_TRANSCRIBE = re.compile(r"\btext content\b|\ball the text\b|\blatex\b", re.IGNORECASE)


@dataclass(frozen=True)
class Line:
    """A line of text and the box around it: x1, y1, x2, y2 in pixels, the origin at the upper left."""

    text: str
    box: tuple[float, float, float, float]

    @property
    def centre(self) -> tuple[float, float]:
        """Middle of the box."""
        x1, y1, x2, y2 = self.box
        return (x1 + x2) / 2, (y1 + y2) / 2

    @property
    def label(self) -> str:
        """What stands before a colon, else the whole text."""
        return self.text.partition(":")[0] if self.value else self.text

    @property
    def value(self) -> str:
        """What stands after a colon that a blank follows, else nothing."""
        return self.text.partition(": ")[2].strip()


def answer(prompt: str, lines: Sequence[Line], size: tuple[int, int]) -> str:
    """The answer to a prompt.

    Args:
        prompt: the text sent with the image; the question is its first line.
        lines: what was read, in reading order.
        size: width and height of the image in pixels.

    Returns:
        Text in the form that the prompt asks for: a letter, a number, a box or points in thousandths, HTML, JSON, or
        words of the image. Empty if nothing was read and nothing can be guessed.
    """
    question = prompt.replace("<image 1>", "").strip().partition("\n")[0]
    options = dict(_OPTION.findall(prompt))
    wanted = prompt.lower()
    if "bounding box" in wanted:
        return _box(_best(question, lines), size)
    if wanted.startswith("point to"):
        return _point(_best(question, lines), size)
    if options:
        return _choose(question, options, lines)
    if "html" in wanted:
        return _html(lines)
    if "json" in wanted:
        return json.dumps({line.label.lower(): line.value for line in lines if line.value}, ensure_ascii=False)
    if _TRANSCRIBE.search(prompt):
        return " ".join(line.text for line in lines)
    if "how many" in wanted:
        return _count(question, lines)
    return _look_up(question, lines)


def words(text: str) -> list[str]:
    """Lower-case words that carry meaning, without a plural s.

    >>> words("What are the Totals of 2023?")
    ['total', '2023']
    """
    found = (word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found]


def rows(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Lines grouped by height, top to bottom, each row from left to right."""
    row: list[Line] = []
    for line in sorted(lines, key=lambda line: line.centre[1]):
        if row and not _same_row(row[0], line):
            yield sorted(row, key=lambda line: line.box[0])
            row = []
        row.append(line)
    if row:
        yield sorted(row, key=lambda line: line.box[0])


def _same_row(one: Line, other: Line) -> bool:
    return one.box[1] <= other.centre[1] <= one.box[3]


def _same_column(one: Line, other: Line) -> bool:
    return one.box[0] <= other.centre[0] <= one.box[2] or other.box[0] <= one.centre[0] <= other.box[2]


def _match(question: str, line: Line) -> float:
    """How well a label fits a question: its words in the question, less a quarter of those that are not."""
    asked, own = set(words(question)), words(line.label)
    shared = sum(word in asked for word in own)
    return shared - 0.25 * (len(own) - shared) if shared else 0.0


def _best(question: str, lines: Sequence[Line]) -> Line | None:
    """The line whose label fits the question best, the first of equals; None if none shares a word."""
    line = max(lines, key=lambda line: _match(question, line), default=None)
    return line if line is not None and _match(question, line) > 0 else None


def _look_up(question: str, lines: Sequence[Line]) -> str:
    """The value beside the words of the question; without such words, the largest text."""
    line = _best(question, lines)
    if line is None:
        return _headline(lines)
    if line.value:
        return line.value
    asked = set(words(question))
    rest = " ".join(part for part in line.text.split() if any(word not in asked for word in words(part)))
    return rest or _beside(question, lines) or line.text


def _headline(lines: Sequence[Line]) -> str:
    heights = [line.box[3] - line.box[1] for line in lines]
    tall = 0.8 * max(heights, default=0.0)
    return " ".join(line.text for line, height in zip(lines, heights, strict=True) if height >= tall)


def _beside(question: str, lines: Sequence[Line]) -> str:
    """The text that shares row and column with the words of the question, or one of them; the nearest of equals."""
    fits = {line: fit for line in lines if (fit := _match(question, line)) > 0}
    numeric = _ASKS_FOR_NUMBER.search(question) is not None

    def rank(cell: Line) -> tuple[bool, float, float]:
        in_row = max((fit for line, fit in fits.items() if _same_row(line, cell)), default=0.0)
        in_column = max((fit for line, fit in fits.items() if _same_column(line, cell)), default=0.0)
        eligible = in_row + in_column > 0 and (not numeric or _NUMBER.search(cell.text) is not None)
        return eligible, in_row + in_column, -min(_gap(line, cell) for line in fits)

    cells = [line for line in lines if line not in fits and not line.value]
    return max(cells, key=rank).text if fits and cells else ""


def _gap(one: Line, other: Line) -> float:
    """Horizontal plus vertical distance between two boxes, in pixels; 0 if they touch."""
    sides = ((one.box[axis] - other.box[axis + 2], other.box[axis] - one.box[axis + 2]) for axis in (0, 1))
    return sum(max(0.0, *pair) for pair in sides)


def _choose(question: str, options: dict[str, str], lines: Sequence[Line]) -> str:
    """The letter of the option that is in the image; of several, of the one that the look-up finds; else the first."""
    read = f" {' '.join(words(' '.join(line.text for line in lines)))} "
    found = [letter for letter, text in options.items() if f" {' '.join(words(text))} " in read]
    if len(found) > 1:
        looked_up = words(_look_up(question, lines))
        found = [letter for letter in found if words(options[letter]) == looked_up] or found
    return next(iter(found or options))


def _count(question: str, lines: Sequence[Line]) -> str:
    """The number in the text that fits the question, else how many lines fit, else how many lines there are."""
    number = _NUMBER.search(_look_up(question, lines)) if _best(question, lines) else None
    if number:
        return number[0]
    return str(sum(_match(question, line) > 0 for line in lines) or len(lines))


def _html(lines: Sequence[Line]) -> str:
    body = "".join("<tr>" + "".join(f"<td>{line.text}</td>" for line in row) + "</tr>" for row in rows(lines))
    return f"<table>{body}</table>"


def _box(line: Line | None, size: tuple[int, int]) -> str:
    """The line's box in thousandths of width and height; without a line, the whole image."""
    box = (0.0, 0.0, *size) if line is None else line.box
    return str([round(1000 * value / size[index % 2]) for index, value in enumerate(box)])


def _point(line: Line | None, size: tuple[int, int]) -> str:
    if line is None:
        return "No such object in the image."
    x, y = line.centre
    return f"({round(1000 * x / size[0])}, {round(1000 * y / size[1])})"
