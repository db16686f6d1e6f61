"""What a record must be for numbers to be made of it; logs get edited, merged and cut off after they were written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

EVAL_MODES = ("direct", "judge")

_ABSENT = type(None)
_TEXT, _LIST, _OBJECT = (str, _ABSENT), (list, _ABSENT), (dict, _ABSENT)
_TYPES: dict[str, tuple[type, ...]] = {
    "capability": (str,),
    "dataset": _TEXT,
    "source_info": _OBJECT,
    "image_key": _TEXT,
    "eval_metrics": _OBJECT,
    "question": _TEXT,
    "all_answers": (list, str, _ABSENT),
    "judge_prompt": _TEXT,
    "scorer_input": _OBJECT,
    "output": _TEXT,
    "raw_output": _TEXT,
    "flags": _LIST,
    "run": _OBJECT,
    "judge": _OBJECT,
    "score_details": _OBJECT,
}
_TEXTS_IN = {
    "run": ("dataset", "revision", "revision_resolved", "split", "scorer_version", "host", "reasoning", "model"),
    "judge": ("tag", "model", "prompt_hash", "verdict", "reason", "raw", "journal_key"),
}
"""Object of a record -> its keys whose values are texts."""
_RESULTS: dict[str, tuple[type, ...]] = {
    "config": (),
    "configs": (dict,),
    "n-samples": (dict,),
    "results": (dict,),
    "groups": (dict,),
    "group_subtasks": (list,),
}
"""Objects of a results file, each with the type of its values where that matters."""
_NAMES: dict[type, str] = {str: "a text", list: "a list", dict: "an object"}
_LARGEST = 1e300


def record_problem(record: Mapping[str, Any]) -> str | None:
    """What is wrong with a record that has an id and a known schema, None if nothing is.

    >>> record_problem({"capability": "math", "eval_mode": "direct", "score": 2.0, "score_details": {}})
    'score is 2.0, must be a number from 0 to 1'
    """
    for key, types in _TYPES.items():
        if not isinstance(record.get(key), types):
            wanted = " or ".join(_NAMES[kind] for kind in types if kind in _NAMES)
            return f"{key} is {_shown(record.get(key))}, must be {wanted}"
    for part, keys in _TEXTS_IN.items():
        for key in keys:
            if not isinstance((record.get(part) or {}).get(key), _TEXT):
                return f"{part}, {key} is {_shown(record[part][key])}, must be a text"
    if record.get("eval_mode") not in EVAL_MODES:
        return f"eval_mode is {_shown(record.get('eval_mode'))}, must be direct or judge"
    if record.get("pending") and record["eval_mode"] == "direct":
        return "pending is true, but a direct sample waits for no verdict"
    if not all(isinstance(flag, str) for flag in record.get("flags") or ()):
        return "flags must be texts"
    if not record.get("pending") and not isinstance(record.get("score_details"), dict):
        return "score_details is missing"
    for key in ("score", "score_if_reformatted"):
        value = record.get(key)
        if value is None and (key != "score" or record.get("pending")):
            continue
        if not is_number(value) or not 0 <= value <= 1:
            return f"{key} is {_shown(value)}, must be a number from 0 to 1"
    discrimination = (record.get("eval_metrics") or {}).get("discrimination")
    if discrimination is not None and not is_number(discrimination):
        return f"discrimination is {_shown(discrimination)}, must be a number"
    return None


def results_problem(content: Mapping[str, Any]) -> str | None:
    """What is wrong with the parts of a host's results file that are read here, None if nothing is."""
    for key, kind in _RESULTS.items():
        part = content.get(key)
        if not isinstance(part, _OBJECT):
            return f"{key} is {_shown(part)}, must be an object"
        for name, value in (part or {}).items() if kind else ():
            if not isinstance(value, kind):
                return f"{key}, {name!r} is {_shown(value)}, must be {_NAMES[kind[0]]}"
    for place, key in ((content, "model_name"), (content.get("config") or {}, "model")):
        if not isinstance(place.get(key), _TEXT):
            return f"{key} is {_shown(place[key])}, must be a text"
    # Of our tasks only: many of the host's own keep a list in "metadata".
    ours = {name: config for name, config in (content.get("configs") or {}).items() if name.startswith("datbench")}
    for name, config in ours.items():
        for key in ("generation_kwargs", "dataset_kwargs", "metadata"):
            if not isinstance(config.get(key), _OBJECT):
                return f"configs, {name!r}, {key} is {_shown(config.get(key))}, must be an object"
    arguments = (content.get("config") or {}).get("resolved_cli_args")
    if not isinstance(arguments, _OBJECT):
        return f"config, resolved_cli_args is {_shown(arguments)}, must be an object"
    repeats = (arguments or {}).get("repeats")
    if repeats is not None and not isinstance(repeats, int):
        return f"config, resolved_cli_args, repeats is {_shown(repeats)}, must be a whole number"
    for name, counts in (content.get("n-samples") or {}).items():
        for key in ("original", "effective"):
            if not isinstance(counts.get(key), int) or not 0 <= counts[key] < _LARGEST:
                return f"n-samples, {name!r}, {key} is {_shown(counts.get(key))}, must be a number of samples"
    return None


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number to calculate with: no NaN, no infinity, no integer beyond the range of a float."""
    return isinstance(value, (int, float)) and -_LARGEST < value < _LARGEST


def _shown(value: object) -> str:
    if isinstance(value, (str, int, float, _ABSENT)) and not (isinstance(value, int) and abs(value) > _LARGEST):
        return ascii(value)[:40]
    return f"of type {type(value).__name__}"
