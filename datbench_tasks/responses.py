"""Stored model outputs and judge outputs: JSONL files with one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from datbench import JudgeResponse, VLMResponse
from datbench_tasks.errors import InputError


def read_vlm_responses(path: str | Path) -> list[VLMResponse]:
    """Responses of lines ``{"id", "raw_output", "parsed_answer"?}``.

    Raises:
        InputError: the file cannot be read, or a line lacks a field or has one of a wrong type (names the line).
    """
    return [
        VLMResponse(
            _text(line, "id", place), _text(line, "raw_output", place), _text_or_none(line, "parsed_answer", place)
        )
        for place, line in _objects(Path(path))
    ]


def read_judge_responses(path: str | Path) -> list[JudgeResponse]:
    """Judge outputs of lines ``{"id", "raw_judge_output", "verdict"?}``; errors as ``read_vlm_responses``."""
    return [
        JudgeResponse(
            _text(line, "id", place), _text(line, "raw_judge_output", place), _text_or_none(line, "verdict", place)
        )
        for place, line in _objects(Path(path))
    ]


def _objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                place = f"{path}, line {number}"
                value = _decoded(line, place)
                if not isinstance(value, dict):
                    raise InputError(f"{place}: must be a JSON object, is {type(value).__name__}")
                yield place, value
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(f"{path} cannot be read: {getattr(fault, 'strerror', None) or fault}") from fault


def _decoded(line: str, place: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise InputError(f"{place}: is no JSON ({fault}); one object a line is expected") from fault


def _text(line: dict[str, Any], field: str, place: str) -> str:
    value = line.get(field)
    if not isinstance(value, str):
        problem = "is missing" if field not in line else f"must be a text, is {type(value).__name__}"
        raise InputError(f"{place}: field {field!r} {problem}")
    return value


def _text_or_none(line: dict[str, Any], field: str, place: str) -> str | None:
    return None if line.get(field) is None else _text(line, field, place)
