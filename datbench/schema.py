"""The columns of a DatBench row, written down once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datasets import Features


def features() -> Features:
    """Features of a DatBench row as ``datasets.load_dataset`` gives it; ``image`` is decoded when read.

    ``metadata`` is the JSON text of an object whose keys depend on the source dataset.
    """
    from datasets import Features, Image, Value

    text = Value("string")
    return Features(
        {
            "id": text,
            "image": Image(),
            "question": text,
            "answer": text,
            "all_answers": [text],
            "eval_mode": text,
            "judge_prompt": text,
            "is_circular": Value("bool"),
            "prompt_format": {"prefix": text, "suffix": text},
            "source_info": {"dataset": text, "original_idx": text},
            "eval_metrics": {"discrimination": Value("float64"), "is_frontier": Value("bool")},
            "metadata": text,
        }
    )
