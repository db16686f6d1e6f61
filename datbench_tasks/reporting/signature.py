"""The signature of a report: all that decides whether two numbers may be compared, as values, line and hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from datbench.capabilities import CAPABILITIES
from datbench_tasks.errors import InputError
from datbench_tasks.run_directory import TaskRun, read_results

Signature = dict[str, Any]

SHARED = ("scorer_version", "dataset", "split", "variant", "reasoning", "host", "model")
"""Equal for all tasks of a report."""

BY_CAPABILITY = ("revision", "generation", "limit", "samples", "ids")
"""One value a capability."""

FREE_TO_DIFFER = ("host", "model", "limit", "samples")
"""What a comparison is about, or what another value (the sample ids) decides."""

_NAMES = {"scorer_version": "scorer", "ids": "sample ids"}


def task_settings(task_run: TaskRun, run_fields: Mapping[str, Any]) -> Signature:
    """The part of the signature that one task decides.

    Args:
        task_run: names the results file, which knows generation settings, limit and model.
        run_fields: the ``run`` of the task's records.
    """
    results = read_results(task_run)
    config = results.get("config") or {}
    task_config = (results.get("configs") or {}).get(task_run.task) or {}
    name, kind = publishable(results.get("model_name") or run_fields.get("model") or ""), config.get("model")
    return {
        **run_settings(run_fields),
        "variant": task_run.variant,
        "model": f"{name} ({kind})" if kind and kind != name else name,
        "generation": _generation(config, task_config, results) or {"max_new_tokens": run_fields.get("max_new_tokens")},
        "limit": _limit(config),
    }


def publishable(model: str) -> str:
    """A model's name; of a path its last part and a hash of the whole, since signatures get published.

    >>> publishable("acme/vlm-7b"), publishable("/home/me/step-100/vlm")
    ('acme/vlm-7b', 'vlm#139acd')
    """
    if model.count("/") < 2 and not model.startswith(("/", ".", "~")):
        return model
    return f"{PurePosixPath(model).name}#{_hash(model)[:6]}"


def run_settings(run_fields: Mapping[str, Any]) -> Signature:
    """The part of the signature that the ``run`` of a task's records decides."""
    named = ("scorer_version", "dataset", "split", "reasoning", "host")
    revision = run_fields.get("revision_resolved") or run_fields.get("revision")
    return {**{key: run_fields.get(key) for key in named}, "revision": revision}


def merge(settings: Iterable[tuple[str, Signature]], ids: Mapping[str, Sequence[str]], judge: Any) -> Signature:
    """The signature of a report. What a task does not say (None) is what the others say.

    Args:
        settings: (capability, settings) of each task.
        ids: sorted sample ids by capability.
        judge: {"model", "prompt"} of the judge pass, None without one.

    Raises:
        InputError: tasks that cannot be one report; names what differs.
    """
    signature: Signature = {}
    by_capability: dict[str, dict[str, Any]] = {key: {} for key in BY_CAPABILITY}
    for capability, values in settings:
        for key in SHARED:
            known = signature.get(key)
            if known is None:
                signature[key] = values[key]
            elif values[key] not in (known, None):
                raise InputError(
                    f"these tasks are not parts of one run: {key} is {known!r} and {values[key]!r}; "
                    "compare them with datbench-tasks compare"
                )
        for key in ("revision", "generation", "limit"):
            known = by_capability[key].setdefault(capability, values[key])
            if key != "limit" and known != values[key]:
                raise InputError(
                    f"the parts of {capability} differ in {key}: {known!r} and {values[key]!r}; "
                    "compare them with datbench-tasks compare"
                )
    for capability, values_of in ids.items():
        by_capability["samples"][capability] = len(values_of)
        by_capability["ids"][capability] = _hash("\n".join(values_of))[:16]
    signature |= {key: dict(sorted(values.items())) for key, values in by_capability.items()}
    signature["judge"] = judge
    return signature


def signature_hash(signature: Signature) -> str:
    """16 hexadecimal digits that change with any value of the signature."""
    return _hash(json.dumps(signature, sort_keys=True, separators=(",", ":"), default=str))[:16]


