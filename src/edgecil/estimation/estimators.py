"""From a few runs to the distribution of accuracy over all class orders.

An estimator gets the accuracies of n orders and, if it requires a predictor, the predictor's
standardised values for these orders and over the whole space. It returns a full distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, ndtr

from edgecil.errors import UsageError, unknown
from edgecil.estimation.distances import SAME
from edgecil.estimation.distributions import Distribution, invert
from edgecil.estimation.intervals import LEVEL, Interval, posterior
from edgecil.io.arrays import Floats

_CORRELATIONS = 61
_SCALES = 60
_QUANTILE_GRID = 800
_NO_RELATION = 0.5
_KERNEL = 0.6
_SMOOTHED_FROM = 5


@dataclass(frozen=True, eq=False)
class Observations:
    """Accuracies that were measured, and the predictor's values for the same orders.

    Attributes:
        accuracies: (n,) per cent, one per order.
        z: (n,) the predictor's values, standardised over Ω; None without a predictor.
        levels: (m,) its values over Ω and their weights; None without a predictor.
        space_size: |Ω|, the number of all orders; None if it does not matter.
        overlap: (n, n) agreement of a Latin design's orders on positions, from
            :func:`~edgecil.estimation.intervals.position_overlap`; None for other orders.
    """

    accuracies: Floats
    z: Floats | None = None
    levels: tuple[Floats, Floats] | None = None
    space_size: int | None = None
    overlap: Floats | None = None


@dataclass(frozen=True)
class Estimate:
    """An estimated distribution of accuracy over Ω.

    Attributes:
        distribution: all of it.
        min: the lowest accuracy observed.
        max: the highest accuracy observed.
        mean_interval: central 90 % interval of the distribution's mean; None if there is none.
        std_interval: the same of its standard deviation.
        prediction_interval: contains the accuracy of the next random order with probability 90 %;
            None if there is none.
    """

    distribution: Distribution
    min: float
    max: float
    mean_interval: Interval | None = None
    std_interval: Interval | None = None
    prediction_interval: Interval | None = None


@dataclass(frozen=True)
class Estimator:
    """A way to estimate.

    Attributes:
        name: its name in :data:`ESTIMATORS`.
        estimate: the function from observations to an estimate.
        least_runs: the smallest number of runs that it accepts.
        needs_predictor: whether it requires a predictor.
        summary: what it does, in one line.
        counts_repeats: whether an order that was run under two labels counts twice.
        few_draws: whether redraws are limited to 200, because each takes milliseconds.
    """

    name: str
    estimate: Callable[[Observations], Estimate]
    least_runs: int
    needs_predictor: bool
    summary: str
    counts_repeats: bool = False
    few_draws: bool = False

    def obstacle(self, runs: Observations) -> str | None:
        """Why it cannot estimate from these observations; None if it can."""
        count = len(runs.accuracies)
        if count < self.least_runs:
            return f"requires at least {self.least_runs} runs; got {count}"
        if self.needs_predictor:
            if runs.z is None or runs.levels is None:
                return "requires a predictor such as S, and there is none"
            if not np.isfinite(runs.z).all():
                return "requires the predictor's value for every run, and some are missing"
            if len(runs.levels[0]) < 2:
                return "requires a predictor that varies, and this one is constant"
        return None

    def __call__(self, runs: Observations) -> Estimate:
        """The estimate; an error if :meth:`obstacle` gives a reason."""
        reason = self.obstacle(runs)
        if reason is not None:
            raise UsageError(f"Estimator {self.name!r} {reason}.")
        return self.estimate(runs)


def unbiasing(count: int) -> float:
    """c4(n) = E[s] / σ for the sample standard deviation s of n normal values.

    c4(n) = √(2/(n-1)) Γ(n/2) / Γ((n-1)/2).

    >>> round(unbiasing(3), 4)
    0.8862
    """
    return float(
        np.sqrt(2.0 / (count - 1.0)) * np.exp(gammaln(count / 2.0) - gammaln((count - 1.0) / 2.0))
    )


def gaussian(runs: Observations) -> Estimate:
    """The paper's estimate: N(mean, std²) of the runs, std with ddof 0; extremes as observed."""
    values = runs.accuracies
    return Estimate(
        Distribution.normal(float(values.mean()), float(values.std())),
        float(values.min()),
        float(values.max()),
    )


def gaussian_c4(runs: Observations) -> Estimate:
    """N(mean, (s/c4)²), whose standard deviation is unbiased for random orders.

    The intervals are those of :mod:`edgecil.estimation.intervals`.
    """
    values = runs.accuracies
    count, mean, spread = len(values), float(values.mean()), float(values.std(ddof=1))
    return Estimate(
        Distribution.normal(mean, spread / unbiasing(count)),
        float(values.min()),
        float(values.max()),
        *_intervals(runs),
    )


