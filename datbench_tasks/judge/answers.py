"""What a judge answered: the value that is journaled, how it is read from a chat completion, and its verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from datbench.verdicts import parse_judge_verdict

_OPENING = re.compile(r"<(think|thinking|analysis)>", re.IGNORECASE)
_CLOSING = re.compile(r"</(?:think|thinking|analysis)>", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """One answer, or one failure to get it.

    Attributes:
        key: the journal key of the request.
        raw: the judge's text as it came; "" for a failure.
        failure: why there is no answer (``HTTP 500``, ``timeout``, ...); "" when there is one.
        finish_reason: as the server says, ``length`` when the token limit ended it.
        prompt_tokens, completion_tokens: from the server's usage, summed over repeats; None if it gives none.
        confidence: probability of the verdict, 0.5 to 1, where the backend compares true with false.
    """

    key: str
    raw: str = ""
    failure: str = ""
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    confidence: float | None = None

    def line(self) -> dict[str, Any]:
        """The journal line: the fields that are set."""
        return {name: value for name, value in vars(self).items() if value not in (None, "") or name == "key"}

    @classmethod
    def from_line(cls, line: Mapping[str, Any]) -> Answer:
        """Inverse of ``line``; fields that a later version may add are passed over."""
        return cls(**{name: line[name] for name in cls.__dataclass_fields__ if name in line})

    @property
    def cut_off_empty(self) -> bool:
        """Nothing but reasoning, or nothing at all, before the token limit: worth one repeat with a larger limit."""
        return not self.failure and self.finish_reason == "length" and not without_reasoning(self.raw)


class UnreadableCompletion(ValueError):
    """A body that is no chat completion; the text says what it is."""


def read_completion(key: str, body: Any) -> Answer:
    """An answer from the JSON body of a chat completion. Reasoning that the server sets apart is left out.

    Raises:
        UnreadableCompletion: an error object, or no choices.
    """
    if not isinstance(body, dict):
        raise UnreadableCompletion("not a JSON object")
    if body.get("error"):
        raise UnreadableCompletion("error object in a 200 answer")
    choices = body.get("choices")
    choice = _object(choices[0]) if isinstance(choices, list) and choices else {}
    message, usage, reason = _object(choice.get("message")), _object(body.get("usage")), choice.get("finish_reason")
    if not message:
        raise UnreadableCompletion("no choices")
    return Answer(
        key,
        raw=_content_text(message.get("content")),
        finish_reason=reason if isinstance(reason, str) else None,
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
    )


def without_reasoning(raw: str) -> str:
    """A judge's text without its reasoning, trimmed: all up to the last closing tag, and an unclosed block, go."""
    closings = list(_CLOSING.finditer(raw))
    if closings:
        raw = raw[closings[-1].end() :]
    opening = _OPENING.search(raw)
    return (raw[: opening.start()] if opening else raw).strip()


def read_verdict(answer: Answer | None) -> tuple[str, str]:
    """(verdict, reason): correct, incorrect, unparsed or missing; the reason says why for the last two, else is ""."""
    if answer is None:
        return "missing", "not asked"
    if answer.failure:
        return "missing", answer.failure
    text = without_reasoning(answer.raw)
    verdict = parse_judge_verdict(None, text)
    if verdict is not None:
        return ("correct" if verdict else "incorrect"), ""
    at_limit = ", stopped at the token limit" if answer.finish_reason == "length" else ""
    return "unparsed", ("off-format" if text else "empty") + at_limit


def _content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
