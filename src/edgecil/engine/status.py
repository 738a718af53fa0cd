"""How far an experiment is: finished and failed trainings, those under way, and the time left."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from edgecil.engine.config import Execution, ExperimentConfig
from edgecil.engine.config_values import build_config
from edgecil.engine.describe import describe_status
from edgecil.engine.estimate import elapsed_seconds, expected_seconds
from edgecil.engine.plan import Node, Plan, Prefix
from edgecil.engine.progress import RunningTask, read_progress
from edgecil.engine.results import NodeResult, RunResult
from edgecil.engine.seeds import PER_ORDER, SEEDS, repeat_of, training_seed
from edgecil.engine.store import StoreReader
from edgecil.io.notebook import show_printed
from edgecil.sequences.protocols import LabelledSequence
from edgecil.sequences.sequence import format_tasks


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
    """

    method: str
    seed: int
    tasks: Prefix
    error: str
    trace: str
    runs: tuple[str, ...] = ()

    def __str__(self) -> str:
        affected = self.runs[0] if self.runs else format_tasks(self.tasks)
        more = f" and {len(self.runs) - 1} more" if len(self.runs) > 1 else ""
        return (
            f"{self.method}, {affected}{more}, training seed {self.seed}, task {len(self.tasks)}: "
            f"{self.error}"
        )


@dataclass(frozen=True)
class ProtocolStatus:
    """How far one method is on the sequences of one protocol.

    Attributes:
        method: the method's name.
        protocol: the protocol's name.
        planned: number of runs requested: sequences times repeats.
        finished: number of these with a result.
        failed: number of these without a result because a task training failed.
    """

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
        unmeasured: methods that have no finished training yet; their time is not in `seconds_left`.
        shard: the part of the plan that this directory is for, such as `3/8`; None for all of it.
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
    unmeasured: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Status of {self.directory}: {self.finished} of {self.planned} runs>"

    def __str__(self) -> str:
        """Return the finished runs of each method and protocol, a line each, and all failures."""
        parts = (
            f"{it.method}, {it.protocol}: {it.finished} of {it.planned} runs"
            f"{f', {it.failed} failed' if it.failed else ''}"
            for it in self.parts
        )
        return "\n".join([*parts, *describe_status(self), *map(str, self.failures)])

    _repr_pretty_ = show_printed

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
    """Return the status of an experiment.

    Args:
        store: its results.
        configs: its configurations, in order.
    """
    failures = tuple(stored_failures(store))
    done, whole_runs = store.done(), store.whole_runs()
    rows, sequences = labelled_runs(store), store.sequences()
    progress = read_progress(store.directory)
    shard = None if progress is None else progress.shard
    wanted = None if shard is None or not configs else _shard(shard, configs[-1], sequences)
    finished = {
        (*key, labelled.sequence.tasks) for key, _, labelled, result in rows if result is not None
    }
    lost = {(failure.method, failure.seed, failure.tasks) for failure in failures}
    parts, missing = [], []
    shared = _shares_seed(store)
    for (method, protocol), repeats in _planned(configs, begun_repeats(store), sequences).items():
        runs = [
            Node(method, training_seed(tasks, repeat, shared=shared), tasks)
            for tasks in (labelled.sequence.tasks for labelled in sequences.get(protocol, ()))
            for repeat in sorted(repeats)
        ]
        runs = [run for run in runs if wanted is None or run in wanted]
        open_runs = [run for run in runs if (run.method, run.seed, run.prefix) not in finished]
        failed = sum(
            any((step.method, step.seed, step.prefix) in lost for step in run.path)
            for run in open_runs
        )
        missing += open_runs
        parts.append(
            ProtocolStatus(method, protocol, len(runs), len(runs) - len(open_runs), failed)
        )
    alive = progress is not None and progress.alive
    running = progress.running if progress is not None and alive else ()
    remaining = [node for node in Plan.of(missing) if node not in done]
    measured = {node.method for node in done}
    unmeasured = tuple(dict.fromkeys(it.method for it in remaining if it.method not in measured))
    if whole_runs or not configs or not done:  # another tool trains whole sequences
        left = None
    else:
        timed = [node for node in remaining if node.method in measured]
        workers = 1 if progress is None else progress.workers
        left = _seconds_left(timed, done, running, workers)
    return Status(
        store.directory,
        tuple(parts),
        len(done) + sum(len(run.nodes) for run in whole_runs.values()),
        failures,
        len(remaining),
        alive,
        running,
        left,
        shard,
        unmeasured,
    )


def _shard(
    text: str, config: ExperimentConfig, sequences: Mapping[str, Sequence[LabelledSequence]]
) -> set[Node]:
    """Return the runs of a shard of the last call's plan."""
    part = Execution(shard=text).part
    assert part is not None
    plan = Plan(
        config.method_names,
        config.seeds,
        [run.sequence for name in config.protocol_names for run in sequences.get(name, ())],
    )
    return set(plan.shard(*part).runs)


def _seconds_left(
    remaining: Sequence[Node],
    done: Mapping[Node, NodeResult],
    running: Sequence[RunningTask],
    workers: int,
) -> float | None:
    measured = {node: result.seconds for node, result in done.items()}
    expected = expected_seconds(remaining, measured)
    now = time.time()
    for task in running:
        seconds = expected.get(task.node)
        if seconds is not None:
            past = max(0.0, now - task.started)  # the clock may have been set back
            expected[task.node] = max(0.0, seconds - past)
    return elapsed_seconds(expected, workers)


LabelledRun = tuple[tuple[str, int], str, LabelledSequence, RunResult | None]


def labelled_runs(store: StoreReader) -> list[LabelledRun]:
    """Method and seed, protocol, sequence and result of every run that has begun."""
    results, sequences = store.runs(), store.sequences()
    shared, begun = _shares_seed(store), begun_repeats(store)
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
                    rows.append(((method, seed), protocol, labelled, result))
    return rows


def begun_repeats(store: StoreReader) -> list[tuple[str, int]]:
    """Return every method and repeat that has a result or a failure, in the order of results."""
    runs = [(method, repeat_of(tasks, seed)) for method, seed, tasks in store.runs()]
    if _shares_seed(store):
        runs += [(node.method, node.seed) for node in [*store.failures(), *store.done()]]
        return list(dict.fromkeys(runs))
    # A seed belongs to whole orders, of which a node has the first tasks only.
    orders = [labelled.sequence.tasks for group in store.sequences().values() for labelled in group]
    for node in [*store.failures(), *store.done()]:
        own = (tasks for tasks in orders if tasks[: len(node.prefix)] == node.prefix)
        repeats = (repeat_of(tasks, node.seed) for tasks in own)
        runs += [(node.method, repeat) for repeat in repeats if repeat != node.seed][:1]
    return list(dict.fromkeys(runs))


def _shares_seed(store: StoreReader) -> bool:
    """Return whether all orders have the same training seed."""
    return bool(store.identity().get(SEEDS) != PER_ORDER)


def stored_failures(store: StoreReader) -> list[Failure]:
    """Return every task training that failed and has not succeeded since."""
    sequences = store.sequences()
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
        )
        for node, (error, trace) in store.failures().items()
    ]


def _planned(
    configs: Iterable[ExperimentConfig],
    begun: Iterable[tuple[str, int]],
    protocols: Iterable[str],
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
