"""What a judge answered: the value that is journaled, how it is read from a chat completion, and its verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from datbench.verdicts import parse_judge_verdict

_OPENING = re.compile(r"<(think|thinking|analysis)>", re.IGNORECASE)
_CLOSING = re.compile(r"</(?:think|thinking|analysis)>", re.IGNORECASE)
_TOO_LONG, _FILTERED = "prompt too long", "content filter"
_UNFIT = {
    "context_length_exceeded": _TOO_LONG,
    "maximum context length": _TOO_LONG,
    "model's context length": _TOO_LONG,
    "available context size": _TOO_LONG,
    "`inputs` must have less than": _TOO_LONG,
    "content_filter": _FILTERED,
    "content management policy": _FILTERED,
}
_TEXT_PARTS = ("text", "output_text")
_BEYOND_COUNTS = 2**53


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
        requests: sent for it, retries and repeats included.
    """

    key: str
    raw: str = ""
    failure: str = ""
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    confidence: float | None = None
    requests: int = 1

    def line(self) -> dict[str, Any]:
        """The journal line: the fields that are set."""
        return {name: value for name, value in vars(self).items() if value not in (None, "") or name == "key"}

    @classmethod
    def from_line(cls, line: Mapping[str, Any]) -> Answer:
        """Inverse of ``line``; fields that a later version may add are passed over.

        Raises:
            ValueError, TypeError: not a line of ours.
        """
        answer = cls(**{name: line[name] for name in cls.__dataclass_fields__ if name in line})
        texts = (answer.key, answer.raw, answer.failure)
        counts = (answer.requests, answer.prompt_tokens or 0, answer.completion_tokens or 0)
        if not all(isinstance(text, str) for text in texts) or None in map(_count, counts):
            raise ValueError("a field of another type")
        bytes.fromhex(answer.key)
        return answer

    def after(self, earlier: Answer) -> Answer:
        """This answer, with what an earlier answer to the same request took added to it."""
        return replace(
            self,
            requests=earlier.requests + self.requests,
            prompt_tokens=_added(earlier.prompt_tokens, self.prompt_tokens),
            completion_tokens=_added(earlier.completion_tokens, self.completion_tokens),
        )

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


def unfit_prompt(status: int, body: str) -> str | None:
    """What is wrong with one prompt that a server refused, None if it refused for another reason.

    Every prompt has the same parameters, so these say nothing about the others: it is longer than the model's window,
    or a filter objects to it. Servers have no common code for either; the words are those of OpenAI and Azure, vLLM,
    SGLang, llama.cpp and TGI.
    """
    if status == 413:
        return _TOO_LONG
    lower = body.lower() if status in (400, 422) else ""
    return next((reason for words, reason in _UNFIT.items() if words in lower), None)


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
        parts = [part for part in map(_object, content) if part.get("type", "text") in _TEXT_PARTS]
        return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    return ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _BEYOND_COUNTS else None


def _added(first: int | None, second: int | None) -> int | None:
    return second if first is None else first + (second or 0)
