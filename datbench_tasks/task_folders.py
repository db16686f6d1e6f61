"""Where the task YAMLs lie: packaged ones, and generated ones that read local data or a pinned revision."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import yaml

from datbench.capabilities import CAPABILITIES
from datbench.jsonio import write_text
from datbench.version import __version__

DATA_VARIABLE = "DATBENCH_DATA"
REVISION_VARIABLE = "DATBENCH_REVISION"

HUB_TASKS = {"datbench": "DatBench", "datbench_blind": "DatBench", "datbench_full": "DatBench-Full"}
"""Task prefix (and folder of its YAMLs) -> name of the dataset's folder below DATBENCH_DATA."""


def packaged_folder() -> Path:
    """The folder of task YAMLs that ships with the package (beside it in a source checkout)."""
    here = Path(__file__).resolve().parent
    for folder in (here / "task_yamls", here.parent / "task_yamls"):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"task_yamls is missing beside {here}; reinstall datbench-tasks")


def lmms_eval_folders() -> list[Path]:
    """Folders for lmms-eval's include path, in order: of two tasks with one name the host takes the first."""
    packaged = packaged_folder() / "lmms_eval"
    data, revision = os.environ.get(DATA_VARIABLE), os.environ.get(REVISION_VARIABLE)
    return [generated_folder(packaged, data, revision), packaged] if data or revision else [packaged]


def lm_eval_folder() -> Path:
    """Folder for lm-evaluation-harness's include path."""
    return packaged_folder() / "lm_eval"


def generated_folder(packaged: Path, data: str | None, revision: str | None) -> Path:
    """Write the hub tasks anew, reading ``data`` (a folder) or the hub at ``revision``; returns their folder.

    The folder is named by what is in it, so runs that start at once write the same files.
    """
    texts = {
        f"{task}_{capability}.yaml": yaml.safe_dump(
            {
                "include": str(packaged / task / f"{task}_{capability}.yaml"),
                "task": f"{task}_{capability}",
                **(_local_source(Path(data), task, capability) if data else {"dataset_kwargs": {"revision": revision}}),
            },
            sort_keys=False,
        )
        for task in HUB_TASKS
        for capability in CAPABILITIES
    }
    for task in HUB_TASKS:
        texts[f"{task}.yaml"] = yaml.safe_dump({"include": str(packaged / task / f"{task}.yaml"), "group": task})
    digest = hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()[:16]
    folder = _cache() / f"tasks-{__version__}-{digest}"
    for name, text in texts.items():
        target = folder / name
        if not target.is_file() or target.read_text("utf-8") != text:
            write_text(target, text)
    return folder


def _local_source(data: Path, task: str, capability: str) -> dict[str, Any]:
    folder = data.expanduser().resolve() / HUB_TASKS[task] / capability
    if (folder / "dataset_dict.json").is_file():
        return {"dataset_path": str(folder), "dataset_name": None, "dataset_kwargs": {"load_from_disk": True}}
    files = sorted(str(file) for file in folder.glob("test-*.parquet"))
    if files:
        return {"dataset_path": "parquet", "dataset_name": None, "dataset_kwargs": {"data_files": {"test": files}}}
    # Nothing is there: the host's error will name the folder, and it never turns to the hub.
    return {"dataset_path": str(folder), "dataset_name": None, "dataset_kwargs": {}}


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "datbench-tasks"
