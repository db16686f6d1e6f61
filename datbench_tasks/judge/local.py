"""A judge without a server: a model run by transformers, which weighs "true" against "false" as its next word."""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from datbench_tasks.errors import InputError, UsageError
from datbench_tasks.judge.accounting import Totals
from datbench_tasks.judge.answers import Answer
from datbench_tasks.judge.client import REPEAT_MAX_TOKENS, Show
from datbench_tasks.judge.journal import Journal
from datbench_tasks.judge.requests import JudgeIdentity, JudgeRequest, Messages

WINDOW = 512
"""Requests that are sorted by length together; more would cost memory and gain little."""

_FINGERPRINT_BYTES = 64 * 1024
_MISSING_EXTRA = "--local-model needs torch and transformers: pip install 'datbench-tasks[local]'"
_VARIANTS = ("{0}", " {0}", "{1}", " {1}")


@dataclass(frozen=True)
class _Prompt:
    key: str
    tokens: list[int]


class LocalJudge:
    """A causal language model on this machine.

    Args:
        model: a folder, a hub id, or the path of a ``.gguf`` file.
        gguf_file: name of the GGUF file in the folder or repository.
        batch_size: prompts at once; halved as often as memory demands.
        max_new_tokens: None compares the next-token probabilities of true and false; a number lets the model write.

    The weights are loaded when the first request comes. No code from the model's repository is run.

    Raises:
        UsageError: torch or transformers is not installed.
        InputError: there is no such model.
    """

    def __init__(
        self, model: str, gguf_file: str | None = None, batch_size: int = 8, max_new_tokens: int | None = None
    ) -> None:
        self._name = model
        if gguf_file is None and model.lower().endswith(".gguf"):
            model, gguf_file = str(Path(model).parent), Path(model).name
        self._source, self._gguf_file = model, gguf_file
        self._batch_size = max(1, batch_size)
        self._max_new_tokens = max_new_tokens
        method: dict[str, Any] = {"method": "compare true with false"}
        if max_new_tokens is not None:
            method = {"method": "generate", "temperature": 0, "max_tokens": max_new_tokens}
        self.identity = JudgeIdentity(self._name, "local", {"fingerprint": self._fingerprint(), **method})

    def ask(self, requests: Iterator[JudgeRequest], journal: Journal, show: Show) -> Totals:
        """Answer everything, in windows sorted by length, and add each answer to the journal."""
        totals = Totals()
        loaded = _Loaded(self._source, self._gguf_file)
        while window := list(islice(requests, WINDOW)):
            prompts = sorted((_Prompt(r.key, loaded.tokens(r.messages)) for r in window), key=lambda p: -len(p.tokens))
            for start in range(0, len(prompts), self._batch_size):
                for answer in self._answers(loaded, prompts[start : start + self._batch_size]):
                    journal.add(answer)
                    totals.note(answer)
                show(totals, 0)
        return totals

    def _answers(self, loaded: _Loaded, prompts: list[_Prompt]) -> list[Answer]:
        fitting = [prompt for prompt in prompts if len(prompt.tokens) + (self._max_new_tokens or 1) <= loaded.context]
        too_long = [Answer(p.key, failure="prompt too long for the model") for p in prompts if p not in fitting]
        if not fitting:
            return too_long
        try:
            if self._max_new_tokens is None:
                return too_long + loaded.compare(fitting)
            answers = loaded.generate(fitting, self._max_new_tokens)
        except loaded.out_of_memory:
            loaded.free_memory()
            if len(fitting) == 1:
                return [*too_long, Answer(fitting[0].key, failure="out of memory")]
            half = len(fitting) // 2
            return too_long + self._answers(loaded, fitting[:half]) + self._answers(loaded, fitting[half:])
        return too_long + [
            self._repeat(loaded, prompt, answer) for prompt, answer in zip(fitting, answers, strict=True)
        ]

    def _repeat(self, loaded: _Loaded, prompt: _Prompt, first: Answer) -> Answer:
        """The one repeat after an empty answer that stopped at the token limit."""
        if not first.cut_off_empty or self._max_new_tokens is None:
            return first
        limit = min(max(REPEAT_MAX_TOKENS, 4 * self._max_new_tokens), loaded.context - len(prompt.tokens))
        try:
            return loaded.generate([prompt], limit)[0].after(first)
        except loaded.out_of_memory:
            loaded.free_memory()
            return first

    def _fingerprint(self) -> str:
        """Hash of what tells two models of one name apart: config.json, or a GGUF file's beginning and size."""
        path = _file_of(self._source, self._gguf_file or "config.json")
        with path.open("rb") as file:
            content = file.read() if self._gguf_file is None else file.read(_FINGERPRINT_BYTES)
        size = b"" if self._gguf_file is None else str(path.stat().st_size).encode()
        return hashlib.sha256(content + size).hexdigest()


