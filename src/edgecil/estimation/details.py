"""What runs show beyond one number: by task, along the sequence, by class; and the confusion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from edgecil.engine.experiment import Experiment
from edgecil.engine.metrics import DEFAULT_METRIC, METRICS, find_metric
from edgecil.engine.runs import Runs
from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.sequence import ClassSequence

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False, repr=False)
class TaskCurve:
    """A metric after each of the K tasks, over orders.

    A(O), forgetting and backward transfer are what they would be if the sequence ended there
    (forgetting and backward transfer are NaN after the first task). A_last and Ā share one curve,
    the accuracy on all test images of the classes seen: A_last is its end, Ā its mean. Each order
    counts once, with its mean over training seeds.

    Attributes:
        order_count: how many orders there are.
        mean: shape (K,), in per cent, as are the others.
        std: population standard deviation over orders.
        min: the lowest one.
        max: the highest one.
        quantiles: over orders, by probability (`0.05` to `0.95`).
    """

    order_count: int
    mean: Floats
    std: Floats
    min: Floats
    max: Floats
    quantiles: dict[str, Floats]

    def __repr__(self) -> str:
        return f"<TaskCurve: {len(self.mean)} tasks, {self.order_count} orders>"


@dataclass(frozen=True, eq=False, repr=False)
class ClassPositions:
    """A metric of single classes, by the task in which they come.

    For A(O) and A_last this is the final accuracy on the class; for Ā its mean accuracy over all
    tests from its own task on; for forgetting its best earlier accuracy minus the final one; for
    backward transfer the final one minus that after its own task. The last two do not exist for
    classes of the last task. Every order that was run counts once, with its mean over training
    seeds.

    Attributes:
        mean: shape (N, K), in per cent: mean over the orders in which class c is in task k; NaN if
            there are none.
        std: population standard deviation over these orders.
        order_counts: how many there are.
        cost_of_first: shape (N,): by how many points a class is worse off in the first task than
            in the last one that has values. NaN if no order has it in both.
        cost_error: shape (N,): its standard error over orders; NaN with fewer than two orders on
            either side.
    """

    mean: Floats
    std: Floats
    order_counts: Ints
    cost_of_first: Floats
    cost_error: Floats

    def __repr__(self) -> str:
        return "<ClassPositions: {} classes, {} tasks>".format(*self.mean.shape)


@dataclass(frozen=True, eq=False, repr=False)
class Confusion:
    """Answers on the test images of each task after the last one, in per cent of its images.

    Every order that was run counts once, with its mean over training seeds.

    Attributes:
        order_count: how many there are.
        right: shape (K,), as are the others: mean over orders of the right answers.
        earlier: wrong answers that name a class of an earlier task.
        same: wrong answers that name another class of the same task.
        later: wrong answers that name a class of a later task.
    """

    order_count: int
    right: Floats
    earlier: Floats
    same: Floats
    later: Floats

    def __repr__(self) -> str:
        return f"<Confusion: {len(self.right)} tasks, {self.order_count} orders>"


def describe_runs(
    table: Runs,
    experiments: Sequence[Experiment],
    classifier: str | None = None,
    metric: str = DEFAULT_METRIC,
    together: Mapping[str, Sequence[str]] | None = None,
) -> tuple[dict[str, dict[str, TaskCurve]], dict[str, ClassPositions], dict[str, Confusion]]:
    """Return curves by method and protocol, and class positions and confusion by method.

    Every order counts once, with its mean over trainings.

    Args:
        table: the runs, with classes numbered 0 ... N-1.
        experiments: that they come from.
        classifier: the classifier to read; each method's main one if None.
        metric: the metric that curves and classes show.
        together: by method, protocols whose orders also have one common curve, under their
            names joined by " + ".
    """
    steps: _Values = {}
    by_class: _Values = {}
    taken: _Values = {}
    for experiment in experiments:
        for result in experiment.results():
            if classifier not in (None, *result.classifiers):
                continue
            ids = _table_ids(experiment.names, table, len(result.sequence.order))
            new = dict(zip(sorted(result.sequence.order), ids.tolist(), strict=True))
            sequence = ClassSequence([new[it] for it in task] for task in result.sequence.tasks)
            counts = result.class_counts(classifier)
            single = None
            if counts is not None:
                single = np.empty(len(ids))
                single[ids] = METRICS[metric].compute(counts)
            own = result.curve(metric, classifier), single, result.confusion(classifier)
            for values, value in zip((steps, by_class, taken), own, strict=True):
                if value is not None:
                    by_sequence = values.setdefault(result.method, {})
                    by_sequence.setdefault(sequence, []).append(value)
    curves: dict[str, dict[str, TaskCurve]] = {}
    for method, means in _means(steps).items():
        groups: list[tuple[str, ...]] = [(protocol,) for protocol in table.protocols]
        joined = tuple((together or {}).get(method, ()))
        for group in [*groups, *([joined] if len(joined) > 1 else [])]:
            chosen = set[ClassSequence]()
            for protocol in group:
                chosen.update(table.orders(method, protocol).sequences)
            some = [curve for sequence, curve in means.items() if sequence in chosen]
            if some:
                curves.setdefault(method, {})[" + ".join(group)] = _spread(np.array(some))
    higher = find_metric(metric).higher_is_better
    positions = {
        method: _by_position(
            np.array(list(own.values())),
            np.stack([sequence.task_of() for sequence in own]),
            len(table.space.sizes),
            higher_is_better=higher,
        )
        for method, own in _means(by_class).items()
    }
    confusion = {
        method: Confusion(len(own), *np.mean(list(own.values()), axis=0).T)
        for method, own in _means(taken).items()
    }
    return curves, positions, confusion


_Values = dict[str, dict[ClassSequence, list[Floats]]]


def _means(values: _Values) -> dict[str, dict[ClassSequence, Floats]]:
    """Return the mean over trainings, by method and sequence."""
    return {
        method: {sequence: np.mean(some, axis=0) for sequence, some in own.items()}
        for method, own in values.items()
    }


def _table_ids(names: Sequence[str] | None, table: Runs, classes: int) -> Ints:
    """Return the table's id of each class of an experiment, in ascending order of the own ids."""
    if table.names is None or names is None:
        return np.arange(classes, dtype=np.int64)
    return np.array([table.names.index(name) for name in names], dtype=np.int64)


