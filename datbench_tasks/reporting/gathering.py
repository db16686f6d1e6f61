"""Reads the tasks of one capability: outcomes, the benchmark's own metrics, settings, and what is not complete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from datbench.report import SampleScore
from datbench.summary import summarize
from datbench_tasks.errors import InputError
from datbench_tasks.reporting.completeness import DatasetSource, Problem, expected_rows, is_commit, problem
from datbench_tasks.reporting.figures import DatasetFigures
from datbench_tasks.reporting.official import sample_score
from datbench_tasks.reporting.outcomes import Outcome, read_outcome
from datbench_tasks.reporting.signature import Signature, task_settings
from datbench_tasks.run_directory import TaskRun, read_results
from datbench_tasks.run_samples import iter_judged
from datbench_tasks.sample_logs import Sample


@dataclass(frozen=True)
class Part:
    """One task of one run, with the folder of the judge pass to read, if any."""

    task_run: TaskRun
    judged: Path | None

    def samples(self) -> Iterator[Sample]:
        """The task's samples in order; a record that a defect left without a capability is filed under the task's."""
        for sample in iter_judged(self.task_run, self.judged):
            sample.record["capability"] = sample.record.get("capability") or self.task_run.capability
            yield sample


@dataclass(frozen=True)
class Gathered:
    """All that a report needs of one capability.

    Attributes:
        outcomes: sorted by id.
        summary: in the benchmark's own shape.
        datasets: metrics by source dataset.
        settings: (capability, settings) of each task that was read, for the signature.
        run: what is the same for all samples of the capability, as its first record has it.
        judges: (model, hash of the prompt) of each judge whose verdicts were read.
        missing: how many samples of the dataset have no record.
        count_only: the dataset was not at hand, so that ``missing`` rests on the host's count.
        batched: the model ran in batches, so that some hosts' token counts are those of padded rows.
    """

    capability: str
    outcomes: tuple[Outcome, ...]
    summary: dict[str, Any]
    datasets: tuple[DatasetFigures, ...]
    settings: tuple[tuple[str, Signature], ...]
    run: dict[str, Any]
    judges: frozenset[tuple[str, str]]
    missing: int = 0
    count_only: bool = False
    batched: bool = False
    problems: tuple[Problem, ...] = ()


class Collector:
    """Takes the samples of one capability, in any order, and keeps what a report needs of them."""

    def __init__(self, capability: str) -> None:
        self.capability = capability
        self.settings: list[tuple[str, Signature]] = []
        self.run: dict[str, Any] = {}
        self._outcomes: list[Outcome] = []
        self._scores: list[SampleScore] = []
        self._judges: set[tuple[str, str]] = set()

    def add(self, sample: Sample, image_key: str | None) -> None:
        """Take one sample; ``image_key`` is a hash of its image, if known."""
        self._outcomes.append(read_outcome(sample, image_key))
        self._scores.append(sample_score(sample.record))
        self.run = self.run or sample.record.get("run") or {}
        judge = sample.record.get("judge") or {}
        if judge.get("model"):
            self._judges.add((judge["model"], judge.get("prompt_hash") or ""))

    def gathered(self) -> Gathered:
        """What was collected, sorted by id, as though it were complete.

        Raises:
            InputError: the metrics of a source dataset cannot be made of the records' details.
        """
        outcomes = tuple(sorted(self._outcomes, key=lambda outcome: outcome.id))
        scores = sorted(self._scores, key=lambda score: score.id)
        errors = sum("scorer_error" in outcome.flags for outcome in outcomes)
        try:
            summary = summarize(self.capability, scores, errors)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as fault:
            raise InputError(
                f"{self.capability}: score_details that no scorer of ours wrote ({type(fault).__name__}: {fault}); "
                "replay the log to score it again"
            ) from fault
        return Gathered(
            capability=self.capability,
            outcomes=outcomes,
            summary=summary,
            datasets=_datasets(outcomes, summary["dataset_metrics"]),
            settings=tuple(self.settings),
            run=self.run,
            judges=frozenset(self._judges),
        )


def gather(parts: Sequence[Part], dataset: DatasetSource, tick: Callable[[], object]) -> list[Gathered]:
    """Read the parts of one capability (a task that names none may hold several).

    Args:
        parts: tasks whose samples are disjoint.
        dataset: where to look for the dataset's ids and images.
        tick: called once a sample.

    Raises:
        InputError: unreadable input, or a sample that is in two parts.
    """
    expected: dict[str, str] | None = None
    collectors: dict[str, Collector] = {}
    seen: set[str] = set()
    for part in parts:
        runs: dict[str, dict[str, Any]] = {}
        for sample in part.samples():
            tick()
            record = sample.record
            if not seen:
                expected = expected_rows(dataset_config(part.task_run, record.get("run") or {}), dataset)
            if record["id"] in seen:
                raise InputError(
                    f"sample {record['id']} is in two of the runs, so they are not parts of one; "
                    "compare them with datbench-tasks compare"
                )
            seen.add(record["id"])
            capability = record["capability"]
            collector = collectors.setdefault(capability, Collector(capability))
            runs[capability] = runs.get(capability) or record.get("run") or {}
            collector.add(sample, (expected or {}).get(record["id"]))
        for capability, run in runs.items():
            collectors[capability].settings.append((capability, task_settings(part.task_run, run)))
    alone = len(collectors) == 1
    lacking = [row for row in expected or {} if row not in seen] if alone else []
    undeclared = max(0, _declared(parts) - len(seen)) if expected is None and alone else 0
    return [
        replace(
            gathered,
            missing=len(lacking) or undeclared,
            count_only=expected is None,
            batched=any(_batched(part) for part in parts),
            problems=(
                *_problems(gathered.capability, gathered.outcomes, expected, lacking),
                *(_count_problems(gathered.capability, parts, undeclared) if expected is None else ()),
            ),
        )
        for gathered in (collectors[name].gathered() for name in sorted(collectors))
    ]


def task_config(task_run: TaskRun) -> dict[str, Any]:
    """The host's config of a task (dataset_path, dataset_kwargs, generation_kwargs, ...), {} if it is not known."""
    return (read_results(task_run).get("configs") or {}).get(task_run.task) or {}


