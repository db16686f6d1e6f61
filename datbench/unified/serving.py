"""A serving for the operator: chat completions over HTTP, many at a time, answers in the order of the prompts."""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import aiohttp

logger = logging.getLogger(__name__)

_LONGEST_PAUSE = 60.0
_DEFAULT_SYSTEM_PROMPT = "You are a helpful assistant"


class APILLMServing_request:
    """Any OpenAI-compatible chat endpoint. The key is read from the environment and never shown or logged."""

    def __init__(
        self,
        api_url: str = "https://api.openai.com/v1/chat/completions",
        key_name_of_api_key: str = "DF_API_KEY",
        model_name: str = "gpt-4o",
        *,
        temperature: float = 0.0,
        max_workers: int = 10,
        max_retries: int = 5,
        connect_timeout: float = 10.0,
        read_timeout: float = 120.0,
        **body_fields: Any,
    ) -> None:
        """Set up the serving; nothing is sent yet.

        Args:
            api_url: full URL of the chat completions endpoint.
            key_name_of_api_key: name of the environment variable that holds the key.
            model_name: sent with each request.
            temperature: sent with each request.
            max_workers: requests in flight at a time.
            max_retries: attempts for each prompt; pauses of 1, 2, 4, ... seconds between them, or as the server says.
            connect_timeout: seconds to wait for a connection.
            read_timeout: seconds to wait for the next part of an answer; ``timeout`` is an old name of it.
            body_fields: merged into each request body.

        Raises:
            ValueError: no such environment variable, or ``api_url`` is not an http(s) URL.
        """
        parts = urlsplit(api_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("api_url must be an http:// or https:// URL with a host")
        self._key = os.environ.get(key_name_of_api_key, "")
        if not self._key:
            raise ValueError(f"the environment variable {key_name_of_api_key} holds no API key; set it")
        self.api_url = api_url
        self.model_name = model_name
        self.temperature = temperature
        self.max_workers = max_workers
        self.max_retries = max_retries
        self.connect_timeout = connect_timeout
        self.read_timeout = body_fields.pop("timeout", read_timeout)
        self._body_fields = body_fields

    def start_serving(self) -> None:
        """Nothing to start: the server is somebody else's."""

    def cleanup(self) -> None:
        """Nothing to clean up."""

    def generate_from_input(
        self,
        user_inputs: list[str],
        system_prompt: str = _DEFAULT_SYSTEM_PROMPT,
        json_schema: dict[str, Any] | None = None,
    ) -> list[str | None]:
        """One answer for each prompt, in order; None where every attempt failed.

        Args:
            user_inputs: the prompts.
            system_prompt: sent before each of them.
            json_schema: asks for answers of this schema (``response_format``, strict).
        """
        return self.generate_from_conversations(
            [[{"role": "system", "content": system_prompt}, {"role": "user", "content": text}] for text in user_inputs],
            json_schema,
        )

    def generate_from_conversations(
        self, conversations: Sequence[list[dict[str, Any]]], json_schema: dict[str, Any] | None = None
    ) -> list[str | None]:
        """One answer for each list of messages, in order; None where every attempt failed."""
        with ThreadPoolExecutor(1) as pool:  # a loop of our own, also where one is running (notebooks)
            return pool.submit(asyncio.run, self._answers(conversations, json_schema)).result()

    async def _answers(
        self, conversations: Sequence[list[dict[str, Any]]], json_schema: dict[str, Any] | None
    ) -> list[str | None]:
        body: dict[str, Any] = {"model": self.model_name, "temperature": self.temperature, **self._body_fields}
        if json_schema is not None:
            schema = {"name": "custom_response", "strict": True, "schema": json_schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        slots = asyncio.Semaphore(self.max_workers)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self.connect_timeout, sock_read=self.read_timeout)
        headers = {"Authorization": f"Bearer {self._key}"}
        async with aiohttp.ClientSession(
            timeout=timeout, headers=headers, connector=aiohttp.TCPConnector(limit=0), trust_env=True
        ) as session:

            async def answer(messages: list[dict[str, Any]]) -> str | None:
                async with slots:
                    return await self._answer(session, {**body, "messages": messages})

            return await asyncio.gather(*map(answer, conversations))

    async def _answer(self, session: aiohttp.ClientSession, body: dict[str, Any]) -> str | None:
        for attempt in range(self.max_retries):
            pause = float(2**attempt)
            try:
                async with session.post(self.api_url, json=body, allow_redirects=False) as response:
                    if response.status == 200:
                        return _text(await response.json(content_type=None))
                    problem = f"HTTP status {response.status}"
                    pause = retry_after(response.headers.get("Retry-After"), pause)
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as fault:
                logger.error("no connection to the chat server: %s", type(fault).__name__)
                return None
            except (aiohttp.ClientError, TimeoutError, ValueError, LookupError, TypeError, RecursionError) as fault:
                problem = type(fault).__name__
            logger.error("attempt %d of %d failed: %s", attempt + 1, self.max_retries, problem)
            if attempt + 1 < self.max_retries:
                await asyncio.sleep(pause)
        return None


def retry_after(value: str | None, default: float) -> float:
    """Seconds to wait, at most a minute, by a Retry-After header; ``default`` where it holds no number."""
    try:
        seconds = float(value or "")
    except ValueError:
        return default
    return default if math.isnan(seconds) else min(max(seconds, 0.0), _LONGEST_PAUSE)


def _text(body: Any) -> str | None:
    """The answer's text, with reasoning wrapped in ``<think>`` before the ``<answer>``."""
    message = body["choices"][0]["message"]
    content, reasoning = message["content"], message.get("reasoning_content")
    if content is None:
        return None
    text = str(content)
    if not reasoning or (text.startswith("<think>") and text.rstrip().endswith("</answer>")):
        return text
    return f"<think>{reasoning}</think>\n<answer>{text}</answer>"
