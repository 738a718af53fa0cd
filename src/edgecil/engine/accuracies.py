"""Accuracy tables: which run of which method reached which value of a metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean

import numpy as np

from edgecil.errors import DataError, UsageError, name_some
from edgecil.io.arrays import Floats
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

DEFAULT_METRIC = "accuracy"


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
        grouped: dict[ClassSequence, list[float]] = {}
        for sequence, accuracy in zip(self.sequences, self.accuracies.tolist(), strict=True):
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
        classes = set(first.sequence.order)
        checked: set[ClassSequence] = set()
        for run in self.runs:
            if run.dataset != first.dataset:
                raise UsageError(
                    f"A table has runs of one dataset, but these are of {first.dataset!r} and "
                    f"{run.dataset!r}; split the table by dataset."
                )
            if run.sequence in checked:
                continue
            checked.add(run.sequence)
            if run.sequence.sizes != first.sequence.sizes or set(run.sequence.order) != classes:
                raise DataError(
                    "All sequences of a dataset must have the same classes and task sizes, but "
                    f"{str(run.sequence)!r} ({run.method}, {run.protocol}) differs from "
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
        return tuple(dict.fromkeys(run.sequence for run in self.runs))

    @cached_property
    def failed(self) -> int:
        """Number of runs without an accuracy, which every statistic leaves out."""
        return sum(run.accuracy is None for run in self.runs)

    def runs_of(self, method: str, protocol: str | None = None) -> Sequence[Run]:
        """Return a method's runs for one protocol, or for all, in the order of the source."""
        return self._groups.get((method, protocol), ())

    @cached_property
    def _groups(self) -> dict[tuple[str, str | None], list[Run]]:
        """Runs by method and protocol, and by method alone."""
        groups: dict[tuple[str, str | None], list[Run]] = {}
        for run in self.runs:
            groups.setdefault((run.method, None), []).append(run)
            groups.setdefault((run.method, run.protocol), []).append(run)
        return groups

    def orders(self, method: str, protocol: str | None = None) -> OrderAccuracies:
        """Return a method's accuracies over the sequences of one protocol, or of all protocols."""
        key = method, protocol
        if key not in self._orders:
            self._orders[key] = _average_repeats(self.runs_of(*key), labelled=protocol is not None)
        return self._orders[key]

    @cached_property
    def _orders(self) -> dict[tuple[str, str | None], OrderAccuracies]:
        return {}

    def repeats(self, method: str) -> list[Floats]:
        """Return a method's accuracies grouped by sequence, one per training seed."""
        grouped: dict[ClassSequence, list[tuple[int, float]]] = {}
        for run in self.runs_of(method):
            if run.accuracy is not None:
                grouped.setdefault(run.sequence, []).append((run.seed, run.accuracy))
        return [
            np.array([value for _, value in sorted(set(group))] if group[1:] else [group[0][1]])
            for group in grouped.values()
        ]

    def training_counts(self, method: str) -> dict[ClassSequence, int]:
        """Count a method's trainings on the sequences that it was trained on several times."""
        first: dict[ClassSequence, tuple[int, float]] = {}
        repeated: dict[ClassSequence, set[tuple[int, float]]] = {}
        for run in self.runs_of(method):
            if run.accuracy is not None:
                training = run.seed, run.accuracy
                if (other := first.setdefault(run.sequence, training)) != training:
                    repeated.setdefault(run.sequence, {other}).add(training)
        return {sequence: len(trainings) for sequence, trainings in repeated.items()}

    def named(self, names: tuple[str, ...] | None) -> AccuracyTable:
        """Return the same runs with names of the classes; what was computed is kept."""
        table = object.__new__(AccuracyTable)
        table.__dict__.update(self.__dict__, names=names)
        return table

    def contradictions(self) -> list[tuple[Run, Run]]:
        """Return pairs of runs of one method, sequence and seed with different accuracies."""
        firsts: dict[tuple[str, ClassSequence, int], Run] = {}
        done = [run for run in self.runs if run.accuracy is not None]
        pairs = [
            (firsts.setdefault((run.method, run.sequence, run.seed), run), run) for run in done
        ]
        return [(first, run) for first, run in pairs if first.accuracy != run.accuracy]

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


def _average_repeats(runs: Iterable[Run], *, labelled: bool) -> OrderAccuracies:
    """Average over the training seeds of each sequence, or of each labelled sequence."""
    first: dict[tuple[str, ClassSequence], tuple[int, float]] = {}
    repeated: dict[tuple[str, ClassSequence], dict[tuple[int, float], float]] = {}
    for run in runs:
        if run.accuracy is None:
            continue
        key, training = (run.label if labelled else "", run.sequence), (run.seed, run.accuracy)
        # Protocols share runs: equal seed and accuracy mean the same run.
        if (other := first.setdefault(key, training)) != training:
            repeated.setdefault(key, {other: other[1]})[training] = run.accuracy
    means = [
        fmean(repeated[key].values()) if key in repeated else accuracy
        for key, (_, accuracy) in first.items()
    ]
    return OrderAccuracies(
        tuple(label for label, _ in first),
        tuple(sequence for _, sequence in first),
        np.array(means, dtype=np.float64),
    )
