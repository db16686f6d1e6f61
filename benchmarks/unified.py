"""How fast tables are scored: rows per second and peak memory of ``datbench-tasks unified`` on key2_qa.

    python benchmarks/unified.py [--rows 1000000] [--workers 1 2] [--formula-share 0.0]

Makes a table of plain answers (numbers in sentences, names, fractions), scores it once for each number of workers and
checks that all results are the same bytes. ``--formula-share`` mixes in LaTeX answers, which go to math-verify.
Needs a working math-verify (or DATBENCH_MATH_PYTHON), as every formula type does.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

NAMES = ("Paris", "Mount Everest", "the mitochondria", "William Shakespeare", "blue", "photosynthesis")


def rows(count: int, formula_share: float) -> Iterator[dict[str, str]]:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    parser.add_argument("--formula-share", type=float, default=0.0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Path(folder) / "bench.jsonl"
        with bench.open("w", encoding="utf-8") as file:
            for row in rows(args.rows, args.formula_share):
                file.write(json.dumps(row) + "\n")
        digests = {score(bench, args.rows, workers) for workers in args.workers}
    print("results identical" if len(digests) == 1 else "RESULTS DIFFER")


def score(bench: Path, count: int, workers: int) -> str:
    """Score the table, print the rate and the memory, and return a digest of the result."""
    out = bench.with_name(f"out{workers}.jsonl")
    program = [sys.executable, "-m", "datbench_tasks.cli", "unified", str(bench), "--out", str(out)]
    columns = ["--eval-type", "key2_qa", "--question", "question", "--target", "golden_answer"]
    start = time.perf_counter()
    subprocess.run([*program, *columns, "--workers", str(workers)], check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"{workers} workers: {count / seconds:,.0f} rows/s ({seconds:,.1f} s), largest process so far {peak:,} MB")
    with out.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


if __name__ == "__main__":
    main()
