"""Time and memory of the reporting commands on a synthetic run.

    python benchmarks/reporting.py --samples 45000

Each command runs in a process of its own; the target is 60 s and 1 GB for 45,000 samples on two idle cores.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = {
    "report": ["report", "RUN", "--allow-incomplete"],
    "report --html": ["report", "RUN", "--allow-incomplete", "--html", "DIR/page.html"],
    "compare": ["compare", "RUN", "OTHER"],
    "submit": ["submit", "RUN", "--out", "DIR/bundle", "--model-name", "acme/vlm"],
    "verify --offline": ["verify", "DIR/bundle", "--offline"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=45_000)
    samples = parser.parse_args().samples
    with tempfile.TemporaryDirectory() as folder:
        places = {"RUN": f"{folder}/run", "OTHER": f"{folder}/other", "DIR": folder}
        for place, seed in (("RUN", "0"), ("OTHER", "1")):
            generate = [sys.executable, str(ROOT / "tests/support/synthetic_run.py"), places[place], "--judged"]
            subprocess.run([*generate, "--reasoning", "--samples", str(samples), "--seed", seed], check=True)
        print(f"{samples:,} samples\n\n{'command':<18} {'wall s':>8} {'CPU s':>8} {'peak MB':>8}")
        for name, arguments in COMMANDS.items():
            filled = [_filled(argument, places) for argument in arguments]
            wall, cpu, peak = measure([sys.executable, "-m", "datbench_tasks.cli", *filled])
            print(f"{name:<18} {wall:>8.1f} {cpu:>8.1f} {peak:>8.0f}", flush=True)


def measure(command: list[str]) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak megabytes of a command that must succeed."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed:\n{errors.decode()}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _filled(argument: str, places: dict[str, str]) -> str:
    for name, path in places.items():
        argument = path + argument.removeprefix(name) if argument.split("/", maxsplit=1)[0] == name else argument
    return argument


if __name__ == "__main__":
    main()
