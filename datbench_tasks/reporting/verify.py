"""Score a bundle again and check every number in it.

Raw outputs are scored against the dataset at the recorded revision, or with --offline against the fields in the bundle;
judge answers are parsed again; sums, ids, counts and all files are compared to the last digit. A pass says that the
numbers follow from the outputs, not that the model wrote them.
"""

from __future__ import annotations

import argparse
import filecmp
import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tqdm import tqdm

from datbench.jsonio import write_jsonl
from datbench.version import SCORER_VERSION
from datbench_tasks.dataset_source import HUB_DATASETS, load_capability
from datbench_tasks.errors import DONE, InputError, RefusedError, UsageError
from datbench_tasks.reporting.bundle import (
    SAMPLES,
    SUMS,
    Submission,
    check_files,
    files_of,
    read_lines,
    read_submission,
    sample_file,
    sums,
    write_bundle,
)
from datbench_tasks.reporting.completeness import load_dataset
from datbench_tasks.reporting.rescoring import Rows, rescore

EXAMPLE = "datbench-tasks verify bundle --offline"
SHOWN = 20
TAKEN = "outputs, token counts, image keys, the judge's answers and their journal keys"
TAKEN_OFFLINE = "and, for want of the dataset, questions, references and metadata"
"""What no score can be held against."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``verify``."""
    parser.add_argument("bundle", type=Path, metavar="DIR")
    parser.add_argument("--offline", action="store_true", help="score from the fields in the bundle, not the dataset")
    parser.add_argument("--data", help="where the dataset lies (default: the hub, at the recorded revision)")


def run(args: argparse.Namespace) -> int:
    """Print pass, or fail with what differs."""
    check_files(args.bundle)
    submission = read_submission(args.bundle)
    _check_readable(submission, args.offline)
    differences = list(_sum_differences(args.bundle))
    with tempfile.TemporaryDirectory(prefix="datbench-verify-") as scratch:
        spool, again = Path(scratch, "spool"), Path(scratch, "bundle")
        for capability in tqdm(submission.capabilities, desc="scoring again", disable=None, leave=False):
            rows = None if args.offline else _rows(submission, capability, args.data)
            tell = _teller(differences, capability)
            lines = rescore(read_lines(args.bundle, capability), submission.runs[capability], rows, tell)
            write_jsonl(sample_file(spool, capability), _unique(lines, tell))
            if rows is not None:
                _check_ids(spool, capability, rows, tell)
        if not differences:
            write_bundle(again, submission, lambda capability: read_lines(spool, capability))
            differences += _file_differences(args.bundle, again)
    basis = _basis(submission, args)
    if differences:
        shown = "\n".join(f"  {text}" for text in differences[:SHOWN])
        more = f"\n  and {len(differences) - SHOWN:,} more" if len(differences) > SHOWN else ""
        raise InputError(f"{args.bundle} fails against {basis}:\n{shown}{more}")
    samples = sum(submission.signature["samples"].values())
    print(f"pass: {samples:,} samples of {', '.join(submission.capabilities)}, against {basis}")
    print(f"taken as recorded: {TAKEN}" + (f", {TAKEN_OFFLINE}" if args.offline else ""))
    return DONE


def _basis(submission: Submission, args: argparse.Namespace) -> str:
    """What the outputs were scored against; a bundle may name any dataset, so it is named here."""
    if args.offline:
        return "the fields in the bundle"
    if args.data:
        return f"the dataset in {args.data}"
    revisions = sorted({str(revision) for revision in submission.signature["revision"].values()})
    return f"{submission.signature['dataset']} at revision {', '.join(revisions)}"


def _check_readable(submission: Submission, offline: bool) -> None:
    version = submission.signature.get("scorer_version")
    if version != SCORER_VERSION:
        raise InputError(
            f"the bundle was scored with scorer version {version}, this is {SCORER_VERSION}; "
            "install the datbench-tasks version that wrote it"
        )
    if offline and not submission.gold:
        raise UsageError("the bundle has no reference answers, so it can only be verified against the dataset")


def _sum_differences(bundle: Path) -> Iterator[str]:
    try:
        recorded = (bundle / SUMS).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        yield f"{SUMS}: {fault}"
        return
    expected = dict(line.split("  ", 1)[::-1] for line in recorded.splitlines() if "  " in line)
    found = dict(line.split("  ", 1)[::-1] for line in sums(bundle).splitlines())
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            yield f"{name}: missing"
        elif name not in expected:
            yield f"{name}: not in {SUMS}"
        elif expected[name] != found[name]:
            yield f"{name}: is not the file that {SUMS} names"


class _DatasetRows(Mapping[str, Mapping[str, Any]]):
    """Rows of a dataset by id, read when asked for: some hold masks of a megabyte."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset.select_columns([name for name in dataset.column_names if name != "image"])
        self._positions = {row_id: position for position, row_id in enumerate(dataset["id"])}

    def __getitem__(self, row_id: str) -> Mapping[str, Any]:
        row: Mapping[str, Any] = self._dataset[self._positions[row_id]]
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)


def _rows(submission: Submission, capability: str, data: str | None) -> Rows:
    dataset_id, revision = submission.signature["dataset"], submission.signature["revision"][capability]
    if data:
        dataset: Any = load_capability(capability, data, full="Full" in str(dataset_id))
    elif dataset_id not in HUB_DATASETS.values():
        raise InputError(
            f"the bundle names the dataset {dataset_id}, which is none of {', '.join(HUB_DATASETS.values())}; "
            "name a copy that you trust with --data, or use --offline"
        )
    else:
        config = {
            "dataset_path": dataset_id,
            "dataset_name": capability,
            "dataset_kwargs": {"revision": revision},
            "test_split": submission.signature["split"],
        }
        dataset = load_dataset(config, "hub")
    if dataset is None:
        raise RefusedError(
            f"{dataset_id} ({capability}, revision {revision}) cannot be loaded; name a local copy with --data, "
            "or use --offline"
        )
    return _DatasetRows(dataset)


def _teller(differences: list[str], capability: str) -> Callable[[str], None]:
    return lambda text: differences.append(f"{SAMPLES}/{capability}.jsonl, {text}")


def _unique(lines: Iterator[dict[str, Any]], tell: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for line in lines:
        if line["id"] in seen:
            tell(f"{line['id']}: stands in the file twice")
        seen.add(line["id"])
        yield line


def _check_ids(spool: Path, capability: str, rows: Rows, tell: Callable[[str], None]) -> None:
    found = {line["id"] for line in read_lines(spool, capability)}
    for missing in sorted(rows.keys() - found):
        tell(f"{missing}: in the dataset, not in the bundle")


def _file_differences(bundle: Path, again: Path) -> Iterator[str]:
    """Files that are not, byte for byte, what they are when written again."""
    for name in sorted({*files_of(bundle), *files_of(again)}):
        recorded, computed = bundle / name, again / name
        if not computed.is_file():
            yield f"{name}: does not belong to a bundle"
        elif not recorded.is_file():
            yield f"{name}: missing"
        elif not filecmp.cmp(recorded, computed, shallow=False):
            yield f"{name}: {_first_difference(recorded, computed)}"


def _first_difference(recorded: Path, computed: Path) -> str:
    """The first line in which two files differ."""
    with recorded.open(encoding="utf-8", errors="replace") as first, computed.open(encoding="utf-8") as second:
        for number, (a, b) in enumerate(zip_longest(first, second, fillvalue=""), 1):
            if a != b:
                return f"line {number} is {a.strip()[:80]!r}, computed {b.strip()[:80]!r}"
    return "other bytes"
