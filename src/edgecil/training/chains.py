"""Chains of task trainings: a job's work in one process, whose states stay in memory.

A job ends after about a second, so that its results become durable; long trainings are jobs of
their own. What it leaves undone continues from a file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from edgecil.experiments.plan import Node
from edgecil.training.node_training import (
    Outcome,
    State,
    TooLongError,
    WorkerContext,
    failure,
    learn_node,
    packed,
    score_classes,
)

PERIOD = 1.0  # seconds after which a job ends, and after which results are written


@dataclass(frozen=True)
class Step:
    """A node of a chain, and the file for the state after it.

    `keep` says whether other nodes than the next one of the chain continue from that state.
    """

    node: Node
    state: Path
    keep: bool = False


@dataclass(frozen=True)
class Chain:
    """Nodes to train one after the other; the file has the state before the first one."""

    steps: tuple[Step, ...]
    before: Path | None = None  # None for a first task


@dataclass(frozen=True)
class Job:
    """Chains to train in one process, one after the other.

    It ends before a node that would make it last longer than `seconds`. With `scores`, nothing is
    trained: the outcome of the first node has the scores of its method.
    """

    chains: tuple[Chain, ...]
    scores: bool = False
    seconds: float = PERIOD

    @property
    def first(self) -> Node:
        """The node that is trained first."""
        return self.chains[0].steps[0].node

    @property
    def nodes(self) -> Iterator[Node]:
        """All nodes of the job."""
        return (step.node for chain in self.chains for step in chain.steps)


class StateFiles(Protocol):
    """Where states are read and written."""

    def read(self, path: Path) -> bytes:
        """Return a state; FileNotFoundError if it does not exist."""

    def write(self, path: Path, state: bytes) -> None:
        """Write a state, so that it is on disk before the outcome of its node is used."""


class Reporter(Protocol):
    """Who learns what a job does."""

    def begin(self, chain: int) -> None:
        """A chain has begun, with its first node."""

    def end(self, chain: int, outcome: Outcome) -> None:
        """A node of the chain has ended; the next one, if there is any, has begun."""


class Outcomes:
    """The outcomes of a job's nodes: by chain, of its first nodes; the others were not tried."""

    def __init__(self, job: Job) -> None:
        self.by_chain: list[list[Outcome]] = [[] for _ in job.chains]
        self.last: Outcome | None = None

    def begin(self, chain: int) -> None:
        """Do nothing."""

    def end(self, chain: int, outcome: Outcome) -> None:
        """Add the outcome of a chain's next node."""
        self.by_chain[chain].append(outcome)
        self.last = outcome

    def drop_last(self) -> None:
        """Forget the last outcome, so that its node counts as not tried."""
        for outcomes in self.by_chain:
            if outcomes and outcomes[-1] is self.last:
                outcomes.pop()
        self.last = None


def train_job(
    context: WorkerContext,
    job: Job,
    files: StateFiles,
    reporter: Reporter,
    *,
    limit: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Train the nodes of a job until another one would make it last too long.

    A failure ends its chain, and too little memory ends the job. `limit` returns a context that
    raises :class:`TooLongError` in a training that takes too long.
    """
    if job.scores:
        reporter.begin(0)
        try:
            with limit():
                outcome = score_classes(context, job.first)
        except TooLongError as error:
            outcome = failure(str(error))
        reporter.end(0, outcome)
        return
    work = _Work(context, files, reporter, limit, job.seconds)
    for number, chain in enumerate(job.chains):
        if work.is_over:
            return
        work.train(number, chain)


class _Work:
    """A job under way."""

    def __init__(
        self,
        context: WorkerContext,
        files: StateFiles,
        reporter: Reporter,
        limit: Callable[[], AbstractContextManager[None]],
        seconds: float,
    ) -> None:
        self._context, self._files, self._reporter = context, files, reporter
        self._limit = limit
        self._seconds = seconds
        self._begun = time.perf_counter()
        self._longest = 0.0  # seconds of a node
        self._is_short_of_memory = False

    @property
    def is_over(self) -> bool:
        """Whether the next node would probably end too late."""
        elapsed = time.perf_counter() - self._begun
        return self._is_short_of_memory or (
            self._longest > 0.0 and elapsed + self._longest > self._seconds
        )

    def train(self, number: int, chain: Chain) -> None:
        """Train the nodes of one chain."""
        try:
            before = self._state_before(chain)
        except FileNotFoundError:
            message = f"The state after the previous task is missing: {chain.before}."
            self._reporter.end(number, failure(message, damaged=True))
            return
        self._reporter.begin(number)
        unwritten: Path | None = None  # where the state before the next node would be written
        for step in chain.steps:
            is_last = step is chain.steps[-1]
            outcome, after = self._learn(step, before, keep=step.keep or not is_last)
            if outcome.result is None:
                if unwritten is not None and before is not None:
                    self._files.write(unwritten, packed(before))
                self._reporter.end(number, outcome)
                self._is_short_of_memory = outcome.out_of_memory
                return
            ends_here = self.is_over and not is_last
            unwritten = step.state
            if after is not None and (step.keep or ends_here):
                self._files.write(step.state, packed(after))
                unwritten = None
            self._reporter.end(number, outcome)
            if ends_here:
                self._context.hand_on(step.node, after)
                return
            before = after

    def _state_before(self, chain: Chain) -> bytes | State | None:
        """Return the state before a chain, which may be in memory."""
        handed = self._context.take_handed(chain.steps[0].node)
        if handed is not None or chain.before is None:
            return handed
        return self._files.read(chain.before)

    def _learn(
        self, step: Step, before: bytes | State | None, *, keep: bool
    ) -> tuple[Outcome, bytes | State | None]:
        start = time.perf_counter()
        try:
            with self._limit():
                return learn_node(self._context, step.node, before, keep=keep)
        except TooLongError as error:
            return failure(str(error)), None
        finally:
            self._longest = max(self._longest, time.perf_counter() - start)
