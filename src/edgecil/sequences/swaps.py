"""Search over sequences by swaps of two classes, for several sequences side by side.

A swap is evaluated in O(1) from the pull of every task on every class, half the derivative of the
objective with respect to the class being there.
"""

from __future__ import annotations

import numpy as np

from edgecil.io.arrays import Floats, Ints

_NEGLIGIBLE = 1e-10


class Swaps:
    """R partitions of n classes into K tasks, changed in place so that an objective falls.

    Args:
        values: (n, n) similarities, zero diagonal.
        weights: (K, K) symmetric; the objective is Σ weights[task c, task e] values[c, e].
        task: (R, n) the task of each class.
        pull: (R, K, n) if other classes pull as well; by default only the n classes do.
        kinds: (n,) kinds of the classes; only classes of one kind may be swapped.
    """

    def __init__(
        self,
        values: Floats,
        weights: Floats,
        task: Ints,
        pull: Floats | None = None,
        kinds: Ints | None = None,
    ) -> None:
        self.values, self.weights, self.task = values, weights, task
        self.kinds = kinds
        if pull is None:
            members = (task[:, :, None] == np.arange(len(weights))).astype(np.float64)
            similarity_to_task = (values @ members).swapaxes(1, 2)
            pull = weights @ similarity_to_task
        self.pull = np.array(pull)
        inside_task = np.diag(weights)
        # What a swap of two classes in these tasks adds, times their similarity.
        self._bend = inside_task[:, None] + inside_task - 2.0 * weights
        self._rows = np.arange(len(task))
        self._classes = np.arange(len(values))

    def anneal(self, steps: int, hot: float, cold: float, rng: np.random.Generator) -> None:
        """Swap a random class with any other, each with the Boltzmann probability of the result.

        Temperatures, cooled geometrically, are in standard deviations of the pull.
        """
        for temperature in float(self.pull.std()) * np.geomspace(hot, cold, steps):
            class_ = rng.integers(len(self.values), size=len(self.task))
            change = self._changes(class_)
            change += temperature * np.log(rng.standard_exponential(change.shape))  # Gumbel noise
            self._swap(self._rows, class_, change.argmin(axis=1))

    def descend(self) -> None:
        """Make the best swap of each class in turn, until no class has one that helps."""
        scale = float(np.abs(self.weights).max() * np.abs(self.values).max())
        made = True
        while made:
            made = False
            for class_ in self._classes:
                change = self._changes(np.full(len(self.task), class_))
                other = change.argmin(axis=1)
                better = self._rows[change[self._rows, other] < -_NEGLIGIBLE * scale]
                if len(better):
                    made = True
                    self._swap(better, np.full(len(better), class_), other[better])

    def _changes(self, class_: Ints) -> Floats:
        """Return half the change when a class (R,) changes places with each other one, (R, n)."""
        rows, here = self._rows, self.task[self._rows, class_]
        pulled = self.pull[rows, here]
        change = np.take_along_axis(self.pull[rows, :, class_], self.task, axis=1)
        change -= self.pull[rows[:, None], self.task, self._classes]
        change += pulled - pulled[rows, class_][:, None]
        change -= self.values[class_] * self._bend[here[:, None], self.task]
        if self.kinds is not None:
            change[self.kinds != self.kinds[class_][:, None]] = np.inf
        return change

    def _swap(self, rows: Ints, class_: Ints, other: Ints) -> None:
        here, there = self.task[rows, class_], self.task[rows, other]
        self.task[rows, class_], self.task[rows, other] = there, here
        tilt = self.weights[here] - self.weights[there]
        self.pull[rows] += tilt[:, :, None] * (self.values[other] - self.values[class_])[:, None, :]


def rearrange(between: Floats, weights: Floats, sizes: Ints) -> Ints:
    """Return places (K,) of whole tasks such that no exchange of two lowers the objective.

    Args:
        between: (K, K) summed similarity between tasks.
        weights: (K, K) weights of the places.
        sizes: (K,) sizes of the places; only tasks of one size change places.
    """
    inside = np.diag(between)
    values = between - np.diag(inside)
    pull = weights @ values + 0.5 * np.outer(np.diag(weights), inside)
    places = np.arange(len(sizes))[None].copy()
    Swaps(values, weights, places, pull[None], kinds=sizes).descend()
    return np.asarray(places[0])
