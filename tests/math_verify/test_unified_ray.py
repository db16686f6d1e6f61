"""The batch scorer, on Ray Data and in one process."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pytest
import ray

from datbench.unified import make_batch_scorer

COLUMNS: dict[str, list[Any]] = {
    "answer": ["4", "Paris", "$\\frac{1}{2}$", None, "1,250", "blue"] * 40,
    "generated_ans": ["2 + 2 = 4", "It is Rome", "\\boxed{0.5}", "x", "It costs 1250 dollars", None] * 40,
}
KEYS = {"input_target_key": "answer"}


@pytest.fixture(scope="module")
def cluster() -> Any:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


def test_ray_gives_what_one_process_gives(cluster: Any) -> None:
    scorer = make_batch_scorer(eval_type="key2_qa", keys=KEYS)

    def score(table: pa.Table) -> pa.Table:
        return pa.table(scorer(table.to_pydict()))

    numbered = pa.table({"row": list(range(240)), **COLUMNS})
    data = ray.data.from_arrow(numbered).repartition(7)
    rows = data.map_batches(score, batch_format="pyarrow", batch_size=16).sort("row").take_all()
    alone = scorer(COLUMNS)
    for name in ("eval_valid", "eval_error", "eval_pred"):
        assert [row[name] for row in rows] == alone[name]
    assert [row["eval_score"] for row in rows if row["eval_valid"]] == [
        value for value, valid in zip(alone["eval_score"], alone["eval_valid"], strict=True) if valid
    ]
    assert alone["eval_score"][:3] == [1.0, 0.0, 1.0]


def test_a_scorer_is_plain_data() -> None:
    scorer = make_batch_scorer(eval_type="key2_qa", keys=KEYS, strict=True)
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    assert scorer({"answer": ["4"], "generated_ans": ["4"]})["eval_pred"] == ["4"]
