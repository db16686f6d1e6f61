"""Rows of one capability: from the hub, from a folder in the hub's layout, or from the bundled sample."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from datbench_tasks.errors import InputError, RefusedError
from datbench_tasks.task_folders import DATA_VARIABLE, REVISION_VARIABLE, packaged_folder

HUB_DATASETS = {"DatBench": "DatologyAI/DatBench", "DatBench-Full": "DatologyAI/DatBench-Full"}
"""Folder name below DATBENCH_DATA -> dataset on the hub."""

SAMPLE = "sample"
"""Stands for the bundled sample where a path to data is asked for."""


def sample_file(capability: str) -> Path:
    """The bundled sample of a capability."""
    return packaged_folder() / "lmms_eval" / "datbench_sample" / "data" / f"{capability}.parquet"


def load_capability(capability: str, data: str | None = None, *, full: bool = False) -> Any:
    """The rows of one capability as a ``datasets.Dataset`` (images undecoded).

    Args:
        capability: one of ``datbench.CAPABILITIES``.
        data: "sample"; a parquet file; a folder with ``test-*.parquet`` or written by ``save_to_disk``; or a folder in
            the hub's layout (``DatBench/<capability>/...``). None: the folder that DATBENCH_DATA names, else the hub
            at the revision that DATBENCH_REVISION names (default main).
        full: DatBench-Full instead of DatBench, for the hub and its layout.

    Raises:
        InputError: the data is not there or is no dataset.
        RefusedError: the hub cannot be reached or has no such revision.
    """
    name = "DatBench-Full" if full else "DatBench"
    place = data or os.environ.get(DATA_VARIABLE)
    if not place:
        return _from_hub(HUB_DATASETS[name], capability, os.environ.get(REVISION_VARIABLE) or "main")
    if place == SAMPLE:
        return _from_parquet([sample_file(capability)])
    folder = Path(place).expanduser()
    if folder.is_file():
        return _from_parquet([folder])
    for candidate in (folder / name / capability, folder / capability, folder):
        if (candidate / "dataset_dict.json").is_file() or (candidate / "dataset_info.json").is_file():
            return _from_disk(candidate)
        if files := sorted(candidate.glob("test-*.parquet")):
            return _from_parquet(files)
    raise InputError(
        f"no data of {capability} in {place}: expected {name}/{capability}/test-*.parquet, a folder written by "
        "save_to_disk, or a parquet file"
    )


def _from_parquet(files: list[Path]) -> Any:
    from datasets import Dataset

    try:
        return Dataset.from_parquet([str(file) for file in files])
    except Exception as fault:
        raise InputError(f"{files[0]} cannot be read as parquet: {fault}; download it again") from fault


def _from_disk(folder: Path) -> Any:
    from datasets import load_from_disk

    try:
        loaded = load_from_disk(str(folder))
    except Exception as fault:
        raise InputError(f"{folder} cannot be read: {fault}; write it again with save_to_disk") from fault
    if not isinstance(loaded, dict):
        return loaded
    if "test" not in loaded:
        raise InputError(f"{folder} holds the splits {', '.join(loaded)}, but no split test")
    return loaded["test"]


def _from_hub(path: str, capability: str, revision: str) -> Any:
    from datasets import load_dataset

    try:
        return load_dataset(path, capability, split="test", revision=revision)
    except Exception as fault:
        raise RefusedError(
            f"{path} ({capability}, revision {revision}) cannot be loaded: {fault}. Check the network and "
            f"{REVISION_VARIABLE}, or point {DATA_VARIABLE} to a local copy"
        ) from fault
