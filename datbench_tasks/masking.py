"""Arguments and results fit for files: the values of all that is named like a secret are masked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MASK = "***"

_NAMES = (  # ``max_new_tokens`` is none of them
    r"[\w-]*(?:api[_-]?key|secret|password|authorization|credential)[\w-]*"
    r"|(?:[\w-]*[_-])?(?:key|token)|[\w-]*[a-z](?-i:Key|Token)"
)
_NAME = re.compile(_NAMES, re.IGNORECASE)
_ASSIGNED = re.compile(rf"""(?<![\w-])({_NAMES})(["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^,]*)""", re.IGNORECASE)
_USER_OF_URL = re.compile(r"(?<=//)[^/@\s,]+(?=@)")


def public_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Command-line arguments as texts, numbers, lists and objects of these; those that are None are left out.

    >>> public_arguments({"model_args": "model=m,api_key=abc"})
    {'model_args': 'model=m,api_key=***'}
    """
    return {name: _masked(name, value) for name, value in sorted(arguments.items()) if value is not None}


def without_secrets(results: Mapping[str, Any]) -> dict[str, Any]:
    """A results file of the host, which holds the model arguments as they were given, keys included."""
    return {**results, "config": _masked("config", results["config"])} if results.get("config") else dict(results)


def _masked(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _masked(str(key), item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_masked(name, item) for item in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if _NAME.fullmatch(name):
        return MASK
    return _USER_OF_URL.sub(MASK, _ASSIGNED.sub(rf"\1\2{MASK}", str(value)))