class _Loaded:
    """The tokenizer and the model, and the two ways to get a verdict out of them."""

    def __init__(self, source: str, gguf_file: str | None) -> None:
        try:
            import torch
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError as fault:
            raise UsageError(_MISSING_EXTRA) from fault
        place: dict[str, Any] = {"gguf_file": gguf_file} if gguf_file else {}
        device = "cuda" if torch.cuda.is_available() else "cpu"
        placing: dict[str, Any] = {"device_map": "auto", "torch_dtype": "auto"} if device == "cuda" else {}
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(source, **place)
            self.model = AutoModelForCausalLM.from_pretrained(source, **place, **placing).eval()
        except (ImportError, OSError, ValueError, RuntimeError) as fault:
            raise InputError(f"--local-model {source}: cannot be loaded: {str(fault).strip()}") from fault
        self.context: int = getattr(self.model.config, "max_position_embeddings", None) or 2**31
        self.out_of_memory = torch.cuda.OutOfMemoryError
        self._true, self._false = self._first_tokens()
        parameters = inspect.signature(self.model.forward).parameters
        self._last_only = {name: 1 for name in ("logits_to_keep", "num_logits_to_keep") if name in parameters}

    def tokens(self, messages: Messages) -> list[int]:
        """The prompt, by the chat template if the tokenizer has one."""
        if self.tokenizer.chat_template:
            # Reasoning models would open a block of thoughts; templates without the switch pass it over.
            text = self.tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=False, enable_thinking=False
            )
            return list(self.tokenizer.encode(text, add_special_tokens=False))
        return list(self.tokenizer.encode("\n\n".join(message["content"] for message in messages)))

    def compare(self, prompts: list[_Prompt]) -> list[Answer]:
        """One forward pass: log-sum-exp over the first tokens of "true" against that of "false"."""
        import torch

        with torch.inference_mode():
            logits = self.model(**self._padded(prompts, positions=True), **self._last_only).logits[:, -1].float()
            margins = logits[:, self._true].logsumexp(-1) - logits[:, self._false].logsumexp(-1)
        return [_compared(prompt, margin) for prompt, margin in zip(prompts, margins.tolist(), strict=True)]

    def generate(self, prompts: list[_Prompt], limit: int) -> list[Answer]:
        """Greedy text of at most ``limit`` tokens for each prompt."""
        import torch

        inputs = self._padded(prompts, positions=False)
        with torch.inference_mode():
            rows = self.model.generate(
                **inputs, max_new_tokens=limit, do_sample=False, pad_token_id=self._pad(), temperature=None, top_p=None
            )
        return [self._generated(prompt, row[inputs["input_ids"].shape[1] :].tolist()) for prompt, row in
                zip(prompts, rows, strict=True)]  # fmt: skip

    def free_memory(self) -> None:
        """Give back what a failed batch held."""
        import torch

        torch.cuda.empty_cache()

    def _generated(self, prompt: _Prompt, tokens: list[int]) -> Answer:
        ends = self.model.generation_config.eos_token_id
        stops = set(ends if isinstance(ends, list) else [ends])
        length = next((index for index, token in enumerate(tokens) if token in stops), len(tokens))
        return Answer(
            prompt.key,
            raw=self.tokenizer.decode(tokens[:length], skip_special_tokens=True),
            finish_reason="stop" if length < len(tokens) else "length",
            prompt_tokens=len(prompt.tokens),
            completion_tokens=length,
        )

    def _padded(self, prompts: list[_Prompt], *, positions: bool) -> dict[str, Any]:
        """Left-padded tensors, so that the last column is the last token of every prompt."""
        import torch

        longest = max(len(prompt.tokens) for prompt in prompts)
        pads = [longest - len(prompt.tokens) for prompt in prompts]
        tokens = [[self._pad()] * pad + prompt.tokens for pad, prompt in zip(pads, prompts, strict=True)]
        mask = [[0] * pad + [1] * (longest - pad) for pad in pads]
        inputs = {"input_ids": torch.tensor(tokens), "attention_mask": torch.tensor(mask)}
        if positions:
            inputs["position_ids"] = (inputs["attention_mask"].cumsum(-1) - 1).clamp(min=0)
        return {name: tensor.to(self.model.device) for name, tensor in inputs.items()}

    def _pad(self) -> int:
        for token in (self.tokenizer.pad_token_id, self.tokenizer.eos_token_id):
            if token is not None:
                return int(token)
        return 0

    def _first_tokens(self) -> tuple[list[int], list[int]]:
        """First tokens of the spellings of "true" and of "false", without those that both share.

        Raises:
            InputError: the tokenizer starts both words alike, so that they cannot be told apart.
        """
        true, false = (
            {self.tokenizer.encode(form.format(word, word.capitalize()), add_special_tokens=False)[0]
             for form in _VARIANTS}
            for word in ("true", "false")
        )  # fmt: skip
        if not true - false or not false - true:
            raise InputError("this model's tokenizer starts true and false with the same token; use --local-generate")
        return sorted(true - false), sorted(false - true)


def _compared(prompt: _Prompt, margin: float) -> Answer:
    if not math.isfinite(margin):
        return Answer(prompt.key, failure="the model computed no finite probability")
    return Answer(
        prompt.key,
        raw=f"answer: {'true' if margin > 0 else 'false'}",
        finish_reason="stop",
        prompt_tokens=len(prompt.tokens),
        completion_tokens=0,
        confidence=1 / (1 + math.exp(-abs(margin))),
    )


def _file_of(source: str, name: str) -> Path:
    """A file of a model, in its folder or (downloaded if need be) in its hub repository.

    Raises:
        UsageError: transformers is not installed.
        InputError: there is no such file.
    """
    folder = Path(source)
    if folder.is_dir():
        if not (folder / name).is_file():
            raise InputError(f"--local-model {source}: no {name} in this folder")
        return folder / name
    try:
        from transformers.utils import cached_file
    except ImportError as fault:
        raise UsageError(_MISSING_EXTRA) from fault
    try:
        return Path(cached_file(source, name))
    except OSError as fault:
        raise InputError(
            f"--local-model {source}: neither a folder nor a model on the hub that can be reached"
        ) from fault