def _spread(values: Floats) -> TaskCurve:
    """Return the spread over orders of curves of shape (orders, K)."""
    levels = np.quantile(values, QUANTILES, axis=0)
    return TaskCurve(
        len(values),
        values.mean(axis=0),
        values.std(axis=0),
        values.min(axis=0),
        values.max(axis=0),
        {f"{level:g}": row for level, row in zip(QUANTILES, levels, strict=True)},
    )


def _by_position(
    values: Floats, places: Ints, tasks: int, *, higher_is_better: bool = True
) -> ClassPositions:
    """Return the mean and std over orders of values of shape (orders, N), by the class's task."""
    classes = values.shape[1]
    mean, std = np.full((2, classes, tasks), np.nan)
    orders = np.zeros((classes, tasks), dtype=np.int64)
    for position in range(tasks):
        at_position = (places == position) & ~np.isnan(values)
        orders[:, position] = at_position.sum(axis=0)
        for class_ in np.flatnonzero(orders[:, position]):
            chosen = values[at_position[:, class_], class_]
            mean[class_, position] = chosen.mean()
            std[class_, position] = chosen.std()
    last = int(np.flatnonzero(orders.any(axis=0))[-1]) if orders.any() else 0
    ends, several = [0, last], np.where(orders > 1, orders, 2)
    variance = np.where(orders > 1, std**2 / (several - 1), np.nan)
    sign = 1.0 if higher_is_better else -1.0
    cost = sign * (mean[:, last] - mean[:, 0]) if last else np.full(classes, np.nan)
    return ClassPositions(mean, std, orders, cost, np.sqrt(variance[:, ends].sum(axis=1)))
