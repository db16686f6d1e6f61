"""What the packages may not contain, and what they must declare."""

import ast
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for package in ("datbench", "datbench_tasks") for path in (ROOT / package).rglob("*.py"))
FORBIDDEN = re.compile(
    r"(?<![\w.])(eval|exec)\(|\bpickle\.|\byaml\.(unsafe_)?load\(|shell=True|verify=False|os\.system\("
)
HOSTS = {"lmms_eval", "lm_eval"}
DUCK_TYPED = {"dataflow"}
"""Integrated where it is already installed; its own requirements forbid depending on it."""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_call_that_could_run_what_a_model_wrote(path):
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        assert not FORBIDDEN.search(line), f"{path}:{number}: {line.strip()}"


def imported(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").partition(".")[0]


def test_every_import_is_declared():
    owners = metadata.packages_distributions()
    names = [re.match(r"[\w.-]+", requirement)[0] for requirement in metadata.requires("datbench-tasks")]
    declared = {re.sub(r"[-_.]+", "-", name).lower() for name in names}
    ours = {"datbench", "datbench_tasks", *sys.stdlib_module_names, *HOSTS, *DUCK_TYPED}
    undeclared = {}
    for path in SOURCES:
        for module in set(imported(path)) - ours:
            candidates = {re.sub(r"[-_.]+", "-", name).lower() for name in owners.get(module, [module])}
            if not candidates & declared:
                undeclared.setdefault(module, path.name)
    assert undeclared == {}
