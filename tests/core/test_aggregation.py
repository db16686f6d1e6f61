"""The numbers of the host's table, and our own copy of the records."""

import argparse
import json
import math
import re

import pytest

from datbench_tasks.aggregation import accuracy, graded_share
from datbench_tasks.masking import public_arguments


def record(doc_id, sample_id, **fields):
    return {"schema": 1, "id": sample_id, "doc_id": doc_id, "run": {"task": "datbench_math"}, **fields}


@pytest.mark.parametrize(
    ("scores", "mean"), [([1.0, None, 0.0], 0.5), ([None], math.nan), ([], math.nan), ([0.1] * 10, 0.1)]
)
def test_accuracy_leaves_pending_samples_out(scores, mean):
    assert accuracy(scores) == pytest.approx(mean, nan_ok=True)


def test_graded_share():
    assert graded_share([record(0, "a", score=0.0), record(1, "b")]) == 0.5


def test_the_copy_is_sorted_safe_for_lone_surrogates_and_without_secrets(tmp_path):
    args = argparse.Namespace(output_path=str(tmp_path / "o"), model_args="model=m,api_key=sk-1", timezone="UTC")
    records = [record(2, "a", output="\ud835"), record(0, "c", score=1.0), record(1, "b")]
    assert graded_share(records, args=args) == pytest.approx(1 / 3)
    (copy,) = (tmp_path / "o" / "datbench_records").iterdir()
    assert copy.name.startswith("datbench_math_2")
    header, *lines = map(json.loads, copy.read_text("utf-8").splitlines())
    assert header["arguments"]["model_args"] == "model=m,api_key=***"
    assert [line["id"] for line in lines] == ["c", "b", "a"]
    assert lines[2]["output"] == "\ud835"


def test_a_copy_that_cannot_be_written_costs_no_number(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert graded_share([record(0, "a", score=1.0)], args=argparse.Namespace(output_path=str(blocked))) == 1.0


def test_secrets_are_masked_wherever_they_stand():
    shown = public_arguments(
        {
            "model_args": "base_url=u,api_key=k1,x=1",
            "hf_hub_log_args": {"token": "k2", "org": "o"},
            "wandb_args": "project=p,WANDB_API_KEY=k3",
            "gen_kwargs": "max_new_tokens=5",
            "none": None,
            "list": ["password=k4"],
            "extra": 'headers={"Authorization": "Bearer k5,k5", "x-api-key":"k6", "n": 1},timeout=9',
            "quoted": "body={'access_token': 'k7'},accessToken=k8",
            "url": "base_url=https://me:k9@host:8000/v1,max_tokens=3",
        }
    )
    text = json.dumps(shown)
    assert not re.search(r"k\d", text), text
    assert shown["extra"] == 'headers={"Authorization": ***, "x-api-key":***, "n": 1},timeout=9'
    assert shown["url"] == "base_url=https://***@host:8000/v1,max_tokens=3"
    assert shown["gen_kwargs"] == "max_new_tokens=5" and "base_url=u" in shown["model_args"]