def smoothed(runs: Observations) -> Estimate:
    """The runs with equal weights, smoothed by a normal kernel; mean and variance are kept.

    The kernel has 0.6 times Silverman's width, 1.06 s n^(-1/5), and every run is moved towards the
    mean by the factor √(1 - width²/s²), so that the variance is s² (with ddof 0). With 0.6 and ddof
    0 the mean W₁ was smallest at 3 to 10 random orders, over normal, skewed and bimodal truths and
    those of the demo. The intervals are those of :mod:`edgecil.estimation.intervals`.
    """
    values = runs.accuracies
    mean, spread = float(values.mean()), float(values.std())
    width = _KERNEL * 1.06 * spread * len(values) ** -0.2
    inwards = np.sqrt(1.0 - (width / spread) ** 2) if spread > 0.0 else 0.0
    return Estimate(
        Distribution(mean + inwards * (values - mean), np.ones(len(values)), width),
        float(values.min()),
        float(values.max()),
        *_intervals(runs),
    )


def regression(runs: Observations) -> Estimate:
    """The predictor's distribution over Ω, mapped by a Bayesian linear fit of accuracy.

    Model: a = μ + s (ρ z + √(1-ρ²) ε) with z standardised over Ω, so that μ and s are the mean and
    the standard deviation over Ω and ρ is the correlation. Prior: μ flat; s with density s⁻², under
    which the posterior median has the smallest expected error relative to s; ρ = 0 with probability
    1/2 and uniform on (-1, 1) otherwise. The posterior is computed on a grid. The estimate takes
    the posterior medians of μ and s and the posterior mean of ρ. The intervals are those of the
    posterior under the prior s⁻¹, which cover as they claim if accuracy is normal and unrelated to
    the predictor; under s⁻² they would be too narrow.
    """
    assert runs.z is not None
    assert runs.levels is not None
    values = runs.accuracies
    if np.ptp(values) <= SAME:
        return gaussian(runs)
    correlation, scale, probability = _posterior(values, runs.z)
    std, *_ = _quantiles(scale, probability)
    centre = values.mean() - runs.z.mean() * correlation * scale
    blur = scale * np.sqrt((1.0 - correlation**2) / len(values))
    mean, *_ = _blurred_quantiles(centre.ravel(), blur.ravel(), probability.ravel())
    wider = probability * scale  # the prior s⁻¹ in place of s⁻²
    wider /= wider.sum()
    _, *std_interval = _quantiles(scale, wider)
    _, *mean_interval = _blurred_quantiles(centre.ravel(), blur.ravel(), wider.ravel())
    rho = float((probability * correlation).sum())
    levels, weights = runs.levels
    distribution = Distribution(mean + std * rho * levels, weights, std * np.sqrt(1.0 - rho**2))
    return Estimate(
        distribution,
        float(values.min()),
        float(values.max()),
        (mean_interval[0], mean_interval[1]),
        (std_interval[0], std_interval[1]),
    )


def stratified(runs: Observations) -> Estimate:
    """Runs weighted by the share of Ω that is nearest to them in the predictor, smoothed.

    A run's weight is the share of z's distribution that lies nearest to it (runs at the same
    distance divide it), so that extreme sequences represent only their part of the space. The
    estimate has the weighted mean and the unbiased weighted variance. It is smoothed by a normal
    kernel of Silverman's width, 1.06 s n^(-1/5) with the effective n = 1 / Σ w²; locations are
    moved towards the mean so that the variance is kept.
    """
    assert runs.z is not None
    assert runs.levels is not None
    values, weights = runs.accuracies, _nearest_shares(runs.z, *runs.levels)
    mean = float(weights @ values)
    effective = 1.0 / float(weights @ weights)
    variance = float(weights @ (values - mean) ** 2)
    width = 1.06 * np.sqrt(variance) * effective**-0.2
    inwards = np.sqrt(max(0.0, 1.0 - width**2 / variance)) if variance > 0.0 else 0.0
    unbiased = np.sqrt(effective / (effective - 1.0)) if effective > 1.0 + 1e-9 else 1.0
    used = weights > 0.0
    distribution = Distribution(
        mean + unbiased * inwards * (values[used] - mean), weights[used], unbiased * width
    )
    return Estimate(distribution, float(values.min()), float(values.max()))


ESTIMATORS: dict[str, Estimator] = {
    estimator.name: estimator
    for estimator in (
        Estimator(
            "gaussian",
            gaussian,
            1,
            False,
            "the paper's N(μ, σ²), σ with ddof 0",
            counts_repeats=True,
        ),
        Estimator("gaussian-c4", gaussian_c4, 2, False, "N(μ, σ²) with σ unbiased for random runs"),
        Estimator(
            "smoothed",
            smoothed,
            2,
            False,
            "the runs smoothed by a normal kernel",
            few_draws=True,
        ),
        Estimator(
            "regression",
            regression,
            2,
            True,
            "a predictor's distribution, fitted",
            few_draws=True,
        ),
        Estimator(
            "stratified",
            stratified,
            5,
            True,
            "runs weighted by their share of the space",
            few_draws=True,
        ),
    )
}


