"""What we add to a start of lmms-eval, and what scoring and judging cost inside it.

One run of the host scores made-up documents by our hooks and by a task that does nothing, and has another task judged
inside ``process_results`` by the host's own judge. ``datbench_replay`` gives the answers.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks import host_tasks
from benchmarks.evaluator import stored_answers, write_rows
from benchmarks.judge import AIM, client_seconds, served
from benchmarks.measure import CPU, WALL, Cost, Row, Sizes, cost_of, in_child
from datbench.jsonio import write_jsonl
from datbench_tasks.judge.concurrency import Limits
from datbench_tasks.task_folders import packaged_folder

LATENCY = 0.15
HOST_THREADS = 4
CLIENT_IN_FLIGHT = 64
CAPABILITY = "general"
OFFLINE = {"HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "unused"}


def run(sizes: Sizes) -> list[Row]:
    """Start, then documents."""
    return start_rows(sizes.listings) + document_rows(sizes.steps(sizes.documents), sizes.host_judged)


def start_rows(listings: int) -> list[Row]:
    """Whole commands with and without our entry point (least of several, in turn), and our part timed by itself."""
    found = []
    for arguments, times in ((["models"], 3), (["--tasks", "list"], listings)):
        seconds: dict[str, list[float]] = {"--with": [], "--bare": []}
        for _ in range(times):
            for mode, taken in seconds.items():
                taken.append(host_cost(mode, *arguments).cpu)
        if times:
            with_us, without = (min(taken) for taken in seconds.values())
            found.append(Row(f"lmms-eval {' '.join(arguments)}", 1, with_us, CPU, "without our entry point", without))
    parts, _ = in_child(host_tasks.start_cost, **OFFLINE)
    pairs = {"entry point": "import lmms_eval.models", "our task folders": "indexing all tasks"}
    return found + [
        Row(f"host start, {ours}", 1, parts[ours], CPU, hosts, parts[hosts]) for ours, hosts in pairs.items()
    ]


def host_cost(mode: str, *arguments: object, **environment: str) -> Cost:
    """Run the host in one of the modes of ``host_tasks``."""
    return cost_of([sys.executable, "-m", host_tasks.__name__, mode, *arguments], **OFFLINE, **environment)


def document_rows(counts: Sequence[int], host_judged: int) -> list[Row]:
    """One run of the host over all made-up tasks, then the judge client on as many requests as the host judged."""
    with tempfile.TemporaryDirectory() as directory, served(LATENCY) as url:
        folder = Path(directory)
        write_jsonl(folder / "answers.jsonl", stored_answers(CAPABILITY, max(*counts, host_judged)))
        for count in counts:
            write_task(folder, f"ours_{count}", count, our_task())
            write_task(folder, f"no_op_{count}", count, plain_task("no_op"))
        write_task(folder, "judged", host_judged, plain_task("judged"))
        options = ["--model", "datbench_replay", "--model_args", f"responses={folder / 'answers.jsonl'}"]
        options += ["--include_path", directory, "--batch_size", "1", "--process-docs-parallel", str(HOST_THREADS)]
        options += ["--tasks", ",".join(file.stem for file in folder.glob("*.yaml"))]
        times = folder / "times.json"
        cost = host_cost(str(times), *options, HF_HOME=directory, OPENAI_API_URL=url)
        if not times.exists():
            raise RuntimeError(f"the host did not come to an end:\n{cost.output[-2_000:]}")
        totals = json.loads(times.read_text("utf-8"))
        client, _ = client_seconds(url, host_judged, Limits(concurrency=CLIENT_IN_FLIGHT))
    found = []
    for count in counts:
        ours, no_op = (totals[f"{kind}_{count}"]["cpu"] for kind in ("ours", "no_op"))
        found.append(Row("process_results in the host", count, ours, CPU, "a task that does nothing", no_op))
    judged = totals["judged"]["wall"]
    name = f"judging in process_results, {HOST_THREADS} threads"
    return [
        *found,
        Row(name, host_judged, judged, WALL, f"judge client, {CLIENT_IN_FLIGHT} in flight", client),
        Row(name, host_judged, judged, WALL, f"{AIM}, L = {LATENCY} s", host_judged * LATENCY / HOST_THREADS),
    ]


def write_task(folder: Path, name: str, count: int, settings: dict[str, Any]) -> None:
    """A task of the host on made-up rows of its own."""
    data = folder / f"{name}.parquet"
    write_rows(CAPABILITY, count, str(data))
    source = {"task": name, "dataset_path": "parquet", "dataset_kwargs": {"data_files": {"test": str(data)}}}
    text = yaml.safe_dump(source, sort_keys=False) + "".join(f"{key}: {value}\n" for key, value in settings.items())
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


def our_task() -> dict[str, str]:
    """What all our tasks share, as YAML values."""
    metadata = f'{{version: "1.0", capability: {CAPABILITY}, dataset: made up}}'
    return {"include": str(packaged_folder() / "lmms_eval" / "_datbench_base"), "metadata": metadata}


def plain_task(hook: str) -> dict[str, str]:
    """A task that uses our prompts and leaves ``process_results`` to a hook of ``host_tasks``, as YAML values."""
    prompts = {
        f"doc_to_{what}": f"!function datbench_tasks.hooks.doc_to_{what}" for what in ("visual", "text", "target")
    }
    return {
        **prompts,
        "test_split": "test",
        "output_type": "generate_until",
        "process_results": f"!function {host_tasks.__name__}.{hook}",
        "metric_list": "[{metric: score, aggregation: mean, higher_is_better: true}]",
    }
