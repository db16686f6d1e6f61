"""Timings of the whole project: ``python -m benchmarks``. See README.md beside this file."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # made-up runs and servers are shared with the tests
