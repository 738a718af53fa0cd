"""What runs show beyond one number: by task, by class along the sequence; and the confusion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from edgecil.experiments.experiment import Experiment
from edgecil.experiments.run_values import class_values, metric_curves
from edgecil.io.arrays import Floats
from edgecil.runs.run_table import Runs
from edgecil.sequences.sequence import ClassSequence

_BAND = (0.05, 0.95)
_Values = dict[ClassSequence, list[Floats]]


@dataclass(frozen=True, eq=False, repr=False)
class TaskCurve:
    """A metric after each of the K tasks, over the orders behind a method's answer.

    A(O), forgetting and backward transfer are what they would be if the sequence ended there
    (forgetting and backward transfer are NaN after the first task). A_last and Ā share one curve,
    the accuracy on all test images of the classes seen: A_last is its end, Ā its mean.

    Attributes:
        order_count: how many orders there are.
        mean: shape (K,), in per cent, as are the others.
        low: 5 % of the orders lie below it.
        high: 5 % of the orders lie above it.
    """

    order_count: int
    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False, repr=False)
class RunDetails:
    """One method beyond one number. Every order counts once, with its mean over training seeds.

    Attributes:
        curve: the metric after each task; None if unknown.
        by_position: shape (N, K): mean of the metric of class c over the orders in which it is in
            task k; NaN if there are none. For A(O) and A_last this is the final accuracy on the
            class; for Ā its mean accuracy over all tests from its own task on; for forgetting its
            best earlier accuracy minus the final one; for backward transfer the final one minus
            that after its own task. The last two do not exist for classes of the last task. None
            where counts per class are unknown.
        confusion: shape (K, 4): answers on the test images of each task after the last one, in per
            cent of its images: right; wrong ones that name a class of an earlier task, another
            class of the same task, a class of a later task. None where it was not stored.
    """

    curve: TaskCurve | None = None
    by_position: Floats | None = None
    confusion: Floats | None = None


def describe_runs(
    table: Runs,
    experiments: Iterable[Experiment],
    answered: Mapping[str, Sequence[str]],
    classifier: str | None = None,
) -> dict[str, RunDetails]:
    """Return the details of each method on a table's classes, numbered 0 ... N-1.

    `answered` has the protocols whose orders have a curve, by method.
    """
    values: dict[str, tuple[_Values, _Values, _Values]] = {}
    for experiment in experiments:
        _add_values(values, table, experiment, classifier)
    details = {}
    for method, names in answered.items():
        steps, by_class, confused = (
            {sequence: np.mean(some, axis=0) for sequence, some in by_sequence.items()}
            for by_sequence in values.get(method, ({}, {}, {}))
        )
        chosen = {it for name in names for it in table.orders(method, name).sequences}
        curves = np.array([one for sequence, one in steps.items() if sequence in chosen])
        curve = None
        if len(curves):
            curve = TaskCurve(len(curves), curves.mean(axis=0), *np.quantile(curves, _BAND, axis=0))
        if curve is not None or by_class or confused:
            details[method] = RunDetails(
                curve,
                _by_position(by_class, table.space.tasks) if by_class else None,
                np.mean(list(confused.values()), axis=0) if confused else None,
            )
    return details


def _add_values(
    values: dict[str, tuple[_Values, _Values, _Values]],
    table: Runs,
    experiment: Experiment,
    classifier: str | None,
) -> None:
    """Add curve, values by class and confusion of each run of an experiment, by method."""
    own_names, task_orders = experiment.names, experiment.task_orders
    results = [run for run in experiment.results() if classifier in (None, *run.classifiers)]
    run_curves = metric_curves(results, table.metric, classifier)
    run_classes = class_values(results, table.metric, classifier)
    for result, run_curve, of_classes in zip(results, run_curves, run_classes, strict=True):
        by_id = None
        if task_orders is not None:
            sequence = task_orders.collapse(result.sequence)
        else:
            ids = list(range(len(result.sequence.order)))
            if table.names is not None and own_names is not None and table.names != own_names:
                ids = [table.names.index(name) for name in own_names]
            sequence = _renumbered(result.sequence, ids)
            if of_classes is not None:
                by_id = np.empty(len(ids))
                by_id[ids] = of_classes
        lists = values.setdefault(result.method, ({}, {}, {}))
        of_run = run_curve, by_id, result.confusion(classifier)
        for by_sequence, value in zip(lists, of_run, strict=True):
            if value is not None:
                by_sequence.setdefault(sequence, []).append(value)


def _renumbered(sequence: ClassSequence, ids: Sequence[int]) -> ClassSequence:
    """Return a sequence whose classes, in ascending order, have other ids."""
    old = sorted(sequence.order)
    if old == list(ids):
        return sequence
    new = dict(zip(old, ids, strict=True))
    return ClassSequence([new[class_] for class_ in task] for task in sequence.tasks)


def note_undertrained(table: Runs, details: Mapping[str, RunDetails]) -> list[str]:
    """Return a sentence on learners that did not even learn their first task, alone as it is."""
    if table.metric not in ("accuracy", "last", "average") or table.arranges == "tasks":
        return []
    guess = 100.0 / table.space.sizes[0]
    first = {name: own.curve.mean[0] for name, own in details.items() if own.curve is not None}
    return [
        f"{name} has only {value:.0f} % on its first task, right after training on it (guessing: "
        f"{guess:.0f} %), so it may be undertrained, and claims about it hold for this setup only."
        for name, value in first.items()
        if value < (100.0 + guess) / 2.0
    ]


def _by_position(by_sequence: Mapping[ClassSequence, Floats], tasks: int) -> Floats:
    values = np.array(list(by_sequence.values()))
    places = np.stack([sequence.task_of() for sequence in by_sequence])
    mean = np.full((values.shape[1], tasks), np.nan)
    for position in range(tasks):
        at_position = (places == position) & ~np.isnan(values)
        for class_ in np.flatnonzero(at_position.any(axis=0)):
            mean[class_, position] = values[at_position[:, class_], class_].mean()
    return mean
