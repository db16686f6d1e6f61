"""What a loaded task knows about itself, and the columns by which each document finds it again.

The host hands ``process_results`` a document and nothing else. So when a task loads, two columns are added to its
rows: the task's name and the row's number.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import sys
import weakref
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from types import FrameType
from typing import Any

from datbench.version import REFERENCE, SCORER_VERSION
from datbench_tasks.reasoning import RULE

TASK_COLUMN = "datbench_task"
ROW_COLUMN = "datbench_row"

ONLY = "only_ids"
"""Key of a task's metadata: a JSON file with the ids of the rows to ask for; all rows without it."""

_COMMIT = re.compile(r"[@/\\]([0-9a-f]{40})[/\\]")
_HOSTS = {"lmms_eval": "lmms-eval", "lm_eval": "lm-eval"}

log = logging.getLogger(__name__)


class LoadedTask:
    """One task of the running host: its settings are read when needed, since the host changes them after loading.

    Raises:
        ValueError: the task's metadata does not say what it is.
    """

    def __init__(self, host_task: Any, dataset: Any) -> None:
        self._task = weakref.ref(host_task)
        config = host_task.config
        declared = config.metadata or {}
        lacking = [key for key in ("capability", "dataset") if key not in declared]
        if lacking:
            raise ValueError(
                f"{config.task}: its metadata lacks {', '.join(lacking)}; a YAML that includes one of ours and sets "
                "metadata has to repeat them"
            )
        kwargs = config.dataset_kwargs or {}
        on_hub = config.dataset_path.count("/") == 1 and not kwargs.get("load_from_disk")
        self.name: str = config.task
        self.capability: str = declared["capability"]
        self.host: str = type(host_task).__module__.partition(".")[0]
        self.run: dict[str, Any] = {
            "task": config.task,
            "dataset": declared["dataset"],
            "revision": kwargs.get("revision") if on_hub else None,
            "revision_resolved": (_commit(dataset) if on_hub else None) or _content_hash(dataset),
            "split": config.test_split,
            "scorer_version": SCORER_VERSION,
            "scorers_of": REFERENCE,
            "host": f"{_HOSTS.get(self.host, self.host)} {_version_of(self.host)}",
            "reasoning": RULE,
        }

    @property
    def prompt_kwargs(self) -> dict[str, Any]:
        """The host's pre_prompt and post_prompt for the model that runs."""
        return getattr(self._task(), "lmms_eval_specific_kwargs", None) or {}

    def run_fields(self) -> dict[str, Any]:
        """What is the same for all samples of this task in this run."""
        task = self._task()
        settings = (task.config.generation_kwargs if task is not None else None) or {}
        limit = settings.get("max_new_tokens", settings.get("max_gen_toks"))
        return {**self.run, "model": _name_of(getattr(task, "model_name", None)), "max_new_tokens": limit}


_loaded: dict[str, LoadedTask] = {}


def loaded_task(doc: Mapping[str, Any]) -> LoadedTask:
    """The task that a document belongs to.

    Raises:
        KeyError: the document did not come through ``mark_rows``.
    """
    return _loaded[doc[TASK_COLUMN]]


def mark_rows(dataset: Any) -> Any:
    """Add the two columns to a split that a host task is loading, and remember the task.

    Raises:
        RuntimeError: not called by a host's task.
        ValueError: see ``LoadedTask``.
    """
    host_task = _calling_task()
    if host_task is None:
        raise RuntimeError("this host does not process documents from its task object; see datbench-tasks doctor")
    task = LoadedTask(host_task, dataset)
    _loaded[task.name] = task
    if TASK_COLUMN not in dataset.column_names:
        dataset = dataset.add_column(TASK_COLUMN, [task.name] * len(dataset))
        dataset = dataset.add_column(ROW_COLUMN, list(range(len(dataset))))
    file = (host_task.config.metadata or {}).get(ONLY)
    if file is None:
        return dataset
    wanted = set(json.loads(Path(file).read_text("utf-8")))
    return dataset.select([row for row, sample_id in enumerate(dataset["id"]) if sample_id in wanted])


def _calling_task() -> Any:
    """The task object up the stack: hosts call ``process_docs`` with the rows only, and tell the hook nothing else."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        candidate = frame.f_locals.get("self")
        if hasattr(candidate, "config") and hasattr(candidate, "process_results"):
            return candidate
        frame = frame.f_back
    return None


def _name_of(model: Any) -> str:
    """The name that ``--model`` takes; from Python the host may know the model only, whose module is called so."""
    if model is None or isinstance(model, str):
        return model or ""
    return type(model).__module__.rpartition(".")[2]


def _commit(dataset: Any) -> str | None:
    """The hub commit that the split was read from: its download records name it, else its cache folder does."""
    places = [*(dataset.info.download_checksums or {}), *(entry["filename"] for entry in dataset.cache_files)]
    found = [match[1] for match in map(_COMMIT.search, places) if match]
    return found[0] if found else None


def _content_hash(dataset: Any) -> str:
    """A hash of the rows' texts, for data that did not come from the hub with a commit."""
    digest = hashlib.sha256()
    columns = [name for name in ("id", "question", "answer", "metadata") if name in dataset.column_names]
    for row in dataset.select_columns(columns):
        digest.update(json.dumps(row, sort_keys=True, default=str).encode())
    return f"content:{digest.hexdigest()[:16]}"


def _version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"
