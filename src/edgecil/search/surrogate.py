"""A surrogate of accuracy: a Gaussian process over positions and pairs of classes.

Two sequences are similar if the same classes are in the same task at the same position, share the
last or first task, or meet in a task at any position. Values of predictors enter linearly. How much
each counts, and how much of the variance is training noise, is averaged over a small grid by
marginal likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.space import SequenceSpace

# Weights of the kernels: positions, ends, pairs, pairs at the same position, predictors.
_MIXTURES = np.array(
    [
        [1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0],
        [0.3, 0.3, 0.2, 0.2, 0.0],
        [0.25, 0.25, 0.2, 0.2, 0.1],
    ]
)
_NOISE = (0.1, 0.3, 0.6, 0.9)
_FLAT = 100.0  # prior variance of the mean, in variances of the observations
_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class Prediction:
    """What the surrogate expects of m sequences.

    Attributes:
        mean: (m,) expected accuracy of an order, without training noise.
        std: (m,) its uncertainty.
        noise: standard deviation of a single training around its order's accuracy.
    """

    mean: Floats
    std: Floats
    noise: float


def predict(
    space: SequenceSpace,
    places: Ints,
    values: Sequence[float] | Floats,
    candidates: Ints,
    *,
    predictors: tuple[Floats, Floats] | None = None,
) -> Prediction:
    """Return the expected accuracies of candidates, given those of n observed sequences.

    Args:
        space: N classes in K tasks.
        places: (n, N) task index of every class in the observed sequences.
        values: (n,) their accuracies; a sequence may occur again with another training.
        candidates: (m, N) task indices of the candidates.
        predictors: (n, p) and (m, p) standardised values of p predictors.
    """
    y = np.asarray(values, dtype=np.float64)
    centre, scale = float(y.mean()), float(y.std()) or 1.0
    y = (y - centre) / scale
    among, across = _kernels(space, places, places), _kernels(space, places, candidates)
    own_predictors = np.zeros(len(candidates))
    if predictors is not None and predictors[0].shape[1]:
        seen, asked = predictors
        count = seen.shape[1]
        among[4], across[4] = seen @ seen.T / count, seen @ asked.T / count
        own_predictors = (asked**2).sum(axis=1) / count
    fits = []
    for weights in _MIXTURES:
        if weights[4] == 1.0 and predictors is None:
            continue
        inside = np.tensordot(weights, among, axes=1)
        outside = np.tensordot(weights, across, axes=1)
        prior = weights[:4].sum() + weights[4] * own_predictors
        fits += [_condition(inside, outside, prior, y, share) for share in _NOISE]
    logs, means, variances, noises = (np.array(part) for part in zip(*fits, strict=True))
    probability = np.exp(logs - logs.max())
    probability /= probability.sum()
    mean = probability @ means
    second = probability @ (variances + means**2)
    return Prediction(
        centre + scale * mean,
        scale * np.sqrt(np.maximum(second - mean**2, 1e-12)),
        float(scale * np.sqrt(probability @ noises)),
    )


def _condition(
    inside: Floats, outside: Floats, prior: Floats, y: Floats, share: float
) -> tuple[float, Floats, Floats, float]:
    """Log marginal likelihood, posterior mean and variance, and the variance of the noise.

    The total variance is the one that maximises the likelihood, kept near that of y.
    """
    count = len(y)
    signal = 1.0 - share
    covariance = signal * inside + _FLAT + share * np.eye(count)
    cross = signal * outside + _FLAT
    factor = np.linalg.cholesky(covariance + 1e-9 * np.eye(count))
    white = np.linalg.solve(factor, y)
    total = float((white @ white + 2.0) / (count + 2.0))
    log = -0.5 * (count + 2.0) * np.log(total) - float(np.log(np.diag(factor)).sum())
    mapped = np.linalg.solve(factor, cross)
    variance = signal * prior + _FLAT - (mapped**2).sum(axis=0)
    return log, mapped.T @ white, total * np.maximum(variance, 0.0), total * share


def _kernels(space: SequenceSpace, places: Ints, others: Ints) -> NDArray[np.float64]:
    """Five kernels between n and m sequences, shape (5, n, m), each of variance 1 over Ω."""
    rows = max(1, _CELLS // max(1, len(places) * space.tasks**2))
    parts = [
        _few_kernels(space, places, others[start : start + rows])
        for start in range(0, max(len(others), 1), rows)
    ]
    return np.concatenate(parts, axis=2)


def _few_kernels(space: SequenceSpace, places: Ints, others: Ints) -> NDArray[np.float64]:
    tasks = np.arange(space.tasks)
    one, two = places[:, :, None] == tasks, others[:, :, None] == tasks
    # Classes in task i of one sequence and task j of the other, (n, m, K, K).
    shared = np.einsum("nci,mcj->nmij", one.astype(np.float64), two.astype(np.float64))
    same = np.diagonal(shared, axis1=2, axis2=3)
    pairs = (shared * (shared - 1.0)).sum(axis=(2, 3)) / 2.0
    same_pairs = (same * (same - 1.0)).sum(axis=2) / 2.0
    raw = np.stack(
        [same.sum(axis=2), 0.5 * (same[:, :, 0] + 2.0 * same[:, :, -1]), pairs, same_pairs]
    )
    mean, spread = _moments(space)
    scaled = (raw - mean[:, None, None]) / spread[:, None, None]
    return np.concatenate([scaled, np.zeros((1, len(places), len(others)))])


def _moments(space: SequenceSpace) -> tuple[Floats, Floats]:
    """Return the mean of each raw kernel over Ω, and its diagonal minus that mean."""
    sizes, N = np.array(space.sizes, dtype=np.float64), space.classes
    overlap = sizes**2 / N
    two = max(N * (N - 1.0), 1.0)
    falling = sizes * (sizes - 1.0)
    mean = np.array(
        [
            overlap.sum(),
            0.5 * (overlap[0] + 2.0 * overlap[-1]),
            falling.sum() ** 2 / (2.0 * two),
            (falling**2).sum() / (2.0 * two),
        ]
    )
    whole = np.array(
        [N, 0.5 * (sizes[0] + 2.0 * sizes[-1]), falling.sum() / 2.0, falling.sum() / 2.0]
    )
    return mean, np.maximum(whole - mean, 1e-9)
