"""Building an evaluator over images, and scoring stored answers of a large run again, from files to files."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from support.synthetic_run import TEMPLATES, rows

from benchmarks.measure import (
    CPU,
    MEMORY,
    WALL,
    Row,
    Sizes,
    cpu_seconds,
    in_child,
    read_as_json,
    wall_seconds,
)
from datbench import CAPABILITIES
from datbench.jsonio import write_jsonl
from datbench_tasks.cli import main

SIDE = 1_000
DISTINCT_IMAGES = 8
DETAIL = 250
"""Pixels a side of the noise that the images are enlarged from: they compress as photographs do."""


def run(sizes: Sizes) -> list[Row]:
    """Construction, then re-scoring."""
    with tempfile.TemporaryDirectory() as folder:
        built = construction_rows(Path(folder), sizes.steps(sizes.images))
    return built + [row for samples in sizes.steps(sizes.rescored) for row in rescoring_rows(samples)]


def construction_rows(folder: Path, counts: Sequence[int]) -> list[Row]:
    """Time, memory and decoded images of ``DatBenchEvaluator(dataset)``, against reading the columns without images."""
    data = str(folder / "images.parquet")
    cache = {"HF_HOME": str(folder)}
    in_child(write_images, data, max(counts))
    in_child(build, data, 1, False, **cache)  # fills the cache of `datasets`
    found = []
    for count in counts:
        (seconds, decoded), cost = in_child(build, data, count, True, **cache)
        (reading, _), bare = in_child(build, data, count, False, **cache)
        found += [
            Row("build evaluator", count, seconds, CPU, "reading the rows without images", reading),
            Row("build evaluator, memory", count, cost.peak, MEMORY, "reading the rows without images", bare.peak),
            Row("build evaluator, images decoded", count, decoded, "images", "none", 0),
        ]
    return found


def write_images(path: str, count: int) -> None:
    """A parquet file of rows, each with a JPEG image of one megapixel."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from datasets import Features, Image
    from PIL import Image as Pil

    noise = np.random.default_rng(0)
    encoded = []
    for _ in range(DISTINCT_IMAGES):
        image = Pil.fromarray(noise.integers(0, 256, (DETAIL, DETAIL, 3), np.uint8)).resize((SIDE, SIDE))
        image.save(buffer := io.BytesIO(), "JPEG", quality=85)
        encoded.append(buffer.getvalue())
    texts = pa.Table.from_pylist(list(rows("general", count)))
    images = [{"bytes": encoded[number % DISTINCT_IMAGES], "path": None} for number in range(count)]
    table = texts.append_column("image", pa.array(images, Image().pa_type))
    features = Features({**Features.from_arrow_schema(texts.schema), "image": Image()})
    pq.write_table(table.cast(features.arrow_schema), path, row_group_size=100)


def build(data: str, count: int, evaluator: bool) -> tuple[float, int]:
    """Processor seconds and decoded images of one construction over the first rows, or of reading them only."""
    from PIL import ImageFile

    from datbench import DatBenchEvaluator
    from datbench_tasks.dataset_source import load_capability

    decoded = 0
    load = ImageFile.ImageFile.load

    def counted(self: Any) -> Any:
        nonlocal decoded
        decoded += 1
        return load(self)

    ImageFile.ImageFile.load = counted
    dataset = load_capability("general", data).select(range(count))
    texts = dataset.remove_columns(["image"])
    work: Callable[[], Any] = (lambda: DatBenchEvaluator(dataset, "general")) if evaluator else (lambda: list(texts))
    return cpu_seconds(work), decoded


def rescoring_rows(samples: int) -> list[Row]:
    """``datbench-tasks score`` of all capabilities in turn: read rows and answers, score, aggregate, write reports."""
    each = max(1, samples // len(CAPABILITIES))
    with tempfile.TemporaryDirectory() as directory:
        in_child(write_run, directory, each)
        _, cost = in_child(score_run, directory, HF_HOME=directory)
        files = [file for file in Path(directory).iterdir() if file.suffix in (".json", ".jsonl")]
        reading = wall_seconds(lambda: read_as_json(files))
        largest = max(file.stat().st_size for file in files) / 2**20
    total = each * len(CAPABILITIES)
    return [
        Row("score a run again", total, cost.wall, WALL, "reading answers and reports as JSON", reading),
        Row("score a run again, memory", total, cost.peak, MEMORY, "largest of the nine reports", largest),
    ]


def write_run(directory: str, each: int) -> None:
    """Rows and answers of all capabilities."""
    for capability in CAPABILITIES:
        write_rows(capability, each, f"{directory}/{capability}.parquet")
        write_jsonl(f"{directory}/{capability}.jsonl", stored_answers(capability, each))


def score_run(directory: str) -> None:
    """Run the command for each capability, in one process."""
    for capability in CAPABILITIES:
        place = f"{directory}/{capability}"
        options = ("--capability", capability, "--data", f"{place}.parquet", "--out", f"{place}.json")
        main(["score", f"{place}.jsonl", *options, "--allow-partial"])


def write_rows(capability: str, count: int, path: str) -> None:
    """A parquet file of rows without images."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(list(rows(capability, count))), path)


def stored_answers(capability: str, count: int) -> Iterator[dict[str, str]]:
    """Outputs for the rows; two in three are right."""
    templates = TEMPLATES[capability]
    for number, row in enumerate(rows(capability, count)):
        *_, right, wrong, _ = templates[number % len(templates)]
        yield {"id": row["id"], "raw_output": wrong if number // len(templates) % 3 == 0 else right}
