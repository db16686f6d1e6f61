"""A scripted OpenAI-compatible chat server on 127.0.0.1, in a thread of the test or in a process of its own.

In a test::

    with ChatServer() as server:                             # answers every call with "answer: true"
    with ChatServer(Reply("B", delay=0.1)) as server:         # one reply for all
    with ChatServer([Reply(status=500), Reply("42")]) as s:   # in order of arrival; the last repeats
    with ChatServer(lambda call: Reply(call.text)) as s:      # decided per call
        server.base_url, server.calls, server.peak_in_flight

A process of its own (``python -m support.chat_server --latency 0.05 --answer "answer: true"``, started from
``tests/``) prints its base URL as its first line and answers until it is ended.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web
from support.local_server import LocalServer


@dataclass(frozen=True)
class Reply:
    """What the server does with one call.

    Attributes:
        text: the message's content; None gives ``"content": null``.
        reasoning: sent as ``reasoning_content`` beside the content.
        finish_reason: ``stop`` or ``length``.
        status: HTTP status; from 400 on the body is an OpenAI error object that holds ``text``.
        headers: further response headers.
        body: sent as it stands in place of the JSON body.
        delay: seconds before the first byte.
        fault: ``reset`` drops the connection, ``half`` closes it in mid-body, ``hang`` never answers.
    """

    text: str | None = "answer: true"
    reasoning: str | None = None
    finish_reason: str = "stop"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay: float = 0.0
    fault: Literal["reset", "half", "hang"] | None = None


@dataclass(frozen=True)
class Call:
    """One request as it arrived; ``number`` counts from 0 in order of arrival."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """All text of the last message."""
        content = self.body["messages"][-1]["content"]
        if isinstance(content, str):
            return content
        return "".join(part.get("text", "") for part in content)

    @property
    def images(self) -> list[str]:
        """URLs of the images in the last message."""
        content = self.body["messages"][-1]["content"]
        parts = [] if isinstance(content, str) else content
        return [part["image_url"]["url"] for part in parts if part.get("type") == "image_url"]


Script = Reply | Sequence[Reply] | Callable[[Call], Reply]


class ChatServer(LocalServer):
    """The server; a context manager that listens on a free port of 127.0.0.1 (or the one given)."""

    def __init__(self, script: Script = Reply(), *, port: int = 0, paths: str = r"/{path:.*}chat/completions") -> None:
        super().__init__(port)
        self.calls: list[Call] = []
        self.peak_in_flight = 0
        self._in_flight = 0
        self._script = script
        self._paths = paths

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"

    def application(self) -> web.Application:
        app = web.Application(client_max_size=256 * 2**20)
        app.router.add_post(self._paths, self._answer)
        app.router.add_get("/v1/models", self._models)
        return app

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def _reply_to(self, call: Call) -> Reply:
        if isinstance(self._script, Reply):
            return self._script
        if callable(self._script):
            return self._script(call)
        return self._script[min(call.number, len(self._script) - 1)]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        call = Call(len(self.calls), request.path, dict(request.headers), body)
        self.calls.append(call)
        self._in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self._in_flight)
        try:
            return await self._perform(request, call, self._reply_to(call))
        finally:
            self._in_flight -= 1

    async def _perform(self, request: web.Request, call: Call, reply: Reply) -> web.StreamResponse:
        if reply.delay:
            await asyncio.sleep(reply.delay)
        if reply.fault == "hang":
            await self._stop.wait()
        payload = completion(call, reply) if reply.body is None else reply.body
        if reply.fault in ("reset", "half"):
            return await self._break_off(request, payload if reply.fault == "half" else b"")
        kind = "application/json" if reply.body is None else "text/html"
        return web.Response(body=payload, status=reply.status, headers=dict(reply.headers), content_type=kind)

    async def _break_off(self, request: web.Request, payload: bytes) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(len(payload)), "Content-Type": "application/json"})
        if payload:
            await response.prepare(request)
            await response.write(payload[: len(payload) // 2])
        if request.transport is not None:
            (request.transport.close if payload else request.transport.abort)()
        return response


def completion(call: Call, reply: Reply) -> bytes:
    """The JSON body of a chat completion, or of an error from status 400 on; a token is four characters here."""
    if reply.status >= 400:
        return json.dumps({"error": {"message": reply.text, "type": "scripted", "code": reply.status}}).encode()
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    prompt, answer = len(call.text) // 4, len((reply.text or "") + (reply.reasoning or "")) // 4
    return json.dumps(
        {
            "id": f"chatcmpl-{call.number}",
            "object": "chat.completion",
            "created": 0,
            "model": call.body.get("model", "scripted"),
            "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
            "usage": {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer},
        }
    ).encode()


def main() -> None:
    parser = argparse.ArgumentParser(description="A chat server with one fixed answer, in a process of its own.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--answer", default="answer: true")
    args = parser.parse_args()
    with ChatServer(Reply(args.answer, delay=args.latency), port=args.port) as server:
        print(server.base_url, flush=True)
        server.join()


if __name__ == "__main__":
    main()
