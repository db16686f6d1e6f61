"""What the benchmarks share: sizes, a row of the table, the cost of a child process, the table itself."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"

MEMORY = "MiB"
CPU = "CPU s"
WALL = "s"
TIMES = (CPU, WALL)


@dataclass(frozen=True)
class Sizes:
    """How much each benchmark does.

    Attributes:
        parts: what the sizes are divided by, so that growth is seen.
        seconds: least time over which a scoring rate is taken.
        repeats: times that the golden cases are scored in one evaluation.
        hostile: whether every scorer meets the hostile outputs (takes minutes).
        rescored: samples that are scored again from files.
        images: rows with an image of one megapixel.
        documents: documents in the host.
        host_judged: documents that the host judges while it scores them.
        listings: times that the host lists its tasks.
        rounds: judge requests for each place in flight.
        pending: samples that wait for a judge.
        samples: samples of a run to report on.
        rows: rows of the unified evaluator's table.
    """

    parts: tuple[int, ...]
    seconds: float
    repeats: int
    hostile: bool
    rescored: int
    images: int
    documents: int
    host_judged: int
    listings: int
    rounds: int
    pending: int
    samples: int
    rows: int

    def steps(self, largest: int) -> tuple[int, ...]:
        """A size in its parts, the smallest first."""
        return tuple(dict.fromkeys(max(1, largest // part) for part in self.parts))


FULL = Sizes(
    parts=(16, 4, 1), seconds=0.4, repeats=16, hostile=True, rescored=205_000, images=5_000, documents=5_000,
    host_judged=400, listings=3, rounds=40, pending=50_000, samples=45_000, rows=1_000_000,
)  # fmt: skip
QUICK = Sizes(
    parts=(1,), seconds=0.01, repeats=1, hostile=False, rescored=1_800, images=64, documents=320,
    host_judged=40, listings=0, rounds=2, pending=320, samples=360, rows=3_200,
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One figure beside the bound that explains it, both of the same run and unit.

    Attributes:
        name: what was measured; rows of one name and unit at several sizes show how it grows.
        size: number of items.
        value: seconds, MiB or a count, for all items together.
        unit: ``s`` (wall), ``CPU s``, ``MiB`` or the name of what is counted.
        bound: what the value is held against.
        bound_value: its value.
        note: what a reader should know, "" for nothing.
    """

    name: str
    size: int
    value: float
    unit: str
    bound: str
    bound_value: float
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Value over bound, None where the bound is 0."""
        return self.value / self.bound_value if self.bound_value else None


def growth(row: Row, rows: Iterable[Row]) -> tuple[float | None, float | None]:
    """How the time per item moved from smaller sizes of the same name to this one; 1 is linear.

    Returns:
        The cost per item over that of the smallest size; and the cost of each item added since the size before over
        that of the items added one step earlier, in which the cost of starting cancels out. None where there are too
        few sizes, or for other units.
    """
    series = sorted((r for r in rows if (r.name, r.unit) == (row.name, row.unit)), key=lambda r: r.size)
    smaller = [r for r in series if r.size < row.size]
    if row.unit not in TIMES or not smaller:
        return None, None
    per_item = (row.value / row.size) / (smaller[0].value / smaller[0].size)
    if len(smaller) == 1:
        return per_item, None
    earlier, later = _added(*smaller[-2:]), _added(smaller[-1], row)
    return per_item, later / earlier if earlier > 0 < later else None


def _added(small: Row, large: Row) -> float:
    return (large.value - small.value) / (large.size - small.size)


@dataclass(frozen=True)
class Cost:
    """What a child process took: wall and processor seconds, the largest process in MiB, and its standard output."""

    wall: float
    cpu: float
    peak: float
    output: str


def cost_of(command: Sequence[object], **environment: str) -> Cost:
    """Run a command in the project's root.

    Raises:
        RuntimeError: it failed; holds the end of what it said.
    """
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            list(map(str, command)), cwd=ROOT, env={**os.environ, **environment}, stdout=output, stderr=errors
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))[:300]} failed:\n{errors.read()[-3_000:]}")
        return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output.read())


def in_child(function: Callable[..., Any], *arguments: Any, **environment: str) -> tuple[Any, Cost]:
    """Call a function of a benchmark module in a fresh process; arguments and result are JSON values."""
    code = (
        f"import json, sys; from {function.__module__} import {function.__name__} as function; "
        "print('\\n' + json.dumps(function(*json.loads(sys.argv[1]))))"
    )
    cost = cost_of([sys.executable, "-c", code, json.dumps(arguments)], **environment)
    return json.loads(cost.output.splitlines()[-1]), cost


def command_line(*arguments: object) -> list[object]:
    """A command of ``datbench-tasks``."""
    return [sys.executable, "-m", "datbench_tasks.cli", *arguments]


def cpu_seconds(call: Callable[[], Any]) -> float:
    """Processor seconds of a call: work on one core, which other work on the machine shall not count against."""
    started = time.process_time()
    call()
    return time.process_time() - started


def wall_seconds(call: Callable[[], Any]) -> float:
    """Wall seconds of a call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def read_as_json(files: Iterable[Path]) -> None:
    """Decode each line of JSONL files, and other files as one value: what no reader of them can do without."""
    for file in files:
        with file.open("rb") as lines:
            for text in lines if file.suffix == ".jsonl" else [lines.read()]:
                json.loads(text)


