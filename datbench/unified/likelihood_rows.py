"""Rows scored by the log-likelihoods of a model: perplexity, choices and preferences."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from datbench.unified import likelihood
from datbench.unified.cells import is_nan
from datbench.unified.choices import ChoicesError
from datbench.unified.eval_types import (
    LIKELIHOOD_CHOICE_PER_BYTE,
    LIKELIHOOD_METRICS,
    NO_PERPLEXITY,
    NO_SERVING,
)
from datbench.unified.likelihood import Pairs
from datbench.unified.prompts import answer_prompt, continuation, lettered, normalize_context
from datbench.unified.rows import Outcome, Row, invalid, scored
from datbench.unified.rules import Rules
from datbench.unified.serving_calls import accepts, method, names_parameter

logger = logging.getLogger(__name__)


class Choice(NamedTuple):
    """A single-choice row ready to be asked for: the label's index, and one pair for each choice."""

    label: int
    pairs: Pairs


@dataclass(frozen=True)
class Likelihoods:
    """Scoring by a model's log-likelihoods, with the prompts of the operator or of a template that fits them."""

    serving: Any
    template: Any
    rules: Rules

    def unavailable(self, eval_type: str) -> str | None:
        """The token of a table, even an empty one, that the serving cannot score at all; None where it can."""
        if eval_type == "key1_text_score" and self._perplexities([]) is None:
            return NO_PERPLEXITY
        return NO_SERVING if eval_type == "key3_q_a_rejected" and self.serving is None else None

    def texts(self, rows: Sequence[Row]) -> list[Outcome]:
        """``key1_text_score``: perplexity of each text; a text of one token has 1.0, in strict mode none."""
        unavailable = invalid(NO_PERPLEXITY)
        values = self._perplexities([self._text(row["text"]) for row in rows])
        if values is None:
            return [unavailable] * len(rows)
        unscored = unavailable if self.rules.strict else scored(1.0)
        return [unscored if value is None else scored(value) for value in values]

    def _text(self, cell: Any) -> str:
        return "" if cell is None or (self.rules.strict and is_nan(cell)) else str(cell)

    def _perplexities(self, texts: list[str]) -> list[float | None] | None:
        if self.serving is None:
            logger.error("perplexity needs an llm_serving")
            return None
        return likelihood.perplexities(self.serving, texts)

    def choices(self, rows: Sequence[Row], metric: str) -> list[Outcome]:
        """``key3_q_choices_a``: the choice whose text is likeliest (per UTF-8 byte with ``ll_choice_acc_norm``)."""
        prepared = [self.choice(row) for row in rows]
        found = self._ask([choice.pairs for choice in prepared if isinstance(choice, Choice)])
        per_byte = metric == LIKELIHOOD_CHOICE_PER_BYTE
        return [
            _likeliest(choice, next(found), per_byte) if isinstance(choice, Choice) else choice for choice in prepared
        ]

    def preferences(self, rows: Sequence[Row]) -> list[Outcome]:
        """``key3_q_a_rejected``: 1.0 where the better answer is strictly likelier than the rejected one."""
        if self.serving is None:
            logger.error("key3_q_a_rejected needs an llm_serving")
            return [invalid(NO_SERVING)] * len(rows)
        prepared = [self.preference(row) for row in rows]
        found = self._ask([pairs for pairs in prepared if isinstance(pairs, list)])
        return [pairs if isinstance(pairs, Outcome) else _preference(next(found)) for pairs in prepared]

    def _ask(self, rows: Sequence[Pairs]) -> Any:
        return iter(likelihood.log_likelihoods(self.serving, rows) if rows else ())

    def choice(self, row: Row) -> Choice | Outcome:
        """The pairs of a single-choice row, or its invalid outcome."""
        try:
            options = filled_choices(self.rules, row["choices"])
        except ChoicesError as fault:
            return invalid(str(fault))
        label = self.rules.label(row["label"], options)
        if label is None:
            return invalid("invalid_label")
        prompt = self._prompt(row, "mc_single", options)
        return Choice(label, [(prompt, continuation(prompt, option)) for option in options])

    def preference(self, row: Row) -> Pairs | Outcome:
        """The pairs of a preference row (better, rejected), or its invalid outcome."""
        for role in ("better", "rejected"):
            if self.rules.is_blank(row[role]):
                return invalid(f"empty_{role}")
        prompt = self._prompt(row, "pairwise", None)
        return [(prompt, continuation(prompt, row[role])) for role in ("better", "rejected")]

    def _prompt(self, row: Row, task: str, options: list[Any] | None) -> str:
        context = normalize_context(row.get("context"))
        build = method(self.template, "build_prompt")
        texts = None if options is None else [str(option) for option in options]
        cells = {
            "question": row["question"],
            "context": context,
            "text": None,
            "choices": texts,
            "choices_text": None if texts is None else lettered(texts),
            "task": task,
        }
        fields = ({"question"} if texts is None else {"question", "choices"},)
        leading = fields if build and names_parameter(build, "need_fields") else ()
        if build and accepts(build, *leading, **cells):
            try:
                return str(build(*leading, **cells))
            except Exception:
                if self.rules.strict:
                    raise
                logger.exception("the prompt template failed; the default prompt is used for this row")
        elif build:
            logger.debug("the prompt template does not take the fields of %s", task)
        return answer_prompt(row["question"], context, options)


def filled_choices(rules: Rules, cell: Any) -> list[Any]:
    """The choices of a cell, at least one.

    Raises:
        ChoicesError: there are none (NaN and an empty list too: ``empty_choices``), or the cell is no list.
    """
    options = [] if is_nan(cell) else rules.choices(cell)
    if not options:
        raise ChoicesError("empty_choices")
    return options


def _likeliest(choice: Choice, values: list[float] | None, per_byte: bool) -> Outcome:
    if values is None:
        return invalid("ll_unavailable")
    if per_byte:
        sizes = [max(len(text.encode("utf-8", "replace")), 1) for _, text in choice.pairs]
        values = [value / size for value, size in zip(values, sizes, strict=True)]
    best = max(range(len(values)), key=values.__getitem__)
    return scored(float(best == choice.label), best)


def _preference(values: list[float] | None) -> Outcome:
    if values is None:
        return invalid("ll_unavailable")
    better, rejected = values
    return scored(float(better > rejected), json.dumps({"ll_better": better, "ll_rejected": rejected}))


def uses_likelihoods(eval_type: str, metric: str, serving: Any) -> bool:
    """Whether ``key3_q_choices_a`` is scored by log-likelihood rather than by parsing."""
    return eval_type == "key3_q_choices_a" and metric in LIKELIHOOD_METRICS and serving is not None
