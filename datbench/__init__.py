"""DatBench scorers: samples, evaluator, judge verdicts and reports, free of any host."""

from datbench.version import __version__

__all__ = ["__version__"]
