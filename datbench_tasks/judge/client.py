"""Ask a served model many questions, lose nothing, and be kind to the server.

The way in for everybody who has prompts and wants answers (the judge pass and the unified evaluator)::

    endpoints = Endpoints("Qwen3-30B", ["http://127.0.0.1:8000"], key=None)
    judge = JudgeIdentity(endpoints.model, "chat", endpoints.parameters)
    requests = (JudgeRequest(judge.key(messages), messages) for messages in ...)
    with Journal(path) as journal:
        totals = ask_all((r for r in requests if r.key not in journal), endpoints, journal, Limits())
        answer = journal.get(key)      # Answer, or None if it was never asked

Answers go to the journal as they come, in any order; ``requests`` is read as slots become free, so neither is held in
memory. aiohttp, because on two cores it carries 1,300 requests a second at 128 in flight against a server that takes
50 ms, where the openai SDK carries 250 and httpx 70.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import aiohttp

from datbench_tasks.errors import RefusedError
from datbench_tasks.judge.accounting import Totals, estimate_tokens
from datbench_tasks.judge.answers import Answer, UnreadableCompletion, read_completion, unfit_prompt
from datbench_tasks.judge.concurrency import Limits, Pool, Replica, pause_from_headers
from datbench_tasks.judge.endpoints import (
    Endpoints,
    completion_urls,
    headers,
    mask,
    proxy_for,
    quotable,
    shown,
    with_raised_limit,
)
from datbench_tasks.judge.journal import Journal
from datbench_tasks.judge.requests import JudgeRequest

REPEAT_MAX_TOKENS = 1024
"""Token limit of the one repeat after an empty answer that stopped at the limit."""

GIVE_UP_AFTER = 10
"""Requests in a row that fail after all their retries, before the pass stops."""

GIVE_UP_UNPROVEN_AFTER = 3
"""The same while no server has answered anything; where nobody even listens, one is enough."""

REJECTION_COST = 0.2
"""Of a retry, for a rejection (429, 503): the server is alive, and the pause is its own wish."""

LONGEST_PAUSE = 600.0
"""A server that asks to wait longer than this many seconds ends the pass."""

DRAIN_SECONDS = 10.0
"""How long requests in flight may still end when the pass stops: they are paid for."""

MAX_BODY = 8 * 2**20

_RETRIED = {408, 409}
_KEPT = "what was answered is in the journal"
_REMEDIES = {
    400: "check --judge-model and --extra-body; a model that refuses our fields may want "
    """--extra-body '{"temperature": null, "max_completion_tokens": 1024}'""",
    401: "check the key in the variable that --api-key-env names",
    403: "check the key in the variable that --api-key-env names",
    404: "check --judge-base-url and --judge-model",
}

Show = Callable[[Totals, int], None]
"""Called after each answer and each fault with the totals so far and the number of requests in flight."""


def ask_all(
    requests: Iterable[JudgeRequest],
    endpoints: Endpoints,
    journal: Journal,
    limits: Limits | None = None,
    show: Show | None = None,
) -> Totals:
    """Ask everything, in the order given, and add each answer or failure to the journal.

    Raises:
        RefusedError: the server will not answer (400, 401, 403, 404 and their like; too many failures in a row; a pause
            of more than ten minutes asked for). What was answered is in the journal.
        UsageError: a base URL that is none.
    """
    return asyncio.run(_Client(endpoints, journal, limits or Limits(), show).run(iter(requests)))


@dataclass
class _Fault(Exception):
    """One attempt failed.

    Attributes:
        reason: short and safe to store.
        words: the server's, masked.
        cost: how much of a retry it uses up; below 1 the next attempt needs no backoff of its own.
        connection: nothing came back at all.
    """

    reason: str
    words: str = ""
    cost: float = 1.0
    connection: bool = False


class _UnfitPrompt(RefusedError):
    """The server will not take this prompt, whatever it does with others; the text is short and safe to store."""


class _Client:
    def __init__(self, endpoints: Endpoints, journal: Journal, limits: Limits, show: Show | None) -> None:
        self._endpoints = endpoints
        self._journal = journal
        self._limits = limits
        self._show = show or (lambda totals, in_flight: None)
        self._totals = Totals()
        self._pool = Pool([Replica(completion_urls(url)) for url in endpoints.base_urls], limits)
        self._proxies = {url: proxy_for(url) for replica in self._pool.replicas for url in replica.urls}
        self._failed_in_a_row = 0
        self._stopping = False
        self._session: aiohttp.ClientSession

    async def run(self, source: Iterator[JudgeRequest]) -> Totals:
        """The probe, one request at a time until something answers; then the flood."""
        timeout = aiohttp.ClientTimeout(total=self._limits.timeout, sock_connect=min(10.0, self._limits.timeout))
        connector = aiohttp.TCPConnector(limit=0, ttl_dns_cache=300)
        async with aiohttp.ClientSession(timeout=timeout, connector=connector) as self._session:
            for request in source:
                await self._answer(request)
                if any(replica.proven for replica in self._pool.replicas):
                    break
            workers = [asyncio.create_task(self._work(source)) for _ in range(self._limits.ceiling)]
            try:
                done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
            finally:
                await self._stop(workers)
        for worker in done:
            worker.result()
        return self._totals

    async def _stop(self, workers: Sequence[asyncio.Task[None]]) -> None:
        """Send nothing more, but let end what is in flight: it is paid for."""
        self._stopping = True
        self._pool.close()
        try:
            if self._pool.in_flight:
                wait = f"up to {DRAIN_SECONDS:.0f} s for {self._pool.in_flight} answers in flight"
                print(f"stopping; {wait} (Ctrl-C drops them)", file=sys.stderr)
                await asyncio.wait(workers, timeout=DRAIN_SECONDS)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, source: Iterator[JudgeRequest]) -> None:
        for request in source:
            await self._answer(request)
            if self._stopping:
                return

    async def _answer(self, request: JudgeRequest) -> None:
        try:
            answer = await self._ask(request)
        except _UnfitPrompt as fault:
            self._failed_in_a_row = 0
            answer = Answer(request.key, failure=str(fault))
        self._journal.add(answer)
        self._totals.note(answer)
        self._show(self._totals, self._pool.in_flight)

    async def _ask(self, request: JudgeRequest) -> Answer:
        """An answer or a failure; after an empty answer that stopped at the token limit, the one repeat."""
        first = await self._attempt(request, self._endpoints.parameters)
        if not first.cut_off_empty:
            return first
        try:
            second = await self._attempt(request, with_raised_limit(self._endpoints.parameters, REPEAT_MAX_TOKENS))
        except RefusedError:
            # The larger limit may be more than the server grants; that is no reason to stop the pass.
            return replace(first, requests=first.requests + 1)
        return second.after(first)

    async def _attempt(self, request: JudgeRequest, parameters: Mapping[str, Any]) -> Answer:
        """Try until there is an answer or the retries are used up."""
        body = {"model": self._endpoints.model, "messages": request.messages, **parameters}
        data = json.dumps(body).encode()
        tokens = estimate_tokens(request.messages) if self._limits.tpm else 0
        spent, requests = 0.0, 0
        while True:
            replica = await self._pool.acquire(tokens)
            requests += 1
            try:
                answer = await self._send(request.key, data, replica)
            except _Fault as fault:
                caught = fault
            else:
                self._failed_in_a_row = 0
                return replace(answer, requests=requests)
            finally:
                self._pool.release(replica)
            spent += caught.cost
            if spent > self._limits.retries or self._stopping:
                self._failed_in_a_row += 1
                self._give_up_if_hopeless(replica, caught)
                return Answer(request.key, failure=caught.reason, requests=requests)
            self._totals.retries += 1
            self._totals.last_fault = caught.reason
            self._show(self._totals, self._pool.in_flight)
            if caught.cost == 1:
                await asyncio.sleep(self._limits.backoff(int(spent) - 1))

    def _give_up_if_hopeless(self, replica: Replica, fault: _Fault) -> None:
        patience = GIVE_UP_AFTER
        if not any(other.proven for other in self._pool.replicas):
            patience = 1 if fault.connection else GIVE_UP_UNPROVEN_AFTER
        if self._failed_in_a_row >= patience:
            raise RefusedError(
                f"{shown(replica.url)}: {fault.reason}{': ' * bool(fault.words)}{fault.words}; gave up after "
                f"{self._totals.retries} retries; ask again when the server is well, {_KEPT}"
            )

    async def _send(self, key: str, data: bytes, replica: Replica) -> Answer:
        """One attempt.

        Raises:
            _Fault: to be tried again.
            _UnfitPrompt: not to be tried again, but others are.
            RefusedError: not to be tried again.
        """
        url, sent_at = replica.url, time.monotonic()
        try:
            async with self._session.post(
                url,
                data=data,
                headers=headers(url, self._endpoints.key),
                proxy=self._proxies[url],
                allow_redirects=False,
            ) as response:
                text = await _read(response)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as fault:
            self._pool.unreachable(replica, refused=True)
            raise _Fault("cannot connect", quotable(str(fault), self._endpoints.key), connection=True) from fault
        except (asyncio.TimeoutError, aiohttp.ServerTimeoutError) as fault:
            self._pool.overloaded(replica, sent_at, 0.0)
            raise _Fault("timeout") from fault
        except (aiohttp.ClientError, OSError) as fault:
            self._pool.unreachable(replica, refused=False)
            status = str(getattr(fault, "status", ""))  # a proxy's; the rest of its words holds the proxy's address
            raise _Fault(f"connection broken ({type(fault).__name__})", status, connection=True) from fault
        if response.status != 200:
            self._reject(response, text, replica, sent_at)
        try:
            answer = read_completion(key, json.loads(text))
        except UnreadableCompletion as fault:
            raise _Fault(str(fault), quotable(text, self._endpoints.key)) from fault
        except (ValueError, RecursionError) as fault:
            raise _Fault("answer is not JSON", quotable(text, self._endpoints.key)) from fault
        pause = pause_from_headers(response.headers, rejected=False) or 0.0
        # A longer pause is left to the rejection that will ask for it: this answer is paid for and must be kept.
        self._pool.succeeded(replica, pause if pause <= LONGEST_PAUSE else 0.0)
        api_key, reason = self._endpoints.key, answer.finish_reason
        return replace(answer, raw=mask(answer.raw, api_key), finish_reason=reason and mask(reason, api_key))

    def _reject(self, response: aiohttp.ClientResponse, text: str, replica: Replica, sent_at: float) -> None:
        """Every status but 200 ends in an exception."""
        status, words, url = response.status, quotable(text, self._endpoints.key), str(response.url)
        unfit = unfit_prompt(status, text)
        if unfit:
            self._pool.succeeded(replica, 0.0)
            raise _UnfitPrompt(f"HTTP {status}, {unfit}")
        if status == 404 and not replica.proven and len(replica.urls) > 1:
            replica.urls.pop(0)
            replica.not_found = f"{shown(url)}: HTTP 404: {words or 'no explanation'}"
            raise _Fault("HTTP 404", cost=0.0)
        out_of_money = status == 429 and "insufficient_quota" in text
        if status in (429, 503) and not out_of_money:
            self._pool.overloaded(replica, sent_at, self._asked_pause(response.headers, url))
            raise _Fault(f"HTTP {status}", words, cost=REJECTION_COST)
        if (status >= 500 or status in _RETRIED) and not out_of_money:
            raise _Fault(f"HTTP {status}", words)
        refusal = f"{shown(url)}: HTTP {status}: {words or 'no explanation'}"
        if status == 404 and replica.not_found:
            refusal = replica.not_found
        remedy = _REMEDIES.get(status, _KEPT)
        if "Location" in response.headers:
            location = quotable(response.headers["Location"], self._endpoints.key).partition("?")[0]
            remedy = f"give the address that it redirects to: {location}"
        raise RefusedError(f"{refusal} ({remedy})")

    def _asked_pause(self, response_headers: Mapping[str, str], url: str) -> float | None:
        """The pause that a rejection asks for; None if it asks for none, or for one of no length."""
        pause = pause_from_headers(response_headers, rejected=True)
        if pause is not None and pause > LONGEST_PAUSE:
            raise RefusedError(f"{shown(url)}: the server asks to wait {pause:,.0f} s; ask again then, {_KEPT}")
        return pause or None


async def _read(response: aiohttp.ClientResponse) -> str:
    """The body as text, up to MAX_BODY bytes: a longer one is cut and so no JSON."""
    data = bytearray()
    async for chunk in response.content.iter_any():
        data += chunk
        if len(data) > MAX_BODY:
            response.close()
            break
    return data.decode("utf-8", "replace")
