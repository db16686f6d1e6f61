"""Completeness against the dataset's own ids, and clusters from its images."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from datasets import Dataset
from PIL import Image
from support.synthetic_run import make_run, rows

from datbench.jsonio import write_json
from datbench.schema import features
from datbench_tasks.cli import main
from datbench_tasks.reporting import load_report
from datbench_tasks.reporting.completeness import expected_rows
from datbench_tasks.reporting.images import image_source


def write_dataset(folder: Path, count: int, rows_an_image: int = 3) -> dict:
    """A parquet file of rows with images, and the host's config that reads it."""
    content = [
        {**row, "image": Image.new("RGB", (8, 8), (20 * (number // rows_an_image), 0, 0))}
        for number, row in enumerate(rows("counting", count))
    ]
    file = folder / "test.parquet"
    Dataset.from_list(content, features=features()).to_parquet(file)
    return {
        "dataset_path": "parquet",
        "dataset_name": None,
        "dataset_kwargs": {"data_files": {"test": str(file)}},
        "test_split": "test",
    }


@pytest.fixture
def run_with_data(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    directory = make_run(tmp_path / "run", samples=12, capabilities=["counting"])
    config = write_dataset(tmp_path, 12)
    path = next(directory.glob("*/*_results.json"))
    content = json.loads(path.read_text())
    content["configs"]["datbench_counting"] |= config
    write_json(path, content)
    return directory


def edit_log(directory: Path, edit) -> None:
    log = next(directory.glob("*/*_samples_*.jsonl"))
    lines = log.read_text().splitlines(keepends=True)
    edit(lines)
    log.write_text("".join(lines))


def test_a_complete_run_is_checked_by_ids_and_clustered_by_image(run_with_data):
    report = load_report(run_with_data)
    assert report.problems == ()
    assert report.capabilities[0].clusters == 4
    assert "count only" not in "\n".join(report.notes)


def test_a_judge_pass_tells_what_the_report_tells(run_with_data, capsys):
    assert main(["judge", str(run_with_data), "--judge-model", "m", "--judge-base-url", "http://127.0.0.1:9"]) == 0
    after_the_pass = capsys.readouterr().out
    assert main(["report", str(run_with_data)]) == 0
    assert capsys.readouterr().out == after_the_pass
    assert "count only" not in after_the_pass


def test_missing_and_unknown_ids_are_named(run_with_data, capsys):
    def edit(lines):
        lines[3] = lines[3].replace("db_counting_000003", "db_counting_999999")

    edit_log(run_with_data, edit)
    report = load_report(run_with_data)
    found = {problem.kind: problem.ids for problem in report.problems}
    assert found == {"missing": ("db_counting_000003",), "unknown": ("db_counting_999999",)}
    assert report.unscored()["missing"] == ["db_counting_000003"]
    assert report.total.bounds.high > report.total.bounds.low
    assert main(["report", str(run_with_data)]) == 3
    assert "1 missing, 1 unknown" in capsys.readouterr().err


def test_without_the_dataset_only_the_count_is_checked(run_with_data):
    edit_log(run_with_data, lambda lines: lines.pop())
    report = load_report(run_with_data, dataset="none")
    (problem,) = report.problems
    assert problem.text == "counting: no record of 1 of the samples that the host counted"
    assert "count only" in "\n".join(report.notes)
    assert report.capabilities[0].clusters == 8, "by the document that the metadata names, in each source dataset"


def test_rows_without_an_image_share_none(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    config = write_dataset(tmp_path, 4)
    file = config["dataset_kwargs"]["data_files"]["test"]
    content = [{**row, "image": None} for row in rows("counting", 4)]
    Dataset.from_list(content, features=features()).to_parquet(file)
    assert set(expected_rows(config, "cached").values()) == {""}


def test_images_come_from_the_dataset(run_with_data):
    image = image_source(load_report(run_with_data), "cached")
    assert image("db_counting_000005").getpixel((0, 0)) == (20, 0, 0)
    assert image("db_counting_999999") is None
    assert image_source(load_report(run_with_data), "none") is None


def test_ids_are_read_without_decoding_an_image(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    config = write_dataset(tmp_path, 6)

    def refuse(*_, **__):
        raise AssertionError("an image was opened")

    monkeypatch.setattr(Image, "open", refuse)
    expected = expected_rows(config, "cached")
    assert list(expected) == [f"db_counting_{number:06d}" for number in range(6)]
    assert len(set(expected.values())) == 2


def test_images_are_told_apart_by_length_head_middle_and_tail(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    same = b"x" * 20_000
    others = [same[:place] + b"y" + same[place + 1 :] for place in (0, 10_000, 19_999)]
    images = [same, same, *others, same + b"x"]
    content = [{**row, "image": {"bytes": images[n]}} for n, row in enumerate(rows("counting", len(images)))]
    Dataset.from_list(content, features=features()).to_parquet(tmp_path / "test.parquet")
    config = {"dataset_path": "parquet", "dataset_kwargs": {"data_files": {"test": str(tmp_path / "test.parquet")}}}
    hashes = list(expected_rows(config, "cached").values())
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == len(images) - 1


@pytest.mark.parametrize(
    "config", [{}, {"dataset_path": "parquet", "dataset_kwargs": {"data_files": {"test": "nowhere.parquet"}}}]
)
def test_a_dataset_that_is_not_at_hand_is_no_error(config):
    assert expected_rows(config, "cached") is None
