"""Containment match of two texts after normalisation (default mode)."""

from __future__ import annotations

import unicodedata
from typing import Any

_FINAL_MARKS = ".。!！?？"


def normalize_text(value: Any) -> str:
    """NFKC, one space for each run of white space, at most one final mark dropped, case folded.

    None gives "". Full-width signs become ASCII, super- and subscript digits plain digits.
    """
    if value is None:
        return ""
    text = " ".join(unicodedata.normalize("NFKC", str(value)).split())
    if text and text[-1] in _FINAL_MARKS:
        text = text[:-1].strip()
    return text.casefold()


def text_match(prediction: Any, reference: Any) -> bool:
    """True when either normalised text contains the other; two empty texts do not match."""
    return contains_either(normalize_text(prediction), normalize_text(reference))


def contains_either(one: str, other: str) -> bool:
    """Containment of two texts that are already normalised, in either direction."""
    return bool(one) and bool(other) and (one in other or other in one)
