"""What sequences are worth: the score S and other objectives of one or many, and their exact z.

Mean and variance of an objective over the whole space are exact, without sampling: a uniformly
random sequence assigns classes to N places at random; the objective is then a quadratic assignment
statistic, whose first two moments need only a few sums of D and of A (Mantel 1967, "The detection
of disease clustering and a generalized regression approach").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgecil.errors import UsageError
from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.objective import (
    Objective,
    adjacent,
    applicable_objectives,
    get_objective,
    pair_counts,
)
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity, check_similarity

_ENTRIES = 2_000_000  # similarities that are looked up at once


@dataclass(frozen=True)
class Moments:
    """Mean and standard deviation (population) of an objective over all of Ω."""

    mean: float
    std: float

    def z(self, value: float) -> float:
        """Return how many standard deviations `value` lies above the mean; 0 if nothing varies."""
        return (value - self.mean) / self.std if self.std > 0.0 else 0.0


def moments(similarity: Similarity, space: SequenceSpace, objective: Objective) -> Moments:
    """Return the exact moments of `objective` over every sequence of the space, in O(N²)."""
    space.require_similarity(similarity)
    N = space.classes
    A = objective.weights
    sizes = np.array(space.sizes)
    pairs = pair_counts(space.sizes)
    total = float(np.sum(A * pairs))
    rows = similarity.row_sums()
    mean = float(rows.sum()) / (N * (N - 1))
    deviations = similarity.deviation_sum()
    if deviations == 0.0:
        return Moments(total * mean, 0.0)
    # Around its mean the similarity sums to zero, which avoids a difference of large numbers.
    centred = rows - mean * (N - 1)
    spread = _by_overlap(0.0, deviations, float(centred @ centred))
    # The weights are seen as an N x N matrix over places, summed task by task.
    places = float(sizes @ (A @ sizes - np.diag(A)) ** 2)
    weights = _by_overlap(total, float(np.sum(A**2 * pairs)), places)
    ways = N * (N - 1.0) * np.array([2.0, 4.0 * (N - 2), (N - 2.0) * (N - 3)])
    terms = weights * spread / np.maximum(ways, 1.0)
    variance = float(terms.sum())
    rounding = 1e-12 * float(np.abs(terms).sum())
    return Moments(total * mean, float(np.sqrt(variance)) if variance > rounding else 0.0)


def _by_overlap(total: float, squares: float, rows: float) -> Floats:
    """Return sums of products over ordered pairs of pairs that share 2, 1 and 0 members.

    They follow from the sums of all entries, of squares and of squared row sums of a symmetric
    matrix with zero diagonal.
    """
    return np.array([2.0 * squares, 4.0 * (rows - squares), total**2 - 4.0 * rows + 2.0 * squares])


@dataclass(frozen=True)
class Profile:
    """A sequence seen through a similarity.

    Attributes:
        score: the paper's S.
        z: exact z-score of S among all sequences with the same task sizes.
        objectives: each named objective's value and exact z.
    """

    score: float
    z: float
    objectives: dict[str, dict[str, float]]


def score(similarity: Similarity, sequence: ClassSequence) -> float:
    """Return the paper's S: K / ((K-1) N) Σᵢ Σ_{c in task i} Σ_{c' in task i+1} D[c, c'].

    With equal task sizes M this is M times the mean similarity of neighbouring classes.
    """
    check_similarity(similarity)
    return adjacent(SequenceSpace(sequence.sizes)).value(similarity, sequence)


def profile(similarity: Similarity, sequence: ClassSequence) -> Profile:
    """Return the profile of one sequence; K must be at least 2."""
    check_similarity(similarity)
    space = SequenceSpace(sequence.sizes)
    adjacent(space)
    values = {}
    for name, objective in applicable_objectives(space).items():
        value = objective.value(similarity, sequence)
        values[name] = {"value": value, "z": moments(similarity, space, objective).z(value)}
    return Profile(values["adjacent"]["value"], values["adjacent"]["z"], values)


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
        orders: each has every class 0 … N-1 once.
        objective: what to compute.
        check: refuse other orders; the check takes longer than the scores.
    """
    all_classes = np.arange(space.classes)
    if check and not np.array_equal(np.sort(orders), np.tile(all_classes, (len(orders), 1))):
        raise UsageError(
            f"Orders must be an (n, {space.classes}) array, and each must contain each class 0 to "
            f"{space.classes - 1} once. Got shape {orders.shape}."
        )
    space.require_similarity(similarity)
    weights = get_objective(objective or adjacent(space), space).weights
    return weighted_sums(similarity.submatrix(all_classes), space, orders, weights)


def weighted_sums(values: Floats, space: SequenceSpace, orders: Ints, weights: Floats) -> Floats:
    """Return the similarity (N, N) of classes in orders (n, N), weighted by their tasks: (n,).

    The similarity has diagonal zero; the weights (K, K) are symmetric.
    """
    ends = np.cumsum(space.sizes)
    tasks = [slice(end - size, end) for end, size in zip(ends, space.sizes, strict=True)]
    flat_values = values.ravel()
    row_starts = orders * space.classes  # in the flat values
    sums = np.zeros(len(orders))
    for i, j in zip(*np.nonzero(np.triu(weights)), strict=True):
        weight = weights[i, j] * (1.0 if i == j else 2.0)
        rows = max(1, _ENTRIES // (space.sizes[i] * space.sizes[j]))
        for begin in range(0, len(orders), rows):
            part = slice(begin, begin + rows)
            pairs = row_starts[part, tasks[i], None] + orders[part, None, tasks[j]]
            sums[part] += weight * flat_values[pairs].sum(axis=(1, 2))
    return sums


def place_classes(orders: Ints, space: SequenceSpace) -> Ints:
    """Return the task index of every class in n orders, shape (n, N)."""
    places = np.empty_like(orders)
    task = np.repeat(np.arange(space.tasks), space.sizes)
    np.put_along_axis(places, orders, np.broadcast_to(task, orders.shape), axis=1)
    return places


def relabelled_sums(
    values: Floats, space: SequenceSpace, orders: Ints, weights: Floats, labels: Ints
) -> Floats:
    """Return :func:`weighted_sums` of n orders under new labels (B, N) of the classes, (B, n).

    Each is the scalar product of two symmetric N × N matrices, of which one triangle suffices, so
    that many orders are one matrix product.
    """
    # Small integers, because most of the time goes into looking weights up.
    task = place_classes(orders, space).astype(np.min_scalar_type(space.tasks**2))
    tasks = task.dtype.type(space.tasks)
    first, second = np.triu_indices(space.classes, 1)  # pairs of classes
    batch_size = max(1, _ENTRIES // max(1, len(first)))
    double_weights = 2.0 * weights.ravel()
    sums = np.empty((len(labels), len(orders)))
    for label_start in range(0, len(labels), batch_size):
        label_batch = slice(label_start, label_start + batch_size)
        label_rows = labels[label_batch]
        similarities = values[label_rows[:, first], label_rows[:, second]]
        for order_start in range(0, len(orders), batch_size):
            order_batch = slice(order_start, order_start + batch_size)
            task_rows = task[order_batch]
            pairs = task_rows.take(first, axis=1) * tasks + task_rows.take(second, axis=1)
            pair_weights = double_weights.take(pairs)
            sums[label_batch, order_batch] = similarities @ pair_weights.T
    return sums


def sample_scores(
    similarity: Similarity,
    space: SequenceSpace,
    count: int,
    rng: np.random.Generator,
    objective: Objective | None = None,
) -> Floats:
    """Evaluate an objective (S by default) on `count` uniform random sequences."""
    batch_size = max(1, _ENTRIES // space.classes)
    scores = [np.empty(0)]
    for start in range(0, count, batch_size):
        orders = space.sample_orders(min(batch_size, count - start), rng)
        scores.append(score_orders(similarity, space, orders, objective, check=False))
    return np.concatenate(scores)
