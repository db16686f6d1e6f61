"""The functions that the task YAMLs of ``new-task`` name, for lmms-eval and lm-evaluation-harness alike.

A document holds ``id``, ``cells`` (JSON text of the row's cells by role), ``settings`` (JSON text: evaluation type,
strict, label base, metric) and perhaps ``image``. Nothing here raises on a model's output.
"""

from __future__ import annotations

import io
import json
import logging
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from datbench.unified.formula import shared_comparer
from datbench.unified.likelihood import perplexity
from datbench.unified.likelihood_rows import Choice, Likelihoods
from datbench.unified.prompts import answer_prompt, continuation, normalize_context
from datbench.unified.rows import FORMULA_TYPES, ROW_SCORERS, Outcome, Row, invalid, scored
from datbench.unified.rules import Rules, rules_for
from datbench.unified.tables import without_surrogates
from datbench_tasks.reasoning import set_reasoning_aside

log = logging.getLogger(__name__)

Doc = Mapping[str, Any]

_INSTRUCTIONS = {
    "key3_q_choices_a": "Choose the one right option. Reply with its letter only.",
    "key3_q_choices_as": 'Choose all right options. Reply with JSON only, such as {"choices": ["A", "C"]}.',
}
_PLACEHOLDER = "-"
"""Asked for in place of a row that cannot be scored, since hosts want at least one request for each document."""


class Settings(NamedTuple):
    """How a task is scored; the same for all of its documents."""

    eval_type: str
    strict: bool = False
    label_base: int | None = None
    metric: str | None = None

    @property
    def rules(self) -> Rules:
        """The rules of these settings."""
        return rules_for(self.strict, self.label_base, self.metric)


@lru_cache(maxsize=64)
def _settings(text: str) -> Settings:
    return Settings(**json.loads(text))


def _row(doc: Doc) -> Row:
    return {"pred": None, **json.loads(doc["cells"])}


def process_docs(dataset: Any) -> Any:
    """Stop before any inference when formulas are to be compared and no math-verify works.

    Raises:
        MathVerifyError: with the remedy.
    """
    if len(dataset) and _settings(dataset[0]["settings"]).eval_type in FORMULA_TYPES:
        shared_comparer().start()
    return dataset


def doc_to_visual(doc: Doc) -> list[Any]:
    """The row's image as RGB, [] for a row without one."""
    image = doc.get("image")
    if image is None:
        return []
    if isinstance(image, Mapping):
        from PIL import Image

        image = Image.open(io.BytesIO(image["bytes"]))
    return [image.convert("RGB")]


def doc_to_text(doc: Doc, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None) -> str:
    """The prompt of a generated answer: an instruction where the answer is a letter, context, question, choices."""
    row, settings = _row(doc), _settings(doc["settings"])
    choices = None
    if "choices" in row:
        try:
            choices = settings.rules.choices(row["choices"])
        except ValueError:
            log.debug("row %s has no readable choices", doc.get("id"))
    prompt = answer_prompt(row.get("question"), normalize_context(row.get("context")), choices)
    parts = [_INSTRUCTIONS.get(settings.eval_type), prompt]
    around = lmms_eval_specific_kwargs or {}
    text = "\n\n".join(part for part in parts if part)
    return f"{around.get('pre_prompt') or ''}{text}{around.get('post_prompt') or ''}"


def doc_to_text_with_image(doc: Doc) -> str:
    """The prompt with lm-evaluation-harness's mark for the image, where the row has one."""
    return ("<image>\n" if doc.get("image") is not None else "") + doc_to_text(doc)


def doc_to_target(doc: Doc) -> str:
    """The reference, as text for the log."""
    row = _row(doc)
    found = next((row[role] for role in ("target", "targets", "label", "labels", "text") if role in row), "")
    return str(found)


def doc_to_continued_text(doc: Doc) -> str:
    """The prompt whose continuations are scored: the exact one of the operator."""
    return _pairs(doc)[0][0]


def doc_to_choice(doc: Doc) -> list[str]:
    """The continuations: each choice, or the better and the rejected answer, after the operator's leading space."""
    return [text for _, text in _pairs(doc)]


def doc_to_index(doc: Doc) -> int:
    """The index of the right continuation, 0 where there is none."""
    prepared = _prepared(doc)
    return prepared.label if isinstance(prepared, Choice) else 0


