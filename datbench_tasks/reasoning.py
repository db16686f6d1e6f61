"""Reasoning set aside: what a thinking model wrote before its answer is neither scored nor judged."""

from __future__ import annotations

import re
from typing import NamedTuple

RULE = "think, thinking, analysis set aside when closed"
"""Name of the rule in records and signatures."""

AS_IS = "as is"
"""Name of the rule that leaves outputs alone."""

_TAG = re.compile(r"<(/?)(think|thinking|analysis)>", re.IGNORECASE)


class Answer(NamedTuple):
    """An output without its reasoning, and whether a block was left open (then it stays in the text)."""

    text: str
    unclosed: bool


def set_reasoning_aside(output: str) -> Answer:
    """Remove closed ``<think>``, ``<thinking>`` and ``<analysis>`` blocks and all that precedes a lone closing tag.

    A block runs from its opening tag to the next closing tag of the same name, in any letter case; tags inside it are
    part of it. White space around what is left is trimmed when something was removed. Linear in the length.

    >>> set_reasoning_aside("<think>2 + 2</think> 4")
    Answer(text='4', unclosed=False)
    """
    if "<" not in output:
        return Answer(output, False)
    tags = [(match.start(), match.end(), bool(match[1]), match[2].lower()) for match in _TAG.finditer(output)]
    last_closing = {name: index for index, (_, _, closing, name) in enumerate(tags) if closing}
    kept: list[str] = []
    position = 0
    unclosed = False
    index = 0
    while index < len(tags):
        start, end, closing, name = tags[index]
        if closing:
            kept.clear()  # a lone closing tag: the template opened the block before the output began
            position = end
            unclosed = False
        elif index < last_closing.get(name, -1):
            kept.append(output[position:start])
            while not (tags[index][2] and tags[index][3] == name):
                index += 1
            position = tags[index][1]
        else:
            unclosed = True
        index += 1
    if position == 0:
        return Answer(output, unclosed)
    return Answer("".join([*kept, output[position:]]).strip(), unclosed)
