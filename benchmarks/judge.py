"""How fast the judge client is against its ideal, and what a pass over a run takes.

The chat server runs in a process of its own on the same machine and answers after a fixed latency. With N requests,
latency L and C in flight no client can be faster than N * L / C. The passes read a run, ask and write.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from support.judge_runs import make_judge_run

from benchmarks.measure import MEMORY, TESTS, WALL, Row, Sizes, cpu_seconds, in_child, read_as_json, wall_seconds
from datbench_tasks.judge.client import ask_all
from datbench_tasks.judge.concurrency import Limits
from datbench_tasks.judge.endpoints import Endpoints
from datbench_tasks.judge.journal import Journal
from datbench_tasks.judge.options import (
    add_pass_arguments,
    add_server_arguments,
    endpoints_from,
    limits_from,
    settings_from,
)
from datbench_tasks.judge.post_pass import ChatBackend, judge_run
from datbench_tasks.judge.requests import JudgeIdentity, JudgeRequest
from datbench_tasks.run_directory import open_run

IN_FLIGHT = {8: 0.05, 64: 0.15, 256: 0.45}
"""Requests in flight -> seconds of latency; at most 600 requests a second, since client and server share the cores."""

PROMPT = "word " * 300
PASS_IN_FLIGHT, PASS_LATENCY = 64, 0.11
PASS_MIB = 300
AIM = "N·L/C"


def run(sizes: Sizes) -> list[Row]:
    """The client by requests in flight and by number of requests; whole passes by size of the run."""
    rows = [row for c, latency in IN_FLIGHT.items() for row in client_rows(c, latency, sizes.steps(sizes.rounds))]
    return rows + [row for pending in sizes.steps(sizes.pending) for row in pass_rows(pending)]


@contextmanager
def served(latency: float) -> Iterator[str]:
    """A chat server in a process of its own; yields its base URL."""
    command = [sys.executable, "-m", "support.chat_server", "--latency", str(latency)]
    process = subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def client_rows(in_flight: int, latency: float, all_rounds: Sequence[int]) -> list[Row]:
    """Fixed concurrency at three numbers of requests, adaptive concurrency at the largest."""
    fixed, auto = Limits(concurrency=in_flight), Limits(max_concurrency=in_flight)
    plan = [(f"judge client, {in_flight} in flight", n * in_flight, fixed) for n in all_rounds]
    plan.append((f"judge client, auto up to {in_flight}", max(all_rounds) * in_flight, auto))
    rows = []
    for name, count, limits in plan:
        with served(latency) as url:
            wall, cpu = client_seconds(url, count, limits)
        note = f"{1000 * cpu / count:.2f} ms of processor time a request at {count:,}"
        rows.append(Row(name, count, wall, WALL, f"{AIM}, L = {latency} s", count * latency / in_flight, note))
    return rows


def client_seconds(url: str, count: int, limits: Limits) -> tuple[float, float]:
    """Wall and processor seconds for so many requests, all answered."""
    started = time.perf_counter()

    def ask() -> None:
        with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "journal.jsonl") as journal:
            totals = ask_all(requests(count), Endpoints("judge", [url]), journal, limits)
            assert totals.answered == count

    cpu = cpu_seconds(ask)
    return time.perf_counter() - started, cpu


def requests(count: int) -> Iterator[JudgeRequest]:
    """Requests of about 400 tokens, all different."""
    identity = JudgeIdentity("judge", "chat", {})
    for number in range(count):
        messages = [{"role": "user", "content": f"{PROMPT}{number}"}]
        yield JudgeRequest(identity.key(messages), messages)


def pass_rows(pending: int) -> list[Row]:
    """A pass over a run with so many pending samples, in a fresh process; then a second one with nothing to ask."""
    with tempfile.TemporaryDirectory() as folder, served(PASS_LATENCY) as url:
        directory = make_judge_run(Path(folder), pending * 5 // 4)
        seconds, cost = in_child(judge_pass, str(directory), url, pending)
        logs = list(directory.rglob("*.jsonl"))
        again, _ = in_child(judge_pass, str(directory), url, pending)
        reading = wall_seconds(lambda: read_as_json(logs))
    ideal = pending * PASS_LATENCY / PASS_IN_FLIGHT
    return [
        Row(f"judge pass, {PASS_IN_FLIGHT} in flight", pending, seconds, WALL, f"{AIM}, L = {PASS_LATENCY} s", ideal),
        Row("judge pass, memory", pending, cost.peak, MEMORY, "aim for 50,000", PASS_MIB),
        Row("judge pass again, nothing to ask", pending, again, WALL, "reading logs and journal as JSON", reading),
    ]


def judge_pass(directory: str, url: str, pending: int) -> float:
    """Wall seconds of a pass that leaves no sample without a verdict."""
    parser = argparse.ArgumentParser()
    add_server_arguments(parser)
    add_pass_arguments(parser)
    options = ["--judge-model", "judge", "--judge-base-url", url, "--concurrency", str(PASS_IN_FLIGHT)]
    args = parser.parse_args(options)
    started = time.perf_counter()
    backend = ChatBackend(endpoints_from(args), limits_from(args))
    verdicts = judge_run(open_run(directory), backend, settings_from(args, args.judge_model))
    assert sum(verdicts.counts.values()) == pending
    return time.perf_counter() - started
