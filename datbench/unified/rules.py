"""How single cells are read and compared: one set of functions for each mode, used by one row scorer each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from datbench.unified import choices, verdicts
from datbench.unified.answer_extraction import extract_answer
from datbench.unified.cells import is_blank
from datbench.unified.targets import normalize_targets
from datbench.unified.text_match import contains_either, normalize_text

Matcher = Callable[[Any], bool]


@dataclass(frozen=True)
class Rules:
    """The readings of one mode; index functions take (cell, choices) and give None when nothing can be read.

    Attributes:
        strict: which mode this is.
        is_blank: whether a cell counts as empty.
        extract: prediction cell -> its final answer.
        comparable: answer or reference -> the form that is compared mathematically.
        text_matcher: (prediction cell, final answer) -> test of one reference.
        targets: targets cell -> list of reference answers.
        choices: choices cell -> list, or ChoicesError.
        label: label cell -> index.
        choice: prediction cell -> index.
        gold_set: labels cell -> index set.
        choice_set: prediction cell -> index set.
        set_metrics: (predicted, gold) -> the five set metrics.
        set_score: which of them is the score.
        verdict: judge response -> True, False or None.
    """

    strict: bool
    is_blank: Callable[[Any], bool]
    extract: Callable[[Any], str]
    comparable: Callable[[Any], Any]
    text_matcher: Callable[[Any, str], Matcher]
    targets: Callable[[Any], list[str]]
    choices: Callable[[Any], list[Any]]
    label: Callable[[Any, list[Any]], int | None]
    choice: Callable[[Any, list[Any]], int | None]
    gold_set: Callable[[Any, list[Any]], set[int] | None]
    choice_set: Callable[[Any, list[Any]], set[int] | None]
    set_metrics: Callable[[set[int], set[int]], dict[str, float]]
    set_score: str
    verdict: Callable[[Any], bool | None]


def text_matcher(prediction: Any, final: str) -> Matcher:
    """Containment in either direction of a reference with the whole prediction or its final answer."""
    texts = (normalize_text(prediction), normalize_text(final))

    def matches(target: Any) -> bool:
        reference = normalize_text(target)
        return any(contains_either(text, reference) for text in texts)

    return matches


def _by_count(read: Callable[[Any, int], Any]) -> Callable[[Any, list[Any]], Any]:
    return lambda cell, options: read(cell, len(options))


PARITY = Rules(
    strict=False,
    is_blank=is_blank,
    extract=extract_answer,
    comparable=lambda value: value,
    text_matcher=text_matcher,
    targets=normalize_targets,
    choices=choices.read_choices,
    label=_by_count(choices.normalize_label),
    choice=_by_count(choices.parse_choice),
    gold_set=_by_count(choices.normalize_labels),
    choice_set=_by_count(lambda cell, n: choices.parse_multiselect(str(cell), n)),
    set_metrics=choices.set_metrics,
    set_score="f1",
    verdict=verdicts.parse_verdict,
)
"""The reference's own behaviour, quirks included."""


def check_label_base(base: int | None) -> None:
    """ValueError unless the base is 0, 1 or None."""
    if base not in (None, 0, 1):
        raise ValueError(f"label_base is {base!r}; use 0, 1 or None")


def rules_for(strict: bool = False, label_base: int | None = None, metric: str | None = None) -> Rules:
    """The rules of a mode. ``label_base`` (0 or 1; None counts as 0) and ``metric`` matter in strict mode only."""
    if not strict:
        return PARITY
    from datbench.unified.strict import strict_rules

    return strict_rules(label_base or 0, metric)
