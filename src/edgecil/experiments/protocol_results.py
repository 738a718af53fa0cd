"""The results of an experiment by method and protocol, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from edgecil.experiments.config import ExperimentConfig
from edgecil.experiments.experiment import Experiment
from edgecil.experiments.goal_status import GoalStatus
from edgecil.experiments.plan import Prefix
from edgecil.experiments.results import RunResult
from edgecil.experiments.status import Failure
from edgecil.runs.identity import training_facts
from edgecil.runs.metrics import DEFAULT_METRIC, METRICS
from edgecil.sequences.protocols import LabelledSequence, find_protocol


@dataclass(frozen=True)
class ProtocolResults:
    """A metric of one method over the sequences of one protocol."""

    method: str
    protocol: str
    planned: int  # number of sequences
    finished: int  # number of sequences with a value
    mean: float | None  # over sequences, each with its mean over repeats
    std: float | None  # population standard deviation over sequences
    min: float | None
    max: float | None
    runs: tuple[dict[str, Any], ...]  # see `_row`


@dataclass(frozen=True)
class StatedAccuracy:
    """An accuracy that the source of a setup states, beside the mean that was reached.

    The tolerance is by how many points another training on another order may miss it.
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
    """The results of an experiment, and the work of the call that returned it."""

    directory: Path
    unit: str  # what the next two count: tasks, or whole runs if another program trains
    trained: int  # by this call
    reused: int  # of earlier calls
    results: list[ProtocolResults]
    failures: list[Failure]
    metric: str = DEFAULT_METRIC  # of the numbers in `results`
    goal: GoalStatus | None = None  # the outcome of 'until'
    stated: tuple[StatedAccuracy, ...] = ()
    used: str = ""  # setup, backbone and epochs, as far as they are known


def experiment_results(experiment: Experiment) -> ExperimentResults:
    """Return the results of every method and protocol of the experiment.

    An order has its mean over all trainings, so that repeats count with the protocol of the order.
    """
    config, work, sequences = experiment.config, experiment.summary, experiment.sequences()
    metric = DEFAULT_METRIC if config is None else METRICS.resolve(config.metric)
    by_order: dict[tuple[str, Prefix], list[RunResult]] = {}
    for result in sorted(experiment.results(), key=lambda result: result.seed):
        by_order.setdefault((result.method, result.sequence.tasks), []).append(result)
    parts = [part for part in experiment.status().parts if not find_protocol(part.protocol).repeats]
    methods = list(dict.fromkeys(part.method for part in parts))
    results = [
        _summarize(part.method, part.protocol, sequences.get(part.protocol, ()), by_order, metric)
        for part in sorted(parts, key=lambda part: methods.index(part.method))
    ]
    facts = training_facts([experiment.record()], methods)
    return ExperimentResults(
        directory=experiment.directory,
        unit="runs" if config is None else "tasks",
        trained=0 if work is None else work.trained,
        reused=0 if work is None else work.reused,
        results=results,
        failures=experiment.failures(),
        metric=metric,
        goal=experiment.goal,
        stated=stated_accuracies(experiment, config),
        used="; ".join(f"{name} {text}" for name, text in facts.items()),
    )


def stated_accuracies(
    experiment: Experiment, config: ExperimentConfig | None
) -> tuple[StatedAccuracy, ...]:
    """Return the accuracies that the sources of an experiment's setups state, with those reached.

    Only those with the same dataset, all its classes, tasks, network and preparation of images.
    """
    if config is None or config.training.setup in ("fast", "paper"):
        return ()
    data, training = config.data, config.training
    if data.classes is not None or data.class_ids is not None:
        return ()
    from edgecil.methods.setups import find_setup  # it imports torch

    rows: list[StatedAccuracy] = []
    for method in config.method_names:
        setup = find_setup(method, training.setup, config.dataset)
        if setup is None or setup.dataset != config.dataset:
            continue
        if any(getattr(data, name) != value for name, value in setup.images.items()):
            continue
        network = training.set.get(method, {}).get("backbone", training.backbone)
        for stated in (entry for entry in setup.stated if entry.weights == network):
            for metric, value in stated.values.items():
                table = experiment.table(metric)
                reached = table.orders(method).accuracies.tolist()
                if table.space.tasks == stated.tasks and reached:
                    numbers = (value, stated.tolerance, fmean(reached), len(reached))
                    rows.append(StatedAccuracy(setup.name, metric, *numbers, stated.source))
    return tuple(rows)


def _summarize(
    method: str,
    protocol: str,
    sequences: Sequence[LabelledSequence],
    by_order: Mapping[tuple[str, Prefix], list[RunResult]],
    metric: str,
) -> ProtocolResults:
    runs = {run.label: by_order.get((method, run.sequence.tasks), []) for run in sequences}
    means = []
    for results in runs.values():
        values = [result.metric(metric) for result in results]
        defined = [value for value in values if value is not None]
        if defined:
            means.append(fmean(defined))
    return ProtocolResults(
        method=method,
        protocol=protocol,
        planned=len(runs),
        finished=len(means),
        mean=fmean(means) if means else None,
        std=pstdev(means) if means else None,
        min=min(means, default=None),
        max=max(means, default=None),
        runs=tuple(_row(label, result) for label, results in runs.items() for result in results),
    )


def _row(label: str, result: RunResult) -> dict[str, Any]:
    """Metrics are of the main classifier, A(O) of every one; `matrix` is the accuracy by task."""
    values = {name: result.metric(classifier=name) for name in result.classifiers}
    return {
        "label": label,
        "seed": result.seed,
        "tasks": result.sequence.tasks,
        "metrics": {name: result.metric(name) for name in METRICS},
        "classifiers": {name: value for name, value in values.items() if value is not None},
        "matrix": [
            [accuracy for accuracy in row if accuracy == accuracy]
            for row in result.matrix().tolist()
        ],
        "seconds": result.seconds,
        "peak_memory": result.peak_memory,
    }
