"""The semantic judge of ``key2_qa``: one prompt for each row that has both answers, one call for all of them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from datbench.unified.cells import is_blank
from datbench.unified.prompts import AnswerJudgePrompt
from datbench.unified.rows import Outcome, Row, invalid, missing_answer, scored
from datbench.unified.rules import Rules
from datbench.unified.serving_calls import accepts, method, names_parameter

logger = logging.getLogger(__name__)

_BUILT_IN = AnswerJudgePrompt()


def judge_prompt(template: Any, row: Row, rules: Rules) -> str:
    """The judge's prompt for a row, from a template (None: the built-in one).

    A template is called with ``answer`` and ``reference_answer``, and with ``question`` if it names that parameter.
    One that raises is replaced by the built-in prompt for this row; in strict mode the error goes through.
    """
    build = (template or _BUILT_IN).build_prompt
    cells = {"answer": row["pred"], "reference_answer": row["target"]}
    if names_parameter(build, "question"):
        cells["question"] = row.get("question")
    try:
        return str(build(**cells))
    except Exception:
        if rules.strict or template is None:
            raise
        logger.exception("the prompt template failed; the built-in prompt is used for this row")
        return judge_prompt(None, row, rules)


def verdict_outcome(response: Any, rules: Rules) -> Outcome:
    """The outcome of a judged row; a response without a verdict is invalid in strict mode, a valid 0 otherwise."""
    verdict = rules.verdict(response)
    return invalid("judge_parse_failed") if verdict is None else scored(float(verdict))


def judge_rows(
    rows: Sequence[Row], rules: Rules, *, serving: Any, template: Any, system_prompt: str
) -> tuple[list[Outcome], int]:
    """Outcomes of all rows, and how many responses were empty. The serving is called once, or not at all."""
    generate = method(serving, "generate_from_input")
    if generate is None:
        logger.error("semantic_judge needs an llm_serving with generate_from_input")
        return [invalid("semantic_judge_unavailable")] * len(rows), 0
    missing = [missing_answer(row, rules) for row in rows]
    prompts = [judge_prompt(template, row, rules) for row, gap in zip(rows, missing, strict=True) if not gap]
    if not prompts:
        return [outcome for outcome in missing if outcome], 0
    responses = iter(_ask(generate, prompts, system_prompt))
    outcomes, empty = [], 0
    for gap in missing:
        response = None if gap else next(responses, _NO_RESPONSE)
        if gap:
            outcomes.append(gap)
        elif response is _NO_RESPONSE:
            outcomes.append(invalid("semantic_judge_failed"))
        else:
            empty += is_blank(response)
            outcomes.append(verdict_outcome(response, rules))
    return outcomes, empty


_NO_RESPONSE = object()


def _ask(generate: Any, prompts: list[str], system_prompt: str) -> Iterable[Any]:
    try:
        if accepts(generate, user_inputs=prompts, system_prompt=system_prompt):
            responses = generate(user_inputs=prompts, system_prompt=system_prompt)
        else:
            responses = generate(prompts)
        return () if responses is None else list(responses)
    except Exception:
        logger.exception("the judge's serving failed")
        return ()
