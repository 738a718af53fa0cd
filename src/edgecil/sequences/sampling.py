"""Objectives of many sequences at once."""

from __future__ import annotations

import numpy as np

from edgecil.errors import UsageError
from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.objective import Objective, adjacent, get_objective
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

_ENTRIES = 2_000_000  # looked up at once


def score_orders(
    similarity: Similarity,
    space: SequenceSpace,
    orders: Ints,
    objective: Objective | None = None,
    *,
    check: bool = True,
) -> Floats:
    """Return the objective (S by default) of n orders, shape (n, N), of the space: shape (n,).

    Args:
        similarity: over the N classes.
        space: of the orders.
        orders: each holds every class 0 … N-1 once.
        objective: what to compute.
        check: look whether they do, which takes longer than the scores.
    """
    everyone = np.arange(space.classes)
    if check and not np.array_equal(np.sort(orders), np.tile(everyone, (len(orders), 1))):
        raise UsageError(
            f"Orders must be an (n, {space.classes}) array, and each must contain each class 0 to "
            f"{space.classes - 1} once. Got shape {orders.shape}."
        )
    space.require_similarity(similarity)
    weights = get_objective(objective or adjacent(space), space).weights
    return weighted_sums(similarity.submatrix(everyone), space, orders, weights)


def weighted_sums(values: Floats, space: SequenceSpace, orders: Ints, weights: Floats) -> Floats:
    """Return the similarity (N, N) of classes in orders (n, N), weighted by their tasks: (n,).

    The similarity has diagonal zero; the weights (K, K) are symmetric.
    """
    ends = np.cumsum(space.sizes)
    tasks = [slice(end - size, end) for end, size in zip(ends, space.sizes, strict=True)]
    flat, lines = values.ravel(), orders * space.classes
    sums = np.zeros(len(orders))
    for i, j in zip(*np.nonzero(np.triu(weights)), strict=True):
        weight = weights[i, j] * (1.0 if i == j else 2.0)
        rows = max(1, _ENTRIES // (space.sizes[i] * space.sizes[j]))
        for begin in range(0, len(orders), rows):
            part = slice(begin, begin + rows)
            pairs = lines[part, tasks[i], None] + orders[part, None, tasks[j]]
            sums[part] += weight * flat[pairs].sum(axis=(1, 2))
    return sums


def relabelled_sums(
    values: Floats, space: SequenceSpace, orders: Ints, weights: Floats, labels: Ints
) -> Floats:
    """Return :func:`weighted_sums` of n orders under new labels (B, N) of the classes, (B, n).

    Each is the scalar product of two symmetric N × N matrices, of which one triangle suffices, so
    that many orders are one matrix product.
    """
    task = np.empty_like(orders)
    np.put_along_axis(task, orders, np.repeat(np.arange(space.tasks), space.sizes)[None], axis=1)
    one, other = np.triu_indices(space.classes, 1)
    rows = max(1, _ENTRIES // max(1, len(one)))
    twice = 2.0 * weights.ravel()
    sums = np.empty((len(labels), len(orders)))
    for begin in range(0, len(labels), rows):
        some = labels[begin : begin + rows]
        similarities = values[some[:, one], some[:, other]]
        for start in range(0, len(orders), rows):
            own = task[start : start + rows]
            weighted = twice[own[:, one] * space.tasks + own[:, other]]
            sums[begin : begin + rows, start : start + rows] = similarities @ weighted.T
    return sums


def sample_scores(
    similarity: Similarity,
    space: SequenceSpace,
    count: int,
    rng: np.random.Generator,
    objective: Objective | None = None,
) -> Floats:
    """Evaluate an objective (S by default) on `count` uniform random sequences."""
    rows = max(1, _ENTRIES // space.classes)
    scores = [
        score_orders(
            similarity,
            space,
            space.sample_orders(min(rows, count - start), rng),
            objective,
            check=False,
        )
        for start in range(0, count, rows)
    ]
    return np.concatenate([np.empty(0), *scores])
