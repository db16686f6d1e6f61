"""Reports, comparisons and submissions of runs."""

from __future__ import annotations

from datbench_tasks.reporting.report import Report, load_report

__all__ = ["Report", "load_report"]
