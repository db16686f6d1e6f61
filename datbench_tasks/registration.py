"""How lmms-eval finds our tasks and models: its entry point for models, which runs before tasks are indexed.

The host has no entry point for tasks. So, once its task module is loaded, ``TaskManager.initialize_tasks`` is wrapped
to look into our folder as well. Nothing here may raise: the host would drop every other plugin with ours.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
import warnings
from collections.abc import Sequence
from typing import Any

TASKS_MODULE = "lmms_eval.tasks"
_MARK = "_datbench_tasks_wrapped"


def manifests() -> list[Any]:
    """Entry point of the group ``lmms_eval.models``: our models, and on the way our tasks."""
    try:
        register_tasks()
    except Exception as fault:
        warnings.warn(f"DatBench tasks are not registered ({fault}); see datbench-tasks doctor", stacklevel=2)
    try:
        from datbench_tasks.models.manifests import model_manifests

        return model_manifests()
    except Exception as fault:
        warnings.warn(f"DatBench models are not registered ({fault}); see datbench-tasks doctor", stacklevel=2)
        return []


def register_tasks() -> None:
    """Make the host's task index hold our tasks, now or as soon as its task module is imported.

    Importing that module here would cost every start of the host about nine seconds (it pulls in torch).
    """
    module = sys.modules.get(TASKS_MODULE)
    if module is not None and hasattr(module, "TaskManager"):
        _wrap(module)
    elif not any(isinstance(finder, _WaitForTasks) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WaitForTasks())


class _WaitForTasks(importlib.abc.MetaPathFinder):
    """Finds the host's task module with the other finders, once, and wraps it after it has run."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != TASKS_MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        @functools.wraps(execute)
        def execute_and_wrap(module: types.ModuleType) -> None:
            execute(module)
            _wrap(module)

        spec.loader.exec_module = execute_and_wrap  # type: ignore[method-assign]
        return spec


def _wrap(module: types.ModuleType) -> None:
    original = module.TaskManager.initialize_tasks
    if getattr(original, _MARK, False):
        return

    @functools.wraps(original)
    def initialize_tasks(self: Any, include_path: Any = None, *rest: Any, **named: Any) -> Any:
        return original(self, _with_our_folders(include_path), *rest, **named)

    setattr(initialize_tasks, _MARK, True)
    module.TaskManager.initialize_tasks = initialize_tasks


def _with_our_folders(include_path: Any) -> Any:
    """The user's include path, first as it was, then our folders."""
    try:
        from datbench_tasks.task_folders import lmms_eval_folders

        ours = [str(folder) for folder in lmms_eval_folders()]
    except Exception as fault:
        warnings.warn(f"DatBench tasks are not registered ({fault}); see datbench-tasks doctor", stacklevel=2)
        return include_path
    given = [] if include_path is None else [include_path] if isinstance(include_path, str) else list(include_path)
    return [*given, *(folder for folder in ours if folder not in map(str, given))]
