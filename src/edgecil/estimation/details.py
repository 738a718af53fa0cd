"""What runs show beyond one number: accuracy by task, along the sequence, and by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from edgecil.engine.accuracies import AccuracyTable
from edgecil.engine.experiment import Experiment
from edgecil.engine.results import RunResult
from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.sequence import ClassSequence

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_LABELS = ("hard", "median", "easy")


@dataclass(frozen=True, eq=False, repr=False)
class TaskCurve:
    """Accuracy on all test images of the classes seen, after each of the K tasks, over orders.

    Each order counts once, with its mean over training seeds.

    Attributes:
        orders: how many orders there are.
        mean: shape (K,), in per cent, as are the others.
        std: population standard deviation over orders.
        min: the lowest one.
        max: the highest one.
        quantiles: over orders, by probability (`0.05` to `0.95`).
    """

    orders: int
    mean: Floats
    std: Floats
    min: Floats
    max: Floats
    quantiles: dict[str, Floats]

    def __repr__(self) -> str:
        return f"<TaskCurve: {len(self.mean)} tasks, {self.orders} orders>"


@dataclass(frozen=True, eq=False, repr=False)
class ClassPositions:
    """The final accuracy on each class, by the task in which it comes.

    Every order that was run counts once, with its mean over training seeds.

    Attributes:
        mean: shape (N, K), in per cent: mean over the orders in which class c is in task k; NaN if
            there are none.
        std: population standard deviation over these orders.
        orders: how many there are.
        cost_of_first: shape (N,): mean accuracy in the last task minus mean accuracy in the first,
            in points; what a class loses by coming first. NaN if no order has it there.
        cost_error: shape (N,): its standard error over orders; NaN with fewer than two orders on
            either side.
    """

    mean: Floats
    std: Floats
    orders: Ints
    cost_of_first: Floats
    cost_error: Floats

    def __repr__(self) -> str:
        return "<ClassPositions: {} classes, {} tasks>".format(*self.mean.shape)


@dataclass(frozen=True)
class RunDetails:
    """The results of experiments, with their classes numbered as in an accuracy table.

    Attributes:
        table: the table, with classes numbered 0 ... N-1.
        results: by method and sequence, each result and its classes' ids in the table.
        classifier: the classifier to read; each method's main one if None.
    """

    table: AccuracyTable
    results: Mapping[str, Mapping[ClassSequence, Sequence[tuple[RunResult, Ints]]]]
    classifier: str | None = None

    @classmethod
    def of(
        cls, table: AccuracyTable, experiments: Sequence[Experiment], classifier: str | None = None
    ) -> RunDetails:
        """The results of the experiments that a table comes from."""
        results: dict[str, dict[ClassSequence, list[tuple[RunResult, Ints]]]] = {}
        for experiment in experiments:
            for result in experiment.results():
                if classifier not in (None, *result.classifiers):
                    continue
                ids = _table_ids(experiment.names, table, len(result.sequence.order))
                sequence = _renumber(result.sequence, ids)
                by_sequence = results.setdefault(result.method, {})
                by_sequence.setdefault(sequence, []).append((result, ids))
        return cls(table, results, classifier)

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
                    matrix = result.classifier(self.classifier).matrix
                    if not np.isnan(matrix[-1]).any():
                        matrices.setdefault(method, {}).setdefault(label, matrix)
        return matrices

    def curves(self) -> dict[str, dict[str, TaskCurve]]:
        """By method and protocol, how accuracy develops from task to task."""
        curves: dict[str, dict[str, TaskCurve]] = {}
        for method, by_sequence in self.results.items():
            means = {}
            for sequence, results in by_sequence.items():
                steps = [result.classifier(self.classifier).curve for result, _ in results]
                given = [curve for curve in steps if curve is not None]
                if given:
                    means[sequence] = np.mean(given, axis=0)
            for protocol in self.table.protocols:
                chosen = set(self.table.orders(method, protocol).sequences)
                values = [curve for sequence, curve in means.items() if sequence in chosen]
                if values:
                    curves.setdefault(method, {})[protocol] = _spread(np.array(values))
        return curves

    def class_positions(self) -> dict[str, ClassPositions]:
        """By method, the final accuracy on each class by the task in which it comes."""
        positions = {}
        for method, by_sequence in self.results.items():
            places: list[Ints] = []
            values: list[Floats] = []
            for sequence, results in by_sequence.items():
                finals = [_final_by_class(*entry, self.classifier) for entry in results]
                given = [final for final in finals if final is not None]
                if given:
                    values.append(np.mean(given, axis=0))
                    places.append(_position_of_class(sequence))
            if values:
                tasks = len(self.table.space.sizes)
                positions[method] = _by_position(np.array(values), np.array(places), tasks)
        return positions


def _table_ids(names: Sequence[str] | None, table: AccuracyTable, classes: int) -> Ints:
    """The table's id of each class of an experiment, in ascending order of the own ids."""
    if table.names is None or names is None:
        return np.arange(classes, dtype=np.int64)
    return np.array([table.names.index(name) for name in names], dtype=np.int64)


def _renumber(sequence: ClassSequence, ids: Ints) -> ClassSequence:
    new = dict(zip(sorted(sequence.order), ids.tolist(), strict=True))
    return ClassSequence([new[class_] for class_ in task] for task in sequence.tasks)


def _spread(values: Floats) -> TaskCurve:
    """The spread over orders of curves of shape (orders, K)."""
    levels = np.quantile(values, QUANTILES, axis=0)
    return TaskCurve(
        len(values),
        values.mean(axis=0),
        values.std(axis=0),
        values.min(axis=0),
        values.max(axis=0),
        {f"{level:g}": row for level, row in zip(QUANTILES, levels, strict=True)},
    )


def _final_by_class(result: RunResult, ids: Ints, classifier: str | None) -> Floats | None:
    """Final accuracy on each class, in the table's order of classes; None if unknown."""
    by_class = result.class_accuracies(classifier)
    if by_class is None:
        return None
    final = np.empty(len(ids))
    final[ids] = by_class[-1]
    return final


def _position_of_class(sequence: ClassSequence) -> Ints:
    """The task of each class, shape (N,)."""
    places = np.empty(len(sequence.order), dtype=np.int64)
    for position, task in enumerate(sequence.tasks):
        places[list(task)] = position
    return places


def _by_position(values: Floats, places: Ints, tasks: int) -> ClassPositions:
    """Mean and std over orders of values of shape (orders, N), by the class's task."""
    classes = values.shape[1]
    mean, std = np.full((2, classes, tasks), np.nan)
    orders = np.zeros((classes, tasks), dtype=np.int64)
    for position in range(tasks):
        at_position = places == position
        orders[:, position] = at_position.sum(axis=0)
        for class_ in np.flatnonzero(orders[:, position]):
            chosen = values[at_position[:, class_], class_]
            mean[class_, position] = chosen.mean()
            std[class_, position] = chosen.std()
    ends, several = [0, -1], np.where(orders > 1, orders, 2)
    variance = np.where(orders > 1, std**2 / (several - 1), np.nan)
    cost = mean[:, -1] - mean[:, 0]
    return ClassPositions(mean, std, orders, cost, np.sqrt(variance[:, ends].sum(axis=1)))