def dataset_config(task_run: TaskRun, run: Mapping[str, Any]) -> dict[str, Any]:
    """The host's config of a task, its dataset at the commit that the run read: a branch may have moved since.

    Args:
        task_run: the task.
        run: the ``run`` of its records.
    """
    config, commit = task_config(task_run), run.get("revision_resolved")
    kwargs = config.get("dataset_kwargs") or {}
    pinned = {**kwargs, "revision": commit}
    return {**config, "dataset_kwargs": pinned} if "revision" in kwargs and is_commit(commit) else config


def _datasets(outcomes: Sequence[Outcome], metrics: Mapping[str, dict[str, Any]]) -> tuple[DatasetFigures, ...]:
    counts = Counter(outcome.dataset for outcome in outcomes)
    return tuple(DatasetFigures(name, counts[name], metrics.get(name, {})) for name in sorted(counts))


def _declared(parts: Sequence[Part]) -> int:
    """How many samples the host says it ran, over all parts."""
    return sum(_counts(part).get("effective", 0) for part in parts)


def _problems(
    capability: str, outcomes: Sequence[Outcome], expected: Mapping[str, str] | None, lacking: list[str]
) -> Iterator[Problem]:
    unknown = [] if expected is None else [outcome.id for outcome in outcomes if outcome.id not in expected]
    groups = {
        ("pending", "without a verdict"): [outcome.id for outcome in outcomes if outcome.verdict == "pending"],
        ("unparsed", "whose verdict could not be read"): [o.id for o in outcomes if o.verdict == "unparsed"],
        ("duplicated", "logged more than once, identically"): [o.id for o in outcomes if o.lines > 1],
        ("missing", "of the dataset without a record"): lacking,
        ("unknown", "that the dataset does not have"): unknown,
    }
    for (kind, what), ids in groups.items():
        if ids:
            yield problem(kind, capability, ids, what)


def _count_problems(capability: str, parts: Sequence[Part], undeclared: int) -> Iterator[Problem]:
    """Problems that the host's counts show where the dataset is not at hand."""
    if undeclared:
        text = f"{capability}: no record of {undeclared:,} of the samples that the host counted"
        yield Problem("missing", capability, undeclared, (), text)
    for part in parts:
        counts = _counts(part)
        if counts.get("effective", 0) < counts.get("original", 0):
            text = f"{capability}: {counts['effective']:,} of {counts['original']:,} samples were asked (--limit)"
            yield Problem("partial", capability, 0, (), text)


def _counts(part: Part) -> dict[str, int]:
    """The host's own counts of a task: "original" in the dataset, "effective" under --limit; {} if not known."""
    counts = (read_results(part.task_run).get("n-samples") or {}).get(part.task_run.task) or {}
    return {key: value for key, value in counts.items() if isinstance(value, int)}


def _batched(part: Part) -> bool:
    size = str((read_results(part.task_run).get("config") or {}).get("batch_size") or 1)
    return size != "1"
