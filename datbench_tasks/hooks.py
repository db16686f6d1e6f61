"""The functions that the task YAMLs name: from a dataset row to a prompt, and from an answer to a record.

They keep to what lmms-eval and lm-evaluation-harness have in common, raise on no model output, touch an image only in
``doc_to_visual``, and hold no state of their own, since the host calls them from several threads.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from datbench.samples import DatBenchSample, read_row
from datbench_tasks.host_task import ROW_COLUMN, loaded_task, mark_rows
from datbench_tasks.records import Record, build_record, failed_record

log = logging.getLogger(__name__)

GREY = (128, 128, 128)


def process_docs(dataset: Any) -> Any:
    """Check every row of a split and mark it, when the task loads and before any GPU time is spent.

    Raises:
        ValueError: a row is malformed or repeats an id; names its position, id and field.
    """
    from datbench import DatBenchEvaluator

    try:
        DatBenchEvaluator(dataset, "")
    except ValueError as fault:
        log.error("DatBench data is malformed: %s. Load an unchanged copy of the dataset.", fault)
        raise
    return mark_rows(dataset)


def doc_to_visual(doc: Mapping[str, Any]) -> list[Any]:
    """The row's image as RGB; the only place where an image is decoded. A row without one gives []."""
    image = read_row(doc, 0, doc.get("image")).image
    return [] if image is None else [image.convert("RGB")]


def doc_to_grey(doc: Mapping[str, Any]) -> list[Any]:
    """A mid-grey image of the size of the row's own, for blind runs."""
    from PIL import Image

    return [Image.new("RGB", image.size, GREY) for image in doc_to_visual(doc)]


def doc_to_text(doc: Mapping[str, Any], lmms_eval_specific_kwargs: Mapping[str, Any] | None = None) -> str:
    """The prompt: prefix + question + suffix as published, between the host's pre_prompt and post_prompt."""
    around = lmms_eval_specific_kwargs or {}
    return f"{around.get('pre_prompt') or ''}{_sample(doc).prompt}{around.get('post_prompt') or ''}"


def doc_to_target(doc: Mapping[str, Any]) -> str:
    """The reference answer, as text."""
    return str(doc["answer"])


def process_results(doc: Mapping[str, Any], results: Sequence[Any], **_: Any) -> dict[str, Any]:
    """Score one answer; never raises, since an exception here loses the host's whole run.

    Returns:
        ``datbench_score`` and ``datbench_pooled``: the score in [0, 1], None while a verdict is pending (two metrics,
        because the host keeps one group aggregation a metric); ``datbench_record``: the record (see records.py).
    """
    record = _record(doc, _text(results))
    score = record.get("score")
    return {"datbench_score": score, "datbench_pooled": score, "datbench_record": record}


def _record(doc: Mapping[str, Any], raw_output: str) -> Record:
    try:
        task = loaded_task(doc)
        record = build_record(
            _sample(doc), task.capability, raw_output, task.run_fields(), doc_to_text(doc, task.prompt_kwargs)
        )
    except Exception as fault:
        log.exception("a fault of our own while scoring %r", doc.get("id"))
        record = failed_record(doc, raw_output, fault)
    return {**record, "doc_id": doc.get(ROW_COLUMN)}


def _text(results: Sequence[Any]) -> str:
    """The answer as text; hosts hand over one string, in a list, sometimes a list in a list."""
    answer: Any = results
    while isinstance(answer, (list, tuple)):
        answer = answer[0] if answer else ""
    return "" if answer is None else str(answer)


def _sample(doc: Mapping[str, Any]) -> DatBenchSample:
    return read_row(doc, doc.get(ROW_COLUMN) or 0, None)
