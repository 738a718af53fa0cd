"""The results of an experiment by method and protocol, as plain data."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev

from edgecil.engine.config import ExperimentConfig
from edgecil.engine.experiment import Experiment
from edgecil.engine.metrics import DEFAULT_METRIC, METRICS
from edgecil.engine.plan import Prefix
from edgecil.engine.results import RunResult
from edgecil.engine.status import Failure
from edgecil.engine.until import GoalStatus


@dataclass(frozen=True)
class RunSummary:
    """One run in numbers, in per cent.

    Attributes:
        label: the sequence's label within its protocol.
        seed: the training seed.
        tasks: the sequence.
        metrics: every metric of the main classifier; None where it is undefined.
        classifiers: A(O) of every classifier, the main one first.
        matrix: accuracy on task s after task t, s <= t; empty if unknown.
        seconds: duration of training and testing.
        peak_memory: in bytes.
    """

    label: str
    seed: int
    tasks: Prefix
    metrics: dict[str, float | None]
    classifiers: dict[str, float]
    matrix: list[list[float]]
    seconds: float
    peak_memory: int


@dataclass(frozen=True)
class ProtocolResults:
    """A metric of one method over the sequences of one protocol.

    Attributes:
        method: the method's name.
        protocol: the protocol's name.
        planned: number of sequences.
        finished: number of sequences with a value.
        mean: over sequences, each with its mean over repeats; None without a result.
        std: population standard deviation over sequences.
        min: the lowest one.
        max: the highest one.
        repeat_std: standard deviation within sequences; None unless a sequence is repeated.
        runs: one entry per run.
    """

    method: str
    protocol: str
    planned: int
    finished: int
    mean: float | None
    std: float | None
    min: float | None
    max: float | None
    repeat_std: float | None
    runs: tuple[RunSummary, ...]


@dataclass(frozen=True)
class StatedAccuracy:
    """A stated accuracy beside the one that was reached.

    Attributes:
        setup: name of the setup.
        metric: name of the metric.
        stated: per cent, in the source.
        tolerance: points by which another training on another order may miss it.
        reached: mean over the orders.
        orders: number of these.
        source: where the accuracy is stated.
    """

    setup: str
    metric: str
    stated: float
    tolerance: float
    reached: float
    orders: int
    source: str

    def __str__(self) -> str:
        gap = self.reached - self.stated
        verdict = "within" if abs(gap) <= self.tolerance else "outside"
        return (
            f"{self.setup}: {self.metric} {self.reached:.2f} on average over {self.orders} "
            f"order(s), stated {self.stated:g} ({self.source}); {gap:+.2f} points, {verdict} ± "
            f"{self.tolerance:g}."
        )


@dataclass(frozen=True)
class ExperimentResults:
    """The results of an experiment, and the work of the call that returned it.

    Attributes:
        directory: where the experiment is.
        unit: what `trained` and `reused` count: tasks, or whole runs if another program trains.
        trained: trained by this call.
        reused: stored by earlier calls.
        results: one entry for each method and protocol.
        failures: the trainings that failed.
        metric: what the numbers in `results` are of.
        goal: the outcome of a run with 'until'; None otherwise.
        stated: what the sources of published setups state, beside what was reached.
    """

    directory: Path
    unit: str
    trained: int
    reused: int
    results: list[ProtocolResults]
    failures: list[Failure]
    metric: str = DEFAULT_METRIC
    goal: GoalStatus | None = None
    stated: tuple[StatedAccuracy, ...] = ()


def experiment_results(experiment: Experiment) -> ExperimentResults:
    """Return the results of the configuration that was added last, or of everything without one."""
    config, work = experiment.config, experiment.summary
    failures = experiment.failures()
    if config is None:
        results = protocol_results(experiment, failures=failures)
    else:
        results = protocol_results(
            experiment,
            methods=config.method_names,
            protocols=config.protocol_names,
            config=config,
            metric=config.metric,
            failures=failures,
        )
    return ExperimentResults(
        directory=experiment.directory,
        unit="runs" if config is None else "tasks",
        trained=0 if work is None else work.trained,
        reused=0 if work is None else work.reused,
        results=results,
        failures=failures,
        metric=DEFAULT_METRIC if config is None else METRICS.resolve(config.metric),
        goal=experiment.goal,
        stated=_stated(experiment, config),
    )


def _stated(experiment: Experiment, config: ExperimentConfig | None) -> tuple[StatedAccuracy, ...]:
    if config is None or config.training.setup in ("fast", "paper"):
        return ()
    from edgecil.engine.binding import stated_accuracies  # it imports torch

    return tuple(stated_accuracies(experiment))


def protocol_results(
    experiment: Experiment,
    *,
    methods: Collection[str] | None = None,
    protocols: Collection[str] | None = None,
    config: ExperimentConfig | None = None,
    metric: str = DEFAULT_METRIC,
    failures: Sequence[Failure] | None = None,
) -> list[ProtocolResults]:
    """Return the results of every method on every protocol of an experiment.

    Args:
        experiment: the experiment.
        methods: only these methods.
        protocols: only these protocols.
        config: only the repeats of this configuration.
        metric: the metric of mean, std, min and max.
        failures: the failed trainings, if they were read before.
    """
    failed = experiment.failures() if failures is None else failures
    results: dict[tuple[str, Prefix], list[RunResult]] = {}
    begun = dict.fromkeys(failure.method for failure in failed)
    for result in sorted(experiment.results(), key=lambda result: result.seed):
        begun[result.method] = None
        if config is None or result.seed in config.seeds(result.sequence):
            results.setdefault((result.method, result.sequence.tasks), []).append(result)
    parts = []
    by_protocol = experiment.sequences()
    for method in begun if methods is None else methods:
        for protocol, sequences in by_protocol.items():
            if protocols is not None and protocol not in protocols:
                continue
            runs = {run.label: results.get((method, run.sequence.tasks), []) for run in sequences}
            parts.append(_summarize(method, protocol, runs, METRICS.resolve(metric)))
    return parts


def _summarize(
    method: str, protocol: str, runs: dict[str, list[RunResult]], metric: str
) -> ProtocolResults:
    numbers = [[result.metric(metric) for result in some] for some in runs.values()]
    given = [[value for value in some if value is not None] for some in numbers]
    values = [some for some in given if some]
    means = [fmean(some) for some in values]
    repeated = any(len(some) > 1 for some in values)
    return ProtocolResults(
        method=method,
        protocol=protocol,
        planned=len(runs),
        finished=len(means),
        mean=fmean(means) if means else None,
        std=pstdev(means) if means else None,
        min=min(means, default=None),
        max=max(means, default=None),
        repeat_std=fmean(pstdev(some) ** 2 for some in values) ** 0.5 if repeated else None,
        runs=tuple(_run(label, result) for label, some in runs.items() for result in some),
    )


def _run(label: str, result: RunResult) -> RunSummary:
    values = {name: result.metric(classifier=name) for name in result.classifiers}
    accuracies = {name: value for name, value in values.items() if value is not None}
    rows = result.matrix().tolist()
    return RunSummary(
        label=label,
        seed=result.seed,
        tasks=result.sequence.tasks,
        metrics={name: result.metric(name) for name in METRICS},
        classifiers=accuracies,
        matrix=[[value for value in row if value == value] for row in rows],
        seconds=result.seconds,
        peak_memory=result.peak_memory,
    )
