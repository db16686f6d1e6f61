"""What lm-evaluation-harness wants otherwise than lmms-eval: a mark in the prompt where the image goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from datbench_tasks import hooks

IMAGE_MARK = "<image>"
"""The host's own placeholder; models replace it by their image tokens."""


def doc_to_text(doc: Mapping[str, Any]) -> str:
    """The prompt of a DatBench row after the mark of its image; the record keeps the prompt without it."""
    prompt = hooks.doc_to_text(doc)
    return prompt if doc.get("image") is None else f"{IMAGE_MARK}\n{prompt}"