def _pairs(doc: Doc) -> list[tuple[str, str]]:
    prepared = _prepared(doc)
    if isinstance(prepared, Outcome):
        prompt = answer_prompt("")
        return [(prompt, continuation(prompt, _PLACEHOLDER))]
    return prepared.pairs if isinstance(prepared, Choice) else prepared


def _prepared(doc: Doc) -> Any:
    row, settings = _row(doc), _settings(doc["settings"])
    by_model = Likelihoods(None, None, settings.rules)
    return by_model.preference(row) if settings.eval_type == "key3_q_a_rejected" else by_model.choice(row)


def process_generated(doc: Doc, results: Sequence[Any], **_: Any) -> dict[str, Any]:
    """Score a generated answer, its reasoning set aside."""
    raw = _first_text(results)
    row = {**_row(doc), "pred": set_reasoning_aside(raw).text}
    settings = _settings(doc["settings"])
    try:
        outcome = ROW_SCORERS[settings.eval_type](row, settings.rules, shared_comparer().compare)
    except Exception as fault:  # an exception here would lose the host's whole run
        log.exception("a fault of our own while scoring row %s", doc.get("id"))
        outcome = invalid(f"scorer_error: {type(fault).__name__}")
    return _values(doc, outcome, raw)


class _GivenValues:
    """A serving that has what the host measured."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def loglikelihood(self, prompts: list[str], continuations: list[str]) -> list[Any]:
        return self._values


def process_likelihoods(doc: Doc, results: Sequence[Any], **_: Any) -> dict[str, Any]:
    """Score the log-likelihoods of the choices, or of the better and the rejected answer."""
    row, settings = _row(doc), _settings(doc["settings"])
    by_model = Likelihoods(_GivenValues(list(results)), None, settings.rules)
    if settings.eval_type == "key3_q_a_rejected":
        (outcome,) = by_model.preferences([row])
    else:
        (outcome,) = by_model.choices([row], settings.metric or "")
    return _values(doc, outcome)


def process_rolling(doc: Doc, results: Sequence[Any], **_: Any) -> dict[str, Any]:
    """Perplexity per UTF-8 byte of a text, since the host gives one sum and no number of tokens."""
    text = doc_to_rolling_text(doc)
    value = results[0] if results else None
    total = float(value[0] if isinstance(value, (tuple, list)) else value) if value is not None else math.nan
    found = None if math.isnan(total) else perplexity(total, len(text.encode("utf-8", "replace")))
    outcome = invalid("ppl_unavailable") if found is None else scored(found)
    values = _values(doc, outcome)
    return {"unified_byte_perplexity": values.pop("unified_score"), **values}


def doc_to_rolling_text(doc: Doc) -> str:
    """The text whose perplexity is measured."""
    text = _row(doc).get("text")
    return "" if text is None else str(text)


def no_text(_: Doc) -> str:
    """No prompt before a text that is measured as a whole."""
    return ""


def _first_text(results: Any) -> str:
    while isinstance(results, (list, tuple)):
        results = results[0] if results else None
    return "" if results is None else str(results)


def _values(doc: Doc, outcome: Outcome, output: str | None = None) -> dict[str, Any]:
    """The metrics of a document; None stays out of every mean, and a record never holds ``score: None``."""
    record: dict[str, Any] = {"id": doc.get("id"), "valid": outcome.valid, "error": outcome.error}
    if outcome.valid:
        record |= {"score": float(outcome.score), "pred": without_surrogates(outcome.pred)}
    if output is not None:
        record["output"] = without_surrogates(output)
    values: dict[str, Any] = {
        "unified_score": float(outcome.score) if outcome.valid else None,
        "unified_invalid": float(not outcome.valid),
        "unified_record": record,
    }
    if _settings(doc["settings"]).eval_type == "key3_q_choices_as":
        sets = json.loads(outcome.pred) if outcome.valid else {}
        values |= {f"unified_{name}": sets.get(name) for name in ("jaccard", "exact_set")}
    return values


def total(values: Sequence[float]) -> float:
    """Sum over documents, for counts."""
    return math.fsum(values)


def valid_share(records: Sequence[Mapping[str, Any]]) -> float:
    """Share of documents that could be scored, in [0, 1]; NaN without any."""
    return sum(bool(record["valid"]) for record in records) / len(records) if records else math.nan
