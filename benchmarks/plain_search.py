"""What one would write first: swap annealing of S in plain Python, and S one sequence at a time.

Only for comparison with edgecil's compiled search and scoring; same problem, no shortcuts.
"""

from __future__ import annotations

import math
import random

import numpy as np


def anneal(D, K: int, *, starts: int, proposals: int, sign: float, seed: int = 0):
    """Multi-start simulated annealing on swaps of two classes; the best tasks for sign * S.

    Temperatures fall geometrically from half to a two-hundredth of a typical change, as edgecil's.
    """
    N = len(D)
    D = [[sign * float(value) for value in row] for row in D]
    random_ = random.Random(seed)
    best, best_total = None, math.inf
    for _ in range(starts):
        order = list(range(N))
        random_.shuffle(order)
        tasks = [order[k * N // K : (k + 1) * N // K] for k in range(K)]
        pairs = [_random_swap(random_, K, tasks) for _ in range(200)]
        scale = sum(abs(_change(D, tasks, *pair)) for pair in pairs) / len(pairs)
        for step in range(proposals):
            temperature = scale * 0.5 * 0.01 ** (step / proposals)
            i, a, j, b = _random_swap(random_, K, tasks)
            if i == j:
                continue
            change = _change(D, tasks, i, a, j, b)
            if change < 0 or random_.random() < math.exp(-change / temperature):
                tasks[i][a], tasks[j][b] = tasks[j][b], tasks[i][a]
        total = sum(D[c][e] for i in range(K - 1) for c in tasks[i] for e in tasks[i + 1])
        if total < best_total:
            best, best_total = tasks, total
    return best


def _random_swap(random_: random.Random, K: int, tasks) -> tuple[int, int, int, int]:
    i, j = int(K * random_.random()), int(K * random_.random())
    return i, int(len(tasks[i]) * random_.random()), j, int(len(tasks[j]) * random_.random())


def _change(D, tasks, i: int, a: int, j: int, b: int) -> float:
    """Change of the similarity summed over neighbouring tasks when two classes trade places."""
    c, e = tasks[i][a], tasks[j][b]
    row_c, row_e = D[c], D[e]
    change = 0.0
    for task, sign in ((i, 1.0), (j, -1.0)):
        for neighbour in (task - 1, task + 1):
            if 0 <= neighbour < len(tasks):
                for x in tasks[neighbour]:
                    if x not in (c, e):
                        change += sign * (row_e[x] - row_c[x])
    return change


def score_one_by_one(D, K: int, count: int, seed: int = 0):
    """S of `count` random sequences, drawn and scored with NumPy one after another."""
    rng = np.random.default_rng(seed)
    N = len(D)
    scores = np.empty(count)
    for index in range(count):
        tasks = rng.permutation(N).reshape(K, -1)
        total = sum(D[np.ix_(tasks[i], tasks[i + 1])].sum() for i in range(K - 1))
        scores[index] = K / ((K - 1) * N) * total
    return scores