def signature_line(signature: Signature) -> str:
    """The signature as one line, its hash last."""
    names = sorted(signature["samples"])
    parts = {
        "scorer": signature["scorer_version"],
        "data": "@".join(filter(None, (signature["dataset"], _collapsed(signature["revision"], _short)))),
        "split": signature["split"],
        "tasks": signature["variant"],
        "capabilities": "all 9" if names == sorted(CAPABILITIES) else ",".join(names),
        "samples": sum(signature["samples"].values()),
        "limit": _collapsed(signature["limit"], lambda value: value or "none"),
        "generation": _collapsed(signature["generation"], _pairs),
        "host": signature["host"],
        "model": signature["model"],
        "reasoning": signature["reasoning"],
        "judge": _judge(signature),
        "signature": signature_hash(signature),
    }
    return "|".join(f"{key}:{value}" for key, value in parts.items() if value not in (None, ""))


def differences(
    first: Signature, second: Signature, capabilities: Iterable[str], ignored: Iterable[str] = ()
) -> list[str]:
    """What keeps two reports from being compared, one readable text each; empty if nothing does.

    Args:
        first, second: signatures.
        capabilities: those that are compared.
        ignored: further keys that are meant to differ.
    """
    skipped, names = {*FREE_TO_DIFFER, *ignored}, list(capabilities)
    found = [
        f"{_NAMES.get(key, key)}: {first[key] or 'none'} against {second[key] or 'none'}"
        for key in SHARED
        if key not in skipped and first[key] != second[key]
    ]
    for key in BY_CAPABILITY:
        differing = [name for name in names if first[key].get(name) != second[key].get(name)]
        if key not in skipped and differing:
            where = "" if len(differing) == len(names) else f" of {', '.join(differing)}"
            values = (_shown(signature[key].get(differing[0])) for signature in (first, second))
            found.append(f"{_NAMES.get(key, key)}{where}: {' against '.join(values)}")
    if "judge" not in skipped and first["judge"] != second["judge"]:
        found.append(f"judge: {_judge(first)} against {_judge(second)}")
    return found


def _judge(signature: Signature) -> str:
    judge = signature["judge"]
    return f"{judge['model']}#{judge['prompt']}" if judge else "none"


def _generation(config: Mapping[str, Any], task: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, Any]:
    settings = dict(task.get("generation_kwargs") or {})
    prompts = task.get("lmms_eval_specific_kwargs") or {}
    extra = {
        "gen_kwargs": config.get("gen_kwargs"),
        "system_instruction": results.get("system_instruction_sha"),
        "prompts": {key: value for key, value in prompts.items() if _says_something(value)},
    }
    return settings | {key: value for key, value in extra.items() if value}


def _says_something(value: Any) -> bool:
    return any(_says_something(item) for item in value.values()) if isinstance(value, dict) else bool(value)


def _limit(config: Mapping[str, Any]) -> str | None:
    """Why the run is partial, None if it is not. A limit of -1 is the host's word for all samples."""
    asked, limit = config.get("resolved_cli_args") or {}, config.get("limit")
    values = {
        "limit": None if limit == -1 else limit,
        "offset": config.get("offset") or None,
        "repeats": asked.get("repeats") if (asked.get("repeats") or 1) > 1 else None,
    }
    return ",".join(f"{key}={value}" for key, value in values.items() if value is not None) or None


def _collapsed(values: Mapping[str, Any], show: Any) -> str:
    shown = [str(show(value)) for value in values.values()]
    return shown[0] if len(set(shown)) == 1 else f"mixed#{_hash(json.dumps(shown))[:8]}"


def _short(revision: Any) -> str:
    text = str(revision or "")
    return text[:8] if len(text) == 40 else text


def _pairs(settings: Mapping[str, Any]) -> str:
    return ",".join(f"{key}={_shown(value)}" for key, value in sorted(settings.items()) if value != [])


def _shown(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or "none"
    return json.dumps(value, sort_keys=True, default=str)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
