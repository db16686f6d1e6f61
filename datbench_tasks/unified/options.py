"""What the commands over tables share: the roles of columns, and the rules' options."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import cast

from datbench.unified.cells import cell_value
from datbench.unified.strict import LabelBase
from datbench_tasks.errors import UsageError
from datbench_tasks.unified.joined import Rows

ROLES = ("text", "question", "context", "target", "targets", "choices", "label", "labels", "better", "rejected")
"""Each is an option ``--role COLUMN``; the prediction's column is apart."""


def add_rule_arguments(parser: argparse._ActionsContainer) -> None:
    """Which rules score the rows."""
    parser.add_argument("--strict", action="store_true", help="the stricter readings of answers and labels")
    parser.add_argument("--label-base", type=int, choices=(0, 1), help="of digit labels, strict; default: found")


def check_rules(args: argparse.Namespace) -> None:
    """UsageError for options that would have no effect."""
    if args.label_base is not None and not args.strict:
        raise UsageError("--label-base goes with --strict; other labels count from 0, and n itself is the last choice")


def label_base(args: argparse.Namespace, columns: Mapping[str, str], rows: Rows) -> int | None:
    """The base of digit labels: given, or in strict mode found by reading the label column once."""
    label = columns.get("label") or columns.get("labels")
    if not args.strict or args.label_base is not None or label is None:
        return cast("int | None", args.label_base)
    base = LabelBase()
    for row in rows:
        base.add(cell_value(row.get(label)), cell_value(row.get(columns["choices"])))
    return base.value
