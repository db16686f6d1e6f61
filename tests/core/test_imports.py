"""What importing the package costs and pulls in."""

import subprocess
import sys

import pytest

HEAVY = (
    "torch",
    "transformers",
    "lmms_eval",
    "lm_eval",
    "pandas",
    "datasets",
    "scipy",
    "lxml",
    "jieba",
    "nltk",
    "sympy",
)


@pytest.mark.parametrize(
    "module", ["datbench", "datbench.unified", "datbench_tasks.registration", "datbench_tasks.cli"]
)
def test_import_pulls_in_nothing_heavy(module):
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
