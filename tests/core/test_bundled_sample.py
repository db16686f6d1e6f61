"""The bundled sample: true schema, every source dataset, and golds that its own scorers accept."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from datasets import Dataset, Features

from datbench import score_sample
from datbench.capabilities import CAPABILITIES, SOURCE_DATASETS_BY_CAPABILITY
from datbench.schema import features
from datbench.verdicts import rewrite_rubric

DATA = Path(__file__).parents[2] / "task_yamls" / "lmms_eval" / "datbench_sample" / "data"

Row = dict[str, Any]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    cache = str(tmp_path_factory.mktemp("cache"))
    return {
        capability: list(Dataset.from_parquet(str(DATA / f"{capability}.parquet"), cache_dir=cache))
        for capability in CAPABILITIES
    }


def all_rows(sample: dict[str, list[Row]]) -> list[Row]:
    return [row for rows in sample.values() for row in rows]


def gold(row: Row) -> str:
    """The reference text itself."""
    return str(row["answer"])


def targets_in_thousandths(row: Row) -> str:
    """The points of a pixmo row as a model would write them; no points: the words that its rule looks for."""
    points = json.loads(row["metadata"])["points_target"]
    return ", ".join(f"({10 * point['x']:.0f}, {10 * point['y']:.0f})" for point in points) or "No such object"


def first_alternatives(row: Row) -> str:
    """One of the alternatives that a field of a reference lists."""
    return json.dumps({key: values[0] for key, values in ast.literal_eval(row["answer"]).items()})


GOLD_IN_OTHER_WORDS: dict[tuple[str, str | None], Callable[[Row], str]] = {
    # The reference is a JSON list of objects, a form that the rule does not read in answers.
    ("pixmo_points_eval", None): targets_in_thousandths,
    # The reference lists the accepted values of each field; an answer gives one.
    ("ocrbench-v2", "key information extraction en"): first_alternatives,
}
"""(dataset, metadata ``type``) -> a perfect answer, where the reference text itself is none."""

UNREACHABLE = {"ai2d": "its rule compares an option's number, and a row's answer is text"}
"""Datasets whose direct rule no answer can meet, and why."""


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_columns_are_those_of_the_schema(capability: str) -> None:
    stored = Features.from_arrow_schema(pq.read_schema(DATA / f"{capability}.parquet"))
    assert stored == features()


def test_the_files_are_what_the_script_draws(tmp_path: Path) -> None:
    """All but the pixels: those may differ with the version of matplotlib or Pillow."""
    command = [sys.executable, "-m", "tools.draw_samples", "--out", str(tmp_path)]
    subprocess.run(command, cwd=DATA.parents[2], check=True, capture_output=True)
    for capability in CAPABILITIES:
        drawn, bundled = (pq.read_table(folder / f"{capability}.parquet") for folder in (tmp_path, DATA))
        assert drawn.drop(["image"]).equals(bundled.drop(["image"])), f"{capability}: run python -m tools.draw_samples"


def test_every_capability_has_its_source_datasets_and_no_others(sample: dict[str, list[Row]]) -> None:
    found = {
        capability: tuple(sorted({row["source_info"]["dataset"] for row in rows}))
        for capability, rows in sample.items()
    }
    assert found == {name: tuple(sorted(datasets)) for name, datasets in SOURCE_DATASETS_BY_CAPABILITY.items()}


def test_sizes(sample: dict[str, list[Row]]) -> None:
    assert min(map(len, sample.values())) >= 8
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 2_000_000
    assert {path.stem for path in DATA.iterdir()} == set(CAPABILITIES)


def test_ids_are_unique_and_name_their_capability(sample: dict[str, list[Row]]) -> None:
    ids = [row["id"] for row in all_rows(sample)]
    assert len(set(ids)) == len(ids)
    for capability, rows in sample.items():
        assert all(row["id"].startswith(f"db_{capability}_") for row in rows)


def test_images_decode_and_some_are_shared(sample: dict[str, list[Row]]) -> None:
    for rows in sample.values():
        pictures = Counter(row["image"].convert("RGB").tobytes() for row in rows)
        assert len(pictures) < len(rows)
        assert all(min(row["image"].size) >= 150 for row in rows)


def test_judge_mode_where_the_benchmark_has_it(sample: dict[str, list[Row]]) -> None:
    judged = {
        capability: Counter(row["source_info"]["dataset"] for row in rows if row["eval_mode"] == "judge")
        for capability, rows in sample.items()
    }
    assert {capability for capability, datasets in judged.items() if datasets} == {"chart", "general", "math", "table"}
    assert judged["table"]["ai2d"] >= 2
    assert all(
        row["eval_mode"] == "judge" for row in sample["math"] if row["source_info"]["dataset"].startswith("mathverse")
    )


def test_rubrics_come_in_both_published_shapes(sample: dict[str, list[Row]]) -> None:
    for row in all_rows(sample):
        assert bool(row["judge_prompt"]) == (row["eval_mode"] == "judge"), row["id"]
    rubrics = {row["judge_prompt"] for row in all_rows(sample) if row["judge_prompt"]}
    two_lines = {rubric for rubric in rubrics if rewrite_rubric(rubric) != rubric}
    filled = {rubric for rubric in rubrics if "{question}" in rubric}
    assert two_lines
    assert filled
    assert two_lines | filled == rubrics
    assert not two_lines & filled
    assert all(mark in rubric for rubric in filled for mark in ("{correct_answer}", "{model_answer}"))


def test_circular_rows_rotate_the_options_of_one_item(sample: dict[str, list[Row]]) -> None:
    groups: dict[str, list[Row]] = {}
    for row in all_rows(sample):
        if row["is_circular"]:
            groups.setdefault(row["source_info"]["original_idx"], []).append(row)
    assert groups
    for rows in groups.values():
        options = [json.loads(row["metadata"])["options"] for row in rows]
        letters = [json.loads(row["metadata"])["index2ans"] for row in rows]
        assert len({row["question"] for row in rows}) == 1
        assert options == [options[0][turn:] + options[0][:turn] for turn in range(len(options[0]))]
        assert len({names[row["answer"]] for names, row in zip(letters, rows, strict=True)}) == 1


def test_every_gold_is_right_by_its_own_rule(sample: dict[str, list[Row]]) -> None:
    wrong = {}
    for row in all_rows(sample):
        dataset = row["source_info"]["dataset"]
        if row["eval_mode"] == "judge" or dataset in UNREACHABLE:
            continue
        answer = GOLD_IN_OTHER_WORDS.get((dataset, json.loads(row["metadata"]).get("type")), gold)(row)
        score = score_sample(row, answer)["score"]
        if abs(score - 1) > 1e-4:  # field F1 and METEOR reach 1 only nearly
            wrong[row["id"]] = (dataset, answer, score)
    assert wrong == {}


def test_no_wrong_option_is_right(sample: dict[str, list[Row]]) -> None:
    lettered = [
        row for row in all_rows(sample) if row["answer"] in tuple("ABCDEFGHIJ") and row["eval_mode"] == "direct"
    ]
    assert len(lettered) > 20
    for row in lettered:
        other = "B" if row["answer"] == "A" else "A"
        assert score_sample(row, other)["score"] == 0.0, row["id"]


@pytest.mark.parametrize("dataset", sorted(UNREACHABLE))
def test_unreachable_rules_stay_so(sample: dict[str, list[Row]], dataset: str) -> None:
    rows = [
        row for row in all_rows(sample) if row["source_info"]["dataset"] == dataset and row["eval_mode"] == "direct"
    ]
    assert rows
    for row in rows:
        assert {score_sample(row, answer)["score"] for answer in (row["answer"], *"ABCD")} == {0.0}
