"""Make a task for a host from a table: a folder with a task YAML and the data as text in a parquet file.

lmms-eval serves the four evaluation types that read generated text; lm-evaluation-harness serves all six.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import yaml

from datbench import jsonio
from datbench.unified.cells import cell_value
from datbench.unified.eval_types import EVAL_TYPES
from datbench.unified.tables import Record, json_text, without_surrogates
from datbench_tasks.errors import DONE, InputError, UsageError
from datbench_tasks.task_folders import packaged_folder
from datbench_tasks.unified.joined import Rows
from datbench_tasks.unified.options import ROLES, add_rule_arguments, check_rules, label_base

EXAMPLE = (
    "datbench-tasks new-task --eval-type key3_q_choices_a --data bench.jsonl --name my_bench "
    "--question question --choices choices --label label"
)

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_SETS = ("unified_jaccard", "unified_exact_set")
_HOOKS = "datbench_tasks.unified.hooks"
_NO_LIKELIHOODS = (
    "lmms-eval cannot serve {}: it turns log-likelihoods into text before a task sees them, and none of its models "
    "gives the sum over a continuation. Use --host lm-eval"
)


@dataclass(frozen=True)
class Host:
    """One host: its package and its command, and the template of each evaluation type that it can serve."""

    package: str
    program: str
    templates: Mapping[str, str]
    generated: Mapping[str, str]
    refusal: str


_GENERATED_TYPES = ("key2_qa", "key2_q_ma", "key3_q_choices_a", "key3_q_choices_as")
HOSTS = {
    "lmms-eval": Host("lmms_eval", "lmms-eval", dict.fromkeys(_GENERATED_TYPES, "lmms_eval"), {}, _NO_LIKELIHOODS),
    "lm-eval": Host(
        "lm_eval",
        "lm_eval",
        {
            **dict.fromkeys(_GENERATED_TYPES, "lm_eval_generate"),
            "key1_text_score": "lm_eval_rolling",
            "key3_q_choices_a": "lm_eval_choice",
            "key3_q_a_rejected": "lm_eval_choice",
        },
        {"key3_q_choices_a": "lm_eval_generate"},
        "{}",
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument("--eval-type", required=True, choices=list(EVAL_TYPES))
    parser.add_argument("--data", type=Path, required=True, metavar="BENCH", help=".jsonl, .json, .csv or .parquet")
    parser.add_argument("--name", required=True, help="name of the task")
    parser.add_argument("--host", choices=list(HOSTS), default="lmms-eval")
    parser.add_argument(
        "--out", type=Path, default=Path("tasks"), metavar="DIR", help="where the folder NAME goes (tasks)"
    )
    columns = parser.add_argument_group("columns (default: named like the role)")
    for role in ROLES:
        columns.add_argument(f"--{role}", metavar="COLUMN")
    columns.add_argument("--id", metavar="COLUMN", help="default: the number of the row")
    columns.add_argument("--image", metavar="COLUMN", help="paths (from the folder of BENCH) or bytes of images")
    add_rule_arguments(parser)
    parser.add_argument("--metric", help="jaccard, exact_set (strict) or ll_choice_acc_norm")
    parser.add_argument("--generated", action="store_true", help="lm-eval: read single choices from generated text")
    parser.add_argument("--max-new-tokens", type=int, default=1024)


def run(args: argparse.Namespace) -> int:
    """Write the folder and say how to run the task."""
    template = _template(args)
    check_rules(args)
    _check_name(args.name, HOSTS[args.host].package)
    with Rows(args.data) as rows:
        columns = _columns(args, rows)
        settings = {"eval_type": args.eval_type, "strict": args.strict, "label_base": label_base(args, columns, rows)}
        settings |= {"metric": args.metric} if args.metric else {}
        folder = _folder(args.out, args.name)
        folder.mkdir(parents=True, exist_ok=True)
        data = folder / f"{args.name}.parquet"
        count = _write_data(data, _documents(args, rows, columns, jsonio.dumps(settings)), images=bool(args.image))
    text = template.substitute(
        name=args.name,
        # In ASCII and quotation marks no path can end a line or open a mapping of the YAML.
        folder=json.dumps(str(args.out)),
        data=json.dumps(str(data.resolve())),
        max_new_tokens=args.max_new_tokens,
        text="doc_to_text_with_image" if args.image else "doc_to_text",
    )
    if args.host == "lm-eval" and args.image:
        text += f"doc_to_image: !function {_HOOKS}.doc_to_visual\n"
    jsonio.write_text(folder / f"{args.name}.yaml", text + _metrics(args))
    print(f"{folder}: {count:,} rows")
    print(
        f"run it with: {HOSTS[args.host].program} --model MODEL --model_args ARGUMENTS --tasks {args.name} "
        f"--include_path {shlex.quote(str(args.out))} --log_samples --output_path OUT"
    )
    return DONE


def _template(args: argparse.Namespace) -> Template:
    host = HOSTS[args.host]
    name = (host.generated if args.generated else {}).get(args.eval_type) or host.templates.get(args.eval_type)
    if name is None:
        raise UsageError(host.refusal.format(args.eval_type))
    if args.image and name in ("lm_eval_choice", "lm_eval_rolling"):
        raise UsageError(f"lm-eval sends images with generated answers only, not with {args.eval_type}")
    return Template((packaged_folder() / "unified" / f"{name}.template").read_text("utf-8"))


def _folder(out: Path, name: str) -> Path:
    """The task's folder. The hosts read a folder of the working directory that bears the task's name as the task."""
    if out.resolve() == Path.cwd():
        raise UsageError(f"--out {out}: a host that starts here would read ./{name} for the task; name another folder")
    return out / name


def _check_name(name: str, package: str) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(f"--name {name!r}: use letters, digits, _ and -, a letter first, at most 64")
    if name.startswith("datbench"):
        raise UsageError(f"--name {name}: names that begin with datbench are ours; choose another")
    if name in _host_names(package):
        raise UsageError(f"--name {name}: {package} has a task, group or tag of that name, which would win")


def _host_names(package: str) -> set[str]:
    """Names of the host's own tasks; empty where the host is not installed. The host itself is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return set()
    tasks = Path(spec.submodule_search_locations[0]) / "tasks"
    pattern = re.compile(r"^(?:task|group|tag):[ \t]*[\"']?([A-Za-z0-9_-]+)[\"']?[ \t]*$", re.MULTILINE)
    return {name for file in tasks.rglob("*.y*ml") for name in pattern.findall(file.read_text("utf-8", "replace"))}


