"""Results: right answers after each task, of one training and of whole runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import DataError, unknown_name_error
from edgecil.experiments.plan import Node, Prefix
from edgecil.io.arrays import Floats
from edgecil.runs.metrics import DEFAULT_METRIC, METRICS, Counts
from edgecil.sequences.sequence import ClassSequence

Counted: TypeAlias = NDArray[np.int32]

# One number for each class of each task.
ClassCounts = tuple[tuple[int, ...], ...]

# Wrong answers on each task: those that name a class of an earlier, of the same, of a later task.
TaskConfusion = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class NodeResult:
    """The test of a learner after one task.

    Counts per class are missing where another tool trained and reported counts per task only.

    Attributes:
        correct: by classifier, the number of correctly classified test images of each task so far.
        totals: the number of test images of each task so far.
        seconds: duration of training and testing.
        peak_memory: peak memory of the process until then, in bytes.
        class_correct: by classifier, `correct` for each class of each task, in the order of the
            task's classes; None if unknown.
        class_totals: `totals` for each class of each task; None if unknown.
        confusion: by classifier, for each task so far, the wrong answers that name a class of an
            earlier task, another class of the same task, or a class of a later task; None if
            unknown.
        training: right answers of the main classifier on training inputs of the current task, right
            after it was learned, and the number of these inputs; None where nothing is trained or
            it is unknown.
        class_means: right answers on the test inputs of the first task by class means of the
            features of the untrained learner; None after later tasks, or if unknown.
    """

    correct: dict[str, tuple[int, ...]]
    totals: tuple[int, ...]
    seconds: float
    peak_memory: int
    class_correct: dict[str, ClassCounts] | None = None
    class_totals: ClassCounts | None = None
    confusion: dict[str, TaskConfusion] | None = None
    training: tuple[int, int] | None = None
    class_means: int | None = None

    def __post_init__(self) -> None:
        if (self.class_correct is None) != (self.class_totals is None):
            raise DataError("Counts per class require both 'class_correct' and 'class_totals'.")
        if self.class_correct is not None and self.class_totals is not None:
            sums = {name: _task_sums(counts) for name, counts in self.class_correct.items()}
            if sums != self.correct or _task_sums(self.class_totals) != self.totals:
                raise DataError("The counts per class do not add up to the counts per task.")
        for name, correct in self.correct.items():
            if len(correct) != len(self.totals):
                raise DataError(f"{name!r} has {len(correct)} counts for {len(self.totals)} tasks.")
            for right, total in zip(correct, self.totals, strict=True):
                if not 0 <= right <= total or total == 0:
                    raise DataError(f"{name!r} has {right} right answers among {total} images.")
        for name, mistakes in (self.confusion or {}).items():
            answers = self.correct.get(name)
            if answers is None or len(mistakes) != len(self.totals):
                raise DataError(f"The confusion of {name!r} is not of {len(self.totals)} tasks.")
            for right, wrong, total in zip(answers, mistakes, self.totals, strict=True):
                if min(wrong) < 0 or right + sum(wrong) > total:
                    raise DataError(f"{name!r} has {sum(wrong)} wrong among {total} images.")
        if self.training is not None and not 0 <= self.training[0] <= self.training[1]:
            raise DataError("There are more right answers on training inputs than inputs.")
        if not 0.0 <= self.seconds < math.inf or self.peak_memory < 0:
            raise DataError("Seconds and memory must be at least 0 and finite.")

    def check(self, prefix: Prefix) -> None:
        """Raise an error unless the counts belong to these tasks."""
        if len(self.totals) != len(prefix) or not self.correct:
            raise DataError(f"It has counts of {len(self.totals)} tasks, not of {len(prefix)}.")
        if self.class_totals is not None:
            sizes = [len(task) for task in prefix]
            for counts in (self.class_totals, *(self.class_correct or {}).values()):
                if [len(task) for task in counts] != sizes:
                    raise DataError("Its counts per class are not those of the tasks' classes.")

    @classmethod
    def per_class(
        cls,
        class_correct: Mapping[str, ClassCounts],
        class_totals: ClassCounts,
        seconds: float,
        peak_memory: int,
        confusion: Mapping[str, TaskConfusion] | None = None,
    ) -> NodeResult:
        """Return a result from counts per class; counts per task are their sums."""
        return cls(
            {name: _task_sums(counts) for name, counts in class_correct.items()},
            _task_sums(class_totals),
            seconds,
            peak_memory,
            dict(class_correct),
            class_totals,
            None if confusion is None else dict(confusion),
        )


@dataclass(frozen=True)
class RunResult:
    """One method on one sequence with one training seed.

    Accuracies are in per cent, and of the main classifier unless another one is named.

    Attributes:
        method: the method's name.
        seed: the training seed.
        sequence: the classes, task by task.
        nodes: results after each task, first task first.
        versions: versions of edgecil and torch.
        reported: by classifier, the accuracies that another tool reported in place of counts;
            `nodes` then holds one entry with the cost of the run.
        matrices: counts that were computed as arrays, by what they are counts of and classifier.
    """

    method: str
    seed: int
    sequence: ClassSequence
    nodes: tuple[NodeResult, ...]
    versions: Mapping[str, str] = field(default_factory=dict)
    reported: Mapping[str, Reported] = field(default_factory=dict)
    matrices: dict[tuple[str, str], Counted] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def classifiers(self) -> tuple[str, ...]:
        """Names of the classifiers, the main one first."""
        return tuple(self.reported or self.nodes[-1].correct)

    def counts(self, classifier: str | None = None) -> Counts:
        """Return what all metrics of a classifier (the main one by default) are computed from."""
        chosen = self.choose(classifier)
        if self.reported:
            return self.reported[chosen].counts
        correct = _filled([node.correct[chosen] for node in self.nodes], len(self.nodes))
        return Counts.of(correct, self.nodes[-1].totals, self.training_accuracies())

    def training_accuracies(self) -> Floats:
        """Return the accuracy on training inputs of each task right after it, (K,); NaN if unknown.

        The main classifier answers.
        """
        accuracies = []
        for node in self.nodes:
            right, inputs = node.training or (math.nan, 1)
            accuracies.append(100.0 * right / inputs)
        return np.array(accuracies)

    def matrix(self, classifier: str | None = None) -> Floats:
        """Return the accuracy on task s after task t, (K, K); NaN above the diagonal."""
        return self.counts(classifier).accuracies

    def metric(self, name: str = DEFAULT_METRIC, classifier: str | None = None) -> float | None:
        """Return the value of one of `METRICS`; None where it is undefined or was not reported."""
        metric, chosen = METRICS[name], self.choose(classifier)
        if self.reported:
            reported = self.reported[chosen].values_by_metric.get(metric.name)
            if reported is not None:
                return reported
        value = float(metric.compute(self.counts(chosen)))
        return None if math.isnan(value) else value

    def curve(self, name: str = DEFAULT_METRIC, classifier: str | None = None) -> Floats | None:
        """Return a metric after each task, (K,); None if it is unknown."""
        counts, metric = self.counts(classifier), METRICS[name]
        curve = metric.curve(counts)
        has_equal_tasks = len(set(self.sequence.sizes)) == 1
        if np.isnan(curve[-1]) and metric.of_classes and has_equal_tasks:
            curve = METRICS["last"].curve(counts)  # the same, and reported by most tools
        return None if np.isnan(curve[-1]) else curve

    def class_counts(self, classifier: str | None = None) -> Counts | None:
        """Return the counts of every class on its own, ordered by class id; None if unknown."""
        by_task = self.class_correct(classifier)
        if by_task is None:
            return None
        right = [np.concatenate(row) for row in by_task]
        correct = _filled(right, len(self.nodes), len(self.sequence.order))
        totals = np.concatenate(self.nodes[-1].class_totals or ())
        ids = np.argsort(self.sequence.sorted_order)
        return Counts.of(correct.T[ids, :, None], totals[ids, None])

    def correct_by_task(self, classifier: str | None = None) -> Counted:
        """Return the right answers on each task after each task, (K, K); 0 above the diagonal."""
        chosen = self.choose(classifier)
        if ("task", chosen) not in self.matrices:
            tasks = len(self.nodes)
            rows = [node.correct[chosen] for node in self.nodes]
            correct = np.zeros((tasks, tasks), dtype=np.int32)
            correct[np.tri(tasks, dtype=bool)] = np.concatenate(rows)
            self.matrices["task", chosen] = correct
        return self.matrices["task", chosen]

    def correct_by_class(self, classifier: str | None = None) -> Counted:
        """Return the right answers on each class, by id, after each task, (K, N); 0 if not seen.

        Requires counts per class; see :meth:`class_correct`.
        """
        chosen = self.choose(classifier)
        if ("class", chosen) not in self.matrices:
            sizes = self.sequence.sizes
            is_seen = np.arange(sum(sizes)) < np.cumsum(sizes)[:, None]
            parts = chain.from_iterable(self.class_correct(chosen) or ())
            in_order = np.zeros((len(sizes), sum(sizes)), dtype=np.int32)
            in_order[is_seen] = np.fromiter(chain.from_iterable(parts), dtype=np.int32)
            by_id = np.argsort(self.sequence.sorted_order)
            self.matrices["class", chosen] = in_order[:, by_id]
        return self.matrices["class", chosen]

    def class_correct(self, classifier: str | None = None) -> list[ClassCounts] | None:
        """Return the right answers on each class of each task after each task; None if unknown."""
        chosen = self.choose(classifier)
        counts = [node.class_correct for node in self.nodes if node.class_correct is not None]
        if self.reported or len(counts) < len(self.nodes):
            return None
        return [by_classifier[chosen] for by_classifier in counts]

    def confusion(self, classifier: str | None = None) -> Floats | None:
        """Return right and wrong answers on each task after the last one, (K, 4), in per cent.

        Columns: right answers; wrong ones that name a class of an earlier task, another class of
        the same task, a class of a later task. None if it is unknown.
        """
        chosen = self.choose(classifier)
        final = self.nodes[-1]
        if self.reported or final.confusion is None or chosen not in final.confusion:
            return None
        counts = np.column_stack([final.correct[chosen], final.confusion[chosen]])
        return np.asarray(100.0 * counts / np.array(final.totals)[:, None], dtype=np.float64)

    def choose(self, classifier: str | None) -> str:
        """Return the name of a classifier: the main one if none is given."""
        if classifier is None:
            return self.classifiers[0]
        if classifier not in self.classifiers:
            raise unknown_name_error(f"classifier of {self.method!r}", classifier, self.classifiers)
        return classifier

    @property
    def accuracy(self) -> float:
        """A(O), the paper's metric: mean over tasks of the final accuracy."""
        value = self.metric(DEFAULT_METRIC)
        assert value is not None
        return value

    @property
    def seconds(self) -> float:
        """Duration of training and testing all tasks, shared ones included."""
        return sum(node.seconds for node in self.nodes)

    @property
    def peak_memory(self) -> int:
        """Peak memory, in bytes."""
        return max(node.peak_memory for node in self.nodes)


