"""Word characters apart from CJK writing, which has no gaps between words and so glues to nothing."""

from __future__ import annotations

import re

CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
GLUE = rf"[^\W{CJK}]"
"""Regex class of a character that would make its neighbour part of a longer word."""

STANDS_ALONE_BEFORE, STANDS_ALONE_AFTER = rf"(?<!{GLUE})", rf"(?!{GLUE})"
_GLUE = re.compile(GLUE)


def glues(one: str, other: str) -> bool:
    """Whether two neighbouring characters (or "") belong to one word."""
    return bool(_GLUE.match(one) and _GLUE.match(other))
