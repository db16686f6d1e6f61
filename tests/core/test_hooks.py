"""The hooks on documents as hosts hand them over, and what a loaded task knows of itself; a stand-in for the host."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import Any

import pytest
from datasets import Dataset
from PIL import Image

from datbench_tasks import hooks

ROWS = [
    {
        "id": f"s{number}",
        "question": "How many?",
        "prompt_format": {"prefix": "<image 1>\n", "suffix": "\nOne number."},
        "answer": str(number),
        "eval_mode": "direct",
        "source_info": {"dataset": "countbench"},
        "metadata": "{}",
    }
    for number in range(3)
]


class AsyncModel:
    """A model that a program passed instead of a name."""


class HostTask:
    """Loads rows as lmms-eval's task object does."""

    def __init__(self, rows: list[dict[str, Any]] = ROWS, model: object = "openai", **config: Any) -> None:
        self.model_name = model
        self.lmms_eval_specific_kwargs = {"pre_prompt": "Look. ", "post_prompt": " Think."}
        self.config = SimpleNamespace(
            task="datbench_counting", metadata={"capability": "counting", "dataset": "acme/rows"},
            dataset_path="parquet", dataset_kwargs=None, test_split="test", generation_kwargs={"max_new_tokens": 64},
        )  # fmt: skip
        self.config.__dict__.update(config)
        self.dataset = hooks.process_docs(Dataset.from_list(rows))

    def process_results(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        return hooks.process_results(doc, results)

    def record(self, answer: Any = "0", row: int = 0) -> dict[str, Any]:
        return self.process_results(self.dataset[row], [answer])["datbench_record"]


def test_a_record_knows_its_task_row_and_prompt() -> None:
    record = HostTask().record("2", row=2)
    assert (record["doc_id"], record["id"], record["score"], record["capability"]) == (2, "s2", 1.0, "counting")
    assert record["question"] == "Look. <image 1>\nHow many?\nOne number. Think."
    run = record["run"]
    assert (run["task"], run["dataset"], run["split"]) == ("datbench_counting", "acme/rows", "test")
    assert run["revision"] is None and run["revision_resolved"].startswith("content:")


@pytest.mark.parametrize("changed", [{"question": "Which?"}, {"answer": "9"}, {"metadata": '{"a": 1}'}, {"id": "t"}])
def test_other_rows_are_another_revision(changed: dict[str, str]) -> None:
    first, *others = ROWS
    runs = [HostTask(rows).record()["run"]["revision_resolved"] for rows in (ROWS, [{**first, **changed}, *others])]
    assert runs[0] != runs[1]


def test_settings_are_read_when_a_sample_is_scored() -> None:
    task = HostTask()
    task.config.generation_kwargs.update(max_new_tokens=8)
    assert task.record()["run"]["max_new_tokens"] == 8
    task.config.generation_kwargs = {"max_gen_toks": 9}
    assert task.record()["run"]["max_new_tokens"] == 9


@pytest.mark.parametrize(
    ("model", "name"), [("async_openai", "async_openai"), (None, ""), (AsyncModel(), AsyncModel.__module__)]
)
def test_a_model_passed_as_an_object_goes_by_the_name_of_its_module(model: object, name: str) -> None:
    record = HostTask(model=model).record()
    assert (record["score"], record["flags"], record["run"]["model"]) == (1.0, [], name.rpartition(".")[2])


def test_of_a_choice_of_ids_each_row_keeps_its_number(tmp_path: Any) -> None:
    (tmp_path / "ids.json").write_text(json.dumps(["s2", "s1"]))
    metadata = {"capability": "counting", "dataset": "acme/rows", "only_ids": str(tmp_path / "ids.json")}
    task = HostTask(metadata=metadata)
    assert task.dataset["id"] == ["s1", "s2"]
    assert task.record("1", row=0)["doc_id"] == 1


@pytest.mark.parametrize(
    "rows", [[{**ROWS[0], "eval_mode": "sometimes"}], [{**ROWS[0], "metadata": "[]"}], [ROWS[0], ROWS[0]]]
)
def test_malformed_rows_stop_the_task_when_it_loads(rows: list[dict[str, Any]]) -> None:
    with pytest.raises(ValueError, match=r"row \d \(id 's0'\), field"):
        HostTask(rows)


def test_metadata_that_a_yaml_of_ones_own_forgot_is_named() -> None:
    with pytest.raises(ValueError, match="datbench_counting: its metadata lacks capability, dataset"):
        HostTask(metadata={"version": "2.0"})


@pytest.mark.parametrize(
    ("results", "output"),
    [
        (["1"], "1"),
        ("1", "1"),
        ([["1", "2"]], "1"),
        ([], ""),
        ([[]], ""),
        ([None], ""),
        ([7], "7"),
        ([{"a": 1}], "{'a': 1}"),
    ],
)
def test_answers_come_in_many_forms(results: Any, output: str) -> None:
    task = HostTask()
    assert hooks.process_results(task.dataset[0], results)["datbench_record"]["output"] == output


@pytest.mark.parametrize("doc", [{}, {"id": "a"}, {**ROWS[0], "datbench_task": "gone"}])
def test_a_document_that_no_task_loaded_loses_no_run(doc: dict[str, Any]) -> None:
    found = hooks.process_results(doc, ["1"])
    assert found["datbench_score"] == found["datbench_pooled"] == 0.0
    assert found["datbench_record"]["flags"] == ["scorer_error"]
    assert found["datbench_record"]["output"] == "1"


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "YCbCr", "I", "I;16", "F"])
def test_an_image_of_any_mode_goes_out_as_rgb(mode: str) -> None:
    doc = {**ROWS[0], "image": Image.new(mode, (5, 3))}
    (sent,) = hooks.doc_to_visual(doc)
    assert (sent.mode, sent.size) == ("RGB", (5, 3))
    (grey,) = hooks.doc_to_grey(doc)
    assert grey.getcolors() == [(15, (128, 128, 128))]


@pytest.mark.parametrize("form", ["GIF", "PNG", "TIFF"])
def test_an_encoded_image_is_decoded_and_of_several_frames_the_first_is_sent(form: str) -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    file = io.BytesIO()
    frames[0].save(file, form, save_all=True, append_images=frames[1:])
    (sent,) = hooks.doc_to_visual({**ROWS[0], "image": {"bytes": file.getvalue(), "path": None}})
    assert sent.getpixel((0, 0))[0] > 250


@pytest.mark.parametrize("doc", [ROWS[0], {**ROWS[0], "image": None}])
def test_a_row_without_an_image_sends_none(doc: dict[str, Any]) -> None:
    assert hooks.doc_to_visual(doc) == hooks.doc_to_grey(doc) == []
