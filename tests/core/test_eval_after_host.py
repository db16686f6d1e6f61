"""What ``datbench-tasks eval`` makes of the files that the host left; the host itself does not run here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.synthetic_run import make_run

from datbench_tasks.commands import eval as command
from datbench_tasks.errors import IncompleteError

Edit = Callable[[dict[str, Any]], None]
MATH = {"samples": 5, "capabilities": ("math",)}


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets what the stand-in of the host does when it is run."""

    def leaves(output: Path, edit: Edit = lambda results: None, **what: Any) -> None:
        def run_host(*_: object, **__: object) -> SimpleNamespace:
            before = set(output.rglob("*_results.json"))
            make_run(output, **{**MATH, **what})
            for file in set(output.rglob("*_results.json")) - before:
                results = json.loads(file.read_text("utf-8"))
                edit(results)
                file.write_text(json.dumps(results), "utf-8")
            return SimpleNamespace(returncode=0)

        monkeypatch.setattr(command.subprocess, "run", run_host)

    return leaves


def counts(original: int, effective: int, offset: int = 0) -> Edit:
    def edit(results: dict[str, Any]) -> None:
        results["n-samples"]["datbench_math"] = {"original": original, "effective": effective}
        results["config"]["offset"] = offset

    return edit


def other_task(results: dict[str, Any]) -> None:
    """A task of the host's own ran too; many of those keep their metadata in a list."""
    results["n-samples"]["mme"] = {"original": 9, "effective": 9}
    results["configs"]["mme"] = {"task": "mme", "metadata": [{"version": 0.0}]}


@pytest.mark.parametrize(
    "edit",
    [counts(5, 5), counts(9, 5), counts(9, 9, offset=4), counts(9, 7, offset=4), other_task],
    ids=["all", "limit", "offset", "limit and offset", "another task too"],
)
def test_all_that_was_asked_is_there(tmp_path: Path, host: Callable[..., None], edit: Edit) -> None:
    host(tmp_path, edit)
    command.run_host(["--tasks", "datbench_m*"], tmp_path)


@pytest.mark.parametrize("edit", [counts(6, 6), counts(9, 9, offset=3), counts(20, 12, offset=14)])
def test_samples_that_lack_are_counted(tmp_path: Path, host: Callable[..., None], edit: Edit) -> None:
    host(tmp_path, edit)
    with pytest.raises(IncompleteError, match="datbench_math has 5 of 6 samples"):
        command.run_host([], tmp_path)


def test_of_several_models_the_one_that_ran_is_gone_on_with(tmp_path: Path, host: Callable[..., None]) -> None:
    for model in ("acme/first", "acme/second"):
        host(tmp_path, model=model)
        assert command.run_host([], tmp_path) == model.replace("/", "__")


def test_a_host_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=1))
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    with pytest.raises(IncompleteError, match=r"not installed; pip install 'datbench-tasks\[host\]'"):
        command.run_host([], tmp_path)
