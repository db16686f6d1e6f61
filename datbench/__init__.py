"""DatBench scorers: samples, evaluator, judge verdicts and reports, free of any host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from datbench.capabilities import CAPABILITIES
from datbench.evaluator import DatBenchEvaluator
from datbench.report import DatBenchReport, SampleScore
from datbench.sample_scoring import score_sample
from datbench.samples import DatBenchSample, InferenceTask, JudgeRequest, JudgeResponse, VLMResponse
from datbench.scorers import SOURCE_DATASETS
from datbench.verdicts import parse_judge_verdict
from datbench.version import __version__

if TYPE_CHECKING:
    from datbench.unified import UnifiedBenchDatasetEvaluator

__all__ = [
    "CAPABILITIES",
    "SOURCE_DATASETS",
    "DatBenchEvaluator",
    "DatBenchReport",
    "DatBenchSample",
    "InferenceTask",
    "JudgeRequest",
    "JudgeResponse",
    "SampleScore",
    "UnifiedBenchDatasetEvaluator",
    "VLMResponse",
    "__version__",
    "parse_judge_verdict",
    "score_sample",
]


def __getattr__(name: str) -> Any:
    """Load the unified evaluator when it is first named: scoring DatBench does not need it."""
    if name == "UnifiedBenchDatasetEvaluator":
        from datbench.unified import UnifiedBenchDatasetEvaluator

        return UnifiedBenchDatasetEvaluator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
