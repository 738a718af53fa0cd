"""From a few runs to the distribution of accuracy over all class orders.

An estimator sees the accuracies of n orders and, if it asks for one, a predictor's standardised
values there and over the whole space; it answers with a full distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, gammaln, ndtr, stdtrit

from edgecil.errors import UsageError, unknown
from edgecil.estimation.distributions import Distribution, invert
from edgecil.estimation.predictors import draws_blindly
from edgecil.io.arrays import Floats

Interval = tuple[float, float]
LEVEL = 0.9
# No claim is made about ends rarer than one order in this many.
_MOST_ORDERS = 100_000
_CORRELATIONS = 61
_SCALES = 60
_QUANTILE_GRID = 800
_NO_RELATION = 0.5


@dataclass(frozen=True, eq=False)
class Observations:
    """What was measured.

    Attributes:
        accuracies: (n,) per cent, one per order.
        z: (n,) the predictor there, in standard deviations over Ω; None without one.
        levels: (m,) its values over Ω and their weights; None without one.
        space_size: |Ω|, the number of all orders; None if it does not matter.
    """

    accuracies: Floats
    z: Floats | None = None
    levels: tuple[Floats, Floats] | None = None
    space_size: int | None = None


@dataclass(frozen=True)
class Estimate:
    """An estimated distribution of accuracy over Ω.

    Attributes:
        distribution: all of it.
        min: the worst order: of the runs made, or to be expected in the space.
        max: the best order, likewise.
        mean_interval: central 90 % interval of the distribution's mean; None if not to be had.
        std_interval: the same of its standard deviation.
    """

    distribution: Distribution
    min: float
    max: float
    mean_interval: Interval | None = None
    std_interval: Interval | None = None


@dataclass(frozen=True)
class Estimator:
    """A way to estimate.

    Attributes:
        name: how it is asked for.
        estimate: runs to estimate.
        least_runs: how few it can do with.
        needs_predictor: whether it asks for one.
        summary: one line on what it does.
        counts_repeats: whether an order that was run under two labels counts twice.
    """

    name: str
    estimate: Callable[[Observations], Estimate]
    least_runs: int
    needs_predictor: bool
    summary: str
    counts_repeats: bool = False

    def obstacle(self, runs: Observations) -> str | None:
        """Why it cannot estimate from these runs; None if it can."""
        count = len(runs.accuracies)
        if count < self.least_runs:
            return f"needs at least {self.least_runs} runs and has {count}"
        if self.needs_predictor:
            if runs.z is None or runs.levels is None:
                return "needs a predictor such as S, and none is known here"
            if not np.isfinite(runs.z).all():
                return "needs the predictor's value for every run, and some are not known"
            if len(runs.levels[0]) < 2:
                return "needs a predictor that tells sequences apart, and this one is constant"
        return None

    def __call__(self, runs: Observations) -> Estimate:
        """The estimate; an error where :meth:`obstacle` gives a reason."""
        reason = self.obstacle(runs)
        if reason is not None:
            raise UsageError(f"Estimator {self.name!r} {reason}.")
        return self.estimate(runs)


def unbiasing(count: int) -> float:
    """c4(n): what the sample standard deviation of n normal values is of the true one, on average.

    >>> round(unbiasing(3), 4)
    0.8862
    """
    return float(
        np.sqrt(2.0 / (count - 1.0)) * np.exp(gammaln(count / 2.0) - gammaln((count - 1.0) / 2.0))
    )


def gaussian(runs: Observations) -> Estimate:
    """The paper's: N(mean, std²) of the runs, std with ddof 0; the ends are those of the runs."""
    values = runs.accuracies
    return Estimate(
        Distribution.normal(float(values.mean()), float(values.std())),
        float(values.min()),
        float(values.max()),
    )


def gaussian_c4(runs: Observations) -> Estimate:
    """N(mean, s²/c4²): unbiased spread for orders drawn at random; intervals by t and χ²."""
    values = runs.accuracies
    count, mean, spread = len(values), float(values.mean()), float(values.std(ddof=1))
    tail = (1.0 - LEVEL) / 2.0
    reach = float(stdtrit(count - 1, 1.0 - tail) * spread / np.sqrt(count))
    low, high = (
        float(spread * np.sqrt((count - 1) / chdtri(count - 1, side)))
        for side in (tail, 1.0 - tail)
    )
    return Estimate(
        Distribution.normal(mean, spread / unbiasing(count)),
        float(values.min()),
        float(values.max()),
        (mean - reach, mean + reach),
        (low, high),
    )


