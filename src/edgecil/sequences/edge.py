"""EDGE: the paper's hard and easy sequences, by every reading of its Algorithms 1 and 2.

The paper clusters the classes at many granularities, makes balanced tasks of the clusters, orders
the tasks greedily, and keeps the candidate with the most extreme S. Pseudo-code, text and released
code differ in how they do it. Each reading is a :class:`Variant` that can be called by itself; all
of them give candidates at all granularities, and S chooses, which is the paper's own last step.
No candidate is improved afterwards: `optimal` searches for the argmin and argmax of S.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heapify, heappop, heappush, heapreplace
from importlib.resources import files
from itertools import groupby, pairwise
from typing import Literal

import numpy as np

from edgecil.io.arrays import Floats, Ints
from edgecil.registry import Registry
from edgecil.sequences.canonical import construct
from edgecil.sequences.objective import adjacent, neighbours
from edgecil.sequences.scores import score_orders, weighted_sums
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

_EVERY_GRANULARITY_UP_TO = 256
_EVERY_BLOCK_COUNT_UP_TO = 128
_GRID = 64
_AT_ONCE = 4_000_000

Similar = Literal["similar", "dissimilar"]
Fill = Literal["printed", "coherent", "dealt", "released"]


@dataclass(frozen=True)
class Variant:
    """One way to read the paper's algorithms.

    Attributes:
        name: its name in :data:`VARIANTS`.
        goal: `hard` minimises S over the granularities, `easy` maximises it.
        cluster: whether a cluster holds similar classes (complete linkage on 1 - D) or dissimilar
            ones (on D).
        fill: how clusters become tasks. `printed`: whole clusters, or pieces as large as a task, to
            the smallest task, then what is too much moves on. `coherent`: always the largest
            cluster to the roomiest task, and what fits least is cut off. `dealt`: one class after
            another to all tasks in turn, so that a cluster is spread over the tasks. `released`: as
            printed, but g clusters become g blocks, which are ordered and then cut into K tasks;
            classes of a cluster stay in the order of the matrix, while the other fills sort them by
            how well they fit in before it is divided.
        start: whether the first task is the one `least` or `most` similar to all others.
        follow: whether the next task is the `least` or `most` similar one …
        to: … to `all` chosen tasks (the pseudo-code) or to the `last` one (the text).
        summary: where it comes from, in one line.
    """

    name: str
    goal: str
    cluster: Similar
    fill: Fill
    start: Literal["least", "most"]
    follow: Literal["least", "most"]
    to: Literal["all", "last"]
    summary: str

    def __call__(self, similarity: Similarity, space: SequenceSpace) -> ClassSequence:
        """Return the variant's sequence; how the classes are numbered has no influence on it."""
        return construct(similarity, space, lambda own: _to_sequence(self.build(own, space), space))

    def build(self, similarity: Similarity, space: SequenceSpace) -> Ints:
        """Return the variant's order, shape (N,); the numbers of the classes break ties."""
        return _search(similarity.values, space, [self])[0]


VARIANTS: Registry[Variant] = Registry("variant of EDGE")
"""Every variant of the paper's algorithms by name."""

_READINGS = (files("edgecil.sequences") / "edge_variants.csv").read_text(encoding="utf-8")
for _reading in csv.DictReader(_READINGS.splitlines()):
    VARIANTS.add(_reading["name"], Variant(**_reading))  # type: ignore[arg-type]


def edge_sequence(
    similarity: Similarity, space: SequenceSpace, goal: str, rng: object = None
) -> ClassSequence:
    """Return the least (hard) or greatest (easy) S of all readings; nothing is left to chance.

    The numbers of the classes break ties; :func:`~edgecil.sequences.canonical.construct` gives
    them numbers that do not depend on their labels.
    """
    variants = [variant for variant in VARIANTS.values() if variant.goal == goal]
    candidates = np.array(_search(similarity.values, space, variants))
    if space.tasks == 1:
        return _to_sequence(candidates[0], space)
    scores = _rounded(score_orders(similarity, space, candidates, adjacent(space)))
    chosen = np.argmin(scores) if goal == "hard" else np.argmax(scores)
    return _to_sequence(candidates[int(chosen)], space)


