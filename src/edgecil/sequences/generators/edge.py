"""EDGE: the paper's extreme sequences (Algorithms 1 and 2).

Cluster the classes by similarity at many granularities, turn each clustering into K tasks, order
the tasks greedily, and keep the sequence whose score S is the most extreme. *Hard* packs similar
classes into one task and follows with the least similar task; *easy* deals similar classes out
over the tasks and follows with the most similar one. Where the paper's text and pseudo-code differ
on the next task (least similar to the last one, or to all chosen ones), both are candidates.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heapreplace
from itertools import pairwise

import numpy as np

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.generators.registry import MOST_CLASSES, register
from edgecil.sequences.objective import pair_counts
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity, group_similarity

_EVERY_GRANULARITY_UP_TO = 256
_GRID = 64

Cluster = tuple[int, ...]


@register(
    "edge",
    "hard",
    "similar classes share a task, unlike tasks follow each other (paper)",
    most_classes=MOST_CLASSES,
)
def edge_hard(
    similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
) -> ClassSequence:
    """The paper's hard sequence: low similarity between neighbouring tasks."""
    packer = _Packer(similarity, space.sizes)
    return _best(similarity, space, packer.partition, sign=1.0)


@register(
    "edge",
    "easy",
    "similar classes are spread over tasks, like tasks follow (paper)",
    most_classes=MOST_CLASSES,
)
def edge_easy(
    similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
) -> ClassSequence:
    """The paper's easy sequence: high similarity between neighbouring tasks."""
    tasks = dealing(space.sizes)

    def deal(clusters: list[Cluster]) -> list[int]:
        classes = [class_ for cluster in _largest_first(clusters) for class_ in cluster]
        partition = np.empty(len(classes), dtype=np.int64)
        partition[classes] = tasks
        return partition.tolist()

    return _best(similarity, space, deal, sign=-1.0)


def granularities(classes: int, tasks: int) -> list[int]:
    """The numbers of clusters to try: all while that is fast, else a geometric grid with K."""
    if classes <= _EVERY_GRANULARITY_UP_TO:
        return list(range(2, classes + 1))
    grid = np.geomspace(2, classes, _GRID).round().astype(int)
    return sorted({*grid.tolist(), tasks} - {1})


