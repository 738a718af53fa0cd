"""Accuracy tables: which run of which method reached which value of a metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean

import numpy as np

from edgecil.engine.metrics import DEFAULT_METRIC
from edgecil.errors import DataError, UsageError, name_some
from edgecil.io.arrays import Floats
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace


@dataclass(frozen=True)
class Run:
    """One method trained on one class sequence with one training seed.

    Attributes:
        method: the method's name.
        dataset: the dataset's name.
        protocol: the protocol that chose the sequence.
        label: the protocol's label for the sequence.
        sequence: the classes, task by task.
        seed: the training seed.
        accuracy: the value of the table's metric (by default A(O)), in per cent; None if the run
            failed or is unfinished.
        more: further columns of the file, as text.
        pending: whether the run has no value because it was not run yet, and did not fail.
        class_accuracies: (N,) final accuracy of every class, in ascending order of their ids in
            the source; None if it is unknown, or if the metric is not a mean of them.
    """

    method: str
    dataset: str
    protocol: str
    label: str
    sequence: ClassSequence
    seed: int
    accuracy: float | None
    more: Mapping[str, str] = field(default_factory=dict)
    pending: bool = False
    class_accuracies: Floats | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class OrderAccuracies:
    """Accuracies over class orders, one per labelled sequence: the mean over training seeds.

    Attributes:
        labels: n labels.
        sequences: n sequences.
        accuracies: (n,) per cent.
    """

    labels: tuple[str, ...]
    sequences: tuple[ClassSequence, ...]
    accuracies: Floats

    def __len__(self) -> int:
        return len(self.sequences)

    def by_sequence(self) -> Mapping[ClassSequence, float]:
        """Return the accuracy of each distinct sequence, averaged over the labels that share it."""
        return self._by_sequence

    @cached_property
    def _by_sequence(self) -> dict[ClassSequence, float]:
        values = self.accuracies.tolist()
        single = dict(zip(self.sequences, values, strict=True))
        if len(single) == len(values):
            return single
        grouped: dict[ClassSequence, list[float]] = {}
        for sequence, accuracy in zip(self.sequences, values, strict=True):
            grouped.setdefault(sequence, []).append(accuracy)
        return {
            sequence: values[0] if len(values) == 1 else fmean(values)
            for sequence, values in grouped.items()
        }


@dataclass(frozen=True, repr=False)
class AccuracyTable:
    """Runs on one dataset with one division of its classes into tasks.

    Attributes:
        runs: in the order of the source.
        names: names of the N classes, in ascending order of their ids; None if unknown.
        metric: the metric whose values `Run.accuracy` holds.
    """

    runs: tuple[Run, ...]
    names: tuple[str, ...] | None = None
    metric: str = DEFAULT_METRIC

    def __post_init__(self) -> None:
        if not self.runs:
            raise DataError("An accuracy table requires at least one run; got none.")
        first = self.runs[0]
        for run in self.runs:
            if run.dataset != first.dataset:
                raise UsageError(
                    f"A table has runs of one dataset, but these are of {first.dataset!r} and "
                    f"{run.dataset!r}; split the table by dataset."
                )
        classes = set(first.sequence.order)
        for place, sequence in enumerate(self.sequences):
            if sequence.sizes != first.sequence.sizes or set(sequence.order) != classes:
                run = self.runs[self.places.index(place)]
                raise DataError(
                    "All sequences of a dataset must have the same classes and task sizes, but "
                    f"{str(sequence)!r} ({run.method}, {run.protocol}) differs from "
                    f"{str(first.sequence)!r}."
                )

    def __repr__(self) -> str:
        methods, protocols = name_some(self.methods), name_some(self.protocols)
        return (
            f"<AccuracyTable of {self.dataset}: {len(self.runs)} runs of {methods} by {protocols}, "
            f"{self.metric}>"
        )

    @property
    def dataset(self) -> str:
        """The dataset's name."""
        return self.runs[0].dataset

    @property
    def classes(self) -> tuple[int, ...]:
        """The N class ids in the sequences, ascending."""
        return tuple(sorted(self.runs[0].sequence.order))

    @cached_property
    def space(self) -> SequenceSpace:
        """Every sequence with these task sizes."""
        return SequenceSpace(self.runs[0].sequence.sizes)

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in order of appearance."""
        return tuple(dict.fromkeys(run.method for run in self.runs))

    @cached_property
    def protocols(self) -> tuple[str, ...]:
        """Names of the protocols, in order of appearance."""
        return tuple(dict.fromkeys(run.protocol for run in self.runs))

    @cached_property
    def sequences(self) -> tuple[ClassSequence, ...]:
        """The different sequences, in order of appearance."""
        return tuple(self._index)

    @cached_property
    def places(self) -> list[int]:
        """For each run, the place of its sequence in `sequences`."""
        objects = {id(run.sequence): run.sequence for run in self.runs}  # few are hashed
        places = {key: self._index[sequence] for key, sequence in objects.items()}
        return [places[id(run.sequence)] for run in self.runs]

    @cached_property
    def _index(self) -> dict[ClassSequence, int]:
        """The place of each different sequence."""
        objects = {id(run.sequence): run.sequence for run in self.runs}
        return {sequence: place for place, sequence in enumerate(dict.fromkeys(objects.values()))}

    @cached_property
    def failed(self) -> int:
        """Number of runs without an accuracy, which every statistic leaves out."""
        return sum(run.accuracy is None for run in self.runs)

    def runs_of(self, method: str, protocol: str | None = None) -> Sequence[Run]:
        """Return a method's runs for one protocol, or for all, in the order of the source."""
        return [self.runs[row] for row in self._rows(method, protocol)]

    def placed_runs(self, method: str) -> Iterator[tuple[int, Run]]:
        """Return a method's runs that have an accuracy, with the places of their sequences."""
        for row in self._rows(method):
            if self.runs[row].accuracy is not None:
                yield self.places[row], self.runs[row]

    def _rows(self, method: str, protocol: str | None = None) -> Sequence[int]:
        return self._groups.get((method, protocol), ())

    @cached_property
    def _groups(self) -> dict[tuple[str, str | None], list[int]]:
        """Places of runs in the table, by method and protocol, and by method alone."""
        groups: dict[tuple[str, str | None], list[int]] = {}
        for row, run in enumerate(self.runs):
            groups.setdefault((run.method, run.protocol), []).append(row)
        for method in self.methods:
            rows = [group for (name, _), group in groups.items() if name == method]
            groups[method, None] = sorted(row for group in rows for row in group)
        return groups

    def orders(self, method: str, protocol: str | None = None) -> OrderAccuracies:
        """Return a method's accuracies over the sequences of one protocol, or of all protocols."""
        key = method, protocol
        if key not in self._orders:
            self._orders[key] = self._average_repeats(*key)
        return self._orders[key]

    @cached_property
    def _orders(self) -> dict[tuple[str, str | None], OrderAccuracies]:
        return {}

    def _average_repeats(self, method: str, protocol: str | None) -> OrderAccuracies:
        """Average over the training seeds of each labelled sequence; without a protocol, of each.

        Protocols share runs: equal seed and accuracy mean the same run.
        """
        first: dict[tuple[str, int], tuple[int, float]] = {}
        repeated: dict[tuple[str, int], dict[tuple[int, float], float]] = {}
        for row in self._rows(method, protocol):
            run = self.runs[row]
            if run.accuracy is None:
                continue
            key = ("" if protocol is None else run.label), self.places[row]
            training = run.seed, run.accuracy
            if (other := first.setdefault(key, training)) is not training and other != training:
                repeated.setdefault(key, {other: other[1]})[training] = run.accuracy
        means = [
            fmean(repeated[key].values()) if key in repeated else accuracy
            for key, (_, accuracy) in first.items()
        ]
        return OrderAccuracies(
            tuple(label for label, _ in first),
            tuple(self.sequences[place] for _, place in first),
            np.array(means, dtype=np.float64),
        )

    def class_accuracies(self, method: str, sequences: Sequence[ClassSequence]) -> Floats | None:
        """Return a method's final accuracy of every class on some sequences, (n, N).

        They are means over the training seeds; None if they are unknown for some training.
        """
        places = [self._index[sequence] for sequence in sequences]
        trainings: dict[int, dict[tuple[int, float | None], Floats]] = {p: {} for p in places}
        for place, run in self.placed_runs(method):
            if place in trainings:
                if run.class_accuracies is None:
                    return None
                trainings[place][run.seed, run.accuracy] = run.class_accuracies
        if not places or not all(trainings.values()):
            return None
        return np.array([np.mean(list(trainings[place].values()), axis=0) for place in places])

    def repeats(self, method: str) -> list[Floats]:
        """Return a method's accuracies grouped by sequence, one per training seed."""
        if self._trains_once(method):
            return list(self.orders(method).accuracies[:, None])
        grouped: dict[int, list[tuple[int, float]]] = {}
        for place, run in self.placed_runs(method):
            assert run.accuracy is not None
            grouped.setdefault(place, []).append((run.seed, run.accuracy))
        return [
            np.array([value for _, value in sorted(set(group))] if group[1:] else [group[0][1]])
            for group in grouped.values()
        ]

    def training_counts(self, method: str) -> dict[ClassSequence, int]:
        """Count a method's trainings on the sequences that it was trained on several times."""
        if self._trains_once(method):
            return {}
        trainings: dict[int, set[tuple[int, float | None]]] = {}
        for place, run in self.placed_runs(method):
            trainings.setdefault(place, set()).add((run.seed, run.accuracy))
        return {
            self.sequences[place]: len(different)
            for place, different in trainings.items()
            if len(different) > 1
        }

    def _trains_once(self, method: str) -> bool:
        """Whether a method has one run on each of its sequences."""
        return len(self.orders(method)) == sum(1 for _ in self.placed_runs(method))

    def count_trainings(self, method: str, sequences: tuple[ClassSequence, ...]) -> int:
        """Count a method's different trainings on some sequences of the table."""
        everything = sequences == self.sequences
        places = set() if everything else {self._index[sequence] for sequence in sequences}
        return len(
            {
                (place, run.seed, run.accuracy)
                for place, run in self.placed_runs(method)
                if everything or place in places
            }
        )

    def named(self, names: tuple[str, ...] | None) -> AccuracyTable:
        """Return the same runs with names of the classes; what was computed is kept."""
        table = object.__new__(AccuracyTable)
        table.__dict__.update(self.__dict__, names=names)
        return table

    def contradictions(self) -> list[tuple[Run, Run]]:
        """Return pairs of runs of one method, sequence and seed with different accuracies."""
        firsts: dict[tuple[str, int, int], Run] = {}
        pairs = []
        for run, place in zip(self.runs, self.places, strict=True):
            if run.accuracy is not None:
                first = firsts.setdefault((run.method, place, run.seed), run)
                if first.accuracy != run.accuracy:
                    pairs.append((first, run))
        return pairs

    def failures(self, method: str, protocol: str) -> tuple[str, ...]:
        """Return labels of a protocol's sequences on which no run of the method has an accuracy."""
        chosen = self.runs_of(method, protocol)
        done = {(run.label, run.sequence) for run in chosen if run.accuracy is not None}
        labelled = {(run.label, run.sequence): None for run in chosen}
        return tuple(label for label, sequence in labelled if (label, sequence) not in done)

    def renumbered(self) -> AccuracyTable:
        """Return the runs with the classes numbered 0 … N-1, in ascending order of their ids."""
        return self._with_ids(range(len(self.classes)))

    def numbered_by(self, labels: Sequence[str]) -> AccuracyTable:
        """Return the runs with classes numbered by their names' indices in a dataset's labels."""
        if self.names is None or not set(self.names) <= set(labels):
            raise DataError(
                f"The classes of {self.dataset!r} are not all among the labels of the dataset."
            )
        index_of = {label: index for index, label in enumerate(labels)}
        return self._with_ids([index_of[name] for name in self.names])

    def _with_ids(self, ids: Sequence[int]) -> AccuracyTable:
        """Return the same runs with N new class ids, given in ascending order of the old ones."""
        new = dict(zip(self.classes, ids, strict=True))
        if all(old == id_ for old, id_ in new.items()):
            return self
        sequences = {
            sequence: ClassSequence([new[class_] for class_ in task] for task in sequence.tasks)
            for sequence in self.sequences
        }
        names = None if self.names is None else dict(zip(ids, self.names, strict=True))
        return replace(
            self,
            runs=tuple(replace(run, sequence=sequences[run.sequence]) for run in self.runs),
            names=None if names is None else tuple(names[id_] for id_ in sorted(names)),
        )
