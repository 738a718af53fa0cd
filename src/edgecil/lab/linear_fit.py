"""A Bayesian linear fit of accuracy to a predictor, on grids, for several sets of runs at once.

Model: a = μ + s (ρ z + √(1-ρ²) ε) with z standardised over Ω, so that μ and s are the mean and the
standard deviation over Ω and ρ is the correlation. Prior: μ flat; s with density s⁻², under which
the posterior median has the smallest expected error relative to s; ρ = 0 with probability 1/2 and
uniform on (-1, 1) otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from edgecil.estimation.distributions import invert
from edgecil.estimation.population import LEVEL, Interval
from edgecil.io.arrays import Floats

_SCALES = 60
_QUANTILE_GRID = 800
_NO_RELATION = 0.5
_AT_ONCE = 16  # sets of runs whose grids fit into the processor's cache
_MEDIAN = (0.5,)
_TAILS = ((1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0)

# The grid of ρ, shape (R, 1): sines of equidistant angles, then 0; and its prior.
_STEP = np.pi / 61
_ANGLE = _STEP * (np.arange(61) + 0.5) - np.pi / 2.0
_RHO = np.append(np.sin(_ANGLE), 0.0)[:, None]
_PRIOR = np.append((1.0 - _NO_RELATION) * np.cos(_ANGLE) * _STEP / 2.0, _NO_RELATION)[:, None]
_UNEXPLAINED = 1.0 - _RHO**2


@dataclass(frozen=True, eq=False)
class Fits:
    """Fits of B sets of runs.

    Attributes:
        mean: (B,) posterior medians of μ.
        std: (B,) posterior medians of s.
        correlation: (B,) posterior means of ρ.
        mean_interval: of each μ; empty if not asked for, and so is the next.
        std_interval: of each s.
    """

    mean: Floats
    std: Floats
    correlation: Floats
    mean_interval: list[Interval]
    std_interval: list[Interval]


def fit(values: Floats, z: Floats, *, intervals: bool = False) -> Fits:
    """Fit accuracies to a predictor, both of shape (B, n), set by set.

    The intervals are those of the posterior under the prior s⁻¹, which cover as they claim if
    accuracy is normal and unrelated to the predictor; under s⁻² they would be too narrow.
    """
    parts = [
        _fit(values[start : start + _AT_ONCE], z[start : start + _AT_ONCE], intervals)
        for start in range(0, len(values), _AT_ONCE)
    ]
    return Fits(
        np.concatenate([part.mean for part in parts]),
        np.concatenate([part.std for part in parts]),
        np.concatenate([part.correlation for part in parts]),
        [interval for part in parts for interval in part.mean_interval],
        [interval for part in parts for interval in part.std_interval],
    )


def _fit(values: Floats, z: Floats, intervals: bool) -> Fits:
    low, high, probability = _posterior(values, z)
    scale = np.exp(_log_scales(low, high))
    std = _scale_quantiles(low, high, probability, _MEDIAN)[:, 0]
    centre = values.mean(axis=1)[:, None, None] - z.mean(axis=1)[:, None, None] * _RHO * scale
    blur = scale * np.sqrt(_UNEXPLAINED / values.shape[1])
    mean = np.array(
        [
            _blurred_quantiles(*cells, _MEDIAN)[0]
            for cells in zip(centre, blur, probability, strict=True)
        ]
    )
    correlation = (probability * _RHO).sum(axis=(1, 2))
    if not intervals:
        return Fits(mean, std, correlation, [], [])
    wider = probability * scale  # the prior s⁻¹ in place of s⁻²
    wider /= wider.sum(axis=(1, 2), keepdims=True)
    means = [_blurred_quantiles(*cells, _TAILS) for cells in zip(centre, blur, wider, strict=True)]
    stds = _scale_quantiles(low, high, wider, _TAILS).tolist()
    return Fits(mean, std, correlation, [(a, b) for a, b in means], [(a, b) for a, b in stds])


def _posterior(values: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
    """Ends of the grid of ln s for each ρ, (B, R, 1), and the probabilities, (B, R, S).

    For a given ρ the posterior of ln s has one mode, in closed form, around which its grid lies.
    """
    count = values.shape[1]
    a, x = (array - array.mean(axis=1, keepdims=True) for array in (values, z))
    aa, ax, xx = (
        (one * other).sum(axis=1)[:, None, None] for one, other in ((a, a), (a, x), (x, x))
    )
    ax = _RHO * ax
    mode = (ax + np.sqrt(ax**2 + 4.0 * count * _UNEXPLAINED * aa)) / (2.0 * aa)  # of 1/s
    width = np.sqrt(_UNEXPLAINED / (2.0 * aa * mode**2 - ax * mode))  # of ln s
    low, high = -np.log(mode) - 6.0 * width, -np.log(mode) + 10.0 * width
    log_s = _log_scales(low, high)
    t = np.exp(-log_s)
    misfit = (aa * t**2 - 2.0 * ax * t + _RHO**2 * xx) / _UNEXPLAINED
    # s^(1-n) is the likelihood's with μ integrated out, s^-2 the prior's, s that of d ln s.
    log = -count * log_s - 0.5 * (count - 1) * np.log(_UNEXPLAINED) - 0.5 * misfit
    log += np.log(_PRIOR * (high - low))
    posterior = np.exp(log - log.max(axis=(1, 2), keepdims=True))
    return low, high, posterior / posterior.sum(axis=(1, 2), keepdims=True)


def _log_scales(low: Floats, high: Floats) -> Floats:
    return low + (high - low) * np.linspace(0.0, 1.0, _SCALES)


def _scale_quantiles(low: Floats, high: Floats, weights: Floats, wanted: Sequence[float]) -> Floats:
    """Quantiles of s, shape (B, Q), given its grids and their weights, (B, R, S).

    The cdf is the sum over ρ of piecewise linear ones, at 800 points between the ends of all
    grids. Only those points are computed that a search for the quantile visits.
    """
    share = weights.sum(axis=2)
    kept = share > 1e-6
    mass = weights * (kept / (share * kept).sum(axis=1, keepdims=True))[:, :, None]
    reached = np.cumsum(mass, axis=2) - mass / 2.0
    start, length = low[:, :, 0], (high - low)[:, :, 0]
    least = np.where(kept, start, np.inf).min(axis=1)
    most = np.where(kept, start + length, -np.inf).max(axis=1)
    step = (most - least) / (_QUANTILE_GRID - 1)

    def cdf(place: Floats) -> Floats:
        """At points of the grid, shape (B,)."""
        position = ((least + step * place)[:, None] - start) / length * (_SCALES - 1)
        cell = position.clip(0.0, _SCALES - 1 - 1e-9).astype(np.int64)
        before = np.take_along_axis(reached, cell[:, :, None], axis=2)[:, :, 0]
        after = np.take_along_axis(reached, cell[:, :, None] + 1, axis=2)[:, :, 0]
        inside = before + (position - cell).clip(0.0, 1.0) * (after - before)
        return np.asarray((np.where(position < -1e-12, 0.0, inside) * kept).sum(axis=1))

    quantiles = []
    for probability in wanted:
        below, above = np.zeros(len(weights)), np.full(len(weights), _QUANTILE_GRID - 1.0)
        while (above - below > 1.0).any():
            middle = np.floor((below + above) / 2.0)
            under = cdf(middle) <= probability
            below, above = np.where(under, middle, below), np.where(under, above, middle)
        first, last = cdf(below), cdf(above)
        between = (probability - first) / np.maximum(last - first, 1e-300)
        quantiles.append(np.exp(least + step * (below + between.clip(0.0, 1.0))))
    return np.stack(quantiles, axis=1)


def _blurred_quantiles(
    centre: Floats, blur: Floats, weights: Floats, wanted: Sequence[float]
) -> list[float]:
    """Quantiles of a mixture of normal distributions with different widths."""
    keep = weights > 1e-4 * weights.max()
    centre, blur, weights = centre[keep], blur[keep], weights[keep] / weights[keep].sum()
    low = np.full(len(wanted), (centre - 9.0 * blur).min())
    high = np.full(len(wanted), (centre + 9.0 * blur).max())

    def curve(points: Floats) -> tuple[Floats, Floats]:
        z = (points[:, None] - centre) / blur
        density = np.exp(-0.5 * z**2) @ (weights / blur) / np.sqrt(2.0 * np.pi)
        return np.asarray(ndtr(z) @ weights), np.asarray(density)

    return [float(value) for value in invert(curve, np.array(wanted), low, high)]
