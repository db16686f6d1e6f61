"""From run directories to a report: numbers by capability and in total, signature, completeness, notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from datbench.report import SampleScore
from datbench_tasks.errors import InputError
from datbench_tasks.reporting.completeness import DatasetSource, Problem
from datbench_tasks.reporting.figures import Figures, Means, accuracy_means, figures, mean
from datbench_tasks.reporting.gathering import Gathered, Part, gather
from datbench_tasks.reporting.intervals import RESAMPLES, Interval, percentile_interval
from datbench_tasks.reporting.official import merge_summaries, sample_score
from datbench_tasks.reporting.outcomes import Outcome
from datbench_tasks.reporting.signature import Signature, merge, signature_hash, signature_line
from datbench_tasks.run_directory import Run, open_run
from datbench_tasks.run_samples import choose_judge, judge_folder
from datbench_tasks.sample_logs import Sample

if TYPE_CHECKING:
    import pandas

BENCHMARK = ""
"""The variant of the benchmark's own tasks, as against blind or sample tasks."""


@dataclass(frozen=True)
class Report:
    """All numbers of a run, or of several parts of one.

    Attributes:
        model: the host's name for it.
        directories: where the parts were read.
        origins: the same for a person, with dates and judge passes, and what was left out.
        parts: the tasks, by capability and date.
        signature: see ``datbench_tasks.reporting.signature``.
        runs: what is the same for all samples of a capability (the records' ``run``), by capability.
        capabilities: numbers of each capability, in alphabetical order.
        total: over all samples; its accuracy is the sample-weighted one.
        macro_accuracy, macro_interval: plain mean over the capabilities.
        summary: in the benchmark's own shape.
        outcomes: one a sample, by capability and id.
        count_only: capabilities whose ids were not checked, since no dataset was at hand.
        batched: capabilities whose model ran in batches (see ``Gathered``).
        problems: what keeps the run from complete.
        notes: what a reader must know to read the numbers.
    """

    model: str
    directories: tuple[str, ...]
    origins: tuple[str, ...]
    parts: tuple[Part, ...]
    signature: Signature
    runs: dict[str, dict[str, Any]]
    capabilities: tuple[Figures, ...]
    total: Figures
    macro_accuracy: float | None
    macro_interval: Interval | None
    summary: dict[str, Any]
    outcomes: tuple[Outcome, ...]
    count_only: tuple[str, ...]
    batched: tuple[str, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]

    @property
    def signature_line(self) -> str:
        """The signature as one line."""
        return signature_line(self.signature)

    @property
    def signature_hash(self) -> str:
        """The signature as 16 hexadecimal digits."""
        return signature_hash(self.signature)

    def samples(self) -> Iterator[Sample]:
        """All samples, read again from the files, one in memory at a time."""
        for part in self.parts:
            yield from part.samples()

    def results(self) -> Iterator[SampleScore]:
        """All samples in the benchmark's own shape."""
        return (sample_score(sample.record) for sample in self.samples())

    def unscored(self) -> dict[str, list[str]]:
        """Ids of samples whose score is not known, by reason."""
        verdicts = {
            kind: [outcome.id for outcome in self.outcomes if outcome.verdict == kind]
            for kind in ("pending", "unparsed")
        }
        missing = [sample_id for found in self.problems if found.kind == "missing" for sample_id in found.ids]
        return {**verdicts, "missing": missing}

    def to_dict(self) -> dict[str, Any]:
        """What stands beside "results" in the report file."""
        return {
            "schema": 1,
            "summary": self.summary,
            "signature": {"line": self.signature_line, "hash": self.signature_hash, **self.signature},
            "unscored": self.unscored(),
            "model": self.model,
            "macro_accuracy": self.macro_accuracy,
            "macro_interval": self.macro_interval,
            "figures": {group.name: asdict(group) for group in (*self.capabilities, self.total)},
            "problems": [asdict(found) for found in self.problems],
            "notes": [*self.origins, *self.notes],
        }

    def to_pandas(self) -> pandas.DataFrame:
        """One row a capability, one for the total; columns are the fields of ``Figures``, intervals as two columns.

        Raises:
            ImportError: pandas is not installed (``pip install datbench-tasks[pandas]``).
        """
        import pandas

        return pandas.DataFrame([flat_figures(group) for group in (*self.capabilities, self.total)]).set_index("name")


