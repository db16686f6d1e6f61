"""The operator ``UnifiedBenchDatasetEvaluator``: scores a table of a storage and writes four columns to it."""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Sequence
from typing import Any

from datbench import jsonio
from datbench.unified import frames
from datbench.unified.eval_types import EVAL_TYPES, OUTPUTS, SEMANTIC_JUDGE, default_metric
from datbench.unified.formula import shared_comparer
from datbench.unified.judge import judge_rows
from datbench.unified.likelihood_rows import Likelihoods, uses_likelihoods
from datbench.unified.rows import FORMULA_TYPES, ROW_SCORERS, Outcome, Row
from datbench.unified.rules import Rules, check_label_base, rules_for
from datbench.unified.statistics import Totals, statistics

SYSTEM_PROMPT = "You are a helpful assistant specialized in evaluating answer correctness."

_DESCRIPTIONS = {
    "zh": "按六种评测类型为基准数据表逐行评分，写入 eval_valid、eval_error、eval_pred、eval_score 四列，"
    "并保存统计结果。",
    "en": "Scores each row of a benchmark table by one of six evaluation types, writes the columns eval_valid, "
    "eval_error, eval_pred and eval_score, and saves the statistics.",
}


class UnifiedBenchDatasetEvaluator:
    """Evaluates model answers on a benchmark table.

    Attributes:
        empty_responses_count: empty judge responses over the life of the object.
        formula_limit_hits: comparisons of the last run that ran into the limit of CPU time, memory or length.
    """

    def __init__(
        self,
        *,
        eval_type: str = "key2_qa",
        llm_serving: Any = None,
        prompt_template: Any = None,
        eval_result_path: str | None = None,
        metric_type: str | None = None,
        use_semantic_judge: bool = False,
        system_prompt: str = SYSTEM_PROMPT,
        strict: bool = False,
        label_base: int | None = None,
    ) -> None:
        """Set up an evaluation.

        Args:
            eval_type: one of the six evaluation types.
            llm_serving: an object with ``generate_from_input`` (judge), a log-likelihood method, or the name of a
                model to load; needed by the judge, by perplexity, by choices by likelihood and by preferences.
            prompt_template: None, an object with ``build_prompt``, or a class that makes one without arguments.
            eval_result_path: statistics file; None names one by the time of construction.
            metric_type: None for the default metric of the type.
            use_semantic_judge: lets a judge decide ``key2_qa`` rows; wants ``llm_serving``.
            system_prompt: handed to the judge's serving.
            strict: stricter readings of answers and labels; the statistics then say so.
            label_base: strict mode only: 0 or 1 for labels given as digits; None finds it in the label column.

        Raises:
            TypeError: ``prompt_template`` has no callable ``build_prompt``.
            ValueError: ``label_base`` is something else than None, 0 or 1.
        """
        check_label_base(label_base)
        self.eval_type = eval_type
        self.llm_serving = llm_serving
        self.prompt_template = _template(prompt_template)
        self.eval_result_path = eval_result_path or (
            f"result_bencheval/UnifiedBenchDatasetEvaluator_result_{int(time.time())}.json"
        )
        self.metric_type = metric_type
        self.use_semantic_judge = use_semantic_judge
        self.system_prompt = system_prompt
        self.strict = strict
        self.label_base = label_base
        self.empty_responses_count = 0
        self.formula_limit_hits = 0
        self.logger = logging.getLogger(__name__)
        if use_semantic_judge and eval_type != "key2_qa":
            self.logger.warning("use_semantic_judge has no effect on %s", eval_type)

    @staticmethod
    def get_desc(lang: str = "zh") -> str:
        """One sentence on the operator, in Chinese for "zh", else in English."""
        return _DESCRIPTIONS.get(lang, _DESCRIPTIONS["en"])

    def run(
        self,
        storage: Any,
        *,
        input_text_key: str | None = None,
        input_question_key: str | None = None,
        input_target_key: str | None = None,
        input_targets_key: str | None = None,
        input_choices_key: str | None = None,
        input_label_key: str | None = None,
        input_labels_key: str | None = None,
        input_better_key: str | None = None,
        input_rejected_key: str | None = None,
        input_context_key: str | None = None,
        input_pred_key: str = "generated_ans",
        output_eval_valid_key: str = OUTPUTS[0],
        output_eval_error_key: str = OUTPUTS[1],
        output_eval_pred_key: str = OUTPUTS[2],
        output_eval_score_key: str = OUTPUTS[3],
    ) -> list[str]:
        """Score the storage's frame, write it back with four columns, save the statistics.

        Args:
            storage: has ``read("dataframe")``, ``write(frame)`` and perhaps ``file_name_prefix``.
            input_text_key: column of texts; the other ``input_*_key`` name columns likewise.
            output_eval_valid_key: output column; the other ``output_eval_*_key`` name columns likewise.

        Returns:
            Names of the columns used and written. Without a required column or with an unknown evaluation type
            nothing is scored: the names of the required columns, or a list for the unknown type.

        Raises:
            MathVerifyError: rules of ``key2_*`` without a working math-verify; nothing is written then.
            ModuleNotFoundError: a local model is wanted and torch or transformers is missing.
            ValueError: several columns have the name of one that is needed; strict mode: a required column is
                missing, or the evaluation type is unknown.
        """
        columns = {
            "text": input_text_key or "",
            "question": input_question_key or "",
            "target": input_target_key or "",
            "targets": input_targets_key or "",
            "choices": input_choices_key or "",
            "label": input_label_key or "",
            "labels": input_labels_key or "",
            "better": input_better_key or "",
            "rejected": input_rejected_key or "",
            "pred": input_pred_key or "",
        }
        outputs = [output_eval_valid_key, output_eval_error_key, output_eval_pred_key, output_eval_score_key]
        self.output_eval_valid_key, self.output_eval_error_key = outputs[:2]
        self.output_eval_pred_key, self.output_eval_score_key = outputs[2:]
        reported = [output_eval_score_key, output_eval_valid_key, output_eval_error_key]

        frame = storage.read("dataframe").copy()
        frames.check_names(frame, {*columns.values(), input_context_key, *outputs})
        frames.prepare(frame, outputs)
        if self.eval_type not in EVAL_TYPES:
            self._refuse(f"unknown eval_type {self.eval_type!r}; known: {', '.join(EVAL_TYPES)}")
            storage.write(frame)
            return [output_eval_valid_key, output_eval_error_key, input_pred_key, output_eval_score_key]
        metric = self.metric_type or default_metric(self.eval_type, self.use_semantic_judge)
        if input_context_key and input_context_key not in frame.columns:
            self.logger.error("no context column %r; scoring goes on without context", input_context_key)
            input_context_key = None
        roles = EVAL_TYPES[self.eval_type].roles
        needed = (*roles, "pred") if self._parses_choices() else roles
        required = [columns[role] for role in needed]
        absent = [name for name in required if name not in frame.columns]
        if absent:
            self._refuse(f"{self.eval_type} needs the columns {required}; missing: {absent}")
            storage.write(frame)
            return required

        present = {role: columns[role] for role in (*needed, "pred") if columns[role] in frame.columns}
        if input_context_key:
            present["context"] = input_context_key
        rows = list(frames.rows(frame, present))
        rules = rules_for(self.strict, self._base(rows), metric)
        outcomes = self._outcomes(rows, rules, metric)
        frames.fill(frame, outputs, outcomes)
        storage.write(frame)
        self._save(outcomes, metric, rules, str(getattr(storage, "file_name_prefix", "")))
        return [*(columns[role] for role in roles), *reported]

    def _parses_choices(self) -> bool:
        return self.eval_type == "key3_q_choices_a" and self.llm_serving is None

    def _refuse(self, problem: str) -> None:
        if self.strict:
            raise ValueError(problem)
        self.logger.error(problem)

    def _base(self, rows: Sequence[Row]) -> int | None:
        if not self.strict or self.label_base is not None:
            return self.label_base
        from datbench.unified.strict import LabelBase

        base = LabelBase()
        for row in rows:
            base.add(row.get("label", row.get("labels")), row.get("choices"))
        return base.value

    def _outcomes(self, rows: list[Row], rules: Rules, metric: str) -> list[Outcome]:
        if self.eval_type == "key2_qa" and metric == SEMANTIC_JUDGE:
            outcomes, empty = judge_rows(
                rows,
                rules,
                serving=self.llm_serving,
                template=self.prompt_template,
                system_prompt=self.system_prompt,
            )
            self.empty_responses_count += empty
            return outcomes
        by_model = self._likelihoods(rules)
        if self.eval_type == "key1_text_score":
            return by_model.texts(rows)
        if self.eval_type == "key3_q_a_rejected":
            return by_model.preferences(rows)
        if uses_likelihoods(self.eval_type, metric, self.llm_serving):
            return by_model.choices(rows, metric)
        if self.eval_type == "key3_q_choices_a":
            self.logger.warning("single choices are read from the generated text, not from log-likelihoods")
        return self._by_rules(rows, rules)

    def _likelihoods(self, rules: Rules) -> Likelihoods:
        return Likelihoods(self.llm_serving, self.prompt_template, rules)

    def _by_rules(self, rows: list[Row], rules: Rules) -> list[Outcome]:
        comparer = shared_comparer()
        if self.eval_type in FORMULA_TYPES:
            comparer.start()
        hits = comparer.limit_hits
        score = ROW_SCORERS[self.eval_type]
        outcomes = [score(row, rules, comparer.compare) for row in rows]
        self.formula_limit_hits = comparer.limit_hits - hits
        if self.formula_limit_hits:
            self.logger.warning("%d formula comparisons ran into their limit and are no match", self.formula_limit_hits)
        return outcomes

    def _save(self, outcomes: list[Outcome], metric: str, rules: Rules, prefix: str) -> None:
        totals = Totals()
        totals.add(outcomes)
        result = statistics(
            totals,
            eval_type=self.eval_type,
            metric=metric,
            prefix=prefix,
            strict=self.strict,
            set_score=rules.set_score,
            unavailable=None if outcomes else self._likelihoods(rules).unavailable(self.eval_type),
        )
        jsonio.write_json(self.eval_result_path, [result])
        self.logger.info("statistics saved to %s", self.eval_result_path)


def _template(template: Any) -> Any:
    if inspect.isclass(template) and callable(getattr(template, "build_prompt", None)):
        return template()
    if template is not None and not callable(getattr(template, "build_prompt", None)):
        raise TypeError(f"prompt_template of type {type(template).__name__} has no method build_prompt")
    return template