@dataclass(frozen=True)
class Reported:
    """Accuracies that another tool computed, in per cent; None where it reported nothing.

    Attributes:
        tasks: K, the number of tasks.
        accuracy: A(O), the mean over tasks of the final accuracy.
        last: accuracy over all test images after the last task.
        average: average incremental accuracy.
        rows: `rows[t][s]` accuracy on task s after task t, s <= t; empty if unknown.
        steps: accuracy on all images of the classes seen, after each task; empty if unknown.
    """

    tasks: int
    accuracy: float
    last: float | None = None
    average: float | None = None
    rows: tuple[tuple[float, ...], ...] = ()
    steps: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        values = (
            self.accuracy,
            self.last,
            self.average,
            *(accuracy for row in self.rows for accuracy in row),
        )
        for value in values:
            if value is not None and not 0.0 <= value <= 100.0:
                raise DataError(f"Accuracies must be in per cent, from 0 to 100. Got {value:g}.")
        if self.rows and [len(row) for row in self.rows] != list(range(1, self.tasks + 1)):
            raise DataError(f"The accuracy matrix must have {self.tasks} rows of 1, 2, … entries.")

    @property
    def values_by_metric(self) -> dict[str, float | None]:
        """The values of metrics that the tool reported."""
        return {"accuracy": self.accuracy, "last": self.last, "average": self.average}

    @property
    def counts(self) -> Counts:
        """What metrics that were not reported are computed from; NaN where unknown."""
        steps = np.array(self.steps) if self.steps else np.full(self.tasks, np.nan)
        return Counts(_filled(self.rows, self.tasks), steps, np.full(self.tasks, 100.0))