def get_estimator(name: str) -> Estimator:
    """The estimator of that name."""
    if name not in ESTIMATORS:
        raise unknown("estimator", name, ESTIMATORS)
    return ESTIMATORS[name]


def default_estimator(runs: int) -> str:
    """Name of the estimator that stands for a protocol with this number of runs.

    It is the same for every protocol, so that protocols are compared by one estimator: `smoothed`
    from 5 runs on, the paper's `gaussian` below. These have the smallest mean W₁ on truth tables.

    >>> default_estimator(3), default_estimator(5)
    ('gaussian', 'smoothed')
    """
    return "smoothed" if runs >= _SMOOTHED_FROM else "gaussian"


def _intervals(runs: Observations) -> tuple[Interval | None, Interval | None, Interval | None]:
    """Intervals of the mean, the standard deviation and the next order."""
    made = posterior(runs.accuracies, overlap=runs.overlap, space_size=runs.space_size)
    if made is None:
        return None, None, None
    return made.mean_interval(), made.std_interval(), made.next_interval()


def _posterior(values: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
    """Grids of ρ, shape (R, 1), and of s for each ρ, shape (R, S), and their probabilities (R, S).

    For a given ρ the posterior of ln s has one mode, in closed form, around which its grid lies.
    """
    count, a, x = len(values), values - values.mean(), z - z.mean()
    step = np.pi / _CORRELATIONS
    angle = step * (np.arange(_CORRELATIONS) + 0.5) - np.pi / 2.0
    rho = np.append(np.sin(angle), 0.0)[:, None]
    prior = np.append((1.0 - _NO_RELATION) * np.cos(angle) * step / 2.0, _NO_RELATION)[:, None]
    unexplained = 1.0 - rho**2
    aa, ax = a @ a, rho * (a @ x)
    mode = (ax + np.sqrt(ax**2 + 4.0 * count * unexplained * aa)) / (2.0 * aa)  # of 1/s
    width = np.sqrt(unexplained / (2.0 * aa * mode**2 - ax * mode))  # of ln s
    low, high = -np.log(mode) - 6.0 * width, -np.log(mode) + 10.0 * width
    log_s = low + (high - low) * np.linspace(0.0, 1.0, _SCALES)
    t = np.exp(-log_s)
    misfit = (aa * t**2 - 2.0 * ax * t + rho**2 * (x @ x)) / unexplained
    # s^(1-n) is the likelihood's with μ integrated out, s^-2 the prior's, s that of d ln s.
    log = -count * log_s - 0.5 * (count - 1) * np.log(unexplained) - 0.5 * misfit
    log += np.log(prior * (high - low))
    posterior = np.exp(log - log.max())
    return rho, np.exp(log_s), posterior / posterior.sum()


def _quantiles(points: Floats, weights: Floats) -> list[float]:
    """Median and both ends of the central 90 % interval of s, given its grids row by row."""
    rows = weights.sum(axis=1) > 1e-6
    log, mass = np.log(points[rows]), weights[rows] / weights[rows].sum()
    reached = np.cumsum(mass, axis=1) - mass / 2.0
    common = np.linspace(log.min(), log.max(), _QUANTILE_GRID)
    total = sum(
        np.interp(common, at, cdf, left=0.0, right=cdf[-1])
        for at, cdf in zip(log, reached, strict=True)
    )
    tail = (1.0 - LEVEL) / 2.0
    quantiles = np.exp(np.interp([0.5, tail, 1.0 - tail], total, common))
    return [float(value) for value in quantiles]


def _blurred_quantiles(centre: Floats, blur: Floats, weights: Floats) -> list[float]:
    """The same of a mixture of normal distributions with different widths."""
    keep = weights > 1e-4 * weights.max()
    centre, blur, weights = centre[keep], blur[keep], weights[keep] / weights[keep].sum()
    tail = (1.0 - LEVEL) / 2.0
    wanted = np.array([0.5, tail, 1.0 - tail])
    low = np.full(3, (centre - 9.0 * blur).min())
    high = np.full(3, (centre + 9.0 * blur).max())

    def curve(points: Floats) -> tuple[Floats, Floats]:
        z = (points[:, None] - centre) / blur
        density = np.exp(-0.5 * z**2) @ (weights / blur) / np.sqrt(2.0 * np.pi)
        return np.asarray(ndtr(z) @ weights), np.asarray(density)

    return [float(value) for value in invert(curve, wanted, low, high)]


def _nearest_shares(z: Floats, levels: Floats, weights: Floats) -> Floats:
    """For each run, the weight of the levels nearest to it; runs at the same distance share."""
    distance = np.abs(levels[:, None] - z[None, :])
    nearest = distance <= distance.min(axis=1, keepdims=True) + 1e-9
    shares: Floats = (weights[:, None] * nearest / nearest.sum(axis=1, keepdims=True)).sum(axis=0)
    return shares
