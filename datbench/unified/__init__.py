"""The unified bench evaluator: six evaluation types over any table of questions and answers."""

from __future__ import annotations

import importlib
from typing import Any

_EXPORTS = {
    "APILLMServing_request": "serving",
    "AnswerJudgePrompt": "prompts",
    "FileStorage": "storage",
    "MathVerifyError": "formula",
    "UnifiedBenchDatasetEvaluator": "evaluator",
    "make_batch_scorer": "batches",
    "register_with_dataflow": "dataflow",
}

__all__ = list(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(importlib.import_module(f"{__name__}.{_EXPORTS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
