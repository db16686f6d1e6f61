"""Rows of the dataset, the samples made of them, and what goes to and comes from models and judges."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

EVAL_MODES = ("direct", "judge")


class _LazyImage:
    """An attribute that holds an image, or a function that loads it each time somebody asks."""

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        value = held_image(instance)
        return _decoded(value() if callable(value) else value)

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__["_image"] = value


def held_image(holder: DatBenchSample | InferenceTask) -> Any:
    """What a sample or task holds as its image, without loading it."""
    return holder.__dict__["_image"]


def _with_lazy_image(holder: type[T]) -> type[T]:
    """Class decorator: the dataclass field ``image`` loads when read."""
    holder.image = _LazyImage()  # type: ignore[attr-defined]
    return holder


def _decoded(image: Any) -> Any:
    """A PIL image from the encoded form {"bytes", "path"} of ``datasets``; anything else as it is."""
    if not isinstance(image, Mapping):
        return image
    from PIL import Image

    encoded = image.get("bytes")
    opened = Image.open(image["path"] if encoded is None else io.BytesIO(encoded))
    opened.load()
    return opened


@_with_lazy_image
@dataclass
class DatBenchSample:
    """One row with its defaults filled in; ``metadata`` stays as the row has it (JSON text or a dict)."""

    id: str
    image: Any
    question: str
    answer: Any
    all_answers: Any
    eval_mode: str
    judge_prompt: str
    is_circular: bool
    metadata: str | dict[str, Any]
    source_info: dict[str, Any]
    eval_metrics: dict[str, Any]
    prompt_format: dict[str, str]

    @property
    def dataset(self) -> str:
        """Name of the source dataset, "" if the row does not say."""
        return self.source_info.get("dataset") or ""

    @property
    def prompt(self) -> str:
        """What the model is asked: prefix + question + suffix, as they stand."""
        form = self.prompt_format
        return f"{form.get('prefix') or ''}{self.question}{form.get('suffix') or ''}"


@_with_lazy_image
@dataclass
class InferenceTask:
    """Input for a model. ``image`` (a PIL image) is loaded when read."""

    id: str
    image: Any
    question: str
    eval_mode: str


@dataclass
class VLMResponse:
    """A model's output. The scored text is ``parsed_answer`` if that is not empty, else ``raw_output``."""

    id: str
    raw_output: Any
    parsed_answer: Any = None

    @property
    def scored_text(self) -> Any:
        """The text that is scored; None counts as empty. A list of texts (one a turn) is handed through."""
        text = self.parsed_answer or self.raw_output
        return "" if text is None else text


@dataclass
class JudgeRequest:
    """What a judge needs for one judge-mode sample."""

    id: str
    vlm_response: str
    ground_truth: Any
    judge_prompt: str


@dataclass
class JudgeResponse:
    """A judge's answer; ``verdict`` ("correct" or "incorrect") takes precedence over the raw text."""

    id: str
    raw_judge_output: str
    verdict: str | None = None


class RowError(ValueError):
    """A malformed row: names its position, its id and the field."""

    def __init__(self, position: int, row_id: object, field: str, reason: str) -> None:
        super().__init__(f"row {position} (id {row_id!r}), field {field!r}: {reason}")


def read_row(row: Mapping[str, Any], position: int, image: Any) -> DatBenchSample:
    """Make a sample of a row; absent and null optional fields get their defaults.

    Args:
        row: a mapping with the fields of the benchmark's row schema; ``image`` in it is not looked at.
        position: the row's place in its dataset, for messages.
        image: the sample's image, or a function that loads it.

    Raises:
        RowError: a required field is missing, or a field has a type or value that cannot be worked with.
    """
    if not isinstance(row, Mapping):
        raise RowError(position, None, "row", f"is {type(row).__name__}, must be a mapping of fields")
    row_id = row.get("id")

    def typed(field: str, kind: type, default: Any) -> Any:
        value = row.get(field)
        if value is None:
            return default
        if not isinstance(value, kind):
            raise RowError(position, row_id, field, f"is {type(value).__name__}, must be {kind.__name__}")
        return value

    for field in ("id", "question", "answer"):
        if row.get(field) is None:
            raise RowError(position, row_id, field, "is missing")
    eval_mode = typed("eval_mode", str, "direct")
    if eval_mode not in EVAL_MODES:
        raise RowError(position, row_id, "eval_mode", f"is {eval_mode!r}, must be direct or judge")
    source_info = typed("source_info", Mapping, {})
    if not isinstance(source_info.get("dataset") or "", str):
        raise RowError(position, row_id, "source_info", "its dataset must be a text")
    answer = row["answer"]
    all_answers = row.get("all_answers")
    return DatBenchSample(
        id=typed("id", str, None),
        image=image,
        question=typed("question", str, None),
        answer=answer,
        all_answers=[answer] if all_answers is None else all_answers,
        eval_mode=eval_mode,
        judge_prompt=typed("judge_prompt", str, ""),
        is_circular=bool(row.get("is_circular")),
        metadata="{}" if row.get("metadata") is None else row["metadata"],
        source_info=dict(source_info),
        eval_metrics=dict(typed("eval_metrics", Mapping, {})),
        prompt_format=dict(typed("prompt_format", Mapping, {})),
    )


def read_metadata(metadata: object) -> dict[str, Any]:
    """The metadata object of a row: JSON text decoded, a dict as it is.

    Raises:
        ValueError: it is not a JSON object.
    """
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except (ValueError, RecursionError) as fault:
            raise ValueError(f"is no JSON ({fault})") from fault
    if not isinstance(metadata, dict):
        raise ValueError(f"must be a JSON object, is {type(metadata).__name__}")
    return metadata


def rows_with_images(dataset: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """The rows of a dataset, each with its image or a function that loads it.

    A ``datasets.Dataset`` is read without its image column and decodes an image only when asked; of an
    ``IterableDataset`` the encoded images are kept; any other iterable of dicts is held as it comes.
    """
    columns = list(getattr(dataset, "column_names", None) or ())
    if "image" in columns and hasattr(dataset, "select_columns"):
        if hasattr(dataset, "__len__"):
            images = dataset.select_columns(["image"])
            texts = dataset.select_columns([name for name in columns if name != "image"])
            for position, row in enumerate(texts):
                yield row, _image_loader(images, position)
            return
        dataset = dataset.decode(False) if hasattr(dataset, "decode") else dataset
    for row in dataset:
        yield row, row.get("image") if isinstance(row, Mapping) else None


def _image_loader(images: Any, position: int) -> Callable[[], Any]:
    return lambda: images[position]["image"]
