"""Write ``<capability>.parquet`` of the bundled sample, beside its YAMLs."""

from __future__ import annotations

import argparse
import importlib
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from datbench.capabilities import CAPABILITIES
from datbench.schema import features
from tools.draw_samples.items import rows

DATA = Path(__file__).parents[2] / "task_yamls" / "lmms_eval" / "datbench_sample" / "data"


def main() -> None:
    """Draw every capability's rows; each has a module of its own here."""
    parser = argparse.ArgumentParser(prog="python -m tools.draw_samples", description=__doc__)
    parser.add_argument("--out", type=Path, default=DATA, help="where the parquet files go")
    parser.add_argument("--png", type=Path, help="also write the pictures here, to look at")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    schema = features()
    for capability in CAPABILITIES:
        items = importlib.import_module(f"tools.draw_samples.{capability}").items()
        drawn = rows(capability, items)
        table = pa.Table.from_pylist([schema.encode_example(row) for row in drawn], schema=schema.arrow_schema)
        pq.write_table(table, arguments.out / f"{capability}.parquet")
        if arguments.png:
            arguments.png.mkdir(parents=True, exist_ok=True)
            for row in drawn:
                Image.open(io.BytesIO(row["image"]["bytes"])).save(arguments.png / f"{row['id']}.png")
        print(f"{capability}: {len(drawn)} rows")


if __name__ == "__main__":
    main()
