"""Registration with DataFlow, for pipelines that look their operators up by name."""

from __future__ import annotations

from typing import Any

from datbench.unified.evaluator import UnifiedBenchDatasetEvaluator


def register_with_dataflow(name: str = "UnifiedBenchDatasetEvaluatorPlus") -> type[Any]:
    """Register the operator in DataFlow's registry under a name of its own, and return the registered class.

    DataFlow is imported here and nowhere else. Its registry keeps the first class of a name.

    Raises:
        ModuleNotFoundError: DataFlow (``open-dataflow``) is not installed.
        ValueError: the registry holds another class of that name.
    """
    try:
        from dataflow.core import OperatorABC
        from dataflow.utils.registry import OPERATOR_REGISTRY
    except ImportError as fault:
        raise ModuleNotFoundError(
            f"DataFlow cannot be imported ({fault}); pip install open-dataflow, in a venv of its own"
        ) from fault
    operator = type(name, (UnifiedBenchDatasetEvaluator, OperatorABC), {"ALLOWED_PROMPTS": ()})
    OPERATOR_REGISTRY.register(operator)
    if OPERATOR_REGISTRY.get(name) is not operator:
        raise ValueError(f"DataFlow's registry already holds a class named {name}; choose another name")
    return operator
