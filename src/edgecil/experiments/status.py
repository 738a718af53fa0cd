"""How far an experiment is: finished and failed trainings, those under way, and the time left."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from edgecil.experiments.config import Execution, ExperimentConfig
from edgecil.experiments.config_values import build_config
from edgecil.experiments.plan import Node, Plan, Prefix
from edgecil.experiments.progress import RunningTask, RunProgress, read_progress
from edgecil.experiments.results import RunResult
from edgecil.experiments.store import StoreReader
from edgecil.io.notebook import show_printed
from edgecil.io.numbers import format_duration
from edgecil.runs.identity import Identity
from edgecil.runs.training_seeds import (
    FROM_LOGS,
    PER_ORDER,
    REPEATS,
    SEEDS,
    repeat_of,
    training_seed,
)
from edgecil.sequences.protocols import LabelledSequence, origin_sentences
from edgecil.sequences.sequence import format_tasks

_BAR = 40  # characters


@dataclass(frozen=True)
class Failure:
    """A task training that raised.

    Attributes:
        method: the method's name.
        seed: the training seed.
        tasks: this task and all earlier ones.
        error: the error in one line.
        trace: the whole traceback.
        runs: the labelled sequences that begin with these tasks, written `protocol label`.
        whole: whether another tool trained all tasks in one go.
    """

    method: str
    seed: int
    tasks: Prefix
    error: str
    trace: str
    runs: tuple[str, ...] = ()
    whole: bool = False

    @property
    def node(self) -> Node:
        """The node in the plan."""
        return Node(self.method, self.seed, self.tasks)

    def __str__(self) -> str:
        affected = self.runs[0] if self.runs else format_tasks(self.tasks)
        more = f" and {len(self.runs) - 1} more" if len(self.runs) > 1 else ""
        task = "" if self.whole else f", task {len(self.tasks)}"
        return f"{self.method}, {affected}{more}, training seed {self.seed}{task}: {self.error}"


@dataclass(frozen=True)
class ProtocolStatus:
    """How many runs of one method on one protocol are requested, finished, and have failed."""

    method: str
    protocol: str
    planned: int
    finished: int
    failed: int


@dataclass(frozen=True, repr=False)
class Status:
    """How far an experiment is.

    Attributes:
        directory: the experiment's directory.
        parts: one entry for each method and protocol.
        tasks: number of finished task trainings.
        failures: the task trainings that failed.
        remaining: number of task trainings that are missing.
        alive: whether a call of `run` is training now.
        running: the task trainings under way.
        seconds_left: expected time until all is finished, from the trainings so far and the
            workers of the last call; None if no training has finished yet.
        shard: the part of the plan that this directory is for, such as `3/8`; None for all of it.
        origins: sentences on what constructed orders come from: encoder, template and weights.
    """

    directory: Path
    parts: tuple[ProtocolStatus, ...]
    tasks: int
    failures: tuple[Failure, ...]
    remaining: int = 0
    alive: bool = False
    running: tuple[RunningTask, ...] = ()
    seconds_left: float | None = None
    shard: str | None = None
    origins: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Status of {self.directory}: {self.finished} of {self.planned} runs>"

    def __str__(self) -> str:
        """Return runs, a bar, what is under way, the time left, failures and the orders' origin."""
        return "\n".join(self._lines())

    _repr_pretty_ = show_printed

    def _lines(self) -> Iterator[str]:
        shard = "" if self.shard is None else f" of shard {self.shard}"
        yield f"{self.directory}: {self.finished} of {self.planned} runs{shard} finished"
        everything = self.tasks + self.remaining
        filled = _BAR * self.tasks // everything if everything else _BAR
        counted = f"{self.tasks} of {everything} task trainings"
        yield f"[{'#' * filled}{'-' * (_BAR - filled)}] {counted}"
        if self.alive and self.running:
            task = min(self.running, key=lambda task: task.started)
            since = format_duration(time.time() - task.started)
            longest = f"{task.method}, task {len(task.tasks)}"
            yield f"Running: {len(self.running)} at a time, the longest for {since} ({longest})"
        elif self.remaining and not self.alive:
            yield "Not running; run the experiment again with the same options to resume."
        if self.remaining and self.seconds_left is not None:
            yield f"Expected time left: {format_duration(self.seconds_left)}"
        elif self.alive:
            yield "Expected time left: unknown until the first training has finished"
        if self.failures:
            more = f" (and {len(self.failures) - 1} more)" if len(self.failures) > 1 else ""
            yield f"Failed{more}: {self.failures[0]}"
        yield from self.origins

    @property
    def planned(self) -> int:
        """Number of runs requested."""
        return sum(part.planned for part in self.parts)

    @property
    def finished(self) -> int:
        """Number of runs with a result."""
        return sum(part.finished for part in self.parts)

    @property
    def complete(self) -> bool:
        """Whether every requested run has a result."""
        return self.finished == self.planned


