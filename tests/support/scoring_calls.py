"""Short ways to score one output of one source dataset."""

from __future__ import annotations

from typing import Any

from datbench import score_sample


def details_of(dataset: str, output: Any, answer: Any = "", question: str = "What?", **metadata: Any) -> dict[str, Any]:
    """Details of one output; ``all_answers_of_row`` in the metadata stands for the row's own list."""
    row = {
        "id": "row-1",
        "question": question,
        "answer": answer,
        "all_answers": metadata.pop("all_answers_of_row", None),
        "source_info": {"dataset": dataset},
        "metadata": metadata,
    }
    return score_sample(row, output)


def score_of(dataset: str, output: Any, answer: Any = "", **more: Any) -> float:
    """Score of one output."""
    return details_of(dataset, output, answer, **more)["score"]
