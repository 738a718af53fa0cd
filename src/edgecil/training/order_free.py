"""All stages of all class orders from one matrix of scores, for learners that do not depend on it.

A test image is right from the stage of its class until the first stage that brings a class with a
larger score. Among equal scores the class that came first is the answer, and within a task the
class with the smaller id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import DataError
from edgecil.experiments.plan import Prefix
from edgecil.io.arrays import Floats

Whole = NDArray[np.int64]

_AT_ONCE = 4_000_000  # numbers in an array
_SIDES = 3  # a wrong answer is a class of an earlier task, of the same, or of a later one


@dataclass(frozen=True)
class OrderCounts:
    """The test after every stage of one order.

    Attributes:
        correct: (K, N) right answers after each stage on the images of each class, by class id.
        wrong: (K, K, 3) wrong answers after each stage on the images of each task: those that name
            a class of an earlier task, of the same one, of a later one.
    """

    correct: Whole
    wrong: Whole


@dataclass(frozen=True)
class _Contested:
    """Images with equally many classes that can be answered in place of their own.

    Attributes:
        labels: (g,) the classes of the images.
        rivals: (g, m) classes whose scores are not smaller, the largest score first.
        ranks: (g, m + 1) place of each rival's score among the different scores, and last the
            place of the own class's score; None if no two scores are equal.
    """

    labels: Whole
    rivals: Whole
    ranks: Whole | None


class StageCounter:
    """Counts right and wrong answers for class orders, from scores (n, N) of images (n,)."""

    def __init__(self, scores: Floats, labels: Whole) -> None:
        if scores.shape[:1] != labels.shape or not np.isfinite(scores).all():
            raise DataError(
                f"Scores must be finite, with a row for each of {len(labels)} test images. Got an "
                f"array of shape {scores.shape}."
            )
        self._classes = scores.shape[1]
        self.totals = np.bincount(labels, minlength=self._classes)
        own_scores = scores[np.arange(len(labels)), labels]
        is_rival = scores >= own_scores[:, None]
        is_rival[np.arange(len(labels)), labels] = False
        counts = is_rival.sum(axis=1)
        self._undisputed = np.bincount(labels[counts == 0], minlength=self._classes)
        self._contested: list[_Contested] = []
        for count in np.unique(counts[counts > 0]):
            images = np.flatnonzero(counts == count)
            rivals = np.nonzero(is_rival[images])[1].reshape(len(images), count)
            values = scores[images[:, None], rivals]
            by_score = np.argsort(-values, axis=1, kind="stable")
            rivals = np.take_along_axis(rivals, by_score, axis=1)
            values = np.take_along_axis(values, by_score, axis=1)
            values = np.concatenate([values, own_scores[images][:, None]], axis=1)
            steps = np.diff(values, axis=1) != 0.0
            distinct = steps.all(axis=1)
            self._contested.append(_Contested(labels[images[distinct]], rivals[distinct], None))
            ranks = np.concatenate([np.zeros((len(images), 1)), steps.cumsum(axis=1)], axis=1)
            for place in np.flatnonzero(~distinct):  # rare
                row = slice(place, place + 1)
                self._contested.append(
                    _Contested(labels[images[row]], rivals[row], ranks[row].astype(np.int64))
                )

    def count(self, orders: Sequence[Prefix]) -> Iterator[OrderCounts]:
        """Yield the counts of each order; all must have equally many tasks."""
        most = max((group.rivals.size for group in self._contested), default=1)
        tasks = max(map(len, orders), default=1)
        at_once = max(1, _AT_ONCE // max(most, tasks * max(self._classes, tasks * _SIDES)))
        for start in range(0, len(orders), at_once):
            yield from self._count(orders[start : start + at_once])

    def _count(self, orders: Sequence[Prefix]) -> Iterator[OrderCounts]:
        tasks = len(orders[0])
        stage, label = _stages_and_labels(orders, self._classes)
        correct = np.zeros((len(orders), self._classes, tasks + 1), dtype=np.int64)
        wrong = np.zeros((len(orders), tasks + 1, _SIDES, tasks + 1), dtype=np.int64)
        order, class_ = np.indices(stage.shape)
        correct[order, class_, stage] += self._undisputed
        for group in self._contested:
            if len(group.labels):
                _add_contested(group, stage, label, correct, wrong)
        # What was added at a stage holds from there on.
        correct = correct.cumsum(axis=2)[:, :, :tasks].transpose(0, 2, 1)
        wrong = wrong.cumsum(axis=3)[:, :tasks, :, :tasks].transpose(0, 3, 1, 2)
        for own_correct, own_wrong in zip(correct, wrong, strict=True):
            yield OrderCounts(own_correct, own_wrong)


def _stages_and_labels(orders: Sequence[Prefix], classes: int) -> tuple[Whole, Whole]:
    """Return the task (orders, N) of each class, K if it has none, and its label (orders, N)."""
    stage = np.full((len(orders), classes), len(orders[0]), dtype=np.int64)
    label = np.full((len(orders), classes), classes, dtype=np.int64)
    sizes = np.array([[len(task) for task in tasks] for tasks in orders])
    numbers = np.arange(len(orders[0]))
    for row, tasks in enumerate(orders):
        order = [class_ for task in tasks for class_ in task]
        stage[row, order] = np.repeat(numbers, sizes[row])
        label[row, order] = np.arange(len(order))
    return stage, label


def _add_contested(
    group: _Contested, stage: Whole, label: Whole, correct: Whole, wrong: Whole
) -> None:
    """Add the answers on contested images to counts that hold from a stage on, in place.

    `correct` is (orders, N, K + 1); `wrong` is (orders, K + 1, 3, K + 1), by the images' task.
    """
    tasks = correct.shape[2] - 1
    begins = stage[:, group.labels]  # (orders, g): stage from which an image is tested
    arrivals = stage[:, group.rivals]  # (orders, g, m)
    if group.ranks is not None:
        arrivals = _sorted_with_ties(group, label, arrivals, tasks)
    earliest = np.minimum.accumulate(arrivals, axis=2)
    # A rival is the answer from its arrival until one with a larger score arrives.
    never = np.full_like(arrivals[:, :, :1], tasks)
    ends = np.concatenate([never, earliest[:, :, :-1]], axis=2)
    starts = np.maximum(arrivals, begins[:, :, None])
    row, image, rival = np.nonzero(starts < ends)
    begin = begins[row, image]
    side = np.sign(arrivals[row, image, rival] - begin) + 1
    np.add.at(wrong, (row, begin, side, starts[row, image, rival]), 1)
    np.add.at(wrong, (row, begin, side, ends[row, image, rival]), -1)
    row, image = np.nonzero(earliest[:, :, -1] > begins)
    np.add.at(correct, (row, group.labels[image], begins[row, image]), 1)
    np.add.at(correct, (row, group.labels[image], earliest[row, image, -1]), -1)


def _sorted_with_ties(group: _Contested, label: Whole, arrivals: Whole, tasks: int) -> Whole:
    """Return arrivals (orders, 1, m) in the order in which classes are answered.

    A rival with the score of the own class and a larger label is never answered.
    """
    assert group.ranks is not None
    labels = label[:, group.rivals]
    equal = group.ranks[:, :-1] == group.ranks[:, -1:]
    is_later = labels > label[:, group.labels][:, :, None]
    arrivals = np.where(equal & is_later, tasks, arrivals)
    places = np.argsort(group.ranks[:, :-1] * (label.shape[1] + 1) + labels, axis=2)
    return np.take_along_axis(arrivals, places, axis=2)
