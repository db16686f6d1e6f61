"""What a module of pictures yields, and how it becomes a row of the benchmark."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from PIL import Image

TWO_LINE_RUBRIC = """\
You are given a question about a picture, a reference answer and the answer of a model.
Decide whether the model's final answer means the same as the reference.
- Judge the final answer only, not the way to it.
- Other wording, other letter case, added units and equal numbers in another form are fine.
- An answer that names several candidates, or refuses, is wrong.

Respond with exactly two lines:
Reason: <one short sentence>
answer: true or false"""

FILLED_RUBRIC = """\
Compare a model's answer with the correct one.

Question: {question}
Correct answer: {correct_answer}
Model answer: {model_answer}

The model answer is right if a careful reader would say that both state the same thing; numbers may differ
in form (0.5 and 1/2) but not in value. Ignore explanations. Reply with a JSON object, either
{"answer": true} or {"answer": false}."""


@dataclass(frozen=True)
class Item:
    """One question about one picture. A rubric makes it a judge-mode item; empty ``all_answers``: the answer."""

    dataset: str
    image: Image.Image
    question: str
    answer: str
    prefix: str = ""
    suffix: str = ""
    all_answers: tuple[str, ...] = ()
    rubric: str = ""
    is_circular: bool = False
    is_frontier: bool = False
    original_idx: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)


def png(image: Image.Image) -> bytes:
    """A small PNG: at most 48 colours, which the drawings hardly exceed."""
    buffer = io.BytesIO()
    image.convert("RGB").quantize(48, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def rows(capability: str, items: Iterable[Item]) -> list[dict[str, Any]]:
    """Rows in the benchmark's schema, numbered from 1. The discriminations are made up."""
    return [
        {
            "id": f"db_{capability}_{number:06d}",
            "image": {"bytes": png(item.image), "path": None},
            "question": item.question,
            "answer": item.answer,
            "all_answers": list(item.all_answers) or [item.answer],
            "eval_mode": "judge" if item.rubric else "direct",
            "judge_prompt": item.rubric,
            "is_circular": item.is_circular,
            "prompt_format": {"prefix": item.prefix, "suffix": item.suffix},
            "source_info": {"dataset": item.dataset, "original_idx": item.original_idx or f"{4000 + number}"},
            "eval_metrics": {
                "discrimination": 0.0 if item.is_frontier else (15 + 37 * number % 50) / 100,
                "is_frontier": item.is_frontier,
            },
            "metadata": json.dumps(item.metadata),
        }
        for number, item in enumerate(items, start=1)
    ]


def lettered(options: Iterable[str], pattern: str = "{}. {}") -> str:
    """Options on lines of their own with letters from A."""
    return "\n".join(pattern.format(chr(ord("A") + index), option) for index, option in enumerate(options))


def choices(options: Iterable[str]) -> dict[str, Any]:
    """The metadata of a multiple-choice item: options, their letters, and the map between them."""
    texts = list(options)
    letters = [chr(ord("A") + index) for index in range(len(texts))]
    return {"options": texts, "all_choices": letters, "index2ans": dict(zip(letters, texts, strict=True))}


REAL_WORLD_SUFFIX = """
The choices are listed below:
{}
Select the best answer to the above multiple-choice question based on the image. Respond with only the letter \
(A, B, C, D, or E) of the correct option.
The best answer is:"""
NOT_IN_IMAGE = "The image does not feature the content"


def real_world(dataset: str, image: Image.Image, question: str, options: tuple[str, ...], answer: str) -> Item:
    """An item of one of the mme-realworld datasets: four options, and a fifth for what the picture lacks."""
    lines = lettered((*options, NOT_IN_IMAGE), "({}) {}")
    return Item(
        dataset,
        image,
        question,
        answer,
        suffix=REAL_WORLD_SUFFIX.format(lines),
        metadata={"options": lines.split("\n")},
    )
