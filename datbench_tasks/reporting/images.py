"""Images of samples, from the dataset where it is at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from datbench_tasks.reporting.completeness import DatasetSource, load_dataset
from datbench_tasks.reporting.gathering import dataset_config

if TYPE_CHECKING:
    from PIL import Image

    from datbench_tasks.reporting.report import Report


def image_source(report: Report, source: DatasetSource) -> Callable[[str], Image.Image | None] | None:
    """A function from sample id to image; None if no dataset of the run is at hand."""
    places: dict[str, tuple[Any, int]] = {}
    for part in report.parts:
        run = report.runs.get(part.task_run.capability, {})
        dataset = load_dataset(dataset_config(part.task_run, run), source)
        if dataset is not None and "image" in dataset.column_names:
            images = dataset.select_columns(["image"])
            ids = dataset.data.column("id").to_pylist()
            places |= {row_id: (images, position) for position, row_id in enumerate(ids)}

    def image(sample_id: str) -> Image.Image | None:
        dataset, position = places.get(sample_id, (None, 0))
        try:
            return None if dataset is None else dataset[position]["image"]
        except (OSError, ValueError, SyntaxError):  # an undecodable image is shown as none
            return None

    return image if places else None