def loop_seconds() -> float:
    """Seconds for ten million additions in a pure-Python loop, the best of three: the machine's speed."""
    return min(cpu_seconds(lambda: sum(i for i in range(10**7))) for _ in range(3))


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    models = [line.partition(":")[2].strip() for line in _cpu_information() if line.startswith("model name")]
    return {
        "processor": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 1),
        "loop_seconds": round(loop_seconds(), 3),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "datbench-tasks": metadata.version("datbench-tasks"),
    }


def _cpu_information() -> list[str]:
    file = Path("/proc/cpuinfo")
    return file.read_text().splitlines() if file.exists() else []


HEADER = ("measured", "items", "figure", "items/s", "bound", "its figure", "ratio", "per item", "per added item")
TEXTS = (True, False, False, False, True, False, False, False, False)
"""Which columns hold words; the others hold numbers."""


def table(rows: Sequence[Row]) -> str:
    """The rows as an aligned Markdown table, each note once below it."""
    cells = [HEADER, *(_cells(row, rows) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [f"| {' | '.join(map(_aligned, line, widths, TEXTS))} |" for line in cells]
    ruler = (
        "|" + "|".join(f"-{'-' * width}{'-' if text else ':'}" for width, text in zip(widths, TEXTS, strict=True)) + "|"
    )
    notes = dict.fromkeys(f"* {row.name}: {row.note}" for row in rows if row.note)
    return "\n".join([lines[0], ruler, *lines[1:], *(["", *notes] if notes else [])])


def _aligned(cell: str, width: int, is_text: bool) -> str:
    return cell.ljust(width) if is_text else cell.rjust(width)


def _cells(row: Row, rows: Sequence[Row]) -> tuple[str, ...]:
    per_second = f"{row.size / row.value:,.0f}" if row.unit in TIMES and row.value else ""
    times = [f"{x:,.2f}x" if x is not None else "" for x in (row.ratio, *growth(row, rows))]
    figure, bound = (f"{_short(value)} {row.unit}" for value in (row.value, row.bound_value))
    return (row.name, f"{row.size:,}", figure, per_second, row.bound, bound, *times)


def _short(value: float) -> str:
    """About three significant digits."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def as_data(row: Row, rows: Sequence[Row]) -> dict[str, Any]:
    """A row for the JSON file."""
    per_item, per_added_item = growth(row, rows)
    return {**asdict(row), "ratio": row.ratio, "growth_per_item": per_item, "growth_per_added_item": per_added_item}
