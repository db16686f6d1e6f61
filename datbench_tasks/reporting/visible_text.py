"""Text of unknown origin made fit for a label: one line, nothing hidden, nothing that turns the text round."""

from __future__ import annotations

import unicodedata

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    """White space runs become one blank; controls, bidi marks and lone surrogates become ``U+202E`` and the like."""
    return "".join(
        f"U+{ord(char):04X}" if unicodedata.category(char) in _HIDDEN and char not in _JOINERS else char
        for char in " ".join(text.split())
    )


def shorten(text: str, limit: int) -> str:
    """At most ``limit`` characters (at least one), with an ellipsis where something was left out."""
    limit = max(limit, 1)
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
