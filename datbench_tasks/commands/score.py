"""Score stored responses of one capability, with no host and no GPU.

RESPONSES is JSONL: {"id": ..., "raw_output": ...} a line. Reasoning blocks are set aside first unless --as-is.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import warnings
from collections.abc import Iterable

from datbench import CAPABILITIES, DatBenchEvaluator, DatBenchReport, VLMResponse
from datbench_tasks.dataset_source import SAMPLE, load_capability
from datbench_tasks.errors import DONE, INCOMPLETE, InputError
from datbench_tasks.reasoning import set_reasoning_aside
from datbench_tasks.responses import read_judge_responses, read_vlm_responses

EXAMPLE = "datbench-tasks score answers.jsonl --capability math --out report.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("responses", metavar="RESPONSES", help='JSONL with "id" and "raw_output" a line')
    parser.add_argument("--capability", required=True, choices=CAPABILITIES)
    parser.add_argument("--data", help=f"folder, parquet file or {SAMPLE!r} (default: DATBENCH_DATA, else the hub)")
    parser.add_argument("--full", action="store_true", help="DatBench-Full instead of DatBench")
    parser.add_argument("--judge-responses", metavar="FILE", help='JSONL with "id" and "raw_judge_output" a line')
    parser.add_argument("--as-is", action="store_true", help="score the outputs untouched, reasoning included")
    parser.add_argument("--out", metavar="FILE", help="write the report (summary and per-sample results) as JSON")
    parser.add_argument("--allow-partial", action="store_true", help="exit 0 although samples or verdicts are missing")


def run(args: argparse.Namespace) -> int:
    """Score, print the summary, write the report; 3 if samples or verdicts are missing."""
    responses = read_vlm_responses(args.responses)
    judged = read_judge_responses(args.judge_responses) if args.judge_responses else None
    dataset = load_capability(args.capability, args.data, full=args.full)
    try:
        evaluator = DatBenchEvaluator(dataset, args.capability)
    except ValueError as fault:
        raise InputError(f"the data of {args.capability} is malformed: {fault}") from fault
    if not args.as_is:
        responses = [_without_reasoning(response) for response in responses]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report = evaluator.compute_metrics(responses, judged)
    for warning in caught:
        print(f"datbench-tasks score: {warning.message}", file=sys.stderr)
    if args.out:
        report.save(args.out)
    print("\n".join([*_lines(report), *([f"report: {args.out}"] if args.out else [])]))
    return _status(evaluator, report, allow_partial=args.allow_partial)


def _without_reasoning(response: VLMResponse) -> VLMResponse:
    if response.parsed_answer:
        return response
    return dataclasses.replace(response, raw_output=set_reasoning_aside(response.raw_output).text)


def _lines(report: DatBenchReport) -> Iterable[str]:
    summary = report.summary
    yield f"accuracy  {summary['overall_accuracy']:8.2%}  {summary['total_samples']} samples"
    yield f"direct    {summary['direct_accuracy']:8.2%}  {summary['direct_samples']} samples"
    yield (
        f"judge     {summary['judge_accuracy']:8.2%}  {summary['judge_samples']} samples, "
        f"{summary['judge_missing_responses']} without a verdict, {summary['judge_unparsed_verdicts']} unparsed"
    )
    for dataset, metrics in summary["dataset_metrics"].items():
        for name, value in metrics.items():
            shown = f"{value:.4f}" if isinstance(value, float) else value
            yield f"  {dataset}  {name}  {shown}"


def _status(evaluator: DatBenchEvaluator, report: DatBenchReport, *, allow_partial: bool) -> int:
    scored = {result.id for result in report.results}
    missing = [sample.id for sample in evaluator.samples if sample.id not in scored]
    unscored = report.summary["judge_missing_responses"] + report.summary["judge_unparsed_verdicts"]
    if missing:
        shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        print(f"{len(missing)} of {len(evaluator.samples)} samples have no response: {shown}", file=sys.stderr)
    if (missing or unscored) and not allow_partial:
        print("incomplete; --allow-partial makes this exit 0", file=sys.stderr)
        return INCOMPLETE
    return DONE
