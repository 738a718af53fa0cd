"""The inner loops of scores, annealing, descent and the exact solution."""

from __future__ import annotations

import numpy as np

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.inner_loops import inner_loop


@inner_loop
def score_orders(values: Floats, orders: Ints, ends: Ints, weights: Floats) -> Floats:
    """Evaluate the objective of each row of `orders` (n, N), with tasks that end at `ends` (K,)."""
    tasks = len(ends)
    result = np.empty(len(orders))
    for row in range(len(orders)):
        order = orders[row]
        total = 0.0
        for i in range(tasks):
            i_start = 0 if i == 0 else ends[i - 1]
            for j in range(i, tasks):
                if weights[i, j] == 0.0:
                    continue
                j_start = 0 if j == 0 else ends[j - 1]
                between = 0.0
                for p in range(i_start, ends[i]):
                    line = values[order[p]]
                    for q in range(j_start, ends[j]):
                        between += line[order[q]]
                total += weights[i, j] * between * (1.0 if i == j else 2.0)
        result[row] = total
    return result


@inner_loop
def anneal_swaps(
    values: Floats,
    weights: Floats,
    task: Ints,
    pull: Floats,
    temperatures: Floats,
    draws: Floats,
    picks: Ints,
) -> float:
    """Minimise the objective by simulated annealing on swaps of two classes in different tasks.

    A block of n classes moves in the field of all others: `pull[k, c]` is the derivative of half
    the objective with respect to class c being in task k, so a swap is evaluated in O(1).

    Args:
        values: (n, n) similarities within the block, zero diagonal.
        weights: (K, K) objective.
        task: (n,) task of each class, changed in place.
        pull: (K, n), changed in place.
        temperatures: (s,) one per proposal.
        draws: (s,) uniform numbers in [0, 1).
        picks: (s, 2) proposed pairs in [0, n).

    Returns:
        The change of the objective.
    """
    change = 0.0
    for step in range(len(temperatures)):
        c, e = picks[step, 0], picks[step, 1]
        i, j = task[c], task[e]
        if i == j:
            continue
        bend = weights[i, i] + weights[j, j] - 2.0 * weights[i, j]
        delta = 2.0 * (pull[j, c] - pull[i, c] + pull[i, e] - pull[j, e] - values[c, e] * bend)
        if delta < 0.0 or draws[step] < np.exp(-delta / temperatures[step]):
            swap(values, weights, task, pull, c, e)
            change += delta
    return change


@inner_loop
def descend_swaps(values: Floats, weights: Floats, task: Ints, pull: Floats, least: float) -> float:
    """Take swaps that improve by more than `least`, until a whole sweep finds none; minimises.

    Arguments and result are those of :func:`anneal_swaps`.
    """
    change = 0.0
    improved = True
    while improved:
        improved = False
        for c in range(len(task)):
            for e in range(c):
                i, j = task[c], task[e]
                if i == j:
                    continue
                bend = weights[i, i] + weights[j, j] - 2.0 * weights[i, j]
                gain = pull[j, c] - pull[i, c] + pull[i, e] - pull[j, e] - values[c, e] * bend
                if 2.0 * gain < -least:
                    swap(values, weights, task, pull, c, e)
                    change += 2.0 * gain
                    improved = True
    return change


@inner_loop
def swap(values: Floats, weights: Floats, task: Ints, pull: Floats, c: int, e: int) -> None:
    """Exchange classes c and e and bring `pull` up to date."""
    i, j = task[c], task[e]
    task[c], task[e] = j, i
    for k in range(len(weights)):
        tilt = weights[i, k] - weights[j, k]
        if tilt != 0.0:
            for x in range(len(task)):
                pull[k, x] += (values[e, x] - values[c, x]) * tilt


@inner_loop
def order_tasks(between: Floats, weights: Floats, sizes: Ints, order: Ints, least: float) -> float:
    """Rearrange whole tasks by exchanges (and, on a path, reversals) while that helps; minimises.

    Args:
        between: (K, K) summed similarity between tasks.
        weights: (K, K) objective over places.
        sizes: (K,) sizes of the places; a move must respect them.
        order: (K,) which task stands at each place, changed in place.
        least: smallest improvement worth a move.

    Returns:
        The change of the objective.
    """
    tasks = len(order)
    path = _is_path(weights)
    change = 0.0
    improved = True
    while improved:
        improved = False
        for a in range(tasks):
            for b in range(a + 1, tasks):
                if sizes[a] == sizes[b]:
                    delta = _exchange_delta(between, weights, order, a, b)
                    if delta < -least:
                        order[a], order[b] = order[b], order[a]
                        change += delta
                        improved = True
                if path and b > a + 1:
                    delta = _reversal_delta(between, weights, order, a, b)
                    if delta < -least and _reads_backwards(sizes, a, b):
                        order[a : b + 1] = order[a : b + 1][::-1].copy()
                        change += delta
                        improved = True
    return change


@inner_loop
def _is_path(weights: Floats) -> bool:
    """Return whether only neighbours count, and all alike: reversing a stretch changes its ends."""
    for i in range(len(weights)):
        for j in range(len(weights)):
            wanted = weights[0, 1] if abs(i - j) == 1 else 0.0
            if weights[i, j] != wanted:
                return False
    return True


