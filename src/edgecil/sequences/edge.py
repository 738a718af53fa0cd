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
from itertools import chain, groupby, pairwise
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
        fill: how clusters become tasks. `printed`: whole clusters, or pieces as large as a task,
            go to the smallest task; then tasks that are too large pass classes on. `coherent`: the
            largest cluster goes to the task with most room, and classes that fit least are cut off.
            `dealt`: classes go to all tasks in turn, so that a cluster is spread over the tasks.
            `released`: as printed, but g clusters become g blocks, which are ordered and then cut
            into K tasks; classes of a cluster stay in the order of the matrix, while the other
            fills first sort them by how well they fit into their cluster.
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

        def build(renumbered: Similarity) -> ClassSequence:
            return _to_sequence(self.build(renumbered, space), space)

        return construct(similarity, space, build)

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
    """Return the sequence with the least (hard) or greatest (easy) S of all readings.

    Nothing is random. The numbers of the classes break ties;
    :func:`~edgecil.sequences.canonical.construct` makes these numbers independent of their labels.
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

    def shared_steps(variant: Variant) -> tuple[str, Similar, Fill]:
        return variant.goal, variant.cluster, variant.fill

    groups = groupby(sorted(variants, key=shared_steps), key=shared_steps)
    return [_best_order(values, space, list(group)) for _, group in groups]


def _best_order(values: Floats, space: SequenceSpace, variants: Sequence[Variant]) -> Ints:
    """Return the best order of variants that differ only in how they order the tasks."""
    goal, cluster, fill = variants[0].goal, variants[0].cluster, variants[0].fill
    makes_blocks = fill == "released"
    if makes_blocks:
        counts = np.array(block_counts(space.classes)[::-1])
        task_counts = counts
        sizes: Ints | None = None  # blocks come in any order
    else:
        counts = np.array(granularities(space.classes, space.tasks)[::-1])
        task_counts = np.full(len(counts), space.tasks)
        sizes = np.array(space.sizes)  # a place takes only a task of its own size
    divisions = _divide(values, space, cluster, counts, fill)
    ways = np.array([_way(variant) for variant in variants])
    batch_size = max(1, _AT_ONCE // int(task_counts.max()) ** 2)
    totals: list[Floats] = []
    task_orders: list[Ints] = []
    for begin in range(0, len(counts), batch_size):
        batch = slice(begin, begin + batch_size)
        batch_totals, batch_orders = _order(
            values, space, divisions[batch], task_counts[batch], sizes, ways
        )
        totals.append(batch_totals)
        task_orders += batch_orders
    rounded = _rounded(np.concatenate(totals))
    # Of equal candidates, the one nearest to a cluster for each task counts, then the first.
    distance = np.repeat(np.abs(counts - space.tasks), len(ways))
    best = int(np.lexsort((distance, rounded if goal == "hard" else -rounded))[0])
    return _flatten(divisions[best // len(ways)], task_orders[best])


def _way(variant: Variant) -> tuple[float, float, float]:
    """Return how a variant orders tasks, as numbers that :func:`_order` documents."""
    return _sign(variant.start), _sign(variant.follow), float(variant.to == "all")


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
            blocks = int(counts[row])
            smaller_size, larger_blocks = divmod(space.classes, blocks)
            larger = (smaller_size + 1,) * larger_blocks
            sizes = larger + (smaller_size,) * (blocks - larger_blocks)
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
        For each class, the first class of its cluster, and its summed similarity to the cluster,
        both (n, N).
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
    wanted = set(counts.tolist())
    firsts, insides = [], []
    for step in range(classes):
        if classes - step in wanted:
            firsts.append(first.copy())
            insides.append(inside.copy())
        if step < len(tree):
            left, right = members[tree[step, 0]], members[tree[step, 1]]
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
    turns: list[tuple[int, int]] = []
    for task, size in enumerate(sizes):
        turns += [(turn, task) for turn in range(size)]
    task_of_place = [task for _, task in sorted(turns)]
    return sorted(range(len(task_of_place)), key=task_of_place.__getitem__)


def _fill_as_printed(clusters: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Give whole clusters, or pieces as large as a task, to the roomiest task; then even out.

    The paper's "Step 2-3": the task with the most room left (the smallest, if tasks are of one
    size) takes a cluster even if that exceeds its room; in the end a task that is too large passes
    its last classes on to the roomiest one.

    Args:
        clusters: sizes of the clusters, in the order of the line.
        sizes: of the tasks.

    Returns:
        Places of the line, task by task.
    """
    room = [(-size, task) for task, size in enumerate(sizes)]  # negative: the most room first
    heapify(room)
    places: list[list[int]] = [[] for _ in sizes]
    begin = 0
    for cluster in clusters:
        end = begin + cluster
        while begin < end:
            minus_room, task = room[0]
            piece = min(sizes[task], end - begin)
            places[task] += range(begin, begin + piece)
            heapreplace(room, (minus_room + piece, task))
            begin += piece
    for task, size in enumerate(sizes):
        while len(places[task]) > size:
            minus_room, target = room[0]
            places[target].append(places[task].pop())
            heapreplace(room, (minus_room + 1, target))
    return list(chain.from_iterable(places))