def flat_figures(group: Figures) -> dict[str, Any]:
    """The fields of ``Figures`` as one flat row: intervals as ``_low`` and ``_high``, without the source datasets."""
    row: dict[str, Any] = {}
    for name, value in asdict(group).items():
        if name in ("interval", "bounds"):
            low, high = value or (None, None)
            row |= {f"{name}_low": low, f"{name}_high": high}
        elif name != "datasets":
            row[name] = value
    return row


def load_report(
    directories: str | Path | Sequence[str | Path],
    *,
    date: str | None = None,
    model: str | None = None,
    judge: str | None = None,
    variant: str | None = None,
    dataset: DatasetSource = "cached",
    progress: bool = False,
) -> Report:
    """Read one run, or several disjoint parts of one model's run.

    Args:
        directories: the host's output directories, or tables that the unified evaluator scored.
        date: read the tasks of this date instead of the newest.
        model: pick one of several models in a directory.
        judge: name of the judge pass; None takes the only one there is, if any.
        variant: "blind" reads the blind tasks; None takes the benchmark's own, or else whatever there is.
        dataset: where to look for the dataset's own ids and images ("cached", "hub", "none").
        progress: show a progress bar on a terminal.

    Raises:
        InputError: unreadable input, or parts that do not belong together.
    """
    paths = [Path(path) for path in ([directories] if isinstance(directories, (str, Path)) else directories)]
    tables = [path for path in paths if path.is_file()]
    if tables and len(tables) < len(paths):
        raise InputError(f"{tables[0]} is a file and others are directories; report runs and tables apart")
    if tables:
        from datbench_tasks.reporting.unified_results import load_unified

        return load_unified(paths)
    runs = [open_run(path, date=date, model=model) for path in paths]
    parts, origins = _choose_parts(runs, judge, variant)
    by_capability: dict[str, list[Part]] = {}
    for part in parts:
        by_capability.setdefault(part.task_run.capability, []).append(part)
    with tqdm(desc="reading samples", unit="", disable=None if progress else True, leave=False) as bar:
        groups = [found for group in by_capability.values() for found in gather(group, dataset, bar.update)]
    report = assemble(runs[0].model, sorted(groups, key=lambda found: found.capability))
    return replace(
        report,
        directories=tuple(str(run.directory) for run in runs),
        parts=tuple(parts),
        origins=tuple(origins),
    )


def assemble(model: str, groups: Sequence[Gathered]) -> Report:
    """Compute a report from what was gathered, capabilities in alphabetical order.

    Raises:
        InputError: the tasks do not belong together.
    """
    ids = {gathered.capability: [outcome.id for outcome in gathered.outcomes] for gathered in groups}
    settings = [item for gathered in groups for item in gathered.settings]
    signature = merge(settings, ids, _judge(groups))
    digest = signature_hash(signature)
    means = [accuracy_means(gathered.outcomes, digest, gathered.capability) for gathered in groups]
    outcomes = tuple(outcome for gathered in groups for outcome in gathered.outcomes)
    pooled = np.average(means, axis=0, weights=[len(gathered.outcomes) for gathered in groups])
    capabilities = tuple(map(_figures, groups, means))
    total = figures("all", outcomes, pooled, missing=sum(gathered.missing for gathered in groups))
    return Report(
        model=model,
        directories=(),
        origins=(),
        parts=(),
        signature=signature,
        runs={gathered.capability: gathered.run for gathered in groups},
        capabilities=capabilities,
        total=total,
        macro_accuracy=mean([group.accuracy for group in capabilities if group.accuracy is not None]),
        macro_interval=percentile_interval(np.mean(means, axis=0)),
        summary=merge_summaries([gathered.summary for gathered in groups], outcomes),
        outcomes=outcomes,
        count_only=tuple(gathered.capability for gathered in groups if gathered.count_only),
        batched=tuple(gathered.capability for gathered in groups if gathered.batched),
        problems=tuple(found for gathered in groups for found in gathered.problems),
        notes=tuple(_reading_notes(capabilities, total, groups)),
    )


