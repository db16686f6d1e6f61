"""Calling other people's servings: decided from the signature, so that an error inside a call is not retried."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def method(serving: Any, name: str) -> Callable[..., Any] | None:
    """The callable attribute of that name, or None."""
    found = getattr(serving, name, None)
    return found if callable(found) else None


def accepts(function: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
    """Whether the function's signature takes these arguments; unknown signatures take anything."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def names_parameter(function: Callable[..., Any], name: str) -> bool:
    """Whether the signature lists a parameter of that name."""
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
