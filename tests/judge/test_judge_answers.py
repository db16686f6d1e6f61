"""Reading chat completions and verdicts; every malformed body is named, none raises anything else."""

from __future__ import annotations

import pytest

from datbench_tasks.judge.answers import Answer, UnreadableCompletion, read_completion, read_verdict, without_reasoning

KEY = "0" * 64


def completion(message: object, **choice: object) -> dict:
    return {"choices": [{"message": message, **choice}]}


@pytest.mark.parametrize(
    ("raw", "finish", "expected"),
    [
        ("answer: true", "stop", ("correct", "")),
        ("False", "stop", ("incorrect", "")),
        ('{"answer": "no"}', "stop", ("incorrect", "")),
        ("<think>answer: false</think>\nanswer: true", "stop", ("correct", "")),
        ("so answer: false </think> true", "stop", ("correct", "")),
        ("<THINK>answer: true", "length", ("unparsed", "empty, stopped at the token limit")),
        ("", "stop", ("unparsed", "empty")),
        ("It is right.", "stop", ("unparsed", "off-format")),
        ("Reason: because", "length", ("unparsed", "off-format, stopped at the token limit")),
    ],
)
def test_verdicts(raw, finish, expected):
    assert read_verdict(Answer(KEY, raw=raw, finish_reason=finish)) == expected


def test_failures_and_silence_are_missing_not_unparsed():
    assert read_verdict(Answer(KEY, failure="HTTP 500")) == ("missing", "HTTP 500")
    assert read_verdict(None) == ("missing", "not asked")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ([], "not a JSON object"),
        (None, "not a JSON object"),
        ({"error": {"message": "busy"}}, "error object in a 200 answer"),
        ({}, "no choices"),
        ({"choices": []}, "no choices"),
        ({"choices": {"0": 1}}, "no choices"),
        ({"choices": [None]}, "no choices"),
        (completion(None), "no choices"),
        (completion("text"), "no choices"),
    ],
)
def test_bodies_that_are_no_completions(body, reason):
    with pytest.raises(UnreadableCompletion, match=reason):
        read_completion(KEY, body)


@pytest.mark.parametrize(
    ("message", "raw"),
    [
        ({"content": "answer: true"}, "answer: true"),
        ({"content": None, "reasoning_content": "answer: true"}, ""),
        ({"content": [{"type": "text", "text": "answer: "}, {"type": "text", "text": "true"}, 3]}, "answer: true"),
        ({"content": [{"type": "reasoning", "text": "answer: false"}, {"text": "true"}]}, "true"),
        ({"content": 7}, ""),
        ({"role": "assistant"}, ""),
    ],
)
def test_content_forms(message, raw):
    assert read_completion(KEY, completion(message)).raw == raw


def test_usage_that_is_no_usage_is_left_out():
    usage = {"prompt_tokens": 10**4000, "completion_tokens": True}
    answer = read_completion(KEY, completion({"content": "x"}, finish_reason=5) | {"usage": usage})
    assert (answer.prompt_tokens, answer.completion_tokens, answer.finish_reason) == (None, None, None)


@pytest.mark.parametrize("text", ["<think>" * 20_000, "</think>" * 20_000, "<" * 200_000])
def test_reasoning_is_set_aside_in_linear_time(text):
    assert "think" not in without_reasoning(text)


def test_line_round_trip():
    answer = Answer(KEY, raw="x", finish_reason="stop", prompt_tokens=0, completion_tokens=2, confidence=0.75)
    assert Answer.from_line({**answer.line(), "of a later version": 1}) == answer