def read_status(store: StoreReader, configs: Sequence[ExperimentConfig]) -> Status:
    """Return the status of an experiment from its results and its configurations, in order."""
    failures = tuple(stored_failures(store))
    done, whole_runs = store.done(), store.whole_runs()
    sequences, finished = store.sequences(), {Node(*key) for key in store.runs()}
    progress = read_progress(store.directory) or RunProgress(0.0, workers=1, ended=True)
    from_logs = store.identity().get(SEEDS) == FROM_LOGS  # whose runs have all finished
    wanted: set[Node] | None = finished if from_logs else None
    part = Execution(shard=progress.shard).part
    if configs and part is not None:
        last = configs[-1]
        planned = [run.sequence for name in last.protocol_names for run in sequences.get(name, ())]
        wanted = set(Plan(last.method_names, last.seeds, planned).shard(*part).runs)
    lost = {failure.node for failure in failures}
    parts, missing = [], []
    shared = shares_seed(store)
    for (method, protocol), repeats in _planned(configs, begun_repeats(store), sequences).items():
        runs = [
            Node(method, training_seed(tasks, repeat, shared=shared), tasks)
            for tasks in (labelled.sequence.tasks for labelled in sequences.get(protocol, ()))
            for repeat in sorted(repeats)
        ]
        runs = [run for run in runs if wanted is None or run in wanted]
        open_runs = [run for run in runs if run not in finished]
        failed = sum(not lost.isdisjoint(run.path) for run in open_runs)
        missing += open_runs
        parts.append(
            ProtocolStatus(method, protocol, len(runs), len(runs) - len(open_runs), failed)
        )
    alive = progress.alive
    running = progress.running if alive else ()
    remaining = [node for node in Plan.of(missing) if node not in done]
    left = None
    if configs and done:
        seconds = {node: result.seconds for node, result in done.items()}
        expected = expected_seconds(remaining, seconds)
        for task in running:
            past = max(0.0, time.time() - task.started)  # the clock may have been set back
            expected[task.node] = max(0.0, expected.get(task.node, 0.0) - past)
        left = elapsed_seconds(expected, progress.workers)
    return Status(
        store.directory,
        tuple(parts),
        len(done) + sum(len(run.nodes) for run in whole_runs.values()),
        failures,
        len(remaining),
        alive,
        running,
        left,
        progress.shard,
        tuple(origin_sentences(Identity.of(store.identity()).protocols)),
    )


LabelledRun = tuple[str, int, str, LabelledSequence, RunResult | None]


def labelled_runs(store: StoreReader) -> list[LabelledRun]:
    """Return method, seed, protocol, sequence and result of every run that has begun."""
    return list(store.once("labelled runs", lambda: _label_runs(store)))


def _label_runs(store: StoreReader) -> list[LabelledRun]:
    results, sequences = store.runs(), store.sequences()
    if store.identity().get(SEEDS) == FROM_LOGS:
        return [
            (method, seed, protocol, labelled, result)
            for (method, seed, tasks), result in results.items()
            for protocol, group in sequences.items()
            for labelled in group
            if labelled.sequence.tasks == tasks
        ]
    shared, begun = shares_seed(store), begun_repeats(store)
    planned = _planned((build_config(config) for config in store.configs()), begun, sequences)
    rows: list[LabelledRun] = []
    for method, repeat in begun:
        for protocol, group in sequences.items():
            # A repeat of a few orders is not missing on the others.
            wanted = repeat in planned.get((method, protocol), {repeat})
            for labelled in group:
                tasks = labelled.sequence.tasks
                seed = training_seed(tasks, repeat, shared=shared)
                result = results.get((method, seed, tasks))
                if wanted or result is not None:
                    rows.append((method, seed, protocol, labelled, result))
    return rows


def begun_repeats(store: StoreReader) -> list[tuple[str, int]]:
    """Return every method and repeat that has a result or a failure, in the order of results."""
    runs = [(method, repeat_of(tasks, seed)) for method, seed, tasks in store.runs()]
    shared = shares_seed(store)
    for node in [*store.failures(), *store.done()]:
        # A seed belongs to a whole order, of which a node has the first tasks only.
        runs.append((node.method, node.seed if shared else node.seed % REPEATS))
    return list(dict.fromkeys(runs))


def shares_seed(store: StoreReader) -> bool:
    """Return whether all orders have the same training seed."""
    return bool(store.identity().get(SEEDS) != PER_ORDER)


def stored_failures(store: StoreReader) -> list[Failure]:
    """Return every task training that failed and has not succeeded since."""
    sequences, whole = store.sequences(), not store.configs()
    return [
        Failure(
            node.method,
            node.seed,
            node.prefix,
            error,
            trace,
            tuple(
                f"{protocol} {labelled.label}"
                for protocol, group in sequences.items()
                for labelled in group
                if labelled.sequence.tasks[: len(node.prefix)] == node.prefix
            ),
            whole,
        )
        for node, (error, trace) in store.failures().items()
    ]