def regression(runs: Observations) -> Estimate:
    """The predictor's known distribution pushed through a shrunken linear fit.

    a = μ + s (ρ z + √(1-ρ²) ε), with z standardised over Ω, so that μ and s are the mean and the
    standard deviation over Ω and ρ is the correlation. Prior: μ flat; s with density s⁻², under
    which the posterior median has the least expected error relative to s; ρ is 0 with probability
    1/2 and uniform on (-1, 1) otherwise. The posterior is summed on a grid. The estimate takes the
    medians of μ and s and the mean of ρ.
    """
    assert runs.z is not None
    assert runs.levels is not None
    values = runs.accuracies
    if values.max() - values.min() <= 1e-9:
        return gaussian(runs)
    correlation, scale, posterior = _posterior(values, runs.z)
    std, *std_interval = _quantiles(scale, posterior)
    centre = values.mean() - runs.z.mean() * correlation * scale
    blur = scale * np.sqrt((1.0 - correlation**2) / len(values))
    mean, *mean_interval = _blurred_quantiles(centre.ravel(), blur.ravel(), posterior.ravel())
    rho = float((posterior * correlation).sum())
    levels, weights = runs.levels
    distribution = Distribution(mean + std * rho * levels, weights, std * np.sqrt(1.0 - rho**2))
    return Estimate(
        distribution,
        *_ends(distribution, runs),
        (mean_interval[0], mean_interval[1]),
        (std_interval[0], std_interval[1]),
    )


def stratified(runs: Observations) -> Estimate:
    """Runs weighted by how much of Ω is nearest to them in the predictor, smoothed.

    The share of z's distribution that lies nearest to a run (shared where runs tie) is its weight,
    so that the two extremes stand for no more of the space than they do. Weighted mean and unbiased
    weighted variance, then a normal kernel (Silverman's width) around locations drawn in towards
    the mean, which keeps both.
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
    known = weights > 0.0
    distribution = Distribution(
        mean + unbiased * inwards * (values[known] - mean), weights[known], unbiased * width
    )
    return Estimate(distribution, *_ends(distribution, runs))


ESTIMATORS: dict[str, Estimator] = {
    known.name: known
    for known in (
        Estimator(
            "gaussian",
            gaussian,
            1,
            False,
            "the paper's N(μ, σ²), σ with ddof 0",
            counts_repeats=True,
        ),
        Estimator("gaussian-c4", gaussian_c4, 2, False, "N(μ, σ²) with σ unbiased for random runs"),
        Estimator("regression", regression, 2, True, "a predictor's distribution, fitted"),
        Estimator("stratified", stratified, 5, True, "runs weighted by their share of the space"),
    )
}


def get_estimator(name: str) -> Estimator:
    """The estimator of that name."""
    if name not in ESTIMATORS:
        raise unknown("estimator", name, ESTIMATORS)
    return ESTIMATORS[name]


def default_estimator(protocol: str) -> str:
    """Name of the estimator by which a protocol is compared with others.

    The unbiased one where the orders are drawn without a look at the classes, else the paper's:
    extremes overstate the spread already.
    """
    return "gaussian-c4" if draws_blindly(protocol) else "gaussian"


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
    """Median and both ends of the central interval of s, given its grids row by row."""
    rows = weights.sum(axis=1) > 1e-6
    log, mass = np.log(points[rows]), weights[rows] / weights[rows].sum()
    reached = np.cumsum(mass, axis=1) - mass / 2.0
    common = np.linspace(log.min(), log.max(), _QUANTILE_GRID)
    total = sum(
        np.interp(common, at, cdf, left=0.0, right=cdf[-1])
        for at, cdf in zip(log, reached, strict=True)
    )
    tail = (1.0 - LEVEL) / 2.0
    found = np.exp(np.interp([0.5, tail, 1.0 - tail], total, common))
    return [float(value) for value in found]


def _blurred_quantiles(centre: Floats, blur: Floats, weights: Floats) -> list[float]:
    """The same of a mixture of normals of many widths."""
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
    """Of each run, the weight of the levels it is nearest to; runs at one distance share."""
    distance = np.abs(levels[:, None] - z[None, :])
    nearest = distance <= distance.min(axis=1, keepdims=True) + 1e-9
    shares: Floats = (weights[:, None] * nearest / nearest.sum(axis=1, keepdims=True)).sum(axis=0)
    return shares


def _ends(distribution: Distribution, runs: Observations) -> Interval:
    """Worst and best to expect of the space: medians of the extremes of |Ω| draws, in [0, 100].

    The runs made are of the space, so the ends never lie inside them.
    """
    draws = min(runs.space_size or _MOST_ORDERS, _MOST_ORDERS)
    tail = -np.expm1(-np.log(2.0) / draws)
    low, high = distribution.quantile(np.array([tail, 1.0 - tail]))
    least, most = runs.accuracies.min(), runs.accuracies.max()
    return float(min(max(low, 0.0), least)), float(max(min(high, 100.0), most))
