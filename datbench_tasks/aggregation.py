"""From the records of a task to the numbers in the host's table, and to our own copy of the records."""

from __future__ import annotations

import datetime
import logging
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from datbench.jsonio import write_jsonl
from datbench_tasks.masking import public_arguments
from datbench_tasks.records import SCHEMA
from datbench_tasks.sample_logs import COPIES_FOLDER

log = logging.getLogger(__name__)


def accuracy(scores: Sequence[float | None]) -> float:
    """Mean score over graded samples (None is a pending verdict and left out); NaN if none is graded."""
    graded = [score for score in scores if score is not None]
    return math.fsum(graded) / len(graded) if graded else math.nan


def graded_share(records: Sequence[dict[str, Any]], args: Any = None) -> float:
    """Share of samples that have a score, in [0, 1]; below 1.0 the judge pass is still to come.

    Also writes ``<output_path>/datbench_records/<task>_<date>_<pid>.jsonl`` when the host says where its output goes:
    the host does not log samples unless asked, and loses lines that hold a lone surrogate.
    """
    output_path = getattr(args, "output_path", None)
    if output_path and records:
        try:
            _write_copy(Path(output_path), records, args)
        except Exception as fault:
            log.warning("could not write our copy of the records below %s: %s", output_path, fault)
    return sum("score" in record for record in records) / len(records) if records else math.nan


def _write_copy(output_path: Path, records: Sequence[dict[str, Any]], args: Any) -> None:
    ordered = sorted(records, key=lambda record: (record["doc_id"] is None, record["doc_id"] or 0, str(record["id"])))
    run: dict[str, Any] = next((record["run"] for record in ordered if record["run"]), {})
    task = run.get("task", "datbench")
    header = {"schema": SCHEMA, "task": task, "run": run, "arguments": public_arguments(vars(args))}
    name = f"{task}_{_host_date(args)}_{os.getpid()}.jsonl"
    write_jsonl(output_path / COPIES_FOLDER / name, [header, *ordered])


def _host_date(args: Any) -> str:
    """The time as the host writes it into its file names."""
    zone = ZoneInfo(getattr(args, "timezone", None) or "Asia/Singapore")
    return datetime.datetime.now(zone).strftime("%Y%m%d_%H%M%S")
