"""Run the benchmarks, print their tables and write all figures as JSON.

    python -m benchmarks [--quick] [--only NAME ...] [--json PATH]

Takes some 22 minutes on two idle cores; --quick (tiny sizes, figures that mean nothing) two.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from pathlib import Path

from benchmarks import evaluator, host, judge, reporting, scoring, unified
from benchmarks.measure import FULL, QUICK, Row, as_data, machine, table

BENCHMARKS = {
    "scoring": scoring.run,
    "evaluator": evaluator.run,
    "judge": judge.run,
    "host": host.run,
    "unified": unified.run,
    "reporting": reporting.run,
}


def main() -> int:
    """Parse the command line, measure, print and write; 1 if a benchmark could not run."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=list(BENCHMARKS), metavar="NAME",
                        help=f"of {', '.join(BENCHMARKS)}")  # fmt: skip
    parser.add_argument("--json", type=Path, default=Path(__file__).with_name("results.json"), metavar="PATH")
    args = parser.parse_args()

    figures = {"machine": machine(), "rows": {}}
    print("\n".join(f"{key}: {value}" for key, value in figures["machine"].items()), flush=True)
    failed = []
    for name in args.only:
        started = time.perf_counter()
        try:
            rows = measured(name, quick=args.quick)
        except Exception as fault:
            failed.append(name)
            print(f"\n{name} could not be measured: {fault}", file=sys.stderr, flush=True)
            continue
        figures["rows"][name] = [as_data(row, rows) for row in rows]
        print(f"\n## {name} ({time.perf_counter() - started:.0f} s)\n\n{table(rows)}", flush=True)
    args.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(f"\nfigures: {args.json}")
    return 1 if failed else 0


def measured(name: str, *, quick: bool) -> list[Row]:
    """The rows of a benchmark, from a process of its own: no benchmark warms up another or adds to its memory."""
    with multiprocessing.get_context("spawn").Pool(1) as fresh:
        return fresh.apply(BENCHMARKS[name], (QUICK if quick else FULL,))


if __name__ == "__main__":
    sys.exit(main())
