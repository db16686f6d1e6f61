"""Which samples a run should hold, read from the dataset without decoding an image, and what keeps it from complete."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

DatasetSource = Literal["cached", "hub", "none"]

_EDGE = 4096
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Problem:
    """One thing that keeps a run from being complete.

    Attributes:
        kind: pending, unparsed, missing, unknown, duplicated or partial.
        capability: where.
        count: how many samples (0 for partial).
        ids: the first of them.
        text: the same for a person.
    """

    kind: str
    capability: str
    count: int
    ids: tuple[str, ...]
    text: str


def problem(kind: str, capability: str, ids: list[str], what: str) -> Problem:
    """A problem with some samples; the text counts them and shows the first three."""
    shown = ", ".join(ids[:3]) + (", ..." if len(ids) > 3 else "")
    count = f"{len(ids):,} sample{'s' if len(ids) > 1 else ''}"
    return Problem(kind, capability, len(ids), tuple(ids), f"{capability}: {count} {what} ({shown})")


def expected_rows(task_config: Mapping[str, Any], source: DatasetSource) -> dict[str, str] | None:
    """Ids of the task's dataset with a hash of each image, None if the dataset is not at hand.

    Args:
        task_config: the host's config of the task: dataset_path, dataset_name, dataset_kwargs, test_split.
        source: "cached" reads local files only, "hub" may download, "none" does not look.
    """
    dataset = load_dataset(task_config, source)
    if dataset is None or "id" not in dataset.column_names:
        return None
    return dict(zip(dataset.data.column("id").to_pylist(), _image_hashes(dataset), strict=True))


def load_dataset(task_config: Mapping[str, Any], source: DatasetSource) -> Any:
    """The split that a task read, as a ``datasets.Dataset``; None if it is not at hand (see ``expected_rows``).

    A commit that the config names is that commit or none: without the hub, ``datasets`` takes the newest in its cache.
    """
    if source == "none" or not task_config.get("dataset_path"):
        return None
    try:
        with _offline() if source == "cached" else nullcontext():
            dataset = _load(task_config)
    except Exception:  # whatever the dataset library raises, the answer is: not at hand
        return None
    revision = (task_config.get("dataset_kwargs") or {}).get("revision")
    return dataset if not is_commit(revision) or _is_of(dataset, revision) else None


def is_commit(revision: object) -> TypeGuard[str]:
    """Whether a revision is a commit of the hub, which cannot move."""
    return isinstance(revision, str) and _COMMIT.fullmatch(revision) is not None


def _is_of(dataset: Any, commit: str) -> bool:
    """Whether a dataset was read from a commit: its download records name it, or its cache folder does."""
    places = [*(dataset.info.download_checksums or {}), *(entry["filename"] for entry in dataset.cache_files)]
    return any(commit in place for place in places)


@contextmanager
def _offline() -> Iterator[None]:
    """Both libraries in their offline mode, which they otherwise take from the environment once, when imported."""
    import datasets
    import huggingface_hub.constants

    before = datasets.config.HF_HUB_OFFLINE, huggingface_hub.constants.HF_HUB_OFFLINE
    datasets.config.HF_HUB_OFFLINE = huggingface_hub.constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        datasets.config.HF_HUB_OFFLINE, huggingface_hub.constants.HF_HUB_OFFLINE = before


def _load(task_config: Mapping[str, Any]) -> Any:
    import datasets

    kwargs = {key: value for key, value in (task_config.get("dataset_kwargs") or {}).items() if key != "token"}
    path, split = task_config["dataset_path"], task_config.get("test_split") or "test"
    datasets.disable_progress_bars()
    if kwargs.pop("load_from_disk", False):
        loaded = datasets.load_from_disk(path)
        return loaded[split] if isinstance(loaded, datasets.DatasetDict) else loaded
    return datasets.load_dataset(path, task_config.get("dataset_name"), split=split, **kwargs)


def _image_hashes(dataset: Any) -> Iterator[str]:
    """A hash a row of the encoded image: its length, head, middle and tail, so that little is read; "" without one."""
    if "image" not in dataset.column_names:
        yield from ("" for _ in range(len(dataset)))
        return
    for chunk in dataset.data.column("image").chunks:
        encoded, paths = chunk.field("bytes"), chunk.field("path")
        for position in range(len(chunk)):
            buffer = encoded[position].as_buffer()
            if buffer is None:
                path = paths[position].as_py()
                yield hashlib.sha256(path.encode()).hexdigest() if path else ""
                continue
            content = memoryview(buffer)
            middle = len(content) // 2
            digest = hashlib.sha256(str(len(content)).encode())
            for start in (0, middle, max(0, len(content) - _EDGE)):
                digest.update(content[start : start + _EDGE])
            yield digest.hexdigest()