def granularities(classes: int, tasks: int) -> list[int]:
    """Return the numbers of clusters to try: all if that is fast, or else a grid with K."""
    if classes <= _EVERY_GRANULARITY_UP_TO:
        return list(range(2, classes + 1))
    return sorted({*_grid(classes), tasks} - {1})


def block_counts(classes: int) -> list[int]:
    """Return the numbers of blocks to try: all if that is fast, or else a grid and divisors."""
    if classes <= _EVERY_BLOCK_COUNT_UP_TO:
        return list(range(2, classes + 1))
    divisors = [count for count in range(2, classes + 1) if classes % count == 0]
    return sorted({*_grid(classes), *divisors})


def _grid(classes: int) -> list[int]:
    grid: list[int] = np.geomspace(2, classes, _GRID).round().astype(int).tolist()
    return grid


def _search(values: Floats, space: SequenceSpace, variants: Iterable[Variant]) -> list[Ints]:
    """Return the best order of each group of variants that share their clusters and tasks."""

    def key(variant: Variant) -> tuple[str, Similar, Fill]:
        return variant.goal, variant.cluster, variant.fill

    orders = []
    for (goal, cluster, fill), group in groupby(sorted(variants, key=key), key=key):
        blocks = fill == "released"
        tried = block_counts(space.classes) if blocks else granularities(space.classes, space.tasks)
        counts = np.array(tried[::-1])
        divided = _divide(values, space, cluster, counts, fill)
        ways = np.array(
            [(_sign(one.start), _sign(one.follow), float(one.to == "all")) for one in group]
        )
        numbers = counts if blocks else np.full(len(counts), space.tasks)
        # Blocks come in any order; a place takes only a task of its own size.
        sizes = None if blocks else np.array(space.sizes)
        rows = max(1, _AT_ONCE // int(numbers.max()) ** 2)
        found = [
            _order(values, space, divided[begin : begin + rows], part, sizes, ways)
            for begin in range(0, len(counts), rows)
            if len(part := numbers[begin : begin + rows])
        ]
        totals = _rounded(np.concatenate([total for total, _ in found]))
        # Of equal candidates, the one nearest to a cluster for each task counts, then the first.
        far = np.repeat(np.abs(counts - space.tasks), len(ways))
        best = int(np.lexsort((far, totals if goal == "hard" else -totals))[0])
        sequences = [sequence for _, own in found for sequence in own]
        orders.append(_flatten(divided[best // len(ways)], sequences[best]))
    return orders


def _rounded(values: Floats) -> Floats:
    """Return values without their last digits, so that rounding does not decide between equals."""
    scale = float(np.abs(values).max()) or 1.0
    return np.round(values / scale, 11)


def _sign(word: str) -> float:
    return 1.0 if word == "least" else -1.0


def _divide(
    values: Floats, space: SequenceSpace, cluster: Similar, counts: Ints, fill: Fill
) -> list[Ints]:
    """Return the task (or block) of each class, shape (N,), for numbers of clusters.

    The classes stand in a line, cluster by cluster, the largest cluster first.
    """
    fit = {"similar": 1.0, "dissimilar": -1.0}[cluster] if fill != "released" else 0.0
    first, inside = _clusters(values, cluster, counts)
    size = np.array([np.bincount(row, minlength=space.classes)[row] for row in first])
    divided = []
    for row, line in enumerate(np.lexsort((-fit * inside, first, -size), axis=-1)):
        owner = first[row, line]
        starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
        sizes = space.sizes
        if fill == "released":  # blocks that differ by one at most, larger ones first
            own, more = divmod(space.classes, int(counts[row]))
            sizes = (own + 1,) * more + (own,) * (int(counts[row]) - more)
        if fill == "dealt":
            places = _deal(sizes)
        elif fill == "coherent":
            places = _fill_coherently(values, line, [*starts.tolist(), len(line)], sizes, fit)
        else:
            places = _fill_as_printed(size[row, line[starts]].tolist(), sizes)
        task = np.empty(len(line), dtype=np.int64)
        task[line[places]] = np.repeat(np.arange(len(sizes)), sizes)
        divided.append(task)
    return divided


def _clusters(values: Floats, cluster: str, counts: Ints) -> tuple[Ints, Floats]:
    """Cluster by complete linkage, for numbers of clusters in descending order.

    Returns:
        The first class of each class's cluster, and its summed similarity to the cluster, (n, N).
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    # Any constant added to all distances gives the same tree; this one keeps them non-negative.
    distances = values.max() - values if cluster == "similar" else values - values.min()
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform(distances, checks=False), method="complete")[:, :2].astype(np.int64)
    classes = len(values)
    members = [np.array([class_]) for class_ in range(classes)]
    first, inside = np.arange(classes), np.zeros(classes)
    wanted, firsts, insides = set(counts.tolist()), [], []
    for step in range(classes):
        if classes - step in wanted:
            firsts.append(first.copy())
            insides.append(inside.copy())
        if step < len(tree):
            left, right = (members[node] for node in tree[step])
            between = values[left[:, None], right]
            inside[left] += between.sum(axis=1)
            inside[right] += between.sum(axis=0)
            joined = np.concatenate([left, right])
            first[joined] = min(first[left[0]], first[right[0]])
            members.append(joined)
    return np.array(firsts), np.array(insides)


@cache
def _deal(sizes: tuple[int, ...]) -> list[int]:
    """Deal the places of the line to the tasks in rounds, like cards; return them task by task."""
    rounds = sorted((place, task) for task, size in enumerate(sizes) for place in range(size))
    return sorted(range(len(rounds)), key=lambda place: rounds[place][1])


def _fill_as_printed(clusters: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Whole clusters, or pieces as large as a task, to the roomiest task; then even out.

    The paper's "Step 2-3": the task with the most room left (the smallest, if tasks are of one
    size) takes a cluster even if that exceeds its room; in the end a task that is too large passes
    its last classes on to the roomiest one. Given the sizes of the clusters in the order of the
    line, and those of the tasks; returns places of the line, task by task.
    """
    room = [(-size, task) for task, size in enumerate(sizes)]
    heapify(room)
    places: list[list[int]] = [[] for _ in sizes]
    begin = 0
    for cluster in clusters:
        end = begin + cluster
        while begin < end:
            left, task = room[0]
            piece = min(sizes[task], end - begin)
            places[task] += range(begin, begin + piece)
            heapreplace(room, (left + piece, task))
            begin += piece
    for task, size in enumerate(sizes):
        while len(places[task]) > size:
            left, target = room[0]
            places[target].append(places[task].pop())
            heapreplace(room, (left + 1, target))
    return [place for task in places for place in task]


def _fill_coherently(
    values: Floats, line: Ints, starts: Sequence[int], sizes: Sequence[int], fit: float
) -> list[int]:
    """Always the largest cluster to the roomiest task; of one too large, what fits best stays.

    What is cut off waits with the other clusters and is cut again by its own coherence, for which
    `line` is changed in place. Returns places of the line, task by task.
    """
    room = [(-size, task) for task, size in enumerate(sizes)]
    waiting = [(begin - end, begin, begin, end) for begin, end in pairwise(starts)]
    heapify(room)
    heapify(waiting)
    places: list[list[int]] = [[] for _ in sizes]
    while waiting:
        least, number, begin, end = heappop(waiting)
        left, task = room[0]
        cut = begin + min(-least, -left)
        places[task] += range(begin, cut)
        heapreplace(room, (left + cut - begin, task))
        if cut < end:
            rest = line[cut:end]
            coherence = values[rest[:, None], rest].sum(axis=1)
            line[cut:end] = rest[np.argsort(-fit * coherence, kind="stable")]
            heappush(waiting, (cut - end, number, cut, end))
    return [place for task in places for place in task]


def _order(
    values: Floats,
    space: SequenceSpace,
    divided: Sequence[Ints],
    numbers: Ints,
    sizes: Ints | None,
    ways: Floats,
) -> tuple[Floats, list[Ints]]:
    """Order the tasks (or blocks) of divisions greedily, in all ways.

    Each of the n divisions has the task of every class, (N,), and `numbers` of tasks, descending; a
    way has the sign of the similarity to all others by which the first task is chosen, the sign of
    that by which a next one is, and 1 if it counts to all chosen tasks, 0 if to the last, (w, 3).
    Returns (n w,) similarities of neighbouring tasks, and the sequences of tasks that have them.
    """
    most = int(numbers[0])
    between = np.zeros((len(divided), most, most))
    mean = np.zeros_like(between)
    for row, task in enumerate(divided):
        by_task, size = np.argsort(task, kind="stable"), np.bincount(task)
        starts = np.cumsum(size) - size
        to_task = np.add.reduceat(values[by_task], starts, axis=0)
        sums = np.add.reduceat(to_task.T[by_task], starts, axis=0)
        sums = (sums + sums.T) / 2.0
        np.fill_diagonal(sums, 0.0)
        between[row, : len(size), : len(size)] = sums
        mean[row, : len(size), : len(size)] = sums / np.outer(size, size)
    sequences = _greedy(mean, numbers, sizes, ways)
    flat = [
        sequence[:count] for own, count in zip(sequences, numbers, strict=True) for sequence in own
    ]
    if sizes is None:
        orders = np.array([_flatten(divided[i // len(ways)], one) for i, one in enumerate(flat)])
        return weighted_sums(values, space, orders, neighbours(space.tasks, 1)), flat
    rows = np.arange(len(divided))[:, None, None]
    return between[rows, sequences[..., :-1], sequences[..., 1:]].sum(axis=2).ravel(), flat


def _greedy(mean: Floats, numbers: Ints, sizes: Ints | None, ways: Floats) -> Ints:
    """Start with the task that has the least mean similarity to all others, go on with the least.

    Given the mean similarity between tasks, (n, k, k), and what :func:`_order` is given. Returns
    (n, w, k) tasks in order; only the first of them where a division has fewer than k.
    """
    most = mean.shape[1]
    start, follow, keep = ways.T[:, :, None]
    cost = start * mean.sum(axis=2)[:, None, :]
    closed = np.broadcast_to(np.arange(most) >= numbers[:, None, None], cost.shape).copy()
    sequences = np.zeros(cost.shape, dtype=np.int64)
    row, way = np.ogrid[: len(mean), : len(ways)]
    for place in range(most):
        rows = slice(int(np.count_nonzero(numbers > place)))
        barred = closed[rows] if sizes is None else closed[rows] | (sizes != sizes[place])
        chosen = np.where(barred, np.inf, cost[rows]).argmin(axis=2)
        sequences[rows, :, place] = chosen
        closed[row[rows], way, chosen] = True
        cost[rows] *= keep if place else 0.0
        cost[rows] += follow * mean[row[rows], chosen]
    return sequences


def _flatten(task: Ints, sequence: Ints) -> Ints:
    """Return the classes task by task, in the order of the tasks; shape (N,)."""
    return np.argsort(np.argsort(sequence)[task], kind="stable")


def _to_sequence(order: Ints, space: SequenceSpace) -> ClassSequence:
    return ClassSequence.from_order(order.tolist(), space.sizes)
