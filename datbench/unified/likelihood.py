"""Log-likelihoods and perplexities from whatever offers them: a serving's own method, else a local model."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from datbench.unified.serving_calls import accepts, method

logger = logging.getLogger(__name__)

METHODS = (
    "loglikelihood_batch",
    "loglikelihood",
    "get_loglikelihood_batch",
    "get_loglikelihood",
    "score_batch",
    "score",
)
"""Looked for in this order; the first that the serving has is the only one that is tried."""

Pairs = list[tuple[str, str]]
"""(prompt, continuation) of one row."""


@dataclass(frozen=True)
class ModelSource:
    """Where a serving's model can be loaded from.

    Attributes:
        model_id: folder, GGUF file or hub name. A hub name is resolved over the network unless HF_HUB_OFFLINE=1.
        cache_dir: the hub cache, None for the default.
        trust_remote_code: run code that comes with the model; only when the serving says True.
    """

    model_id: str
    cache_dir: str | None = None
    trust_remote_code: bool = False


def model_source(serving: Any) -> ModelSource | None:
    """The model that a serving names by ``real_model_path`` or ``hf_model_name_or_path``, or None."""
    for name in ("real_model_path", "hf_model_name_or_path"):
        model_id = getattr(serving, name, None)
        if isinstance(model_id, str) and model_id:
            cache_dir = getattr(serving, "hf_cache_dir", None)
            return ModelSource(
                model_id,
                cache_dir if isinstance(cache_dir, str) else None,
                getattr(serving, "trust_remote_code", False) is True,
            )
    return None


def log_likelihoods(serving: Any, rows: Sequence[Pairs]) -> list[list[float] | None]:
    """Log-likelihood of each continuation after its prompt, row by row; None for a row that could not be had.

    A serving's own method is called once for each row, a local model in batches over all rows.
    Raises ModuleNotFoundError when a local model is wanted and torch or transformers is not installed.
    """
    ask = next((found for name in METHODS if (found := method(serving, name))), None)
    if ask:
        return [_checked(_call(ask, pairs), len(pairs)) for pairs in rows]
    model = _local_model(serving)
    if model is None:
        return [None] * len(rows)
    values = iter(model.log_likelihoods([pair for pairs in rows for pair in pairs]))
    return [_checked([next(values) for _ in pairs], len(pairs)) for pairs in rows]


def perplexities(serving: Any, texts: list[str]) -> list[float | None] | None:
    """Perplexity of each text, None for a text of fewer than two tokens; None as a whole when not to be had.

    Sources in order: ``serving.perplexity(texts)``, ``serving.token_logprobs(texts)`` (for each text the
    log-probabilities of its tokens from the second on), a local model.
    Raises ModuleNotFoundError as `log_likelihoods`.
    """
    ask, ask_tokens = method(serving, "perplexity"), method(serving, "token_logprobs")
    try:
        if ask:
            return _floats(ask(texts), len(texts))
        if ask_tokens:
            return [perplexity(sum(values), len(values)) for values in _of_length(ask_tokens(texts), len(texts))]
        model = _local_model(serving)
        return None if model is None else [perplexity(*parts) for parts in model.text_log_likelihoods(texts)]
    except ModuleNotFoundError:
        raise
    except Exception:
        logger.exception("perplexities could not be computed")
        return None


def perplexity(log_likelihood: float, tokens: int) -> float | None:
    """e to the mean negative log-likelihood of the scored tokens; None when there are none."""
    if not tokens:
        return None
    mean = -log_likelihood / tokens
    return math.exp(mean) if mean < 700 else math.inf


def _call(ask: Callable[..., Any], pairs: Pairs) -> Any:
    prompts, continuations = [prompt for prompt, _ in pairs], [text for _, text in pairs]
    try:
        if accepts(ask, prompts=prompts, continuations=continuations):
            return list(ask(prompts=prompts, continuations=continuations))
        if accepts(ask, prompts, continuations):
            return list(ask(prompts, continuations))
        return list(ask(pairs))
    except Exception:
        logger.exception("the serving's log-likelihood method failed")
        return None


def _checked(values: Any, expected: int) -> list[float] | None:
    """Exactly one usable number for each continuation, or None; of (value, is_greedy) pairs the value."""
    try:
        first = [value[0] if isinstance(value, (tuple, list)) else value for value in values]
        numbers = [math.nan if isinstance(value, str) else float(value) for value in first]
    except (TypeError, ValueError, IndexError, OverflowError, RuntimeError):
        return None
    usable = len(numbers) == expected and not any(math.isnan(number) or number == math.inf for number in numbers)
    return numbers if usable else None


def _floats(values: Any, expected: int) -> list[float | None]:
    return [None if value is None else float(value) for value in _of_length(values, expected)]


def _of_length(values: Any, expected: int) -> list[Any]:
    found = list(values)
    if len(found) != expected:
        raise ValueError(f"{len(found)} values for {expected} texts")
    return found


def _local_model(serving: Any) -> Any:
    source = model_source(serving)
    if source is None:
        logger.error("the serving has no log-likelihood method and names no model to load")
        return None
    from datbench.unified import local_model

    try:
        return local_model.load(source)
    except ModuleNotFoundError:
        raise
    except Exception:
        logger.exception("the model %s could not be loaded", source.model_id)
        return None