def _planned(
    configs: Iterable[ExperimentConfig], begun: Iterable[tuple[str, int]], protocols: Iterable[str]
) -> dict[tuple[str, str], set[int]]:
    """Return the repeats requested of each method on each protocol.

    Where another tool trained there are no configurations, and these are the repeats that began.
    """
    planned: dict[tuple[str, str], set[int]] = {}
    for config in configs:
        for method in config.method_names:
            for protocol in config.protocol_names:
                planned.setdefault((method, protocol), set()).update(config.repeat_numbers)
    requested = {method for method, _ in planned}
    for protocol in protocols:
        for method, repeat in begun:
            if method not in requested:
                planned.setdefault((method, protocol), set()).add(repeat)
    return planned


def expected_seconds(nodes: Iterable[Node], measured: Mapping[Node, float]) -> dict[Node, float]:
    """Estimate the duration of each task training; empty if nothing was measured.

    It is the mean over measured trainings of the same method at the same place in the sequence. A
    place without measurement gets the value of a line through the means of the other places, but
    at least the smallest of them. A method without measurement is as slow as the slowest.
    """
    rows: dict[str, dict[int, list[float]]] = {}
    for node, seconds in measured.items():
        rows.setdefault(node.method, {}).setdefault(len(node.prefix), []).append(seconds)
    means = {
        method: {place: fmean(values) for place, values in places.items()}
        for method, places in rows.items()
    }
    if not means:
        return {}
    slowest = _slowest(means)
    return {
        node: _expect_seconds(means.get(node.method, slowest), len(node.prefix)) for node in nodes
    }


class TimeLeft:
    """The time that the trainings of a call still take, without looking at each of them again.

    The mean durations are computed as in :func:`expected_seconds`.
    """

    def __init__(
        self, nodes: Iterable[Node], measured: Mapping[Node, float], *, workers: int = 1
    ) -> None:
        self._workers = workers
        self._left = Counter((node.method, len(node.prefix)) for node in nodes)
        self._measured: Counter[tuple[str, int]] = Counter()
        self._seconds: defaultdict[tuple[str, int], float] = defaultdict(float)
        for node, seconds in measured.items():
            self._measure(node, seconds)

    def end(self, node: Node, seconds: float | None) -> None:
        """Note that a training has ended; a failed one has no duration."""
        self._left[node.method, len(node.prefix)] -= 1
        if seconds is not None:
            self._measure(node, seconds)

    def _measure(self, node: Node, seconds: float) -> None:
        self._measured[node.method, len(node.prefix)] += 1
        self._seconds[node.method, len(node.prefix)] += seconds

    @property
    def seconds(self) -> float | None:
        """Expected seconds until the last training has ended; None if nothing was measured."""
        means: dict[str, dict[int, float]] = {}
        for (method, place), count in self._measured.items():
            means.setdefault(method, {})[place] = self._seconds[method, place] / count
        if not means:
            return None
        slowest = _slowest(means)
        total = 0.0
        chains: dict[str, float] = {}  # by method, of trainings that follow one another
        for (method, place), count in self._left.items():
            if count > 0:
                expected = _expect_seconds(means.get(method, slowest), place)
                total += count * expected
                chains[method] = chains.get(method, 0.0) + expected
        return max([total / self._workers, *chains.values()])


def _slowest(means: Mapping[str, Mapping[int, float]]) -> Mapping[int, float]:
    """Return the mean durations by place of the slowest method."""
    return max(means.values(), key=lambda places: fmean(places.values()))


def _expect_seconds(means: Mapping[int, float], place: int) -> float:
    """Return the expected duration of a method's task at a place, from its mean durations by place.

    Durations of places that were not measured are on a straight line through the measured ones.
    """
    if place in means or len(means) == 1:
        return means.get(place, next(iter(means.values())))
    slope, start = np.polyfit(list(means), list(means.values()), 1)
    return max(float(slope * place + start), min(means.values()))


def elapsed_seconds(expected: Mapping[Node, float], workers: int) -> float:
    """Return the time until all of these trainings are done by some workers.

    A training starts when the tasks before it are trained, so the time is at least what the
    longest sequence takes.

    >>> first, second = Node("m", 0, ((0,),)), Node("m", 0, ((0,), (1,)))
    >>> elapsed_seconds({first: 2.0, second: 3.0}, workers=2)
    5.0
    """
    ends = expected.keys() - {node.parent for node in expected}
    chains = (sum(expected.get(step, 0.0) for step in node.path) for node in ends)
    return max([sum(expected.values()) / workers, *chains])
