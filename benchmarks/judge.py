"""How fast the judge client is against its ideal, and how much memory a pass over a run takes.

    python benchmarks/judge.py [--json FILE] [--rounds 40] [--pending 3000 12500 50000]

The chat server runs in a process of its own on the same machine and answers after a fixed latency. With N requests,
latency L and C in flight no client can be faster than N * L / C; the ratio to that is printed, with the processor time
of the client, next to four worker threads that send one request each, as a host that judges while it scores does.
Then a whole pass (read, ask, write) over runs of growing size: answers per second and peak memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.judge_runs import make_judge_run

from datbench_tasks.judge.client import ask_all
from datbench_tasks.judge.concurrency import Limits
from datbench_tasks.judge.endpoints import Endpoints
from datbench_tasks.judge.journal import Journal
from datbench_tasks.judge.requests import JudgeIdentity, JudgeRequest

TESTS = Path(__file__).parents[1] / "tests"

IN_FLIGHT = {8: 0.05, 64: 0.15, 256: 0.45}
"""Requests in flight -> seconds of latency; at most 600 requests a second, since client and server share the cores."""

PROMPT = "word " * 300
HOST_THREADS = 4

MEASURED_PASS = """
import resource, sys, time
from datbench_tasks.judge.options import add_pass_arguments, add_server_arguments
from datbench_tasks.judge.options import endpoints_from, limits_from, settings_from
from datbench_tasks.judge.post_pass import ChatBackend, judge_run
from datbench_tasks.runs import open_run
import argparse
parser = argparse.ArgumentParser()
add_server_arguments(parser), add_pass_arguments(parser)
args = parser.parse_args(sys.argv[2:])
backend = ChatBackend(endpoints_from(args), limits_from(args))
started = time.perf_counter()
verdicts = judge_run(open_run(sys.argv[1]), backend, settings_from(args, args.judge_model), args.max_tokens)
print(sum(verdicts.counts.values()), time.perf_counter() - started,
      resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


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


def client_speed(in_flight: int, latency: float, rounds: int) -> dict[str, Any]:
    """Fixed and adaptive concurrency against the ideal."""
    count = rounds * in_flight
    row: dict[str, Any] = {"in_flight": in_flight, "latency": latency, "requests": count}
    row["ideal"] = count * latency / in_flight
    kinds = {"fixed": Limits(concurrency=in_flight), "auto": Limits(max_concurrency=in_flight)}
    with served(latency) as url:
        for kind, limits in kinds.items():
            started, worked = time.perf_counter(), time.process_time()
            with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "journal.jsonl") as journal:
                totals = ask_all(requests(count), Endpoints("judge", [url]), journal, limits)
                assert totals.answered == count
            row[kind] = time.perf_counter() - started
            row[f"{kind}_cpu_ms"] = 1000 * (time.process_time() - worked) / count
    return row


def host_threads_speed(latency: float, count: int = 100) -> dict[str, Any]:
    """Four threads that ask one after the other."""
    with served(latency) as url, ThreadPoolExecutor(HOST_THREADS) as threads:
        started = time.perf_counter()
        list(threads.map(lambda request: ask_once(url, request), requests(count)))
        seconds = time.perf_counter() - started
    return {"latency": latency, "requests": count, "seconds": seconds, "per_second": count / seconds}


def ask_once(url: str, request: JudgeRequest) -> bytes:
    """One blocking request."""
    data = json.dumps({"model": "judge", "messages": request.messages}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{url}/chat/completions", data)) as response:
        content: bytes = response.read()
        return content


def requests(count: int) -> Iterator[JudgeRequest]:
    """Requests of about 400 tokens, all different."""
    identity = JudgeIdentity("judge", "chat", {})
    for number in range(count):
        messages = [{"role": "user", "content": f"{PROMPT}{number}"}]
        yield JudgeRequest(identity.key(messages), messages)


def pass_cost(pending: int) -> dict[str, Any]:
    """A whole pass over a run with so many pending samples, in a fresh process."""
    with tempfile.TemporaryDirectory() as folder, served(0.02) as url:
        run = make_judge_run(Path(folder), pending * 5 // 4)
        options = ["--judge-model", "judge", "--judge-base-url", url, "--concurrency", "64"]
        command = [sys.executable, "-c", MEASURED_PASS, str(run), *options]
        first = _measured(command)
        again = _measured(command)
    return {"pending": first[0], "seconds": first[1], "per_second": first[0] / first[1], "peak_bytes": first[2],
            "seconds_again": again[1]}  # fmt: skip


def _measured(command: list[str]) -> tuple[int, float, int]:
    child = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    count, seconds, peak = child.stdout.split()
    return int(count), float(seconds), int(peak)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--rounds", type=int, default=40, help="requests for each place in flight")
    parser.add_argument("--pending", type=int, nargs="*", default=[3_000, 12_500, 50_000], help="sizes of the runs")
    args = parser.parse_args()

    print(f"{'in flight':>9} {'latency':>8} {'requests':>9} {'ideal':>7} {'fixed':>14} {'auto':>14} {'client CPU':>11}")
    speeds = []
    for in_flight, latency in IN_FLIGHT.items():
        row = client_speed(in_flight, latency, args.rounds)
        speeds.append(row)
        fixed, auto = (f"{row[kind]:.1f} s ({row[kind] / row['ideal']:.2f}x)" for kind in ("fixed", "auto"))
        print(f"{in_flight:>9} {latency:>6.2f} s {row['requests']:>9,} {row['ideal']:>5.1f} s {fixed:>14} {auto:>14} "
              f"{row['fixed_cpu_ms']:>8.2f} ms")  # fmt: skip

    host = host_threads_speed(0.15)
    print(f"\n{HOST_THREADS} worker threads, {host['latency']} s latency: {host['per_second']:.0f} requests/s")

    print(f"\n{'pending':>8} {'pass':>9} {'answers/s':>10} {'peak memory':>12} {'again, nothing to ask':>22}")
    passes = []
    for pending in args.pending:
        row = pass_cost(pending)
        passes.append(row)
        print(f"{row['pending']:>8,} {row['seconds']:>7.1f} s {row['per_second']:>10,.0f} "
              f"{row['peak_bytes'] / 2**20:>9,.0f} MB {row['seconds_again']:>20.1f} s")  # fmt: skip
    if args.json:
        args.json.write_text(json.dumps({"client": speeds, "host_threads": host, "passes": passes}, indent=2) + "\n")


if __name__ == "__main__":
    main()
