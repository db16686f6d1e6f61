"""Checks of row data that several scorers share; each says what is wrong with one named field."""

from __future__ import annotations

from functools import partial
from typing import Any

from datbench.scorers.base import FieldError, Fields


def text_of(fields: Fields, name: str) -> str:
    """The field's value, which must be text.

    Raises:
        FieldError: it is not.
    """
    value = fields[name]
    if not isinstance(value, str):
        raise FieldError(name, f"must be text, is {type(value).__name__}")
    return value


check_answer = partial(text_of, name="answer")
"""Raises FieldError unless ``answer`` is text: all that many scorers ask of a row."""


def list_of(fields: Fields, name: str) -> list[Any]:
    """The field's value, which must be a list; absent and null give an empty one.

    Raises:
        FieldError: it is something else.
    """
    value = fields.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise FieldError(name, f"must be a list, is {type(value).__name__}")
    return value


def texts_of(fields: Fields, name: str) -> list[str]:
    """The field's value, which must be a list of texts; absent and null give an empty one.

    Raises:
        FieldError: it is something else, or an entry is not text.
    """
    values = list_of(fields, name)
    for value in values:
        if not isinstance(value, str):
            raise FieldError(name, f"must hold texts only, has {type(value).__name__}")
    return values
