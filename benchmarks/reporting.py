"""Time and memory of the reporting commands on a made-up run of a reasoning model, judged.

Each command runs in a process of its own; the aim is 60 s and 1 GB for 45,000 samples on two idle cores.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from support.synthetic_run import make_run

from benchmarks.measure import (
    MEMORY,
    WALL,
    Row,
    Sizes,
    command_line,
    cost_of,
    in_child,
    read_as_json,
    wall_seconds,
)

COMMANDS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "report": (["report", "run", "--allow-incomplete"], ["run"]),
    "report --html": (["report", "run", "--allow-incomplete", "--html", "page/page.html"], ["run"]),
    "compare": (["compare", "run", "other"], ["run", "other"]),
    "submit": (["submit", "run", "--out", "bundle", "--model-name", "acme/vlm"], ["run"]),
    "verify --offline": (["verify", "bundle", "--offline"], ["bundle"]),
}
"""Name -> (arguments, folders that the command reads); folders are those of one benchmark directory."""

SEEDS = {"run": 0, "other": 1}
PLACES = {*SEEDS, "page", "bundle"}
AIM_MIB = 1_000


def run(sizes: Sizes) -> list[Row]:
    """Time of each command at three sizes, and its memory."""
    return [row for samples in sizes.steps(sizes.samples) for row in command_rows(samples)]


def command_rows(samples: int) -> list[Row]:
    """All commands on two runs of so many samples."""
    found = []
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        for name, seed in SEEDS.items():
            in_child(make_judged_run, str(folder / name), samples, seed)
        for name, (arguments, inputs) in COMMANDS.items():
            logs = [file for place in inputs for file in (folder / place).rglob("*.jsonl")]
            reading = wall_seconds(lambda logs=logs: read_as_json(logs))
            filled = [folder / word if Path(word).parts[0] in PLACES else word for word in arguments]
            cost = cost_of(command_line(*filled))
            found.append(Row(name, samples, cost.wall, WALL, "reading its sample logs as JSON", reading))
            found.append(Row(f"{name}, memory", samples, cost.peak, MEMORY, "aim for 45,000 samples", AIM_MIB))
    return found


def make_judged_run(directory: str, samples: int, seed: int) -> None:
    """A judged run of a model that reasons."""
    make_run(Path(directory), samples=samples, seed=seed, judged=True, reasoning=True)
