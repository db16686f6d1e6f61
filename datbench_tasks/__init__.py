"""The lmms-eval adapter for DatBench: tasks, hooks, models, judge post-pass, reports, command line."""
