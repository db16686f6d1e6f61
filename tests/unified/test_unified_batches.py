"""make_batch_scorer: columns in, columns out, the same as the operator row by row."""

from __future__ import annotations

import math
from typing import Any

import pytest
from support.unified_vectors import cases, decode

from datbench.unified import make_batch_scorer
from datbench.unified.rows import ROW_SCORERS
from datbench.unified.rules import PARITY

KEYS = {"input_choices_key": "choices", "input_label_key": "label", "input_labels_key": "labels"}


@pytest.mark.parametrize(("eval_type", "label"), [("key3_q_choices_a", "label"), ("key3_q_choices_as", "labels")])
def test_batches_give_what_rows_give(eval_type: str, label: str) -> None:
    rows = []
    for case in cases(eval_type):
        cells = decode(case["row"])
        names = {role: case["keys"].get(f"input_{role}_key", "generated_ans") for role in ("choices", label, "pred")}
        rows.append({role: cells.get(name) for role, name in names.items()})
    batch = {
        "choices": [row["choices"] for row in rows],
        label: [row[label] for row in rows],
        "generated_ans": [row["pred"] for row in rows],
    }
    found = make_batch_scorer(eval_type=eval_type, keys=KEYS)(batch)
    assert list(found) == ["choices", label, "generated_ans", "eval_valid", "eval_error", "eval_pred", "eval_score"]
    one_by_one = [ROW_SCORERS[eval_type](row, PARITY, lambda *_: None) for row in rows]
    assert found["eval_pred"] == [outcome.pred for outcome in one_by_one]
    assert found["eval_error"] == [outcome.error for outcome in one_by_one]
    for score, outcome in zip(found["eval_score"], one_by_one, strict=True):
        assert score == outcome.score or (math.isnan(score) and math.isnan(outcome.score))


def test_strict_batches_take_the_base_that_is_given() -> None:
    batch = {"choices": [["a", "b"]], "label": [2], "generated_ans": ["2"]}
    scorer = make_batch_scorer(eval_type="key3_q_choices_a", keys=KEYS, strict=True, label_base=1)
    assert scorer(batch)["eval_pred"] == [1]


def test_an_empty_batch_keeps_its_columns() -> None:
    scorer = make_batch_scorer(eval_type="key3_q_choices_a", keys=KEYS)
    found = scorer({"choices": [], "label": [], "generated_ans": []})
    assert set(map(len, found.values())) == {0}
    assert len(found) == 7


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"eval_type": "key1_text_score", "keys": {}}, "by rules alone"),
        ({"eval_type": "key3_q_choices_a", "keys": {}}, "input_choices_key, input_label_key"),
        ({"eval_type": "key3_q_choices_a", "keys": KEYS, "strict": True}, "label_base"),
        ({"eval_type": "key3_q_choices_a", "keys": KEYS, "strict": True, "label_base": 2}, "label_base is 2"),
        (
            {"eval_type": "key2_qa", "keys": {"input_target_key": "a"}, "metric_type": "semantic_judge"},
            "by rules alone",
        ),
    ],
)
def test_what_cannot_be_made_says_why(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        make_batch_scorer(**options)
