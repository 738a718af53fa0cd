"""Objectives of many sequences at once."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from edgecil.errors import UsageError
from edgecil.io.arrays import Floats, Ints
from edgecil.sequences import kernels
from edgecil.sequences.inner_loops import fast
from edgecil.sequences.objective import Objective, adjacent, get_objective
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

_ROWS = 2_000


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
    if not check:
        return _score(similarity, space, orders, objective)
    if orders.ndim != 2 or orders.shape[1] != space.classes:
        raise UsageError(
            f"Orders must be an (n, {space.classes}) array. Got shape {orders.shape} instead."
        )
    if not (np.sort(orders, axis=1) == np.arange(space.classes)).all():
        raise UsageError(f"Every order must contain each class 0 to {space.classes - 1} once.")
    return _score(similarity, space, orders, objective)


def sample_scores(
    similarity: Similarity,
    space: SequenceSpace,
    count: int,
    rng: np.random.Generator,
    objective: Objective | None = None,
) -> Floats:
    """Evaluate an objective (S by default) on `count` uniform random sequences."""
    scores = np.empty(count)
    waiting: Future[Floats] | None = None
    with ThreadPoolExecutor(max_workers=1) as scorer:
        for start in range(0, count, _ROWS):
            # Drawn here while the scorer is busy with the rows before; neither holds the GIL.
            orders = space.sample_orders(min(_ROWS, count - start), rng)
            if waiting is not None:
                scores[start - _ROWS : start] = waiting.result()
            waiting = scorer.submit(_score, similarity, space, orders, objective)
        if waiting is not None:
            scores[start:] = waiting.result()
    return scores


def _score(
    similarity: Similarity, space: SequenceSpace, orders: Ints, objective: Objective | None
) -> Floats:
    space.require_similarity(similarity)
    weights = get_objective(objective or adjacent(space), space).weights
    values = similarity.submatrix(np.arange(space.classes))
    pairs = space.classes**2 * np.count_nonzero(weights) / weights.size
    score = fast(kernels.score_orders, len(orders) * pairs)
    return score(values, orders, np.cumsum(space.sizes), weights)