def _columns(args: argparse.Namespace, rows: Rows) -> dict[str, str]:
    first = next(iter(rows), None)
    if first is None:
        raise InputError(f"{args.data}: holds no row")
    roles = [role for role in EVAL_TYPES[args.eval_type].roles if role != "pred"]
    columns = {role: getattr(args, role) or role for role in (*roles, *(["context"] if args.context else []))}
    wanted = [*columns.values(), *filter(None, (args.id, args.image))]
    absent = [name for name in wanted if name not in first]
    if absent:
        raise InputError(
            f"{args.data}: row 1 has no column {', '.join(map(repr, absent))}; it has {', '.join(first)} "
            "(--question COLUMN and the like name them)"
        )
    return columns


def _documents(
    args: argparse.Namespace, rows: Rows, columns: dict[str, str], settings: str
) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(rows):
        document: dict[str, Any] = {
            "id": without_surrogates(str(row[args.id])) if args.id else str(number),
            "cells": json_text({role: cell_value(row.get(name)) for role, name in columns.items()}),
            "settings": settings,
        }
        if args.image:
            document["image"] = _image(row, args.image, args.data, number)
        yield document


def _image(row: Record, column: str, data: Path, number: int) -> dict[str, Any] | None:
    cell = row.get(column)
    if isinstance(cell, Mapping):
        cell = cell.get("bytes") or cell.get("path")
    if isinstance(cell, str) and cell:
        path = data.parent / cell
        try:
            # Not a device either, which could be read for ever.
            cell = path.read_bytes() if path.is_file() else None
        except (OSError, ValueError) as fault:
            raise InputError(f"{data}: row {number + 1}, column {column!r}: {fault}") from fault
        if cell is None:
            raise InputError(f"{data}: row {number + 1}, column {column!r}: there is no file {path}")
    if cell is None or isinstance(cell, bytes):
        return {"bytes": cell, "path": None} if cell else None
    raise InputError(f"{data}: row {number + 1}, column {column!r}: neither a path nor the bytes of an image")


def _write_data(path: Path, documents: Iterator[dict[str, Any]], *, images: bool) -> int:
    """Write the parquet file row group by row group; the image column is typed, all others are text."""
    from datasets import Features, Image, Value
    from datasets.arrow_writer import ParquetWriter

    features = Features({name: Value("string") for name in ("id", "cells", "settings")})
    if images:
        features["image"] = Image()
    with jsonio.replacing(path) as temporary:
        writer = ParquetWriter(features=features, path=str(temporary))
        for document in documents:
            writer.write(document)
        count, _ = writer.finalize()
    return int(count)


def _metrics(args: argparse.Namespace) -> str:
    """The metric list, as YAML text."""
    score = "unified_byte_perplexity" if args.eval_type == "key1_text_score" else "unified_score"
    means = [score, *(_SETS if args.eval_type == "key3_q_choices_as" else ())]
    lines = ["metric_list:"]
    for metric, function, higher in (
        *((name, "datbench_tasks.aggregation.accuracy", args.eval_type != "key1_text_score") for name in means),
        ("unified_invalid", f"{_HOOKS}.total", False),
        ("unified_record", f"{_HOOKS}.valid_share", True),
    ):
        lines += [f"  - metric: {metric}", f"    aggregation: !function {function}"]
        lines += [f"    higher_is_better: {yaml.safe_dump(higher).split()[0]}"]
    return "\n".join([*lines, 'metadata: {version: "1.0"}', ""])
