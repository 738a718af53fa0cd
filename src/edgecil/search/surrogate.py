"""A surrogate of accuracy: a Gaussian process over positions and pairs of classes.

Two sequences are similar if the same classes are in the same task at the same position, share the
last or first task, or meet in a task at any position. Values of predictors enter linearly. How much
each counts, and how much of the variance is training noise, is averaged over a small grid by
marginal likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
    """Return the expected accuracies of candidates, given n observed sequences.

    Args:
        space: N classes in K tasks.
        places: (n, N) task index of every class in the observed sequences.
        values: (n,) their accuracies; a sequence may occur again with another training.
        candidates: (m, N) task indices of the candidates.
        predictors: (n, p) and (m, p) standardised values of p predictors.
    """
    y = np.asarray(values, dtype=np.float64)
    centre = float(y.mean())
    scale = float(y.std()) or 1.0
    y = (y - centre) / scale
    among = _kernels(space, places, places)
    across = _kernels(space, places, candidates)
    predictor_variance = np.zeros(len(candidates))
    if predictors is not None and predictors[0].shape[1]:
        of_observed, of_candidates = predictors
        count = of_observed.shape[1]
        among[4] = of_observed @ of_observed.T / count
        across[4] = of_observed @ of_candidates.T / count
        predictor_variance = (of_candidates**2).sum(axis=1) / count
    fits = []
    for weights in _MIXTURES:
        if weights[4] == 1.0 and predictors is None:
            continue
        inside = np.tensordot(weights, among, axes=1)
        outside = np.tensordot(weights, across, axes=1)
        prior = weights[:4].sum() + weights[4] * predictor_variance
        fits += [_fit(inside, outside, prior, y, noise_share) for noise_share in _NOISE]
    likelihoods = np.array([fit.log_likelihood for fit in fits])
    means = np.array([fit.mean for fit in fits])  # (fits, m)
    variances = np.array([fit.variance for fit in fits])
    noise_variances = np.array([fit.noise_variance for fit in fits])
    probability = np.exp(likelihoods - likelihoods.max())
    probability /= probability.sum()
    mean = probability @ means
    second_moment = probability @ (variances + means**2)
    return Prediction(
        centre + scale * mean,
        scale * np.sqrt(np.maximum(second_moment - mean**2, 1e-12)),
        float(scale * np.sqrt(probability @ noise_variances)),
    )


class _Fit(NamedTuple):
    """A Gaussian process with fixed weights of the kernels and a fixed share of noise."""

    log_likelihood: float
    mean: Floats  # (m,) of the candidates
    variance: Floats  # (m,) of the candidates
    noise_variance: float


def _fit(inside: Floats, outside: Floats, prior: Floats, y: Floats, noise_share: float) -> _Fit:
    """Condition the Gaussian process on the observed values.

    The total variance is the one that maximises the likelihood, kept near the variance of y.
    """
    count = len(y)
    signal = 1.0 - noise_share
    covariance = signal * inside + _FLAT + noise_share * np.eye(count)
    cross = signal * outside + _FLAT
    factor = np.linalg.cholesky(covariance + 1e-9 * np.eye(count))
    white = np.linalg.solve(factor, y)
    total_variance = float((white @ white + 2.0) / (count + 2.0))
    log_determinant = float(np.log(np.diag(factor)).sum())
    log_likelihood = -0.5 * (count + 2.0) * np.log(total_variance) - log_determinant
    mapped = np.linalg.solve(factor, cross)
    variance = signal * prior + _FLAT - (mapped**2).sum(axis=0)
    return _Fit(
        log_likelihood,
        mapped.T @ white,
        total_variance * np.maximum(variance, 0.0),
        total_variance * noise_share,
    )


def _kernels(space: SequenceSpace, places: Ints, other_places: Ints) -> NDArray[np.float64]:
    """Return five kernels between n and m sequences, (5, n, m), each of variance 1 over Ω."""
    batch_size = max(1, _CELLS // max(1, len(places) * space.tasks**2))
    batches = [
        _kernels_of_batch(space, places, other_places[start : start + batch_size])
        for start in range(0, max(len(other_places), 1), batch_size)
    ]
    return np.concatenate(batches, axis=2)


def _kernels_of_batch(
    space: SequenceSpace, places: Ints, other_places: Ints
) -> NDArray[np.float64]:
    tasks = np.arange(space.tasks)
    in_task = (places[:, :, None] == tasks).astype(np.float64)  # (n, N, K)
    other_in_task = (other_places[:, :, None] == tasks).astype(np.float64)  # (m, N, K)
    # Classes in task i of one sequence and task j of the other, (n, m, K, K).
    shared = np.einsum("nci,mcj->nmij", in_task, other_in_task)
    same = np.diagonal(shared, axis1=2, axis2=3)
    pairs = (shared * (shared - 1.0)).sum(axis=(2, 3)) / 2.0
    same_pairs = (same * (same - 1.0)).sum(axis=2) / 2.0
    ends = 0.5 * (same[:, :, 0] + 2.0 * same[:, :, -1])
    raw = np.stack([same.sum(axis=2), ends, pairs, same_pairs])
    mean, spread = _moments(space)
    scaled = (raw - mean[:, None, None]) / spread[:, None, None]
    return np.concatenate([scaled, np.zeros((1, len(places), len(other_places)))])


def _moments(space: SequenceSpace) -> tuple[Floats, Floats]:
    """Return the mean of each raw kernel over Ω, and its diagonal minus the mean."""
    N = space.classes
    sizes = np.array(space.sizes, dtype=np.float64)
    overlap = sizes**2 / N
    ordered_pairs = max(N * (N - 1.0), 1.0)
    pairs_of_task = sizes * (sizes - 1.0)  # ordered
    mean = np.array(
        [
            overlap.sum(),
            0.5 * (overlap[0] + 2.0 * overlap[-1]),
            pairs_of_task.sum() ** 2 / (2.0 * ordered_pairs),
            (pairs_of_task**2).sum() / (2.0 * ordered_pairs),
        ]
    )
    ends = 0.5 * (sizes[0] + 2.0 * sizes[-1])
    pairs = pairs_of_task.sum() / 2.0
    diagonal = np.array([N, ends, pairs, pairs])
    return mean, np.maximum(diagonal - mean, 1e-9)
