"""Metrics: one function each of the right answers that a run gave after every task.

A new metric is one function with the decorator `metric`, in any module that is imported. Tables,
curves, heat maps of classes, truth tables and trackers all call these functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from edgecil.io.arrays import Floats
from edgecil.registry import Registry
from edgecil.runs.metric_names import metric_name

DEFAULT_METRIC = "accuracy"


@dataclass(frozen=True, eq=False)
class Counts:
    """The right answers of a run after each of its K tasks, on P parts of the test set.

    The parts are the tasks of the run, or a single class. Any axes before these are of several
    runs or classes, which metrics treat alike.

    Attributes:
        accuracies: (..., K, P) per cent of each part that are right; NaN before the part's task,
            and where unknown.
        right: (..., K) right answers on all parts that have arrived; NaN where unknown.
        images: (..., K) test images of these parts.
        training: (..., K) per cent of the training inputs of each task that are right just after
            it was learned; NaN where unknown. None if all are unknown.
    """

    accuracies: Floats
    right: Floats
    images: Floats
    training: Floats | None = None

    @classmethod
    def of(cls, correct: ArrayLike, totals: ArrayLike, training: Floats | None = None) -> Counts:
        """Return counts from the right answers on each part after each task.

        Args:
            correct: (..., K, P), NaN before the part's task.
            totals: (..., P) test images of each part.
            training: (..., K) per cent of training inputs that are right.

        >>> Counts.of([[8, np.nan], [4, 15]], [10, 20]).accuracies.tolist()
        [[80.0, nan], [40.0, 75.0]]
        """
        answers, images = np.asarray(correct, np.float64), np.asarray(totals, np.float64)
        images = np.broadcast_to(images[..., None, :], answers.shape)
        arrived = ~np.isnan(answers)
        return cls(
            100.0 * answers / images,
            np.where(arrived, answers, 0.0).sum(axis=-1),
            np.where(arrived, images, 0.0).sum(axis=-1),
            training,
        )

    def until(self, end: int) -> Counts:
        """Return the counts as if the run had ended after so many tasks."""
        return Counts(
            self.accuracies[..., :end, :],
            self.right[..., :end],
            self.images[..., :end],
            None if self.training is None else self.training[..., :end],
        )


Compute = Callable[[Counts], Floats]


@dataclass(frozen=True)
class Metric:
    """A number read off a run, in per cent.

    Attributes:
        name: the name by which it is requested.
        label: a short label for tables and axes.
        description: one sentence.
        compute: its value (...,) for counts; NaN where it is undefined.
        higher_is_better: whether a greater value is the better one.
        bounds: the least and the greatest value there can be.
        of_classes: whether it is a mean of the final accuracies of classes.
        steps: the metric whose values after each task are its curve; its own by default.
    """

    name: str
    label: str
    description: str
    compute: Compute
    higher_is_better: bool = True
    bounds: tuple[float, float] = (0.0, 100.0)
    of_classes: bool = False
    steps: str = ""

    def curve(self, counts: Counts) -> Floats:
        """Return its value after each task, (..., K): as if the run had ended there."""
        compute = METRICS[self.steps].compute if self.steps else self.compute
        ends = range(1, counts.right.shape[-1] + 1)
        return np.stack([compute(counts.until(end)) for end in ends], axis=-1)


METRICS: Registry[Metric] = Registry("metric")


def metric(
    name: str,
    label: str,
    *,
    higher_is_better: bool = True,
    bounds: tuple[float, float] = (0.0, 100.0),
    of_classes: bool = False,
    steps: str = "",
) -> Callable[[Compute], Compute]:
    """Register a function as a metric; its docstring is the description.

    The arguments are attributes of :class:`Metric`.
    """

    def register(compute: Compute) -> Compute:
        about = " ".join((compute.__doc__ or "").split())
        METRICS.add(
            name, Metric(name, label, about, compute, higher_is_better, bounds, of_classes, steps)
        )
        return compute

    return register


_BOUNDS = {"share": (0.0, 100.0), "points": (-100.0, 100.0), "own": (-np.inf, np.inf)}


def find_metric(name: str) -> Metric:
    """Return a metric; a name that is not registered is a column of a file.

    Its words say whether it is a share, a difference of shares or something else, and its
    direction; an arrow behind it decides the direction.

    >>> [find_metric(name).bounds for name in ("last_acc", "avg_forgetting", "loss")]
    [(0.0, 100.0), (-100.0, 100.0), (-inf, inf)]
    >>> find_metric("score ↓").higher_is_better
    False
    """
    if name in METRICS:
        return METRICS[name]
    about = f"The column {name!r} of the file."
    meaning = metric_name(name)
    if meaning is None:
        return Metric(name, name, about, _unknown, True, _BOUNDS["own"])
    return Metric(name, name, about, _unknown, meaning.higher_is_better, _BOUNDS[meaning.unit])


def names_value(name: str) -> bool:
    """Return whether a column is named after a metric, rather than after a method."""
    return metric_name(name) is not None


@metric("accuracy", "A(O)", of_classes=True)
def accuracy(counts: Counts) -> Floats:
    """After the last task, the mean accuracy over tasks (the paper's metric)."""
    return _mean(counts.accuracies[..., -1, :])


@metric("last", "A_last", of_classes=True)
def last(counts: Counts) -> Floats:
    """Accuracy over all test images after the last task."""
    return np.asarray(100.0 * counts.right[..., -1] / counts.images[..., -1])


@metric("average", "Ā", steps="last")
def average(counts: Counts) -> Floats:
    """Average incremental accuracy: mean over tasks of the accuracy on all classes seen so far."""
    seen = counts.images > 0.0
    shares = np.divide(counts.right, counts.images, where=seen, out=np.full(seen.shape, np.nan))
    return 100.0 * _mean(shares)


@metric("forgetting", "forgetting", higher_is_better=False, bounds=(-100.0, 100.0))
def forgetting(counts: Counts) -> Floats:
    """Mean over old tasks of the best earlier accuracy minus the final one."""
    return _mean(_best_earlier(counts) - counts.accuracies[..., -1, :])


@metric("bwt", "BWT", bounds=(-100.0, 100.0))
def backward_transfer(counts: Counts) -> Floats:
    """Backward transfer: mean over old tasks of the final minus the first accuracy on the task."""
    is_old = ~np.isnan(_best_earlier(counts))
    change = counts.accuracies[..., -1, :] - _on_arrival(counts)
    return _mean(np.where(is_old, change, np.nan))


@metric("learning", "learning")
def learning(counts: Counts) -> Floats:
    """Learning accuracy: mean over tasks of the accuracy on each right after it was learned."""
    return _mean(_on_arrival(counts))


@metric("training_accuracy", "training")
def training_accuracy(counts: Counts) -> Floats:
    """Mean over tasks of the accuracy on each one's training inputs right after it was learned."""
    if counts.training is None:
        return np.full(counts.right.shape[:-1], np.nan)
    return _mean(counts.training)


def _on_arrival(counts: Counts) -> Floats:
    """Return the first known accuracy on each part, that after its own task."""
    arrival = np.argmin(np.isnan(counts.accuracies), axis=-2, keepdims=True)
    return np.take_along_axis(counts.accuracies, arrival, axis=-2)[..., 0, :]


def _best_earlier(counts: Counts) -> Floats:
    """Return the best accuracy on each part before the last task; NaN for parts of that task."""
    best = np.fmax.reduce(counts.accuracies[..., :-1, :], axis=-2, initial=np.nan)
    return np.asarray(best, dtype=np.float64)


def _mean(values: Floats) -> Floats:
    """Return the mean over the last axis of what is not NaN; NaN if everything is."""
    is_present = ~np.isnan(values)
    count = is_present.sum(axis=-1)
    total = np.where(is_present, values, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _unknown(counts: Counts) -> Floats:
    return np.full(counts.right.shape[:-1], np.nan)
