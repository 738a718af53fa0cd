"""What runs show beyond one number: by task, along the sequence, by class; and the confusion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from edgecil.engine.experiment import Experiment
from edgecil.engine.metrics import DEFAULT_METRIC, METRICS, find_metric
from edgecil.engine.results import RunResult
from edgecil.engine.runs import Runs
from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.sequence import ClassSequence

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_LABELS = ("hard", "median", "easy")


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


@dataclass(frozen=True)
class RunDetails:
    """The results of experiments, with their classes numbered as in an accuracy table.

    Attributes:
        table: the table, with classes numbered 0 ... N-1.
        results: by method and sequence, each result and its classes' ids in the table.
        classifier: the classifier to read; each method's main one if None.
        metric: the metric that curves and classes show.
    """

    table: Runs
    results: Mapping[str, Mapping[ClassSequence, Sequence[tuple[RunResult, Ints]]]]
    classifier: str | None = None
    metric: str = DEFAULT_METRIC

    @classmethod
    def of(
        cls,
        table: Runs,
        experiments: Sequence[Experiment],
        classifier: str | None = None,
        metric: str = DEFAULT_METRIC,
    ) -> RunDetails:
        """Return the results of the experiments that a table comes from."""
        results: dict[str, dict[ClassSequence, list[tuple[RunResult, Ints]]]] = {}
        for experiment in experiments:
            for result in experiment.results():
                if classifier not in (None, *result.classifiers):
                    continue
                ids = _table_ids(experiment.names, table, len(result.sequence.order))
                sequence = _renumber(result.sequence, ids)
                by_sequence = results.setdefault(result.method, {})
                by_sequence.setdefault(sequence, []).append((result, ids))
        return cls(table, results, classifier, metric)

    def accuracy_matrices(self, protocol: str | None) -> dict[str, dict[str, Floats]]:
        """By method and label of a protocol, the accuracy on each task after each task."""
        if protocol is None:
            return {}
        matrices: dict[str, dict[str, Floats]] = {}
        for method, by_sequence in self.results.items():
            orders = self.table.orders(method, protocol)
            sequences = dict(zip(orders.labels, orders.sequences, strict=True))
            for label in _LABELS:
                if label not in sequences:
                    continue
                for result, _ in by_sequence.get(sequences[label], ()):
                    matrix = result.matrix(self.classifier)
                    if not np.isnan(matrix[-1]).any():
                        matrices.setdefault(method, {}).setdefault(label, matrix)
        return matrices

    def curves(
        self, together: Mapping[str, Sequence[str]] | None = None
    ) -> dict[str, dict[str, TaskCurve]]:
        """By method and protocol, how the metric develops from task to task.

        Args:
            together: by method, protocols whose orders also have one common curve, under their
                names joined by " + ".
        """
        curves: dict[str, dict[str, TaskCurve]] = {}
        for method, by_sequence in self.results.items():
            means = {}
            for sequence, results in by_sequence.items():
                steps = [result.curve(self.metric, self.classifier) for result, _ in results]
                given = [curve for curve in steps if curve is not None]
                if given:
                    means[sequence] = np.mean(given, axis=0)
            groups: list[tuple[str, ...]] = [(protocol,) for protocol in self.table.protocols]
            joined = tuple((together or {}).get(method, ()))
            groups += [joined] if len(joined) > 1 else []
            for group in groups:
                chosen: set[ClassSequence] = set()
                for protocol in group:
                    chosen.update(self.table.orders(method, protocol).sequences)
                values = [curve for sequence, curve in means.items() if sequence in chosen]
                if values:
                    curves.setdefault(method, {})[" + ".join(group)] = _spread(np.array(values))
        return curves

    def confusion(self) -> dict[str, Confusion]:
        """By method, for which tasks the images of each task are taken at the end."""
        confusions = {}
        for method, by_sequence in self.results.items():
            values = []
            for results in by_sequence.values():
                shares = [result.confusion(self.classifier) for result, _ in results]
                given = [share for share in shares if share is not None]
                if given:
                    values.append(np.mean(given, axis=0))
            if values:
                confusions[method] = Confusion(len(values), *np.mean(values, axis=0).T)
        return confusions

    def class_positions(self) -> dict[str, ClassPositions]:
        """By method, the metric of each class by the task in which it comes."""
        positions = {}
        higher_is_better = find_metric(self.metric).higher_is_better
        for method, by_sequence in self.results.items():
            places: list[Ints] = []
            values: list[Floats] = []
            for sequence, results in by_sequence.items():
                place = _position_of_class(sequence)
                single = [self._by_class(*entry) for entry in results]
                given = [one for one in single if one is not None]
                if given:
                    values.append(np.mean(given, axis=0))
                    places.append(place)
            if values:
                tasks = len(self.table.space.sizes)
                positions[method] = _by_position(
                    np.array(values), np.array(places), tasks, higher_is_better=higher_is_better
                )
        return positions

    def _by_class(self, result: RunResult, ids: Ints) -> Floats | None:
        """Return the metric of each class, in the table's order of classes; None if unknown."""
        counts = result.class_counts(self.classifier)
        if counts is None:
            return None
        values = np.empty(len(ids))
        values[ids] = METRICS[self.metric].compute(counts)
        return values


def _table_ids(names: Sequence[str] | None, table: Runs, classes: int) -> Ints:
    """Return the table's id of each class of an experiment, in ascending order of the own ids."""
    if table.names is None or names is None:
        return np.arange(classes, dtype=np.int64)
    return np.array([table.names.index(name) for name in names], dtype=np.int64)


def _renumber(sequence: ClassSequence, ids: Ints) -> ClassSequence:
    new = dict(zip(sorted(sequence.order), ids.tolist(), strict=True))
    return ClassSequence([new[class_] for class_ in task] for task in sequence.tasks)


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


def _position_of_class(sequence: ClassSequence) -> Ints:
    """Return the task of each class, shape (N,)."""
    places = np.empty(len(sequence.order), dtype=np.int64)
    for position, task in enumerate(sequence.tasks):
        places[list(task)] = position
    return places


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
