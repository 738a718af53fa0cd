"""The inner loops of the EDGE variants.

Plain loops in place of array expressions and of `np.argsort`: those compile several times as long.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.inner_loops import inner_loop

Flags = NDArray[np.bool_]

FILL_PRINTED, FILL_COHERENT, FILL_DEALT = 0, 1, 2
_FEW_TASKS = 32


@inner_loop
def search_granularities(
    values: Floats,
    merges: Ints,
    wanted: Flags,
    sizes: Ints,
    blocks: bool,
    fill: int,
    fit: float,
    orders: Floats,
    goal: float,
) -> tuple[Ints, float]:
    """Find the best order that a variant of EDGE makes of the clusterings of one tree.

    Args:
        values: (N, N) similarities, zero diagonal.
        merges: (N - 1, 2) the tree: the clusters that are joined at each step, SciPy's numbering.
        wanted: (N + 1,) whether to try a clustering into that many clusters.
        sizes: (K,) task sizes.
        blocks: whether g clusters become g blocks of nearly one size, whose classes are then cut
            into tasks (the released code), in place of K tasks at once (the paper).
        fill: how clusters become tasks or blocks, one of the FILL constants.
        fit: 1 or -1 if the classes of a cluster are to be sorted by their (negative) similarity to
            the rest of it, 0 if they stay in order of their numbers.
        orders: (n, 3) ways to order the tasks: the first task has the least signed similarity to
            all others, with the first sign; a next task to all chosen ones (1) or to the last (0,
            third column), with the second sign.
        goal: 1 to minimise S, -1 to maximise it.

    Returns:
        The N classes in order, and their similarity summed over neighbouring tasks.
    """
    classes, tasks = len(values), len(sizes)
    node = np.arange(classes)
    best_order = np.arange(classes)
    best_total, best_count = goal * np.inf, classes + 1
    for step in range(classes):
        count = classes - step
        if wanted[count]:
            block_sizes = _near_equal(classes, count) if blocks else sizes
            task = _partition(values, node, count, block_sizes, fill, fit)
            between = _between(values, task, len(block_sizes))
            mean, total_mean = _means(between, block_sizes)
            for way in range(len(orders)):
                sequence = _greedy_order(mean, total_mean, block_sizes, not blocks, orders[way])
                if blocks:
                    order = _flatten(task, sequence)
                    total = neighbour_total(values, order, sizes)
                else:
                    total = 0.0
                    for place in range(tasks - 1):
                        total += between[sequence[place], sequence[place + 1]]
                # Of equal candidates, the one nearest to a cluster for each task counts.
                nearer = abs(count - tasks) < abs(best_count - tasks)
                if goal * total < goal * best_total or (total == best_total and nearer):
                    best_total, best_count = total, count
                    best_order = _flatten(task, sequence)
        if step < classes - 1:
            for class_ in range(classes):
                if node[class_] == merges[step, 0] or node[class_] == merges[step, 1]:
                    node[class_] = classes + step
    return best_order, best_total


@inner_loop
def neighbour_total(values: Floats, order: Ints, sizes: Ints) -> float:
    """Return the similarity between the classes of neighbouring tasks of a flat order, summed."""
    total = 0.0
    start = 0
    for task in range(len(sizes) - 1):
        middle = start + sizes[task]
        for p in range(start, middle):
            line = values[order[p]]
            for q in range(middle, middle + sizes[task + 1]):
                total += line[order[q]]
        start = middle
    return total


@inner_loop
def _near_equal(classes: int, count: int) -> Ints:
    """Return sizes of `count` blocks that differ by one at most, larger ones first."""
    size = np.empty(count, dtype=np.int64)
    for block in range(count):
        size[block] = classes // count + (1 if block < classes % count else 0)
    return size


@inner_loop
def _partition(values: Floats, node: Ints, count: int, sizes: Ints, fill: int, fit: float) -> Ints:
    """Return the task of each class, shape (N,)."""
    classes = len(values)
    cluster = np.empty(classes, dtype=np.int64)
    number = np.zeros(2 * classes, dtype=np.int64)
    size = np.zeros(count, dtype=np.int64)
    seen = 0
    for class_ in range(classes):
        if number[node[class_]] == 0:
            seen += 1
            number[node[class_]] = seen
        cluster[class_] = number[node[class_]] - 1
        size[cluster[class_]] += 1
    rank = _largest_first(size, classes)
    start = np.zeros(count + 1, dtype=np.int64)
    start_of = np.empty(count, dtype=np.int64)
    for position in range(count):
        start[position + 1] = start[position] + size[rank[position]]
        start_of[rank[position]] = start[position]
    line = np.empty(classes, dtype=np.int64)
    for class_ in range(classes):
        line[start_of[cluster[class_]]] = class_
        start_of[cluster[class_]] += 1
    if fit != 0.0:
        for position in range(count):
            _sort_by_fit(values, line[start[position] : start[position + 1]], fit)
    if fill == FILL_DEALT:
        return _deal(line, sizes)
    if fill == FILL_COHERENT:
        return _fill_coherently(values, line, start, sizes, fit)
    return _fill_as_printed(line, start, sizes)


@inner_loop
def _largest_first(size: Ints, classes: int) -> Ints:
    """Return the clusters by size, the largest first; of equal ones, that with the first class."""
    place = np.zeros(classes + 1, dtype=np.int64)
    for cluster in range(len(size)):
        place[size[cluster] - 1] += 1
    for smaller in range(classes - 1, -1, -1):  # how many clusters are larger
        place[smaller] += place[smaller + 1]
    rank = np.empty(len(size), dtype=np.int64)
    for cluster in range(len(size)):
        rank[place[size[cluster]]] = cluster
        place[size[cluster]] += 1
    return rank


@inner_loop
def _sort_by_fit(values: Floats, members: Ints, fit: float) -> None:
    """Put the classes first that are most similar to the other members (least, if `fit` is -1)."""
    cost = np.zeros(len(members))
    for i in range(len(members)):
        for other in members:
            cost[i] -= fit * values[members[i], other]
    for i in range(1, len(members)):
        member, own, place = members[i], cost[i], i
        while place > 0 and cost[place - 1] > own:
            members[place], cost[place] = members[place - 1], cost[place - 1]
            place -= 1
        members[place], cost[place] = member, own


@inner_loop
def _deal(line: Ints, sizes: Ints) -> Ints:
    """Deal the classes to the tasks in rounds, like cards, until every task is full."""
    task = np.empty(len(line), dtype=np.int64)
    position, dealt = 0, 0
    while position < len(line):
        for k in range(len(sizes)):
            if sizes[k] > dealt:
                task[line[position]] = k
                position += 1
        dealt += 1
    return task


@inner_loop
def _fill_as_printed(line: Ints, start: Ints, sizes: Ints) -> Ints:
    """Whole clusters, or pieces as large as a task, to the roomiest task; then even out.

    The paper's "Step 2-3": the task with the most room left (the smallest, if tasks are of one
    size) takes a cluster even if that exceeds its room; in the end a task that is too large passes
    its last classes on to the roomiest one.
    """
    tasks = len(sizes)
    task = np.empty(len(line), dtype=np.int64)
    largest = 0
    for size in sizes:
        largest = max(largest, size)
    member = np.empty((tasks, 2 * largest), dtype=np.int64)
    filled = np.zeros(tasks, dtype=np.int64)
    for cluster in range(len(start) - 1):
        begin = start[cluster]
        while begin < start[cluster + 1]:
            k = _roomiest(sizes, filled)
            end = min(begin + sizes[k], start[cluster + 1])
            for position in range(begin, end):
                member[k, filled[k]] = line[position]
                filled[k] += 1
            begin = end
    for k in range(tasks):
        while filled[k] > sizes[k]:
            filled[k] -= 1
            target = _roomiest(sizes, filled)
            member[target, filled[target]] = member[k, filled[k]]
            filled[target] += 1
    for k in range(tasks):
        for position in range(filled[k]):
            task[member[k, position]] = k
    return task


@inner_loop
def _fill_coherently(values: Floats, line: Ints, start: Ints, sizes: Ints, fit: float) -> Ints:
    """Always the largest cluster to the roomiest task; of one too large, what fits best stays.

    What is cut off waits with the other clusters and is cut again by its own coherence.
    """
    classes = len(line)
    task = np.empty(classes, dtype=np.int64)
    filled = np.zeros(len(sizes), dtype=np.int64)
    begin = start.copy()
    placed = 0
    while placed < classes:
        largest = 0
        for cluster in range(1, len(start) - 1):
            if start[cluster + 1] - begin[cluster] > start[largest + 1] - begin[largest]:
                largest = cluster
        k = _roomiest(sizes, filled)
        end = start[largest + 1]
        cut = min(end, begin[largest] + sizes[k] - filled[k])
        for position in range(begin[largest], cut):
            task[line[position]] = k
        filled[k] += cut - begin[largest]
        placed += cut - begin[largest]
        begin[largest] = cut
        _sort_by_fit(values, line[cut:end], fit)
    return task


@inner_loop
def _between(values: Floats, task: Ints, tasks: int) -> Floats:
    """Return the summed similarity between tasks, shape (K, K), with a zero diagonal."""
    between = np.zeros((tasks, tasks))
    few = tasks <= _FEW_TASKS
    for c in range(len(task)):
        line, row = values[c], between[task[c]]
        for other in range(c if few else len(task)):
            row[task[other]] += line[other]
    for k in range(tasks):
        between[k, k] = 0.0
        if few:  # only half of the pairs were looked at
            for other in range(k):
                between[k, other] += between[other, k]
                between[other, k] = between[k, other]
    return between


@inner_loop
def _means(between: Floats, sizes: Ints) -> tuple[Floats, Floats]:
    """Return the mean similarity between tasks (K, K), and its sum over the others (K,)."""
    tasks = len(sizes)
    share = np.empty(tasks)
    for k in range(tasks):
        share[k] = 1.0 / sizes[k]
    mean = np.empty((tasks, tasks))
    total = np.zeros(tasks)
    for k in range(tasks):
        for other in range(tasks):
            mean[k, other] = between[k, other] * (share[k] * share[other])
            total[k] += mean[k, other]
    return mean, total


@inner_loop
def _greedy_order(mean: Floats, total_mean: Floats, sizes: Ints, fixed: bool, way: Floats) -> Ints:
    """Start with the task that has the least mean similarity to all others, go on with the least.

    Args:
        mean: (K, K) mean similarity between tasks, zero diagonal.
        total_mean: (K,) its row sums.
        sizes: (K,) classes in each task.
        fixed: whether a place takes only a task of its own size.
        way: sign for the start, sign for what follows, and whether all chosen tasks count.
    """
    tasks = len(sizes)
    order = np.empty(tasks, dtype=np.int64)
    rest = np.arange(tasks)
    cost = np.empty(tasks)
    for k in range(tasks):
        cost[k] = way[0] * total_mean[k]
    for place in range(tasks):
        left = tasks - place
        at = -1
        for i in range(left):
            k = rest[i]
            if fixed and sizes[k] != sizes[place]:
                continue
            # Of equal tasks the first one counts.
            if at < 0 or cost[k] < cost[rest[at]] or (cost[k] == cost[rest[at]] and k < rest[at]):
                at = i
        chosen = rest[at]
        order[place] = chosen
        rest[at] = rest[left - 1]
        line = mean[chosen]
        if place == 0 or way[2] == 0.0:
            for i in range(left - 1):
                cost[rest[i]] = way[1] * line[rest[i]]
        else:
            for i in range(left - 1):
                cost[rest[i]] += way[1] * line[rest[i]]
    return order


@inner_loop
def _roomiest(sizes: Ints, filled: Ints) -> int:
    """Return the first task with the most room left."""
    chosen = 0
    for k in range(1, len(sizes)):
        if sizes[k] - filled[k] > sizes[chosen] - filled[chosen]:
            chosen = k
    return chosen


@inner_loop
def _flatten(task: Ints, sequence: Ints) -> Ints:
    """Return the classes task by task, in the order of the tasks; shape (N,)."""
    size = np.zeros(len(sequence), dtype=np.int64)
    for k in task:
        size[k] += 1
    start = np.empty(len(sequence), dtype=np.int64)
    position = 0
    for k in sequence:
        start[k] = position
        position += size[k]
    order = np.empty(len(task), dtype=np.int64)
    for class_ in range(len(task)):
        order[start[task[class_]]] = class_
        start[task[class_]] += 1
    return order