def _fill_coherently(
    values: Floats, line: Ints, starts: Sequence[int], sizes: Sequence[int], fit: float
) -> list[int]:
    """Give the largest cluster to the roomiest task, again and again; cut one that is too large.

    The classes that fit best stay in the task. The others wait with the other clusters and are
    cut again by their own coherence, for which `line` is changed in place. Returns places of the
    line, task by task.
    """
    room = [(-size, task) for task, size in enumerate(sizes)]  # negative: the most room first
    waiting = [(begin - end, begin, begin, end) for begin, end in pairwise(starts)]
    heapify(room)
    heapify(waiting)
    places: list[list[int]] = [[] for _ in sizes]
    while waiting:
        minus_size, number, begin, end = heappop(waiting)
        minus_room, task = room[0]
        cut = begin + min(-minus_size, -minus_room)
        places[task] += range(begin, cut)
        heapreplace(room, (minus_room + cut - begin, task))
        if cut < end:
            rest = line[cut:end]
            coherence = values[rest[:, None], rest].sum(axis=1)
            line[cut:end] = rest[np.argsort(-fit * coherence, kind="stable")]
            heappush(waiting, (cut - end, number, cut, end))
    return list(chain.from_iterable(places))


def _order(
    values: Floats,
    space: SequenceSpace,
    divided: Sequence[Ints],
    numbers: Ints,
    sizes: Ints | None,
    ways: Floats,
) -> tuple[Floats, list[Ints]]:
    """Order the tasks (or blocks) of divisions greedily, in all ways.

    Args:
        values: (N, N) similarities.
        space: of the sequences.
        divided: n divisions, each the task of every class, (N,).
        numbers: (n,) of tasks of each division, descending.
        sizes: (K,) of the places; None for blocks, which may take any place.
        ways: (w, 3) the sign of the similarity to all others by which the first task is chosen, the
            sign of the similarity by which a next one is, and whether that similarity counts to
            all chosen tasks (1) or to the last one (0).

    Returns:
        (n w,) summed similarities of neighbouring tasks, and the orders of tasks that have them.
    """
    most = int(numbers[0])
    between = np.zeros((len(divided), most, most))
    mean = np.zeros_like(between)
    for row, task in enumerate(divided):
        by_task = np.argsort(task, kind="stable")
        size = np.bincount(task)
        starts = np.cumsum(size) - size
        to_task = np.add.reduceat(values[by_task], starts, axis=0)
        sums = np.add.reduceat(to_task.T[by_task], starts, axis=0)
        sums = (sums + sums.T) / 2.0
        np.fill_diagonal(sums, 0.0)
        between[row, : len(size), : len(size)] = sums
        mean[row, : len(size), : len(size)] = sums / np.outer(size, size)
    sequences = _greedy(mean, numbers, sizes, ways)
    task_orders: list[Ints] = []
    for sequences_of_division, count in zip(sequences, numbers, strict=True):
        task_orders += [sequence[:count] for sequence in sequences_of_division]
    if sizes is None:
        orders = [
            _flatten(divided[number // len(ways)], task_order)
            for number, task_order in enumerate(task_orders)
        ]
        sums = weighted_sums(values, space, np.array(orders), neighbours(space.tasks, 1))
        return sums, task_orders
    rows = np.arange(len(divided))[:, None, None]
    neighbour_sums = between[rows, sequences[..., :-1], sequences[..., 1:]]
    return neighbour_sums.sum(axis=2).ravel(), task_orders


def _greedy(mean: Floats, numbers: Ints, sizes: Ints | None, ways: Floats) -> Ints:
    """Start with the task of least mean similarity to all others, and continue with the least.

    `mean` is the mean similarity between tasks, (n, k, k); :func:`_order` documents the others.
    Returns (n, w, k) tasks in order; only the first of them count where a division has fewer.
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
        allowed_cost = np.where(barred, np.inf, cost[rows])
        chosen = allowed_cost.argmin(axis=2)
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