@dataclass(frozen=True)
class WholeRun:
    """A sequence that another tool trained from end to end, without sharing tasks.

    Attributes:
        nodes: counts after each task, the last one with the cost of the whole run; where the tool
            gave no counts, a single entry with the cost.
        reported: by classifier, the accuracies that the tool reported in place of counts.
    """

    nodes: tuple[NodeResult, ...]
    reported: Mapping[str, Reported] = field(default_factory=dict)

    def check(self, prefix: Prefix) -> None:
        """Raise an error unless the counts or the reported accuracies belong to these tasks."""
        if not self.nodes or (not self.reported and len(self.nodes) != len(prefix)):
            raise DataError(f"It has {len(self.nodes)} results for {len(prefix)} tasks.")
        for reported in self.reported.values():
            if reported.tasks != len(prefix):
                raise DataError(f"It reports on {reported.tasks} tasks, not on {len(prefix)}.")
        if not self.reported:
            for number, node in enumerate(self.nodes, start=1):
                node.check(prefix[:number])

    @property
    def classifiers(self) -> tuple[str, ...]:
        """Names of the classifiers, the main one first."""
        return tuple(self.reported or self.nodes[-1].correct)


@dataclass(frozen=True)
class Summary:
    """The work that one call of `run` did.

    Attributes:
        trained: tasks trained by this call; whole sequences where another tool trains.
        reused: tasks that an earlier call had finished.
        failed: tasks whose training raised; tasks after them were not tried.
    """

    trained: int
    reused: int
    failed: tuple[Node, ...]


def _task_sums(counts: ClassCounts) -> tuple[int, ...]:
    return tuple(map(sum, counts))


def _filled(rows: Sequence[Sequence[float] | Floats], tasks: int, parts: int = 0) -> Floats:
    """Return rows of growing length as a matrix with a column for each part, NaN elsewhere."""
    filled = np.full((tasks, parts or tasks), np.nan)
    for line, row in zip(filled, rows, strict=False):
        line[: len(row)] = row
    return filled
