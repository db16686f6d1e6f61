"""How many requests are in flight, and at which replica: growth, cuts, pauses and spacing.

Additive increase, multiplicative decrease, as in TCP: the limit of a replica doubles each round trip until its first
"too many requests", is halved once per burst of them, and from then on grows by one a round trip.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

START_IN_FLIGHT = 8
FAULTS_BEFORE_SET_ASIDE = 3
SHORTEST_SET_ASIDE = 1.0
LONGEST_SET_ASIDE = 60.0

_DURATION_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True)
class Limits:
    """Bounds of a pass.

    Attributes:
        concurrency: requests in flight over all replicas; None adapts.
        max_concurrency: bound of the adaptive kind.
        rpm, tpm: requests and (estimated) tokens a minute; None means no bound of ours.
        timeout: seconds for one attempt.
        retries: attempts after the first, for faults of the network or the server.
        first_backoff: seconds before the first retry; doubles each time, up to 30.
    """

    concurrency: int | None = None
    max_concurrency: int = 128
    rpm: float | None = None
    tpm: float | None = None
    timeout: float = 120.0
    retries: int = 5
    first_backoff: float = 0.5

    @property
    def ceiling(self) -> int:
        """The most requests that can ever be in flight."""
        return self.concurrency or self.max_concurrency

    def backoff(self, attempt: int) -> float:
        """Seconds before retry number ``attempt`` (from 0), with jitter."""
        return jitter(min(30.0, self.first_backoff * 2.0 ** min(attempt, 16)))


def jitter(seconds: float) -> float:
    """The time and up to a quarter more, so that clients do not come back in step."""
    return seconds * random.uniform(1.0, 1.25)  # noqa: S311 - no secret depends on it


class Meter:
    """Spaces amounts evenly.

    Attributes:
        free_at: when more may be used, on the monotonic clock.
    """

    def __init__(self, per_minute: float | None) -> None:
        self.free_at = 0.0
        self._seconds_per_unit = 60.0 / per_minute if per_minute else 0.0

    def take(self, amount: float, now: float) -> None:
        """Use an amount."""
        self.free_at = max(now, self.free_at) + amount * self._seconds_per_unit


class Replica:
    """One server: how much it bears and whether it can be asked now.

    Attributes:
        urls: addresses to try, the first one first; one that does not exist is dropped for the next.
        limit: requests that may be in flight.
        proven: it has answered since it was last set aside.
        paused_until: on the monotonic clock.
        cut_at: when the limit was last cut.
        faults: broken connections since its last answer.
        set_asides: how often it was set aside since its last answer.
        bursts: bursts of rejections since its last answer.
        not_found: what the first address said when it answered 404.
    """

    def __init__(self, urls: list[str]) -> None:
        self.urls = urls
        self.in_flight = 0
        self.limit = 1.0
        self.proven = False
        self.paused_until = 0.0
        self.cut_at = 0.0
        self.in_slow_start = True
        self.faults = 0
        self.set_asides = 0
        self.bursts = 0
        self.not_found = ""

    @property
    def url(self) -> str:
        """The address in use."""
        return self.urls[0]

    def can_take(self, now: float) -> bool:
        """Whether a request may be sent to it now."""
        return self.in_flight < int(self.limit) and self.paused_until <= now


class Pool:
    """Hands out the least-loaded replica, waiting until one can take a request and the rates allow it.

    Until its first answer a replica gets one request at a time: the probe before the flood.
    """

    def __init__(self, replicas: list[Replica], limits: Limits) -> None:
        self.replicas = replicas
        self._limits = limits
        self._requests, self._tokens = Meter(limits.rpm), Meter(limits.tpm)
        self._waiting: deque[tuple[asyncio.Future[Replica], int]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def in_flight(self) -> int:
        """Requests in flight over all replicas."""
        return sum(replica.in_flight for replica in self.replicas)

    async def acquire(self, tokens: int = 0) -> Replica:
        """A replica with one more request (of so many tokens) in flight; give it back with ``release``.

        Raises:
            asyncio.CancelledError: the pool is closed.
        """
        if self._closed:
            raise asyncio.CancelledError
        turn: asyncio.Future[Replica] = asyncio.get_running_loop().create_future()
        self._waiting.append((turn, tokens))
        self._hand_out()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release(turn.result())
            raise

    def release(self, replica: Replica) -> None:
        """The request is over, whatever came of it."""
        replica.in_flight -= 1
        self._hand_out()

    def close(self) -> None:
        """From now on nobody gets a turn, nor does anybody who still waits."""
        self._closed = True
        for turn, _ in self._waiting:
            turn.cancel()
        if self._timer is not None:
            self._timer.cancel()

    def succeeded(self, replica: Replica, pause: float) -> None:
        """An answer came: grow. ``pause``: seconds that the server's rate headers ask to wait, 0 for none."""
        replica.faults = replica.bursts = replica.set_asides = 0
        if pause:
            replica.paused_until = max(replica.paused_until, time.monotonic() + pause)
        if not replica.proven:
            replica.proven = True
            replica.limit = float(self._limits.concurrency or min(START_IN_FLIGHT, self._limits.max_concurrency))
        elif self._limits.concurrency is None and replica.in_flight >= int(replica.limit):
            step = 1.0 if replica.in_slow_start else 1.0 / replica.limit
            replica.limit = min(replica.limit + step, float(self._limits.max_concurrency))

    def overloaded(self, replica: Replica, sent_at: float, pause: float | None) -> None:
        """The server asks for less (429, 503), or lets requests time out (``pause`` 0).

        Only the first of a burst cuts: requests that were sent before the last cut say nothing new.
        """
        now = time.monotonic()
        if sent_at >= replica.cut_at:
            replica.cut_at = now
            replica.in_slow_start = False
            pause = self._limits.backoff(replica.bursts) if pause is None else jitter(pause)
            replica.bursts += 1
            if self._limits.concurrency is None:
                replica.limit = max(1.0, min(replica.limit, replica.in_flight) / 2)
        if pause:
            replica.paused_until = max(replica.paused_until, now + pause)

    def unreachable(self, replica: Replica, *, refused: bool) -> None:
        """A connection failed; after a few in a row, or when it was refused, the replica has to prove itself again.

        While another replica answers it is set aside for a while; alone, it is asked again after the request's backoff.
        """
        now = time.monotonic()
        replica.faults += 1
        if replica.paused_until > now or (not refused and replica.faults < FAULTS_BEFORE_SET_ASIDE):
            return
        replica.proven, replica.limit = False, 1.0
        if any(other.faults == 0 for other in self.replicas if other is not replica):
            replica.paused_until = now + min(LONGEST_SET_ASIDE, SHORTEST_SET_ASIDE * 2.0 ** min(replica.set_asides, 16))
            replica.set_asides += 1

    def _hand_out(self) -> None:
        now = time.monotonic()
        while self._waiting:
            turn, tokens = self._waiting[0]
            if turn.done():
                self._waiting.popleft()
                continue
            ready = [replica for replica in self.replicas if replica.can_take(now)]
            if not ready or self.in_flight >= self._limits.ceiling or self._rates_allow_at > now:
                break
            self._requests.take(1, now)
            self._tokens.take(tokens, now)
            chosen = min(ready, key=lambda replica: replica.in_flight)
            chosen.in_flight += 1
            self._waiting.popleft()
            turn.set_result(chosen)
        self._wake_later(now)

    @property
    def _rates_allow_at(self) -> float:
        return max(self._requests.free_at, self._tokens.free_at)

    def _wake_later(self, now: float) -> None:
        """Hand out again when the next pause ends or the rates allow it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        moments = [self._rates_allow_at, *(replica.paused_until for replica in self.replicas)]
        coming = [moment for moment in moments if moment > now]
        if self._waiting and coming:
            self._timer = asyncio.get_running_loop().call_later(min(coming) - now, self._hand_out)


def pause_from_headers(headers: Mapping[str, str], *, rejected: bool) -> float | None:
    """Seconds that a server asks to wait, None if it does not say.

    Reads Retry-After (seconds or a date), retry-after-ms, and x-ratelimit-reset-* of a kind whose remaining count is 0.
    Retry-After counts on a rejection only.
    """
    waits = []
    if rejected:
        waits += [_retry_after(headers.get("retry-after", "")), _milliseconds(headers.get("retry-after-ms", ""))]
    for kind in ("requests", "tokens"):
        if headers.get(f"x-ratelimit-remaining-{kind}", "").strip() == "0":
            waits.append(duration(headers.get(f"x-ratelimit-reset-{kind}", "")))
    known = [wait for wait in waits if wait is not None]
    return max(0.0, *known, 0.0) if known else None


def duration(text: str) -> float | None:
    """Seconds in a text such as ``1m30s``, ``20ms`` or ``1.5``; None if it is none of these."""
    text = text.strip()
    if _is_number(text):
        return float(text)
    parts = _DURATION_PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts)


def _retry_after(text: str) -> float | None:
    seconds = duration(text)
    if seconds is not None or not text:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _milliseconds(text: str) -> float | None:
    return float(text) / 1000 if _is_number(text.strip()) else None


def _is_number(text: str) -> bool:
    return len(text) < 20 and re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII) is not None
