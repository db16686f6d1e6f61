"""Images stay undecoded until somebody asks."""

import pytest
from datasets import Dataset, Features, Image, Value
from PIL import Image as pil

from datbench import DatBenchEvaluator

FEATURES = Features({"id": Value("string"), "image": Image(), "question": Value("string"), "answer": Value("string")})


def dataset(count=3):
    rows = [{"id": f"s{i}", "image": pil.new("RGB", (4 + i, 2)), "question": "q", "answer": "x"} for i in range(count)]
    return Dataset.from_list(rows, features=FEATURES)


@pytest.fixture
def decoded(monkeypatch):
    opened = []
    original = Image.decode_example

    def decode(self, value, *args, **named):
        opened.append(value)
        return original(self, value, *args, **named)

    monkeypatch.setattr(Image, "decode_example", decode)
    return opened


def test_building_decodes_nothing_and_reading_decodes_one(decoded):
    tasks = DatBenchEvaluator(dataset(), "math").get_inference_tasks()
    assert decoded == []
    assert tasks[1].image.size == (5, 2)
    assert len(decoded) == 1


def test_a_selection_gives_the_right_images():
    evaluator = DatBenchEvaluator(dataset().select([2, 0]), "math")
    assert [(sample.id, sample.image.size) for sample in evaluator.samples] == [("s2", (6, 2)), ("s0", (4, 2))]


def test_an_iterable_dataset_keeps_encoded_images(decoded):
    evaluator = DatBenchEvaluator(dataset().to_iterable_dataset(), "math")
    assert decoded == []
    assert [task.image.size for task in evaluator.get_inference_tasks()] == [(4, 2), (5, 2), (6, 2)]


def test_plain_rows_are_held_as_they_come():
    image = pil.new("RGB", (1, 1))
    (task,) = DatBenchEvaluator(
        iter([{"id": "a", "image": image, "question": "q", "answer": "x"}]), "m"
    ).get_inference_tasks()
    assert task.image is image
