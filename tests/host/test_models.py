"""Our two models inside lmms-eval: found by name, as chat and as simple models, on hand-made and bundled rows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from datasets import Dataset
from lmms_eval.api.instance import Instance
from lmms_eval.evaluator import simple_evaluate
from lmms_eval.models import get_model
from PIL import Image, ImageDraw, ImageFont

from datbench.capabilities import SOURCE_DATASETS_BY_CAPABILITY
from datbench.jsonio import write_jsonl
from datbench.schema import features
from datbench_tasks.errors import InputError, UsageError
from datbench_tasks.hooks import doc_to_text, doc_to_visual
from datbench_tasks.models.ocr import Ocr, OcrChat
from datbench_tasks.models.replay import Replay, ReplayChat

TASK, SPLIT = "datbench_document", "test"
DATA = Path(__file__).parents[2] / "task_yamls" / "lmms_eval" / "datbench_sample" / "data"


def picture(*lines: str) -> Image.Image:
    image = Image.new("RGB", (640, 40 + 60 * len(lines)), "white")
    for row, line in enumerate(lines):
        ImageDraw.Draw(image).text((20, 20 + 60 * row), line, fill="black", font=ImageFont.load_default(30))
    return image


def dataset(*rows: tuple[str, Image.Image | None, str]) -> Dataset:
    return Dataset.from_list(
        [
            {
                "id": row_id,
                "image": image,
                "question": question,
                "answer": "x",
                "all_answers": ["x"],
                "eval_mode": "direct",
                "judge_prompt": "",
                "is_circular": False,
                "prompt_format": {"prefix": "", "suffix": "\nAnswer briefly."},
                "source_info": {"dataset": "docvqa", "original_idx": "1"},
                "eval_metrics": {"discrimination": 0.1, "is_frontier": False},
                "metadata": "{}",
            }
            for row_id, image, question in rows
        ],
        features=features(),
    )


def generate(model: Any, docs: Dataset) -> list[str]:
    """What the host does: hand over the documents, then all requests in the model's own form."""
    model.task_dict = {TASK: {SPLIT: docs}}

    def messages(doc: Any) -> list[dict[str, Any]]:
        images = [{"type": "image", "url": image} for image in doc_to_visual(doc)]
        return [{"role": "user", "content": [*images, {"type": "text", "text": doc_to_text(doc)}]}]

    def arguments(doc_id: int) -> tuple[Any, ...]:
        prompt = doc_to_text(docs[doc_id])
        head = (prompt, {}, doc_to_visual) if model.is_simple else (prompt, messages, {})
        return (*head, doc_id, TASK, SPLIT)

    requests = [
        Instance("generate_until", arguments(doc_id), 0, {"task": TASK, "doc_id": doc_id, "repeats": 1})
        for doc_id in range(len(docs))
    ]
    return model.generate_until(requests)


@pytest.mark.parametrize(
    ("name", "chat", "simple"), [("datbench_ocr", OcrChat, Ocr), ("datbench_replay", ReplayChat, Replay)]
)
def test_the_host_finds_the_models(name: str, chat: type, simple: type) -> None:
    assert get_model(name) is chat
    assert get_model(name, force_simple=True) is simple


@pytest.mark.parametrize("build", [Ocr, OcrChat])
def test_ocr_reads_each_image_once_and_answers_from_it(build: Callable[..., Ocr]) -> None:
    invoice = picture("Invoice number: INV-20417", "Total due: $140.50")
    docs = dataset(
        ("a", invoice, "What is the invoice number?"),
        ("b", invoice, "What is the total due?"),
        ("c", picture(), "What is the invoice number?"),
        ("d", None, "What is the invoice number?"),
    )
    model = build(batch_size=1, device="cpu", max_length=2048)
    read, sizes = model._read, []
    model._read = lambda image: [sizes.append(image.size), *read(image)][1:]
    assert generate(model, docs) == ["INV-20417", "$140.50", "", ""]
    assert sizes == [invoice.size, picture().size]


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    with pytest.raises(UsageError, match=r"pip install 'datbench-tasks\[demo\]'"):
        Ocr()


@pytest.fixture
def answers(tmp_path: Path) -> str:
    path = tmp_path / "answers.jsonl"
    write_jsonl(path, [{"id": "a", "raw_output": "<think>so</think>4"}, {"id": "b", "raw_output": "\ud835"}])
    return str(path)


@pytest.mark.parametrize("build", [Replay, ReplayChat])
def test_replay_gives_stored_outputs_untouched(build: Callable[..., Replay], answers: str) -> None:
    docs = dataset(("b", None, "?"), ("a", None, "?"))
    assert generate(build(responses=answers, batch_size=1, device="cpu"), docs) == ["\ud835", "<think>so</think>4"]


def test_replay_reports_missing_rows_and_answers_them_empty(answers: str, caplog: pytest.LogCaptureFixture) -> None:
    docs = dataset(("a", None, "?"), *((f"x{number}", None, "?") for number in range(7)))
    assert generate(Replay(responses=answers), docs) == ["<think>so</think>4", *[""] * 7]
    assert "no answer stored for 7 of 8 rows (x0, x1, x2, x3, x4, ...)" in caplog.text


def test_strict_replay_stops_before_the_run(answers: str) -> None:
    with pytest.raises(InputError, match=r"no answer stored for 1 of 2 rows \(c\)"):
        generate(Replay(responses=answers, strict=True), dataset(("a", None, "?"), ("c", None, "?")))


def test_replay_decodes_no_image(answers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    docs = dataset(("a", picture("4"), "?"))
    model = Replay(responses=answers)
    model.task_dict = {TASK: {SPLIT: docs}}
    monkeypatch.setattr(Image, "open", lambda *_: pytest.fail("an image was opened"))
    request = Instance(
        "generate_until", ("?", {}, doc_to_visual, 0, TASK, SPLIT), 0, {"task": TASK, "doc_id": 0, "repeats": 1}
    )
    assert model.generate_until([request]) == ["<think>so</think>4"]


@pytest.mark.parametrize("force_simple", [False, True])
def test_replayed_golds_of_the_bundled_sample_score_one(tmp_path: Path, force_simple: bool) -> None:
    rows = pq.read_table(DATA / "counting.parquet", columns=["id", "answer"]).to_pylist()
    path = tmp_path / "golds.jsonl"
    write_jsonl(path, [{"id": row["id"], "raw_output": row["answer"]} for row in rows])
    found = simple_evaluate(
        model="datbench_replay",
        model_args=f"responses={path},strict=True",
        tasks=["datbench_sample_counting"],
        force_simple=force_simple,
    )
    assert found["results"]["datbench_sample_counting"]["datbench_score,none"] == 1.0
    samples = found["samples"]["datbench_sample_counting"]
    assert [sample["datbench_record"]["id"] for sample in samples] == [row["id"] for row in rows]
    assert {s["datbench_record"]["dataset"] for s in samples} == set(SOURCE_DATASETS_BY_CAPABILITY["counting"])
