"""``datbench_ocr``: answers from the text that an OCR library reads in the image.

It is there so that a whole run can be seen on any machine, with real answers, right and wrong. It is an honest
baseline and no competitor: it reads words and knows nothing of what a picture shows (see ``ocr_rules``).
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from datbench_tasks.errors import UsageError
from datbench_tasks.models.base import AnsweringModel, Request
from datbench_tasks.models.ocr_rules import Line, answer

Reader = Callable[[Any], Sequence[Line]]
"""From an RGB image (PIL) to its lines of text in reading order."""


class Ocr(AnsweringModel):
    """The simple model; questions about one image share one reading.

    Raises:
        UsageError: the extra ``demo`` is not installed.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._read = load_reader()
        self._readings: dict[bytes, Sequence[Line]] = {}

    def answer(self, request: Request) -> str:
        """The answer by the rules; empty for a row without an image."""
        prompt, images = request.read()
        if not images:
            return ""
        image = images[0].convert("RGB")
        key = hashlib.sha256(repr(image.size).encode() + image.tobytes()).digest()
        if key not in self._readings:
            self._readings[key] = self._read(image)
        return answer(prompt, self._readings[key], image.size)


class OcrChat(Ocr):
    """The chat model."""

    is_simple = False


def load_reader() -> Reader:
    """RapidOCR with the weights in its wheel, on the CPU: the same image gives the same lines.

    Raises:
        UsageError: rapidocr or onnxruntime is not installed.
    """
    try:
        importlib.import_module("onnxruntime")  # rapidocr would miss it only deep in a traceback
        from rapidocr import RapidOCR
    except ImportError as fault:
        raise UsageError(
            f"datbench_ocr needs rapidocr and onnxruntime ({fault}); pip install 'datbench-tasks[demo]'"
        ) from fault
    engine = RapidOCR(params={"Global.log_level": "critical", "Global.use_cls": False})

    def read(image: Any) -> list[Line]:
        found = engine(np.asarray(image)[:, :, ::-1])
        if found.txts is None or found.boxes is None:
            return []
        corners = np.asarray(found.boxes, dtype=float)
        boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
        return [Line(text, (x1, y1, x2, y2)) for text, (x1, y1, x2, y2) in zip(found.txts, boxes.tolist(), strict=True)]

    return read