def _choose_parts(runs: Sequence[Run], judge: str | None, variant: str | None) -> tuple[list[Part], list[str]]:
    parts, origins = [], []
    found = {task_run.variant for run in runs for task_run in run.tasks}
    chosen = variant if variant is not None else BENCHMARK if BENCHMARK in found else min(found)
    if chosen not in found:
        group = f"datbench_{chosen}" if chosen else "datbench"
        raise InputError(
            f"{runs[0].directory}: no {_kind(chosen)} tasks in it, only {', '.join(map(_kind, sorted(found)))}; "
            f"run the host with --tasks {group} into the same --output_path"
        )
    if len(found) > 1:
        others = ", ".join(sorted(map(_kind, found - {chosen})))
        origins.append(f"also in the directory and left out: {others} tasks")
    for run in runs:
        tag = choose_judge(run, judge)
        folder = judge_folder(run, tag) if tag else None
        tasks = [task_run for task_run in run.tasks if task_run.variant == chosen]
        parts += [Part(task_run, folder) for task_run in tasks]
        dates = sorted({task_run.date for task_run in tasks})
        origins.append(f"{run.directory}: {', '.join(dates)}" + (f", judge pass {tag}" if tag else ""))
    return sorted(parts, key=_reading_order), origins


def _kind(variant: str) -> str:
    return variant or "benchmark"


def _reading_order(part: Part) -> tuple[str, ...]:
    task_run = part.task_run
    return task_run.capability, task_run.task, task_run.date, str(task_run.samples)


def _figures(gathered: Gathered, means: Means) -> Figures:
    return figures(
        gathered.capability,
        gathered.outcomes,
        means,
        missing=gathered.missing,
        datasets=gathered.datasets,
    )


def _judge(groups: Iterable[Gathered]) -> dict[str, str] | None:
    judges = sorted({judge for gathered in groups for judge in gathered.judges})
    if len(judges) > 1:
        raise InputError(f"verdicts of several judges ({judges[0]} and {judges[1]}) in one report; run one judge pass")
    return {"model": judges[0][0], "prompt": judges[0][1]} if judges else None


def _reading_notes(capabilities: Sequence[Figures], total: Figures, groups: Sequence[Gathered]) -> list[str]:
    """What a reader must know of how the numbers came about."""
    notes = [interval_note(capabilities)]
    if total.missing:
        notes.append("accuracy leaves missing samples out; the range counts them as wrong, or as right")
    if total.pending:
        notes.append("accuracy counts pending verdicts as wrong; graded only, like the host's table, leaves them out")
    counted = [gathered.capability for gathered in groups if gathered.count_only]
    if counted:
        where = "" if len(counted) == len(groups) else f" for {', '.join(counted)}"
        notes.append(f"count only: no dataset at hand{where}, so ids were not checked")
    notes.append(_truncation_note(total, any(gathered.batched for gathered in groups)))
    if total.circular_samples and total.circular_items is None:
        rotated = f"{total.circular_samples:,} rotated samples"
        notes.append(f"circular: {rotated} are counted one by one, since nothing says which belong together")
    return notes


def interval_note(capabilities: Sequence[Figures], resamples: str = "bootstrap resamples") -> str:
    """How intervals were made: by image or document where the samples of one are known."""
    alone = [group.name for group in capabilities if not group.clusters]
    how = "drawn by image or document" + (f", by sample in {', '.join(alone)}" if alone else "")
    if len(alone) == len(capabilities):
        how = "drawn by sample: nothing says which samples share an image"
    return f"intervals: 95 %, {RESAMPLES:,} {resamples}, {how}"


def _truncation_note(total: Figures, batched: bool) -> str:
    if total.truncation_unknown == total.samples:
        return "truncated: not known, the log has no token counts"
    how = "truncated: the logged output tokens reached max_new_tokens"
    if not total.truncated:
        how = "truncated: none, by the logged output tokens"
    elif batched:
        how += "; some models count padded rows of a batch, so this is an upper bound"
    if total.truncation_unknown:
        how += f"; not known for {total.truncation_unknown:,} samples without a count"
    return how
