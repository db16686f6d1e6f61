"""Scoring a stream of rows in chunks, in this process or over several, results in the order of the rows."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from typing import NamedTuple, Protocol

from datbench.unified.batches import BatchScorer
from datbench.unified.formula import shared_comparer
from datbench.unified.rows import Outcome
from datbench.unified.tables import Record

CHUNK = 2_000
_WAITING_PER_WORKER = 3


class Scored(NamedTuple):
    """A chunk of rows with their outcomes, and how many formula comparisons ran into their limit."""

    rows: list[Record]
    outcomes: list[Outcome]
    limit_hits: int = 0


class ChunkScorer(Protocol):
    """Outcomes for a list of rows; picklable when it is to run in several processes."""

    def __call__(self, rows: list[Record]) -> Scored:
        """Score a chunk."""


class RuleScorer:
    """Rows by rules alone; can be sent to other processes."""

    def __init__(self, scorer: BatchScorer) -> None:
        self._scorer = scorer

    def __call__(self, rows: list[Record]) -> Scored:
        """Score a chunk; a row without a column counts as one with null there."""
        comparer = shared_comparer()
        hits = comparer.limit_hits
        columns = {name: [row.get(name) for row in rows] for _, name in self._scorer.columns}
        outcomes = self._scorer.outcomes(columns)
        return Scored(rows, outcomes, comparer.limit_hits - hits)


def chunked(rows: Iterable[Record], size: int = CHUNK) -> Iterator[list[Record]]:
    """Lists of up to ``size`` rows."""
    source = iter(rows)
    while chunk := list(islice(source, size)):
        yield chunk


def score_chunks(rows: Iterable[Record], score: ChunkScorer, workers: int) -> Iterator[Scored]:
    """The scored chunks in order. At most a few chunks for each worker are in memory at a time."""
    if workers == 1:
        yield from map(score, chunked(rows))
        return
    # spawn: forking a process that has threads (a progress bar) can deadlock the child
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from _windowed(pool.submit, score, chunked(rows), workers * _WAITING_PER_WORKER)


def _windowed(
    submit: Callable[..., Future[Scored]], score: ChunkScorer, chunks: Iterator[list[Record]], window: int
) -> Iterator[Scored]:
    waiting: deque[Future[Scored]] = deque()
    for chunk in chunks:
        waiting.append(submit(score, chunk))
        if len(waiting) >= window:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
