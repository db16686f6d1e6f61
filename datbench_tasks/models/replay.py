"""``datbench_replay``: answers with outputs stored earlier, so that they are scored again without a GPU.

``--model_args responses=PATH`` names a sample log, a run directory, one of our record files, or a JSONL of
``{"id", "raw_output"}`` (see ``stored_answers``). Rows without an answer get an empty one and are reported, or, with
``strict=True``, stop the run before it starts.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from datbench_tasks.errors import InputError
from datbench_tasks.models.base import AnsweringModel, Request
from datbench_tasks.models.stored_answers import StoredAnswers

log = logging.getLogger(__name__)

_SHOWN = 5


class Replay(AnsweringModel):
    """The simple model.

    Args:
        responses: where the answers are stored.
        strict: stop if a row has no stored answer, before any is scored.

    Raises:
        InputError: the answers cannot be read.
    """

    def __init__(self, responses: str, strict: bool = False, **settings: Any) -> None:
        super().__init__(**settings)
        self._stored = StoredAnswers(responses)
        self._strict = strict
        self._ids: dict[tuple[str, str], list[str]] = {}

    def answer(self, request: Request) -> str:
        """The stored output, an empty text where there is none."""
        return self._find(request) or ""

    def generate_until(self, requests: Sequence[Any]) -> list[str]:
        """Stored outputs in the order of the requests.

        Raises:
            InputError: ``strict``, and rows have no stored answer (counts them and shows the first ids).
        """
        wanted = [self.unpack(request.args) for request in requests]
        missing = [self._row_id(request) for request in wanted if self._find(request) is None]
        if missing:
            message = (
                f"{self._stored.path}: no answer stored for {len(missing)} of {len(wanted)} rows "
                f"({', '.join(missing[:_SHOWN])}{', ...' if len(missing) > _SHOWN else ''})"
            )
            if self._strict:
                raise InputError(f"{message}; add them, or leave out strict=True to score them as empty")
            log.warning("%s; they are scored as empty answers", message)
        return super().generate_until(requests)

    def _find(self, request: Request) -> str | None:
        return self._stored.find(request.task, self._row_id(request), request.doc_id)

    def _row_id(self, request: Request) -> str:
        """The row's id, read without decoding an image."""
        key = (request.task, request.split)
        if key not in self._ids:
            self._ids[key] = list(self.task_dict[request.task][request.split].select_columns("id")["id"])
        return self._ids[key][request.doc_id]


class ReplayChat(Replay):
    """The chat model."""

    is_simple = False