@inner_loop
def _exchange_delta(between: Floats, weights: Floats, order: Ints, a: int, b: int) -> float:
    """Return the change when the tasks at places a and b change places."""
    p, q = order[a], order[b]
    delta: float = (weights[a, a] - weights[b, b]) * (between[q, q] - between[p, p])
    for k in range(len(order)):
        tilt = weights[a, k] - weights[b, k]
        if tilt != 0.0 and k != a and k != b:
            delta += 2.0 * tilt * (between[q, order[k]] - between[p, order[k]])
    return delta


@inner_loop
def _reversal_delta(between: Floats, weights: Floats, order: Ints, a: int, b: int) -> float:
    """Return the change on a path when the tasks at places a to b come in reverse."""
    delta = 0.0
    if a > 0:
        delta += between[order[a - 1], order[b]] - between[order[a - 1], order[a]]
    if b < len(order) - 1:
        delta += between[order[a], order[b + 1]] - between[order[b], order[b + 1]]
    change: float = 2.0 * weights[0, 1] * delta
    return change


@inner_loop
def _reads_backwards(sizes: Ints, a: int, b: int) -> bool:
    """Return whether the sizes from a to b are the same from behind."""
    while a < b:
        if sizes[a] != sizes[b]:
            return False
        a, b = a + 1, b - 1
    return True


@inner_loop
def solve_chain(values: Floats, sizes: Ints, own: Floats, reach: Floats, link: Floats) -> Ints:
    """Return the exact minimum of a chain objective, by dynamic programming over sets of classes.

    The objective is Σᵢ own[i] W(i, i) + 2 reach[i] W(i, all others) + 2 link[i] W(i, i+1), where
    W sums the similarities between two tasks. A state is the set of classes used so far and the
    last task's set; sets are bit masks.

    Args:
        values: (N, N) similarities, zero diagonal.
        sizes: (K,) task sizes.
        own: (K,) weight within each task.
        reach: (K,) weight from each task to everything else.
        link: (K - 1,) weight between neighbours.

    Returns:
        The K task masks of an optimal sequence.
    """
    classes, tasks = len(values), len(sizes)
    masks = 1 << classes
    inner = np.zeros(masks)
    total = np.zeros(masks)
    rows = values.sum(axis=1)
    bits = np.zeros(masks, dtype=np.int64)
    for mask in range(1, masks):
        low = 0
        while not mask >> low & 1:
            low += 1
        rest = mask ^ (1 << low)
        bits[mask] = bits[rest] + 1
        total[mask] = total[rest] + rows[low]
        inner[mask] = inner[rest]
        for other in range(low + 1, classes):
            if rest >> other & 1:
                inner[mask] += 2.0 * values[low, other]
    level = np.full(classes + 1, -1, dtype=np.int64)
    used = 0
    for t in range(tasks):
        used += sizes[t]
        level[used] = t
    first = np.zeros(masks + 1, dtype=np.int64)
    for mask in range(masks):
        t = level[bits[mask]]
        states = 0 if t < 0 else _binomial(bits[mask], sizes[t])
        first[mask + 1] = first[mask] + states
    last = np.empty(first[masks], dtype=np.int64)
    best = np.empty(first[masks])
    for t in range(tasks):
        for mask in range(masks):
            if level[bits[mask]] != t:
                continue
            _choose(mask, sizes[t], last[first[mask] : first[mask + 1]])
            for state in range(first[mask], first[mask + 1]):
                new = last[state]
                cost = own[t] * inner[new] + 2.0 * reach[t] * (total[new] - inner[new])
                if t > 0:
                    before = _cheapest(mask ^ new, new, link[t - 1], first, last, best, inner)
                    cost += best[before] + link[t - 1] * (
                        inner[last[before] | new] - inner[last[before]] - inner[new]
                    )
                best[state] = cost
    answer = np.empty(tasks, dtype=np.int64)
    mask = masks - 1
    state = first[mask] + np.argmin(best[first[mask] : first[masks]])
    for t in range(tasks - 1, -1, -1):
        answer[t] = last[state]
        mask ^= last[state]
        if t > 0:
            state = _cheapest(mask, last[state], link[t - 1], first, last, best, inner)
    return answer


@inner_loop
def _cheapest(
    mask: int, new: int, link: float, first: Ints, last: Ints, best: Floats, inner: Floats
) -> int:
    """Return the state with used set `mask` from which adding the task `new` costs least."""
    cheapest, least = -1, np.inf
    for state in range(first[mask], first[mask + 1]):
        joint = inner[last[state] | new] - inner[last[state]] - inner[new]
        cost = best[state] + link * joint
        if cost < least:
            cheapest, least = state, cost
    return cheapest


@inner_loop
def _binomial(n: int, k: int) -> int:
    result = 1
    for i in range(k):
        result = result * (n - i) // (i + 1)
    return result


@inner_loop
def _choose(mask: int, size: int, out: Ints) -> None:
    """Fill `out` with every subset of `mask` that has `size` members, in a fixed order."""
    members = np.empty(64, dtype=np.int64)
    count = 0
    for bit in range(63):
        if mask >> bit & 1:
            members[count] = 1 << bit
            count += 1
    index = np.arange(size)
    for n in range(len(out)):
        subset = 0
        for i in range(size):
            subset |= members[index[i]]
        out[n] = subset
        i = size - 1
        while i >= 0 and index[i] == count - size + i:
            i -= 1
        if i >= 0:
            index[i] += 1
            for j in range(i + 1, size):
                index[j] = index[j - 1] + 1
