"""A causal language model on this machine, for log-likelihoods that no serving offers. Needs the extra ``local``."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from datbench.unified.likelihood import ModelSource

logger = logging.getLogger(__name__)

_BATCH = 4

Encoded = tuple[list[int], int]
"""Tokens of a text, and how many of them at its start are given and not scored."""


def load_parts(source: ModelSource) -> tuple[Any, Any]:
    """(tokenizer, model) of transformers, on CUDA when there is one; a ``.gguf`` file is loaded from its folder.

    Raises ModuleNotFoundError, with the extra to install, when torch or transformers is missing.
    """
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ModuleNotFoundError as fault:
        raise ModuleNotFoundError(
            f"log-likelihoods without a serving need {fault.name}: pip install 'datbench-tasks[local]'", name=fault.name
        ) from None
    path = Path(source.model_id)
    gguf = {"gguf_file": path.name} if path.suffix == ".gguf" else {}
    name = str(path.parent) if gguf else source.model_id
    options = {"cache_dir": source.cache_dir, "trust_remote_code": source.trust_remote_code, **gguf}
    tokenizer = AutoTokenizer.from_pretrained(name, **options)
    model = AutoModelForCausalLM.from_pretrained(name, **options)
    return tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu").eval()


@lru_cache(maxsize=1)
def load(source: ModelSource) -> LocalModel:
    """The model of a source; the last one loaded is kept and shared. Raises as `load_parts`."""
    return LocalModel(*load_parts(source))


class LocalModel:
    """Scores of texts under one causal language model."""

    def __init__(self, tokenizer: Any, model: Any) -> None:
        self._tokenizer = tokenizer
        self._model = model

    def log_likelihoods(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """Summed log-probability of each continuation given its prompt, no special tokens, nothing cut off.

        None where the tokenizer or the model failed. A continuation without tokens has 0.0; the first token of a
        text is not scored.
        """
        encoded = [self._encode_pair(prompt, text) for prompt, text in pairs]
        return [None if score is None else score[0] for score in self._score(encoded)]

    def text_log_likelihoods(self, texts: Sequence[str]) -> list[tuple[float, int]]:
        """(summed log-probability, number) of the tokens of each text from its second on, special tokens included.

        Texts are cut to the model's window. Raises RuntimeError when the model fails on any.
        """
        window = getattr(self._model.config, "max_position_embeddings", None)
        encoded = [(list(self._tokenizer(text)["input_ids"])[:window], 1) for text in texts]
        scores = self._score(encoded)
        if None in scores:
            raise RuntimeError("the model failed on a batch of texts")
        return [score for score in scores if score is not None]

    def _encode_pair(self, prompt: str, continuation: str) -> Encoded | None:
        """Tokens of the joined text; None where the tokenizer fails, as many do on a lone surrogate."""
        try:
            full, start = self._tokens(prompt + continuation), self._tokens(prompt)
            if full[: len(start)] == start:
                return full, len(start)
            return full, max(0, len(full) - len(self._tokens(continuation)))
        except Exception:
            logger.exception("the local model's tokenizer failed on a text")
            return None

    def _tokens(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _score(self, encoded: Sequence[Encoded | None]) -> list[tuple[float, int] | None]:
        """(summed log-probability, number) of the tokens from each start on; batches hold texts of like length."""
        scores: list[tuple[float, int] | None] = [None if text is None else (0.0, 0) for text in encoded]
        wanted = [(index, text) for index, text in enumerate(encoded) if text and len(text[0]) > max(text[1], 1)]
        wanted.sort(key=lambda found: len(found[1][0]))
        for first in range(0, len(wanted), _BATCH):
            indices, batch = zip(*wanted[first : first + _BATCH], strict=True)
            try:
                for index, score in zip(indices, self._score_batch(batch), strict=True):
                    scores[index] = score
            except Exception:
                logger.exception("the local model failed on a batch of %d texts", len(batch))
                for index in indices:
                    scores[index] = None
        return scores

    def _score_batch(self, batch: Sequence[Encoded]) -> Iterator[tuple[float, int]]:
        import torch

        longest = max(len(tokens) for tokens, _ in batch)
        device = getattr(self._model, "device", "cpu")
        ids = torch.zeros((len(batch), longest), dtype=torch.long, device=device)
        mask = torch.zeros_like(ids)
        for row, (tokens, _) in enumerate(batch):  # padding on the right by any id: the mask hides it
            ids[row, : len(tokens)] = torch.tensor(tokens, device=device)
            mask[row, : len(tokens)] = 1
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask).logits
            for row, (tokens, start) in enumerate(batch):
                begin = max(start, 1)
                predicted = torch.log_softmax(logits[row, begin - 1 : len(tokens) - 1].float(), dim=-1)
                chosen = predicted.gather(1, ids[row, begin : len(tokens), None])
                yield float(chosen.sum()), len(tokens) - begin
