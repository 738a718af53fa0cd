"""How long task trainings will take, from those that were measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean

import numpy as np

from edgecil.engine.plan import Node

# Seconds of task trainings, by method and number of the task (1 for the first).
Measured = Mapping[Node, float]


def expected_seconds(nodes: Iterable[Node], measured: Measured) -> dict[Node, float | None]:
    """Estimate the duration of each task training; None for a method without a measurement.

    It is the mean over measured trainings of the same method at the same place in the sequence. A
    place without measurement gets the value of a line through the means of the other places, but
    at least the smallest of them; with a single place, its mean.
    """
    rows: dict[str, dict[int, list[float]]] = {}
    for node, seconds in measured.items():
        rows.setdefault(node.method, {}).setdefault(len(node.prefix), []).append(seconds)
    means = {
        method: {place: fmean(values) for place, values in places.items()}
        for method, places in rows.items()
    }
    return {node: _at(means.get(node.method), len(node.prefix)) for node in nodes}


def _at(means: Mapping[int, float] | None, place: int) -> float | None:
    if not means:
        return None
    if place in means:
        return means[place]
    if len(means) == 1:
        return next(iter(means.values()))
    slope, start = np.polyfit(list(means), list(means.values()), 1)
    return max(float(slope * place + start), min(means.values()))


class Workload:
    """The task trainings of a run under way, and those that it has finished.

    Args:
        nodes: all task trainings.
        stored: seconds of those that were finished before.
    """

    def __init__(self, nodes: Iterable[Node], stored: Measured) -> None:
        self._measured = dict(stored)
        self._remaining = set(nodes) - stored.keys()
        self._trained: list[float] = []

    def finish(self, node: Node, seconds: float | None) -> None:
        """Count a training; without seconds if it failed."""
        self._remaining.discard(node)
        if seconds is not None:
            self._measured[node] = seconds
            self._trained.append(seconds)

    def seconds_left(self, passed: float) -> float | None:
        """Return the time left after some seconds; None if too little was measured.

        The trainings that remain take as much longer than those of this run as their expected
        durations are, whatever the number of workers. A method without a measurement is expected
        to take as long as the slowest measured one; this requires two trainings of this run.

        >>> slow, fast = Node("slow", 0, ((0,),)), Node("fast", 0, ((0,),))
        >>> workload = Workload([slow, fast, Node("slow", 1, ((0,),))], {fast: 1.0})
        >>> workload.finish(slow, 8.0)
        >>> workload.seconds_left(passed=10.0)
        10.0
        """
        rows: dict[str, list[float]] = {}
        for node, seconds in self._measured.items():
            rows.setdefault(node.method, []).append(seconds)
        is_measured = all(node.method in rows for node in self._remaining)
        if not sum(self._trained) or (not is_measured and len(self._trained) < 2):
            return None
        slowest = max(rows, key=lambda method: fmean(rows[method]))
        timed = [
            node if node.method in rows else Node(slowest, node.seed, node.prefix)
            for node in self._remaining
        ]
        expected = expected_seconds(timed, self._measured)
        return passed * sum(expected[node] or 0.0 for node in timed) / sum(self._trained)


def elapsed_seconds(expected: Mapping[Node, float | None], workers: int) -> float | None:
    """Return the time until all of these trainings are done by some workers; None if it is unknown.

    A training starts after that of the tasks before it, so the time is at least that of the
    longest sequence.

    >>> first, second = Node("m", 0, ((0,),)), Node("m", 0, ((0,), (1,)))
    >>> elapsed_seconds({first: 2.0, second: 3.0}, workers=2)
    5.0
    """
    if any(seconds is None for seconds in expected.values()):
        return None
    durations = {node: seconds or 0.0 for node, seconds in expected.items()}
    total = sum(durations.values())
    ends = durations.keys() - {node.parent for node in durations}
    chains = (sum(durations.get(step, 0.0) for step in node.path) for node in ends)
    return max([total / workers, *chains])
