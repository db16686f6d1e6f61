"""The result of an evaluation: per-sample scores, a summary, and the JSON file that holds both."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from datbench.jsonio import dumps, write_text


@dataclass
class SampleScore:
    """One scored sample.

    ``metadata`` holds capability, eval_mode, dataset, is_circular, discrimination and score_details (the dataset
    scorer's own details for direct samples; score, eval_mode, match, judge_verdict, judge_raw_output and
    judge_missing_response for judge samples).
    """

    id: str
    score: float
    vlm_output: Any
    ground_truth: Any
    is_correct: bool
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class DatBenchReport:
    """Summary and per-sample results of one evaluation (docs/run_files.md lists the summary's keys)."""

    summary: dict[str, Any]
    results: list[SampleScore]

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and lists, shared with the report: {"summary": ..., "results": [...]}."""
        return {"summary": self.summary, "results": [dict(vars(result)) for result in self.results]}

    def to_json(self) -> str:
        """The report as JSON text, indented by two.

        NaN and infinities become null; an output that JSON has no form for (bytes, say) is written as its ``repr``,
        so that no finished evaluation is lost for it.
        """
        return dumps(self.to_dict(), indent=2, default=repr)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report as UTF-8 JSON, atomically: a crash leaves the old file or the new one."""
        write_text(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DatBenchReport:
        """Read a saved report.

        Raises:
            ValueError: the file is not a report; names the file and what is missing.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            results = [SampleScore(**result) for result in content["results"]]
            return cls(summary=dict(content["summary"]), results=results)
        except (ValueError, KeyError, TypeError, RecursionError) as fault:
            raise ValueError(f"{path} is no DatBench report ({type(fault).__name__}: {fault})") from fault
