"""Final answers: from a model's whole output to one line of answer text, in linear time.

The rules are the benchmark's, odd ones included: a brace box ends at the first ``}``, a label counts
only at the start of a line, and the first rule that finds something decides even if nothing is left of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

PIPE_OPEN = "<|begin_of_box|>"
PIPE_CLOSE = "<|end_of_box|>"
BRACE_OPEN = "\\boxed{"

# Applied to the text with a line feed put before it, so that every line starts with one.
_ANSWER_LINE = re.compile(r"\n[^\S\n]*(?:final\s+)?answer\s*:\s*([^\n]+)", re.IGNORECASE)
_TAG_NAME = r"(?:(?P<answer>answer)|(?P<final_answer>final_answer)|(?P<final>final))"
_OPENING_TAG = re.compile(rf"<\s*{_TAG_NAME}\s*>", re.IGNORECASE)
_CLOSING_TAG = re.compile(rf"<\s*/\s*{_TAG_NAME}\s*>", re.IGNORECASE)
_BRACE = re.compile(r"[{}]")
_QUOTES = "\"'` "
_PLACEHOLDERS = frozenset(
    ("<answer>", "< answer>", "<answer >", "< answer >", "<final>", "<final answer>", "<final_answer>")
)


def extract_final_answer(text: object) -> str:
    """The answer that a model's output ends on: one line, white space collapsed, possibly empty.

    The first of these that occurs decides: the last pipe box, the last brace box, the last line that
    begins with ``Answer:`` or ``Final Answer:``, the last line that is not blank. Anything but text gives
    the empty text. Source: the benchmark's answer extraction.

    >>> extract_final_answer("It is blue.\\nAnswer: 'Blue'")
    'Blue'
    """
    if not isinstance(text, str):
        return ""
    if PIPE_OPEN in text and (box := last(pipe_boxes(text))) is not None:
        return _clean(box)
    if BRACE_OPEN in text and (box := last(brace_boxes(text))) is not None:
        return _clean(box)
    if ":" in text and (line := last(_ANSWER_LINE.finditer("\n" + text))) is not None:
        return _clean(line[1])
    return _clean(last_line(text))


def pipe_boxes(text: str) -> Iterator[str]:
    """Contents of the ``<|begin_of_box|>...<|end_of_box|>`` pairs, left to right, untrimmed.

    An opening marker pairs with the nearest closing marker after it.
    """
    start = text.find(PIPE_OPEN)
    while start >= 0:
        start += len(PIPE_OPEN)
        end = text.find(PIPE_CLOSE, start)
        if end < 0:
            return
        yield text[start:end]
        start = text.find(PIPE_OPEN, end + len(PIPE_CLOSE))


def brace_boxes(text: str, *, allow_empty: bool = False) -> Iterator[str]:
    """Contents of the ``\\boxed{...}`` boxes, left to right, untrimmed, each cut at its first ``}``.

    An empty box is passed over unless ``allow_empty``: the grounding rules count it, answers do not.
    """
    start = text.find(BRACE_OPEN)
    while start >= 0:
        start += len(BRACE_OPEN)
        end = text.find("}", start)
        if end < 0:
            return
        if end > start or allow_empty:
            yield text[start:end]
        start = text.find(BRACE_OPEN, end + 1)


def closing_brace(text: str, start: int) -> int:
    """Index of the ``}`` that closes the brace opened just before ``start``, or -1."""
    depth = 1
    for match in _BRACE.finditer(text, start):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return -1


def last_line(text: str) -> str:
    """The last line that is not blank, right-trimmed; lines end where ``str.splitlines`` ends them."""
    text = text.rstrip()
    tail = text[text.rfind("\n") + 1 :]
    return tail.splitlines()[-1] if tail else ""


def last(items: Iterable[T]) -> T | None:
    """The last item of an iterable, or None."""
    item = None
    for item in items:  # noqa: B007
        pass
    return item


def _clean(text: str) -> str:
    text = text.strip().strip(_QUOTES).strip()
    if text[:1] == "<":
        text = _untagged(text)
    text = " ".join(text.split())
    return "" if text.lower() in _PLACEHOLDERS else text


def _untagged(text: str) -> str:
    """The inside of the one tag that encloses the whole text, else the text itself."""
    opening = _OPENING_TAG.match(text)
    if opening is None:
        return text
    # A closing tag holds no "<" but its own, so only the last one can begin it.
    end = text.rfind("<")
    closing = _CLOSING_TAG.fullmatch(text, end)
    if closing is None or closing.lastgroup != opening.lastgroup:
        return text
    return text[opening.end() : end]
