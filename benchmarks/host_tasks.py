"""Parts that run inside lmms-eval for the benchmark of the host: hooks of made-up tasks, and two ways to start it.

python -m benchmarks.host_tasks FILE ARGUMENTS...      the host, with the time in process_results written to FILE
python -m benchmarks.host_tasks --bare ARGUMENTS...    the host, as if datbench-tasks were not installed
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import json
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import cpu_seconds


def no_op(doc: dict[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Scores nothing."""
    return {"score": 0.0}


def judged(doc: dict[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Asks the host's own judge and waits for it, as the host's tasks do."""
    verdict = _host_judge().evaluate_binary(doc["question"], doc["answer"], results[0], output_format="yes/no")
    return {"score": float(verdict["success"])}


@functools.cache
def _host_judge() -> Any:
    from lmms_eval.llm_judge import ServerConfig, get_server

    return get_server("openai", ServerConfig(model_name="judge"))


class Timed:
    """Wraps ``process_results`` of the host's tasks and adds up its time by task."""

    def __init__(self) -> None:
        self.spans: dict[str, list[tuple[float, float, float]]] = {}
        self._lock = threading.Lock()

    def wrap(self, original: Any) -> Any:
        @functools.wraps(original)
        def process_results(task: Any, *arguments: Any, **named: Any) -> Any:
            began, worked = time.perf_counter(), time.thread_time()
            result = original(task, *arguments, **named)
            span = (began, time.perf_counter(), time.thread_time() - worked)
            with self._lock:
                self.spans.setdefault(task.config.task, []).append(span)
            return result

        return process_results

    def totals(self) -> dict[str, dict[str, float]]:
        """Task -> calls, processor seconds in them, wall seconds from the first one's begin to the last one's end."""
        return {
            task: {
                "calls": len(spans),
                "cpu": sum(cpu for _, _, cpu in spans),
                "wall": max(end for _, end, _ in spans) - min(begin for begin, _, _ in spans),
            }
            for task, spans in self.spans.items()
        }


def hide_our_entry_point() -> None:
    """Make ``importlib.metadata`` leave out our entry points, at no cost for those of others."""
    everything = importlib.metadata.Distribution.entry_points.fget

    def entry_points(distribution: importlib.metadata.Distribution) -> importlib.metadata.EntryPoints:
        found = everything(distribution)
        return type(found)(point for point in found if not point.value.startswith("datbench_tasks."))

    importlib.metadata.Distribution.entry_points = property(entry_points)


def start_cost() -> dict[str, float]:
    """Processor seconds of what we add to a start of the host, and of what the host itself does around it."""
    hide_our_entry_point()  # so that it runs when it can be timed, not while the host's module is imported
    seconds = {"import lmms_eval.models": cpu_seconds(lambda: importlib.import_module("lmms_eval.models"))}

    def entry_point() -> None:
        importlib.import_module("datbench_tasks.registration").manifests()

    seconds["entry point"] = cpu_seconds(entry_point)
    manager = importlib.import_module("lmms_eval.tasks").TaskManager
    seconds["indexing all tasks"] = cpu_seconds(manager)
    seconds["our task folders"] = cpu_seconds(lambda: manager(include_defaults=False))
    return seconds


def main() -> None:
    """Start the host."""
    mode, *arguments = sys.argv[1:]
    sys.argv[:] = ["lmms-eval", *arguments]
    if mode == "--bare":
        hide_our_entry_point()
    from lmms_eval.cli.dispatch import main as host

    if mode.startswith("--"):
        host()
        return
    from lmms_eval.api.task import ConfigurableTask

    timed = Timed()
    ConfigurableTask.process_results = timed.wrap(ConfigurableTask.process_results)
    try:
        host()
    finally:
        Path(mode).write_text(json.dumps(timed.totals()), encoding="utf-8")


if __name__ == "__main__":
    main()
