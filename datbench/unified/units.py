"""Removal of measuring units and filler words from an extracted answer; a fixed table and its rule."""

from __future__ import annotations

import re
from collections.abc import Iterable

UNITS: tuple[str, ...] = (
    "east", "degree", "mph", "kmph", "ft", "m sqaure", "m east", "sq m", "deg", "mile", "q .",
    "monkey", "prime", "ratio", "profit of rs", "rd", "o", "gm", "p . m", "lb", "tile", "per", "dm",
    "lt", "gain", "ab", "way", "west", "a .", "b .", "c .", "d .", "e .", "f .", "g .", "h .", "t",
    "a", "h", "no change", "men", "soldier", "pie", "bc", "excess", "st", "inches", "noon",
    "percent", "by", "gal", "kmh", "c", "acre", "rise", "a . m", "th", "π r 2", "sq", "mark", "l",
    "toy", "coin", "sq . m", "gallon", "° f", "profit", "minw", "yr", "women", "feet", "am", "pm",
    "hr", "cu cm", "square", "v â € ™", "are", "rupee", "rounds", "cubic", "cc", "mtr", "s", "ohm",
    "number", "kmph", "day", "hour", "minute", "min", "second", "man", "woman", "sec", "cube", "mt",
    "sq inch", "mp", "∏ cm ³", "hectare", "more", "sec", "unit", "cu . m", "cm 2", "rs .", "rs",
    "kg", "g", "month", "km", "m", "cm", "mm", "apple", "liter", "loss", "yard", "pure", "year",
    "increase", "decrease", "d", "less", "Surface", "litre", "pi sq m", "s .", "metre", "meter",
    "inch",
)  # fmt: skip
"""As published, misspellings and repeats included: the order of removal changes results."""

_LETTER = re.compile(r"[A-Za-z]")


def _compiled(units: Iterable[str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    singular = tuple(units)
    return tuple(
        (max(unit.split("."), key=len).strip(), re.compile(rf"(^|\W){unit}($|\W)"))
        for unit in (*singular, *(unit + "s" for unit in singular))
    )


ALL_UNITS = _compiled(UNITS)
LONG_UNITS = _compiled(unit for unit in UNITS if len(unit.strip(" .")) > 1)
"""Without the entries of one letter (strict mode): "the answer is a" keeps its "a"."""


def remove_units(text: str, units: tuple[tuple[str, re.Pattern[str]], ...] = ALL_UNITS) -> str:
    """Delete each unit between two boundaries, unit by unit; the boundary characters stay.

    A boundary character is used up by the match, so of two equal units that share one only the first goes.
    """
    if not _LETTER.search(text):  # every unit holds a Latin letter
        return text
    for literal, pattern in units:
        if literal in text:
            text = pattern.sub(r"\1\2", text)
    return text
