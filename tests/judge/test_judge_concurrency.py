"""Growth, cuts, pauses, replicas and rate headers, without a server."""

from __future__ import annotations

import asyncio
import time
from email.utils import formatdate

import pytest

from datbench_tasks.judge.concurrency import Limits, Meter, Pool, Replica, duration, pause_from_headers


def proven_pool(count: int = 1, **limits: int | None) -> Pool:
    pool = Pool([Replica([f"http://replica{number}"]) for number in range(count)], Limits(**limits))
    for replica in pool.replicas:
        pool.succeeded(replica, 0.0)
    return pool


def test_one_request_at_a_time_until_the_first_answer():
    async def go() -> None:
        pool = Pool([Replica(["http://r"])], Limits(concurrency=50))
        probe = await pool.acquire()
        waiting = asyncio.create_task(pool.acquire())
        await asyncio.sleep(0)
        assert not waiting.done()
        pool.succeeded(probe, 0.0)
        pool.release(probe)
        await waiting
        assert probe.limit == 50

    asyncio.run(go())


def test_grows_only_while_full_and_up_to_its_bound():
    pool = proven_pool(max_concurrency=20)
    replica = pool.replicas[0]
    pool.succeeded(replica, 0.0)
    assert replica.limit == 8
    for _ in range(100):
        replica.in_flight = int(replica.limit)
        pool.succeeded(replica, 0.0)
    assert replica.limit == 20


def test_a_burst_of_rejections_cuts_once():
    pool = proven_pool(max_concurrency=64)
    replica = pool.replicas[0]
    replica.limit = replica.in_flight = 64
    sent_at = time.monotonic()
    for _ in range(64):
        pool.overloaded(replica, sent_at, 0.5)
    assert replica.limit == 32
    assert replica.paused_until > time.monotonic()
    pool.overloaded(replica, time.monotonic(), 0.5)
    assert replica.limit == 16


def test_grows_slowly_after_a_cut():
    pool = proven_pool(max_concurrency=64)
    replica = pool.replicas[0]
    replica.limit = replica.in_flight = 20
    pool.overloaded(replica, time.monotonic(), 0.0)
    for _ in range(10):
        replica.in_flight = int(replica.limit)
        pool.succeeded(replica, 0.0)
    assert 10.9 < replica.limit < 11.1


def test_fixed_concurrency_is_never_cut():
    pool = proven_pool(concurrency=40)
    pool.overloaded(pool.replicas[0], time.monotonic(), 1.0)
    assert pool.replicas[0].limit == 40


def test_least_loaded_replica_first_and_the_ceiling_over_all():
    async def go() -> None:
        pool = proven_pool(2, concurrency=5)
        taken = [await pool.acquire() for _ in range(5)]
        assert sorted(taken.count(replica) for replica in pool.replicas) == [2, 3]
        waiting = asyncio.create_task(pool.acquire())
        await asyncio.sleep(0)
        assert not waiting.done()
        pool.release(taken[0])
        assert await waiting is taken[0]

    asyncio.run(go())


def test_dead_replica_is_set_aside_and_asked_again_later():
    pool = proven_pool(2, concurrency=8)
    dead = pool.replicas[0]
    pool.unreachable(dead, refused=True)
    now = time.monotonic()
    assert not dead.can_take(now)
    assert dead.can_take(now + 2) and dead.limit == 1


def test_other_requests_of_the_same_outage_do_not_set_it_aside_for_longer():
    pool = proven_pool(2, concurrency=8)
    for _ in range(8):
        pool.unreachable(pool.replicas[0], refused=True)
    assert pool.replicas[0].can_take(time.monotonic() + 2)


def test_a_single_broken_connection_does_not_set_aside():
    pool = proven_pool(2, concurrency=8)
    pool.unreachable(pool.replicas[0], refused=False)
    assert pool.replicas[0].can_take(time.monotonic())


def test_the_only_replica_is_not_set_aside():
    pool = proven_pool(concurrency=8)
    pool.unreachable(pool.replicas[0], refused=True)
    assert pool.replicas[0].can_take(time.monotonic())


def test_those_who_wait_are_served_when_a_pause_ends():
    async def go() -> None:
        pool = proven_pool(concurrency=8)
        pool.overloaded(pool.replicas[0], time.monotonic(), 0.05)
        await asyncio.wait_for(pool.acquire(), 10)

    asyncio.run(go())


def test_closed_pool_lets_nobody_wait():
    async def go() -> None:
        pool = proven_pool(concurrency=1)
        await pool.acquire()
        waiting = asyncio.create_task(pool.acquire())
        await asyncio.sleep(0)
        pool.close()
        for turn in (waiting, asyncio.create_task(pool.acquire())):
            with pytest.raises(asyncio.CancelledError):
                await turn

    asyncio.run(go())


def test_meter_spaces_amounts_evenly():
    meter, unbound = Meter(60), Meter(None)
    for _ in range(3):
        meter.take(1, now=10.0)
        unbound.take(10**9, now=10.0)
    assert meter.free_at == pytest.approx(13.0) and unbound.free_at == 10.0
    meter.take(2, now=20.0)
    assert meter.free_at == pytest.approx(22.0)


@pytest.mark.parametrize(("limits", "tokens"), [({"rpm": 600}, 0), ({"tpm": 6000}, 10)])
def test_turns_are_spaced(limits, tokens):
    async def go() -> float:
        pool = proven_pool(concurrency=8, **limits)
        started = time.monotonic()
        for _ in range(4):
            await asyncio.wait_for(pool.acquire(tokens), 10)
        return time.monotonic() - started

    assert asyncio.run(go()) >= 0.3


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5", 5), ("0.5", 0.5), ("20ms", 0.02), ("1m30s", 90), ("6m0s", 360), ("1h", 3600), ("", None), ("soon", None),
     ("-5", None), ("5 s x", None), ("1e9", None), ("٣", None), ("1" * 100_000, None), ("1s" * 50_000, 50_000)],
)  # fmt: skip
def test_durations(text, seconds):
    assert duration(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("headers", "rejected", "pause"),
    [
        ({}, True, None),
        ({"retry-after": "3"}, True, 3),
        ({"retry-after": "3"}, False, None),
        ({"retry-after-ms": "250"}, True, 0.25),
        ({"retry-after": "nonsense"}, True, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "2s"}, False, 2),
        ({"x-ratelimit-remaining-requests": "7", "x-ratelimit-reset-requests": "2s"}, False, None),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m0s", "retry-after": "2"}, True, 60),
    ],
)
def test_pauses_that_servers_ask_for(headers, rejected, pause):
    assert pause_from_headers(headers, rejected=rejected) == pause


def test_retry_after_as_a_date():
    pause = pause_from_headers({"retry-after": formatdate(time.time() + 30, usegmt=True)}, rejected=True)
    assert pause is not None and 25 < pause <= 31
    assert pause_from_headers({"retry-after": formatdate(0, usegmt=True)}, rejected=True) == 0