def clusterings(similarity: Similarity, counts: Sequence[int]) -> Iterator[list[Cluster]]:
    """Complete-linkage clusterings of the classes into each of the counts."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    classes = len(similarity)
    values = similarity.submatrix(np.arange(classes))
    # Any constant minus D gives the same tree; this one keeps distances non-negative.
    distances = values.max() - values
    np.fill_diagonal(distances, 0.0)
    merges = linkage(squareform(distances, checks=False), method="complete")[:, :2].astype(int)
    clusters: dict[int, Cluster] = {class_: (class_,) for class_ in range(classes)}
    wanted = set(counts)
    found = {}
    for step in range(classes):
        if len(clusters) in wanted:
            found[len(clusters)] = list(clusters.values())
        if step < classes - 1:
            left, right = merges[step].tolist()
            clusters[classes + step] = clusters.pop(left) + clusters.pop(right)
    return (found[count] for count in counts)


def dealing(sizes: Sequence[int]) -> Ints:
    """Task indices, shape (N,), in the order in which cards are dealt to hands of these sizes."""
    size = np.array(sizes)
    rounds = [np.flatnonzero(size > dealt) for dealt in range(size.max())]
    return np.concatenate(rounds).astype(np.int64)


class _Packer:
    """Fills tasks with whole clusters, largest cluster and roomiest task first.

    A cluster that finds no room is cut: what is most similar to the rest of it stays together,
    what fits least is placed later.
    """

    def __init__(self, similarity: Similarity, sizes: Sequence[int]) -> None:
        self._values = similarity.submatrix(np.arange(len(similarity)))
        self._sizes = sizes
        self._cuts: dict[tuple[Cluster, int], tuple[Cluster, Cluster]] = {}

    def partition(self, clusters: list[Cluster]) -> list[int]:
        """The task index of each class."""
        waiting = _largest_first(clusters)[::-1]
        rooms = [(-size, task) for task, size in enumerate(self._sizes)]
        heapify(rooms)
        partition = [0] * len(self._values)
        while waiting:
            cluster = waiting.pop()
            room, task = -rooms[0][0], rooms[0][1]
            if len(cluster) > room:
                cluster, rest = self._cut(cluster, room)
                insort(waiting, rest, key=len)
            for class_ in cluster:
                partition[class_] = task
            heapreplace(rooms, (len(cluster) - room, task))
        return partition

    def _cut(self, cluster: Cluster, room: int) -> tuple[Cluster, Cluster]:
        if (cluster, room) not in self._cuts:
            members = np.array(cluster)
            fit = self._values[np.ix_(members, members)].sum(axis=1)
            ranked = members[np.argsort(-fit, kind="stable")].tolist()
            self._cuts[cluster, room] = tuple(ranked[:room]), tuple(ranked[room:])
        return self._cuts[cluster, room]


def _largest_first(clusters: list[Cluster]) -> list[Cluster]:
    return sorted(clusters, key=len, reverse=True)


def _best(
    similarity: Similarity,
    space: SequenceSpace,
    partition: Callable[[list[Cluster]], list[int]],
    sign: float,
) -> ClassSequence:
    """The candidate with the least sign * S, over all granularities and both order rules.

    In tiny spaces the greedy order can end up on the wrong side of the average sequence; only then
    is every other first task tried as well.
    """
    # Of equal candidates the first wins: the one nearest to a cluster for each task.
    counts = sorted(
        granularities(space.classes, space.tasks), key=lambda count: abs(count - space.tasks)
    )
    partitions = np.array([partition(found) for found in clusterings(similarity, counts)])
    between = np.array([group_similarity(similarity, found, space.tasks) for found in partitions])
    same_size = np.flatnonzero(np.array(space.sizes) == space.sizes[0])
    for starts in ([None], [None, *same_size.tolist()]):
        total, chosen, order = min(
            (
                _least_total(between, _greedy_orders(between, space, sign, rule, start), sign)
                for rule in ("last", "all")
                for start in starts
            ),
            key=lambda found: sign * found[0],
        )
        if sign * total < sign * _average_total(similarity, space):
            break
    return ClassSequence(np.flatnonzero(partitions[chosen] == task).tolist() for task in order)


def _least_total(between: Floats, orders: Ints, sign: float) -> tuple[float, int, Ints]:
    """The best of G partitions: similarity over neighbours, index, and its order of tasks."""
    row = np.arange(len(orders))[:, None]
    totals = between[row, orders[:, :-1], orders[:, 1:]].sum(axis=1)
    best = int(np.argmin(sign * totals))
    return float(totals[best]), best, orders[best]


def _average_total(similarity: Similarity, space: SequenceSpace) -> float:
    """Similarity summed over neighbouring tasks, averaged over all sequences."""
    pairs = sum(left * right for left, right in pairwise(space.sizes))
    return pairs * float(similarity.row_sums().sum()) / (space.classes * (space.classes - 1))


def _greedy_orders(
    between: Floats, space: SequenceSpace, sign: float, rule: str, start: int | None
) -> Ints:
    """An order of tasks for each of G partitions, shape (G, K).

    Starts with `start`, or the task that has the least sign * similarity to all others, and goes on
    with the least to the last task, or to all chosen ones. A place takes only a task of its size.
    """
    sizes = np.array(space.sizes)
    cost = sign * between / np.maximum(pair_counts(space.sizes), 1.0)
    cost[:, range(space.tasks), range(space.tasks)] = 0.0
    row = np.arange(len(cost))
    free = np.ones(cost.shape[:2], dtype=bool)
    orders = np.empty(cost.shape[:2], dtype=np.int64)
    so_far = cost.sum(axis=2)
    if start is not None:
        so_far[:, start] = -np.inf
    for place in range(space.tasks):
        allowed = free & (sizes == sizes[place])
        orders[:, place] = np.argmin(np.where(allowed, so_far, np.inf), axis=1)
        free[row, orders[:, place]] = False
        latest = cost[row, orders[:, place]]
        so_far = latest if rule == "last" or place == 0 else so_far + latest
    return orders
