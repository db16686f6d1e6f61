"""Judge prompts and judge verdicts: what a judge is asked, and how its text is read."""

from __future__ import annotations

import json
import re
from typing import Any

VERDICT_WORDS = {"correct": True, "true": True, "yes": True, "incorrect": False, "false": False, "no": False}
LINE_WORDS = {"true": True, "yes": True, "false": False, "no": False}

ANSWER_INSTRUCTION = (
    "Give your verdict as one boolean token and nothing else: true if the response is correct, "
    "false if it is not.\nanswer:"
)
"""Replaces the rubrics' two-line instruction, so that a small token limit cannot cut off the verdict."""

_TWO_LINES = re.compile(r"respond\s+with\s+exactly\s+two\s+lines\s*:", re.IGNORECASE)
_LIST_NUMBER = re.compile(r"\d{1,3}[.)]\s+")
_WHITE_SPACE = "".join(filter(str.isspace, map(chr, range(0x3001))))  # U+3000 is the last of it
_DECORATION = _WHITE_SPACE + "*_`~>+-•\"'“”‘’«»"


def split_rubric(judge_prompt: str) -> str | None:
    """The rubric before its last "Respond with exactly two lines:" instruction, right-trimmed; None if it has none."""
    openings = list(_TWO_LINES.finditer(judge_prompt))
    return judge_prompt[: openings[-1].start()].rstrip() if openings else None


def rewrite_rubric(judge_prompt: str) -> str:
    """The rubric as it is sent: a two-line instruction becomes ANSWER_INSTRUCTION, other text stays byte for byte."""
    rubric = split_rubric(judge_prompt)
    return judge_prompt if rubric is None else f"{rubric}\n\n{ANSWER_INSTRUCTION}"


def parse_judge_verdict(verdict: object, raw_judge_output: object) -> bool | None:
    """Read a judge's verdict; the first rule that hits decides. Never raises, linear in the length of the text.

    1. ``verdict`` is one of correct/true/yes/incorrect/false/no.
    2. The raw output is JSON (alone, or alone in one code fence): an object whose ``answer`` is a boolean or one of
       those words, or a bare boolean.
    3. The first line that reads ``answer: true|false|yes|no`` once white space, Markdown emphasis, list and quote
       marks, quotation marks and a final full stop are set aside.
    4. The whole raw output is one of those words.

    Returns:
        True (correct), False (incorrect) or None (unparsed).
    """
    if isinstance(verdict, str):
        word = VERDICT_WORDS.get(verdict.strip().lower())
        if word is not None:
            return word
    if not isinstance(raw_judge_output, str):
        return None
    text = raw_judge_output.strip()
    for found in (_from_json(text), _from_lines(text)):
        if found is not None:
            return found
    return VERDICT_WORDS.get(text.lower())


def _from_json(text: str) -> bool | None:
    body = _fence_content(text).lower()  # case does not count, in keys and constants either
    if not body.startswith(("{", "t", "f")):
        return None
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    answer = value.get("answer") if isinstance(value, dict) else value
    if isinstance(answer, str):
        return VERDICT_WORDS.get(answer.strip())
    return answer if isinstance(answer, bool) else None


def _fence_content(text: str) -> str:
    """What stands in a code fence that is the whole text, with or without a language word; else the text."""
    if not (text.startswith("```") and text.endswith("```")):
        return text
    inside = text[3:-3]
    first, _, rest = inside.partition("\n")
    if rest.strip() and (not first.strip() or first.strip().isalnum()):
        inside = rest
    return inside.strip()


def _from_lines(text: str) -> bool | None:
    for line in text.splitlines():
        label, colon, value = line.partition(":")
        label = label.strip(_DECORATION)
        if number := _LIST_NUMBER.match(label):
            label = label[number.end() :].strip(_DECORATION)
        if not colon or label.lower() != "answer":
            continue
        word = value.strip(_DECORATION).removesuffix(".").strip(_DECORATION).lower()
        if word in LINE_WORDS:
            return LINE_WORDS[word]
    return None
