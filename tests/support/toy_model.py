"""The toy bigram language model of the golden cases: bytes as tokens, logits by a formula."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

VOCABULARY = 259


class ToyTokenizer:
    """UTF-8 bytes; no special tokens, no pad token."""

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        return {"input_ids": list(text.encode("utf-8"))}


class ToyModel:
    device = "cpu"
    config = SimpleNamespace(max_position_embeddings=128)

    def __init__(self) -> None:
        self.batches: list[int] = []

    def __call__(self, input_ids: Any, attention_mask: Any) -> Any:
        self.batches.append(len(input_ids))
        tokens = torch.arange(VOCABULARY)
        logits = ((31 * input_ids[..., None] + 17 * tokens + 7) % 101).float() / 25.0
        return SimpleNamespace(logits=logits)
