"""APILLMServing_request against a scripted server."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from typing import Any

import pytest
from support.chat_server import Call, ChatServer, Reply

from datbench.unified import APILLMServing_request
from datbench.unified.serving import retry_after

KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DF_API_KEY", KEY)


def serving(server: ChatServer, **options: Any) -> APILLMServing_request:
    return APILLMServing_request(api_url=server.base_url + "/chat/completions", model_name="m", **options)


def test_answers_come_in_the_order_of_the_prompts() -> None:
    def slow_first(call: Call) -> Reply:
        return Reply(call.text.upper(), delay=0.2 if call.text == "a" else 0.0)

    with ChatServer(slow_first) as server:
        found = serving(server, max_workers=3, top_p=0.5).generate_from_input(["a", "b", "c", "d"], "be brief")
    assert found == ["A", "B", "C", "D"]
    body = server.calls[0].body
    assert body["messages"][0] == {"role": "system", "content": "be brief"}
    assert (body["model"], body["temperature"], body["top_p"]) == ("m", 0.0, 0.5)
    assert server.calls[0].headers["Authorization"] == f"Bearer {KEY}"
    assert server.peak_in_flight <= 3


def test_failed_attempts_are_repeated_as_the_server_says() -> None:
    now = {"Retry-After": "0"}
    with ChatServer([Reply(status=500, headers=now), Reply(status=429, headers=now), Reply("ok")]) as server:
        assert serving(server, max_retries=3).generate_from_input(["q"]) == ["ok"]
    assert len(server.calls) == 3


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("2.5", 2.5), ("-3", 0.0), ("inf", 60.0), ("1e9", 60.0), ("nan", 4.0), ("soon", 4.0), ("", 4.0), (None, 4.0)],
)
def test_pauses_that_a_server_asks_for(header: str | None, seconds: float) -> None:
    assert retry_after(header, 4.0) == seconds


def test_the_last_failure_gives_none_without_a_pause() -> None:
    later = {"Retry-After": "1000"}
    with ChatServer(Reply(status=503, headers=later)) as server:
        assert serving(server, max_retries=1).generate_from_input(["q"]) == [None]
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b"<html>"),
        Reply(body=b"{}"),
        Reply(text=None),
        Reply(body=b"[" * 100_000),
        Reply(fault="reset"),
        Reply(status=302, headers={"Location": "http://127.0.0.1:1/"}),
    ],
)
def test_replies_without_an_answer(reply: Reply) -> None:
    with ChatServer(reply) as server:
        assert serving(server, max_retries=1).generate_from_input(["q"]) == [None]


def test_a_refused_connection_is_not_repeated() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    client = APILLMServing_request(api_url=f"http://127.0.0.1:{port}/v1/chat/completions", max_retries=5)
    assert client.generate_from_input(["q"]) == [None]


def test_a_silent_server_runs_into_the_read_timeout() -> None:
    with ChatServer(Reply(fault="hang")) as server:
        assert serving(server, max_retries=1, timeout=0.2).generate_from_input(["q"]) == [None]


def test_reasoning_is_wrapped() -> None:
    with ChatServer(
        [Reply("42", reasoning="six by seven"), Reply("<think>a</think>\n<answer>b</answer>", reasoning="c")]
    ) as server:
        client = serving(server, max_workers=1)
        assert client.generate_from_input(["q"]) == ["<think>six by seven</think>\n<answer>42</answer>"]
        assert client.generate_from_input(["q"]) == ["<think>a</think>\n<answer>b</answer>"]


def test_schema_is_sent_as_response_format() -> None:
    with ChatServer() as server:
        serving(server).generate_from_input(["q"], json_schema={"type": "object"})
    sent = server.calls[0].body["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["schema"] == {"type": "object"}


def test_it_works_inside_a_running_loop() -> None:
    async def notebook_cell() -> list[str | None]:
        with ChatServer(Reply("x")) as server:
            return serving(server).generate_from_input(["q"])

    assert asyncio.run(notebook_cell()) == ["x"]


def test_construction_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="http"):
        APILLMServing_request(api_url="file:///etc/passwd")
    monkeypatch.delenv("DF_API_KEY")
    with pytest.raises(ValueError, match="DF_API_KEY"):
        APILLMServing_request()


def test_the_key_is_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), ChatServer(Reply(KEY, status=401)) as server:
        client = serving(server, max_retries=1)
        assert client.generate_from_input(["q"]) == [None]
    assert "401" in caplog.text
    assert KEY not in caplog.text
    assert KEY not in repr(client)


def test_an_answer_in_parts_beside_reasoning_is_text() -> None:
    message = {"content": [{"type": "text", "text": "42"}], "reasoning_content": "six by seven"}
    with ChatServer(Reply(body=json.dumps({"choices": [{"message": message}]}).encode())) as server:
        (found,) = serving(server, max_retries=1).generate_from_input(["q"])
    assert found == f"<think>six by seven</think>\n<answer>{message['content']}</answer>"
