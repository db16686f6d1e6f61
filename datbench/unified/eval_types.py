"""The six evaluation types: their columns and default metrics, as one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class EvalType:
    """One evaluation type.

    Attributes:
        roles: input roles in the order of the returned list; ``run`` takes ``input_<role>_key`` for each.
        metric: default metric name.
        mean: key of the mean score in the statistics.
    """

    roles: tuple[str, ...]
    metric: str
    mean: str = "accuracy"


EVAL_TYPES: Mapping[str, EvalType] = {
    "key1_text_score": EvalType(("text",), "ppl", "ppl_mean"),
    "key2_qa": EvalType(("question", "target", "pred"), "math_verify"),
    "key2_q_ma": EvalType(("question", "targets", "pred"), "any_math_verify"),
    "key3_q_choices_a": EvalType(("question", "choices", "label"), "ll_choice_acc"),
    "key3_q_choices_as": EvalType(("question", "choices", "labels", "pred"), "micro_f1", "micro_f1_mean"),
    "key3_q_a_rejected": EvalType(("question", "better", "rejected"), "pairwise_ll_winrate"),
}

SEMANTIC_JUDGE = "semantic_judge"
LIKELIHOOD_CHOICE_PER_BYTE = "ll_choice_acc_norm"
LIKELIHOOD_METRICS = ("ll_choice_acc", LIKELIHOOD_CHOICE_PER_BYTE)

NO_PERPLEXITY = "ppl_unavailable"
NO_SERVING = "llm_serving_required_for_pairwise"
"""Error tokens that the statistics of a whole table turn into a note."""

OUTPUTS = ("eval_valid", "eval_error", "eval_pred", "eval_score")
"""Default names of the output columns, in the order of ``rows.Outcome``."""


def key_name(role: str) -> str:
    """Name of the ``run`` argument that names a role's column."""
    return f"input_{role}_key"


def default_metric(eval_type: str, use_semantic_judge: bool = False) -> str:
    """The metric of a type when none is asked for; "unknown" for an unknown type."""
    if eval_type == "key2_qa" and use_semantic_judge:
        return SEMANTIC_JUDGE
    return EVAL_TYPES[eval_type].metric if eval_type in EVAL_TYPES else "unknown"
