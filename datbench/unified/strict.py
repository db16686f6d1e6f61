"""Strict mode as one set of rules; each function says which reading it makes stricter."""

from __future__ import annotations

from functools import lru_cache, partial

from datbench.unified import strict_choices, strict_text
from datbench.unified.cells import is_blank_or_nan
from datbench.unified.rules import Rules
from datbench.unified.strict_choices import LabelBase
from datbench.unified.verdicts import parse_verdict_strictly

__all__ = ["LabelBase", "strict_rules"]

_SET_SCORES = ("jaccard", "exact_set")


@lru_cache(maxsize=8)
def strict_rules(label_base: int, metric: str | None) -> Rules:
    """The rules of strict mode.

    Args:
        label_base: 0 or 1, what the first choice is called where labels and answers are digits.
        metric: ``jaccard`` or ``exact_set`` select that set metric as the score; any other name means F1.
    """
    return Rules(
        strict=True,
        is_blank=is_blank_or_nan,
        extract=strict_text.extract_answer,
        comparable=strict_text.comparable,
        text_matcher=strict_text.text_matcher,
        targets=strict_text.targets,
        choices=strict_choices.choices,
        label=partial(strict_choices.label, base=label_base),
        choice=partial(strict_choices.choice, base=label_base),
        gold_set=partial(strict_choices.gold_set, base=label_base),
        choice_set=partial(strict_choices.choice_set, base=label_base),
        set_metrics=strict_choices.strict_set_metrics,
        set_score=metric if metric in _SET_SCORES else "f1",
        verdict=parse_verdict_strictly,
    )
