"""Check the installation, part by part, and name the remedy for each fault."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from datbench import CAPABILITIES
from datbench.unified.formula import FormulaComparer, MathVerifyError
from datbench.version import REFERENCE, SCORER_VERSION, __version__
from datbench_tasks.errors import DONE, INCOMPLETE, REFUSED
from datbench_tasks.task_folders import DATA_VARIABLE, REVISION_VARIABLE, lmms_eval_folders

EXAMPLE = "datbench-tasks doctor"

GROUP = "lmms_eval.models"
OK, NOTE, FAULT, UNREACHABLE = "ok", "note", "FAULT", "UNREACHABLE"


class Finding(NamedTuple):
    """One line of the examination."""

    state: str
    part: str
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--no-network", action="store_true", help="do not ask the hub whether the data is reachable")


def run(args: argparse.Namespace) -> int:
    """Print one line a part; 3 if something is at fault, 4 if the data cannot be reached."""
    states = set()
    for check in (_package, _host, _entry_points, _tasks, lambda: _data(args.no_network), _optional_parts, _formulas):
        for finding in check():
            states.add(finding.state)
            print(f"{finding.state:<11} {finding.part:<20} {finding.text}")
    if FAULT in states:
        return INCOMPLETE
    return REFUSED if UNREACHABLE in states else DONE


def _package() -> Iterator[Finding]:
    yield Finding(OK, "datbench-tasks", f"{__version__}, scorer version {SCORER_VERSION} ({REFERENCE})")
    owners = set(metadata.packages_distributions().get("datbench", ())) - {"datbench-tasks"}
    if owners:
        names = ", ".join(sorted(owners))
        yield Finding(
            FAULT,
            "import name datbench",
            f"is also owned by {names}; whichever was installed last wins. pip uninstall {names}, then reinstall "
            "datbench-tasks",
        )


def _host() -> Iterator[Finding]:
    version = _version("lmms-eval")
    if version is None:
        yield Finding(NOTE, "lmms-eval", "is not installed; to run models: pip install 'datbench-tasks[host]'")
        return
    supported = version.split(".")[:2] == ["0", "7"]
    yield Finding(
        OK if supported else FAULT,
        "lmms-eval",
        version if supported else f"{version} is not supported; pip install 'lmms-eval>=0.7,<0.8'",
    )
    try:
        importlib.import_module("filelock._api")
    except ImportError:
        yield Finding(
            FAULT,
            "filelock",
            f"{_version('filelock')} lacks filelock._api, which lmms-eval needs; pip install 'filelock<4.3'",
        )
    else:
        yield Finding(OK, "filelock", str(_version("filelock")))
    if os.environ.get("LMMS_EVAL_PLUGINS"):
        yield Finding(NOTE, "LMMS_EVAL_PLUGINS", "is set; it cannot find tasks, and a fault in it stops the host")


def _entry_points() -> Iterator[Finding]:
    """The host loads all plugins in one try block, so a single faulty one takes the others with it."""
    if _version("lmms-eval") is None:
        return
    for point in metadata.entry_points(group=GROUP):
        try:
            loaded = point.load()
            if callable(loaded):
                loaded()
        except Exception as fault:
            owner = point.dist.name if point.dist else point.value
            yield Finding(
                FAULT,
                f"plugin {point.name}",
                f"of {owner} fails ({type(fault).__name__}: {fault}), and lmms-eval then drops every plugin after it; "
                f"update or uninstall {owner}",
            )
        else:
            yield Finding(OK, f"plugin {point.name}", point.value)
    if not any(point.name == "datbench" for point in metadata.entry_points(group=GROUP)):
        yield Finding(FAULT, "plugin datbench", "our entry point is missing; reinstall datbench-tasks")


def _tasks() -> Iterator[Finding]:
    try:
        folders = lmms_eval_folders()
    except OSError as fault:
        yield Finding(FAULT, "tasks", str(fault))
        return
    yield Finding(OK, "tasks", str(folders[0]))


def _data(no_network: bool) -> Iterator[Finding]:
    stray = Path("DatologyAI") / "DatBench"
    if stray.exists():
        yield Finding(NOTE, "data", f"the folder {stray.resolve()} is read instead of the hub while you work here")
    data = os.environ.get(DATA_VARIABLE)
    if data:
        folder = Path(data).expanduser() / "DatBench"
        missing = [name for name in CAPABILITIES if not _has_data(folder / name)]
        state = FAULT if missing else OK
        text = f"{DATA_VARIABLE}={data}" + (f" lacks DatBench/{{{','.join(missing)}}}" if missing else "")
        yield Finding(state, "data", text)
        return
    if no_network:
        yield Finding(NOTE, "data", "not looked for (--no-network)")
        return
    yield _hub(os.environ.get(REVISION_VARIABLE) or "main")


def _has_data(folder: Path) -> bool:
    return (folder / "dataset_dict.json").is_file() or any(folder.glob("test-*.parquet"))


def _hub(revision: str) -> Finding:
    from huggingface_hub import HfApi, constants

    name = "DatologyAI/DatBench"
    if constants.HF_HUB_OFFLINE:
        return Finding(NOTE, "data", f"not looked for: HF_HUB_OFFLINE is set, so {name} must be in the hub's cache")
    try:
        info = HfApi().dataset_info(name, revision=revision, timeout=10)
    except Exception as fault:
        reason = str(fault).strip().splitlines()[0][:200].rstrip(".") if str(fault).strip() else type(fault).__name__
        return Finding(
            UNREACHABLE,
            "data",
            f"{name} at {revision}: {reason}. Check the network and {REVISION_VARIABLE}, or point {DATA_VARIABLE} to a "
            "local copy",
        )
    return Finding(OK, "data", f"{name} at {revision} is commit {info.sha}")


OPTIONAL = (
    ("baseline model", ("rapidocr", "onnxruntime"), "demo"),
    ("local judge", ("torch", "transformers", "accelerate"), "local"),
    ("GGUF files", ("gguf",), "local"),
    ("plots", ("matplotlib",), "plots"),
    ("data frames", ("pandas",), "pandas"),
    ("Ray", ("ray",), "ray"),
)
"""What it is for, the packages that it takes, the extra that brings them."""


def _optional_parts() -> Iterator[Finding]:
    for part, packages, extra in OPTIONAL:
        missing = [name for name in packages if _version(name) is None]
        if missing:
            yield Finding(NOTE, part, f"off: {', '.join(missing)} missing; pip install 'datbench-tasks[{extra}]'")
        else:
            yield Finding(OK, part, ", ".join(f"{name} {_version(name)}" for name in packages))
    yield Finding(OK, "python", f"{sys.version.split()[0]} at {sys.executable}")


def _formulas() -> Iterator[Finding]:
    comparer = FormulaComparer()
    try:
        comparer.start()
    except MathVerifyError as fault:
        yield Finding(NOTE, "formula answers", f"off: {fault}")
    else:
        yield Finding(OK, "formula answers", f"math-verify of {comparer.python}")
    finally:
        comparer.close()


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
