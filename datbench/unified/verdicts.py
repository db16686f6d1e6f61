"""Verdict of a semantic judge's response, by the reference's rules (default mode)."""

from __future__ import annotations

import re
from typing import Any

from datbench.unified.cells import is_blank, parse_json

VERDICT_KEY = "judgement_result"
_VERDICT = re.compile(rf'"{VERDICT_KEY}"\s*:\s*(true|false)', re.IGNORECASE)


def parse_verdict(response: Any) -> bool:
    """True or False for any response: the JSON object, else the first quoted key with a word, else the words alone.

    An empty or unreadable response is False. Any truthy JSON value counts as true, the string "false" too.
    """
    if is_blank(response):
        return False
    text = str(response)
    _, value = parse_json(text)
    if isinstance(value, dict) and VERDICT_KEY in value:
        return bool(value[VERDICT_KEY])
    word = _VERDICT.search(text)
    if word:
        return word.group(1).lower() == "true"
    lowered = text.lower()
    return "true" in lowered and "false" not in lowered


_REASONING_START = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_REASONING_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_STRICT_VERDICT = re.compile(
    rf'"{VERDICT_KEY}"\s*:\s*(?:"([^"]{{0,20}})"|([A-Za-z]{{1,8}})|(-?\d{{1,9}}(?:\.\d{{1,9}})?))', re.IGNORECASE
)
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parse_verdict_strictly(response: Any) -> bool | None:
    """The last verdict outside any reasoning: the value of the key, in a fence or amid text, or a lone word.

    None when there is none, or when the last one says neither yes nor no.
    """
    if response is None:
        return None
    text = _REASONING_START.split(_REASONING_END.split(str(response))[-1])[0]
    values = _STRICT_VERDICT.findall(text)
    word = next(filter(None, values[-1]), "") if values else text.strip(" \t\r\n.!*`\"'")
    return _WORDS.get(word.strip().lower())
