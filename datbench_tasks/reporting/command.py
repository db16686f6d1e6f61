"""Print the numbers of a run and write them to datbench_report.json.

RUN is the directory that lmms-eval's --output_path named, or a table that datbench-tasks unified scored. Several are
read as the disjoint parts of one run.
Numbers before the judge pass count pending samples as wrong; the table says how many there are.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from datbench.jsonio import dumps
from datbench_tasks.errors import DONE, IncompleteError
from datbench_tasks.reporting.official import result_text, write_official
from datbench_tasks.reporting.report import Report, load_report
from datbench_tasks.reporting.report_tables import closing_notes, csv_rows, report_tables
from datbench_tasks.reporting.tables import WRITERS, as_csv

EXAMPLE = "datbench-tasks report runs/qwen --html report.html"
REPORT_FILE = "datbench_report.json"
VERDICT_PROBLEMS = ("pending", "unparsed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``report``."""
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    add_reading_arguments(parser)
    parser.add_argument("--date", help="read the tasks of this date (YYYYMMDD_HHMMSS), not the newest")
    parser.add_argument("--variant", help="tasks to read where a run holds several kinds: blind, sample, full")
    parser.add_argument("--format", choices=[*WRITERS, "csv", "json"], default="text", help="of what is printed")
    parser.add_argument("--out", type=Path, help=f"where to write the report (default: RUN/{REPORT_FILE})")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with tables, pictures and all samples")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="write the pictures as PNG and SVG")
    parser.add_argument("--against", type=Path, metavar="RUN", help="a second run to show in page and plots")
    parser.add_argument("--allow-incomplete", action="store_true", help="exit 0 although samples or verdicts lack")
    parser.add_argument("--allow-missing", action="store_true", help="exit 0 although verdicts are missing or unparsed")


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that say how runs are read, the same for several commands."""
    parser.add_argument("--judge", metavar="TAG", help="judge pass to read where a run has several")
    parser.add_argument("--run-model", metavar="NAME", help="model to read where a run holds several")
    parser.add_argument(
        "--dataset", choices=["cached", "hub", "none"], default="cached",
        help="where to look for the dataset's ids and images (default: local files only)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Print tables, write files; 3 if the run is not complete and that was not allowed."""
    if args.plots:
        from datbench_tasks.reporting.plots import require_matplotlib, write_plots

        require_matplotlib()
    report = load_report(
        args.runs, date=args.date, model=args.run_model, judge=args.judge, variant=args.variant, dataset=args.dataset,
        progress=True,
    )  # fmt: skip
    print(render(report, args.format), end="")
    first = args.runs[0]
    written = args.out or (first.with_suffix(".report.json") if first.is_file() else first / REPORT_FILE)
    write_official(written, report.to_dict(), map(result_text, report.results()))
    other = None
    if args.against is not None:
        other = load_report(args.against, judge=args.judge, dataset=args.dataset, progress=True)
    if args.html:
        from datbench_tasks.reporting.images import image_source
        from datbench_tasks.reporting.page import write_page

        write_page(report, args.html, samples=report.samples(), other=other, images=image_source(report, args.dataset))
    if args.plots:
        write_plots(report, args.plots, other=other)
    print(f"wrote {', '.join(str(path) for path in (written, args.html, args.plots) if path)}", file=sys.stderr)
    accepted = VERDICT_PROBLEMS if args.allow_missing else ()
    if not args.allow_incomplete and any(found.kind not in accepted for found in report.problems):
        raise IncompleteError(f"the run is not complete: {summary_of_problems(report)}; --allow-incomplete accepts it")
    return DONE


def render(report: Report, form: str) -> str:
    """The report as text, markdown, latex, csv or json."""
    if form == "csv":
        return as_csv(csv_rows(report))
    if form == "json":
        return dumps(report.to_dict(), indent=2) + "\n"
    return WRITERS[form](report_tables(report), closing_notes(report))


def summary_of_problems(report: Report) -> str:
    """Counts by kind, such as "120 pending, 3 missing"."""
    counts: dict[str, int] = {}
    for found in report.problems:
        counts[found.kind] = counts.get(found.kind, 0) + found.count
    return ", ".join(f"{count:,} {kind}" if count else kind for kind, count in sorted(counts.items()))
