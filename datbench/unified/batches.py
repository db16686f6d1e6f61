"""The rules over batches of columns: a stateless function for engines that map batches (Ray Data, Spark)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from datbench.unified.cells import cell_value
from datbench.unified.eval_types import EVAL_TYPES, OUTPUTS, SEMANTIC_JUDGE, key_name
from datbench.unified.formula import shared_comparer
from datbench.unified.rows import FORMULA_TYPES, ROW_SCORERS, Outcome, Row
from datbench.unified.rules import check_label_base, rules_for

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class BatchScorer:
    """Scores a batch of columns; holds settings only, so it can be pickled and called anywhere.

    Attributes:
        eval_type: an evaluation type that needs no model.
        columns: (role, column name) of what the rules read.
        strict: which rules.
        label_base: 0 or 1, strict rules only.
        metric: metric name; ``jaccard`` and ``exact_set`` matter to strict rules.
    """

    eval_type: str
    columns: tuple[tuple[str, str], ...]
    strict: bool
    label_base: int | None
    metric: str | None

    def __call__(self, batch: Columns) -> dict[str, list[Any]]:
        """The batch's columns and the four output columns, all as lists of equal length.

        Raises:
            KeyError: the batch lacks a column.
            MathVerifyError: a formula type where this process finds no working math-verify.
        """
        outcomes = self.outcomes(batch)
        cells = zip(*outcomes, strict=True) if outcomes else ([] for _ in OUTPUTS)
        return {
            **{name: list(column) for name, column in batch.items()},
            **{name: list(column) for name, column in zip(OUTPUTS, cells, strict=True)},
        }

    def outcomes(self, batch: Columns) -> list[Outcome]:
        """The outcome of each row of the batch. Raises as a call does."""
        rules = rules_for(self.strict, self.label_base, self.metric)
        comparer = shared_comparer()
        if self.eval_type in FORMULA_TYPES:
            comparer.start()
        score = ROW_SCORERS[self.eval_type]
        return [score(row, rules, comparer.compare) for row in self._rows(batch)]

    def _rows(self, batch: Columns) -> list[Row]:
        roles = [role for role, _ in self.columns]
        columns = [batch[name] for _, name in self.columns]
        return [dict(zip(roles, map(cell_value, cells), strict=True)) for cells in zip(*columns, strict=True)]


def make_batch_scorer(
    *,
    eval_type: str,
    keys: Mapping[str, str],
    strict: bool = False,
    label_base: int | None = None,
    metric_type: str | None = None,
) -> BatchScorer:
    """A function from a batch of columns (name to list of cells) to the same batch with the four output columns.

    Args:
        eval_type: ``key2_qa``, ``key2_q_ma``, ``key3_q_choices_a`` (by parsing) or ``key3_q_choices_as``.
        keys: column names by ``run`` argument, for example ``{"input_target_key": "answer"}``.
        strict: strict mode.
        label_base: what the first choice is called where labels are digits; strict mode of the choice types needs
            it, since a batch cannot see the whole column.
        metric_type: metric name.

    Raises:
        ValueError: an evaluation type or a metric that needs a model, a missing key, or no ``label_base`` where it is
            needed.
        MathVerifyError: a formula type without a working math-verify.
    """
    if eval_type not in ROW_SCORERS:
        raise ValueError(f"{eval_type!r} cannot be scored by rules alone; those that can: {', '.join(ROW_SCORERS)}")
    if eval_type == "key2_qa" and metric_type == SEMANTIC_JUDGE:
        raise ValueError("semantic_judge cannot be scored by rules alone; use UnifiedBenchDatasetEvaluator")
    check_label_base(label_base)
    given = {"input_pred_key": "generated_ans", **keys}
    roles = [role for role in (*EVAL_TYPES[eval_type].roles, "pred") if role != "question"]
    absent = [key_name(role) for role in roles if not given.get(key_name(role))]
    if absent:
        raise ValueError(f"{eval_type} needs the keys {', '.join(absent)}")
    if strict and label_base is None and eval_type.startswith("key3"):
        raise ValueError("strict mode over batches needs label_base=0 or 1: no batch sees the whole label column")
    if eval_type in FORMULA_TYPES:
        shared_comparer().start()
    columns = tuple({role: given[key_name(role)] for role in roles}.items())
    return BatchScorer(eval_type, columns, strict, label_base, metric_type)
