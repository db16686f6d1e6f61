"""How fast tables are scored: ``datbench-tasks unified`` on key2_qa, by size, workers and share of formulas.

The rows are plain answers (numbers in sentences, names, fractions); LaTeX answers are mixed in for one figure, and go
to math-verify. Needs a working math-verify (or DATBENCH_MATH_PYTHON), as every formula type does.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from benchmarks.measure import MEMORY, WALL, Row, Sizes, command_line, cost_of, read_as_json, wall_seconds

NAMES = ("Paris", "Mount Everest", "the mitochondria", "William Shakespeare", "blue", "photosynthesis")
FORMULA_SHARE = 0.05


def run(sizes: Sizes) -> list[Row]:
    """All rows: plain tables for one worker and for one a core, a table with formulas, memory.

    Raises:
        RuntimeError: numbers of workers give different results.
    """
    all_workers = tuple(dict.fromkeys((1, os.cpu_count() or 1)))
    found = [row for count in sizes.steps(sizes.rows) for row in table_rows("plain", count, 0.0, all_workers)]
    return found + table_rows("1 in 20 a formula", sizes.rows // 64, FORMULA_SHARE, all_workers[-1:])


def table_rows(kind: str, count: int, formula_share: float, all_workers: tuple[int, ...]) -> list[Row]:
    """Time and memory of one table, for each number of workers."""
    found, digests = [], set()
    with tempfile.TemporaryDirectory() as folder:
        bench, out = Path(folder, "bench.jsonl"), Path(folder, "out.jsonl")
        with bench.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in made_up_rows(count, formula_share))
        for workers in all_workers:
            columns = ["--eval-type", "key2_qa", "--question", "question", "--target", "golden_answer"]
            cost = cost_of(command_line("unified", bench, "--out", out, *columns, "--workers", workers))
            reading = wall_seconds(lambda: read_as_json([bench, out]))
            name = f"unified, {kind}, workers: {workers}"
            found.append(Row(name, count, cost.wall, WALL, "reading table and result as JSON", reading))
            found.append(Row(f"{name}, largest process", count, cost.peak, MEMORY, "table on disk",
                             bench.stat().st_size / 2**20))  # fmt: skip
            with out.open("rb") as file:
                digests.add(_digest(file))
    if len(digests) > 1:
        raise RuntimeError(f"results of {count:,} rows differ between {all_workers} workers")
    return found


def _digest(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


def made_up_rows(count: int, formula_share: float) -> Iterator[dict[str, str]]:
    """Questions with a reference and a prediction; about two in three are right."""
    draw = random.Random(0)
    for index in range(count):
        right = draw.random() < 0.67
        if draw.random() < formula_share:
            target = f"$\\frac{{{draw.randint(1, 99)}}}{{{draw.randint(2, 99)}}}$"
            said = f"Hence \\boxed{{{target.strip('$') if right else '2'}}}"
        elif index % 3 == 0:
            target = draw.choice(NAMES)
            said = f"The answer is {target if right else draw.choice(NAMES)}."
        elif index % 3 == 1:
            target = f"{draw.randint(1, 99_999):,}"
            said = f"First add 12 and 7. So {target if right else draw.randint(1, 999)} apples are left in the basket."
        else:
            target = f"{draw.randint(1, 9)}/{draw.randint(2, 9)}"
            said = f"\\boxed{{{target if right else '0.5'}}}"
        yield {"id": str(index), "question": f"question {index}", "golden_answer": target, "generated_ans": said}
