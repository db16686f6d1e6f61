"""The few values of a sample that numbers are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from datbench.sample_scoring import CORRECT_FROM
from datbench_tasks.sample_logs import Sample


@dataclass(frozen=True, slots=True)
class Outcome:
    """One sample as the statistics see it.

    Attributes:
        score: in [0, 1]; None while pending or when the verdict could not be read.
        verdict: of a judge sample: correct, incorrect, unparsed or pending; "" for a direct sample.
        truncated: whether the output reached the token limit; None if the log cannot tell.
        output_tokens: as logged, None if not.
        reformatted: the best score of the reformatted candidates (direct samples), else ``score``.
        cluster: what samples of one image share, None if nothing names the image.
        lines: identical lines that the log held for the sample.
    """

    id: str
    capability: str
    dataset: str
    judge: bool
    score: float | None
    verdict: str
    flags: frozenset[str]
    truncated: bool | None
    output_tokens: int | None
    reformatted: float | None
    discrimination: float | None
    frontier: bool | None
    circular: bool
    original_idx: str
    cluster: str | None
    lines: int

    @property
    def counted_score(self) -> float:
        """The score as the benchmark counts it: 0 without a readable verdict."""
        return self.score or 0.0

    @property
    def pending(self) -> bool:
        """Whether a verdict is still to come."""
        return self.verdict == "pending"

    @property
    def right(self) -> bool | None:
        """Whether the sample counts as correct; None without a score."""
        return None if self.score is None else self.score >= CORRECT_FROM


def read_outcome(sample: Sample, image_key: str | None = None) -> Outcome:
    """Read the outcome of a sample.

    Args:
        sample: as ``datbench_tasks.run_samples`` gives it.
        image_key: hash of the sample's image, when the dataset is at hand.
    """
    record = sample.record
    metrics = record.get("eval_metrics") or {}
    verdict = verdict_of(record)
    unscored = verdict in ("pending", "unparsed")
    score = None if unscored or record.get("score") is None else float(record["score"])
    tokens = _output_tokens(sample.line)
    flags = frozenset(record.get("flags") or ())
    best = record.get("score_if_reformatted")
    source_item = (record.get("source_info") or {}).get("original_idx")
    return Outcome(
        id=record["id"],
        capability=record["capability"],
        dataset=record.get("dataset") or "",
        judge=record.get("eval_mode") == "judge",
        score=score,
        verdict=verdict,
        flags=flags,
        truncated=_truncated(flags, tokens, (record.get("run") or {}).get("max_new_tokens")),
        output_tokens=tokens,
        reformatted=score if best is None else float(best),
        discrimination=_number(metrics.get("discrimination")),
        frontier=metrics.get("is_frontier"),
        circular=bool(record.get("is_circular")),
        original_idx="" if source_item is None else str(source_item),
        cluster=image_key or record.get("image_key"),
        lines=sample.lines,
    )


def verdict_of(record: Mapping[str, Any]) -> str:
    """The verdict on a judge sample: correct, incorrect, unparsed or pending; "" for a direct sample."""
    if record.get("eval_mode") != "judge":
        return ""
    if record.get("pending"):
        return "pending"
    word = str((record.get("score_details") or {}).get("judge_verdict") or "")
    return "pending" if word in ("", "missing") else word


def circular_groups(outcomes: Iterable[Outcome]) -> list[list[Outcome]] | None:
    """Rotations of one item, grouped; None if no two circular samples share a source item, so that none can be found.

    Only an equal ``original_idx`` within a source dataset counts as a common item: anything less could join strangers.
    """
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.circular and outcome.original_idx:
            groups.setdefault((outcome.dataset, outcome.original_idx), []).append(outcome)
    found = list(groups.values())
    return found if any(len(group) > 1 for group in found) else None


def _output_tokens(line: Mapping[str, Any]) -> int | None:
    counts = line.get("token_counts") or [None]
    first = counts[0] if isinstance(counts, list) else counts
    tokens = first.get("output_tokens") if isinstance(first, dict) else None
    return tokens if type(tokens) is int and 0 <= tokens < 2**63 else None


def _truncated(flags: frozenset[str], tokens: int | None, limit: object) -> bool | None:
    if "truncated" in flags:
        return True
    return tokens >= limit if tokens is not None and isinstance(limit, int) else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None
