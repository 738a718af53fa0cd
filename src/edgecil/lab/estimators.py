"""Estimators of the distribution over all class orders, by name: those compared with the truth.

An estimator gets the accuracies of n orders and, if it requires a predictor, the predictor's
standardised values for these orders and over the whole space. It returns a full distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from edgecil.errors import UsageError, unknown
from edgecil.estimation.distributions import SAME, Distribution, smooth, unbiasing
from edgecil.estimation.population import (
    Interval,
    Posterior,
    evidence,
    measured_prior,
    posterior,
)
from edgecil.io.arrays import Floats
from edgecil.lab.linear_fit import Fits, fit

Levels = tuple[Floats, Floats]  # a predictor's values over Ω, and their weights


@dataclass(frozen=True, eq=False)
class Observations:
    """Accuracies that were measured, and the predictor's values for the same orders.

    For :meth:`Estimator.estimates` the arrays have a further first axis, for B sets of runs.

    Attributes:
        accuracies: (n,) per cent, one per order.
        z: (n,) the predictor's values, standardised over Ω; None without a predictor.
        levels: (m,) its values over Ω and their weights, for all sets of runs; None without a
            predictor.
        space_size: |Ω|, the number of all orders; None if it does not matter.
        overlap: (n, n) agreement of a Latin design's orders on positions, from
            :func:`~edgecil.sequences.overlap.position_overlap`; None for other orders.
        class_variance: the variance that accuracies would have if classes varied independently of
            each other, from :func:`independent_variance`; None if it is unknown.
    """

    accuracies: Floats
    z: Floats | None = None
    levels: Levels | None = None
    space_size: int | None = None
    overlap: Floats | None = None
    class_variance: float | Floats | None = None


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
        estimate: the function from observations to an estimate; with `intervals=False` it leaves
            these out, which is faster.
        least_runs: the smallest number of runs that it accepts.
        needs_predictor: whether it requires a predictor.
        summary: what it does, in one line.
        counts_repeats: whether an order that was run under two labels counts twice.
        few_draws: whether redraws are limited to 200, because each takes long.
        many: what :meth:`estimates` does at once, with or without intervals; None if it estimates
            one by one.
    """

    name: str
    estimate: Callable[..., Estimate]
    least_runs: int
    needs_predictor: bool
    summary: str
    counts_repeats: bool = False
    few_draws: bool = False
    many: Callable[[Observations, bool], list[Estimate]] | None = None

    def obstacle(self, runs: Observations) -> str | None:
        """Return why the estimator cannot use these observations; None if it can."""
        count = runs.accuracies.shape[-1]
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
        """Return the estimate; an error if :meth:`obstacle` gives a reason."""
        reason = self.obstacle(runs)
        if reason is not None:
            raise UsageError(f"Estimator {self.name!r} {reason}.")
        return self.estimate(runs)

    def estimates(self, runs: Observations, *, intervals: bool = False) -> list[Estimate]:
        """Estimate from B >= 1 sets of runs at once, by default without intervals."""
        reason = self.obstacle(runs)
        if reason is not None:
            raise UsageError(f"Estimator {self.name!r} {reason}.")
        if self.many is not None:
            return self.many(runs, intervals)
        rows = (
            replace(
                runs,
                accuracies=values,
                z=None if runs.z is None else runs.z[row],
                overlap=None if runs.overlap is None else runs.overlap[row],
                class_variance=None
                if runs.class_variance is None
                else np.asarray(runs.class_variance)[row],
            )
            for row, values in enumerate(runs.accuracies)
        )
        return [
            self.estimate(row) if intervals else self.estimate(row, intervals=False) for row in rows
        ]


def gaussian(runs: Observations, *, intervals: bool = True) -> Estimate:
    """Return the paper's estimate: N(mean, std²) of the runs (ddof 0), extremes as observed."""
    values = runs.accuracies
    return Estimate(
        Distribution.normal(float(values.mean()), float(values.std())),
        float(values.min()),
        float(values.max()),
    )


def gaussian_c4(runs: Observations, *, intervals: bool = True) -> Estimate:
    """N(mean, (s/c4)²), whose standard deviation is unbiased for random orders.

    The intervals are those of :mod:`edgecil.estimation.population`.
    """
    values = runs.accuracies
    count, mean, spread = len(values), float(values.mean()), float(values.std(ddof=1))
    return Estimate(
        Distribution.normal(mean, spread / unbiasing(count)),
        float(values.min()),
        float(values.max()),
        *(_intervals(runs) if intervals else ()),
    )


def smoothed(runs: Observations, *, intervals: bool = True) -> Estimate:
    """Return :func:`edgecil.estimation.distributions.smooth` of the runs, with intervals."""
    values = runs.accuracies
    ends = float(values.min()), float(values.max())
    distribution = smooth(values, float(_posterior(runs).std), runs.space_size)
    return Estimate(distribution, *ends, *(_intervals(runs) if intervals else ()))


def regression(runs: Observations, *, intervals: bool = True) -> Estimate:
    """Return the predictor's distribution over Ω, mapped by a Bayesian linear fit of accuracy.

    The estimate takes the posterior medians of mean and standard deviation and the posterior mean
    of the correlation; the model is that of :mod:`edgecil.lab.linear_fit`.
    """
    assert runs.z is not None
    assert runs.levels is not None
    values = runs.accuracies
    if np.ptp(values) <= SAME:
        return gaussian(runs)
    made = fit(values[None], runs.z[None], intervals=intervals)
    (estimate,) = _fitted(made, values[None], runs.levels)
    if not intervals:
        return estimate
    return replace(estimate, mean_interval=made.mean_interval[0], std_interval=made.std_interval[0])


def _regressions(runs: Observations, intervals: bool) -> list[Estimate]:
    """:func:`regression` of each set of runs."""
    values, z, levels = runs.accuracies, runs.z, runs.levels
    assert z is not None
    assert levels is not None
    estimates = _gaussians(runs, False)
    varied = np.flatnonzero(np.ptp(values, axis=1) > SAME)
    if not varied.size:
        return estimates
    fits = fit(values[varied], z[varied], intervals=intervals)
    made = _fitted(fits, values[varied], levels)
    if intervals:
        ends = fits.mean_interval, fits.std_interval
        made = [
            replace(one, mean_interval=mean, std_interval=std)
            for one, mean, std in zip(made, *ends, strict=True)
        ]
    for place, estimate in zip(varied, made, strict=True):
        estimates[place] = estimate
    return estimates


def _fitted(made: Fits, values: Floats, levels: Levels) -> list[Estimate]:
    """Return estimates from fits of the rows of `values`."""
    points, weights = levels
    return [
        Estimate(
            Distribution(mean + std * rho * points, weights, std * np.sqrt(1.0 - rho**2)), low, high
        )
        for mean, std, rho, low, high in zip(
            *(made.mean.tolist(), made.std.tolist(), made.correlation.tolist()),
            *(values.min(axis=1).tolist(), values.max(axis=1).tolist()),
            strict=True,
        )
    ]


def _gaussians(runs: Observations, intervals: bool) -> list[Estimate]:
    """:func:`gaussian` of each set of runs."""
    return _normals(runs.accuracies, runs.accuracies.std(axis=1))


def _gaussians_c4(runs: Observations, intervals: bool) -> list[Estimate]:
    """:func:`gaussian_c4` of each set of runs."""
    values = runs.accuracies
    made = _normals(values, values.std(axis=1, ddof=1) / unbiasing(values.shape[1]))
    return _with_intervals(made, runs) if intervals else made


def _normals(values: Floats, stds: Floats) -> list[Estimate]:
    numbers = (values.mean(axis=1), stds, values.min(axis=1), values.max(axis=1))
    return [
        Estimate(Distribution.normal(mean, std), low, high)
        for mean, std, low, high in zip(*(array.tolist() for array in numbers), strict=True)
    ]


def _smootheds(runs: Observations, intervals: bool) -> list[Estimate]:
    """:func:`smoothed` of each set of runs."""
    values = runs.accuracies
    ends = values.min(axis=1).tolist(), values.max(axis=1).tolist()
    stds = _posterior(runs).std.tolist()
    made = [
        Estimate(smooth(row, std, runs.space_size), *own)
        for row, std, *own in zip(values, stds, *ends, strict=True)
    ]
    return _with_intervals(made, runs) if intervals else made


def _posterior(runs: Observations) -> Posterior:
    """Return what runs say about the population."""
    correlation, prior = None, measured_prior()
    if runs.overlap is not None:
        share = prior.position_share
        correlation = (1.0 - share) * np.eye(runs.accuracies.shape[-1]) + share * runs.overlap
    return posterior(
        evidence(runs.accuracies, correlation=correlation),
        prior=prior,
        class_variance=runs.class_variance,
    )


def _intervals(runs: Observations) -> tuple[Interval, Interval, Interval]:
    """Return intervals of the mean, the standard deviation and the next run."""
    known = _posterior(runs)
    return known.interval("mean"), known.interval("std"), known.interval("next")


def _with_intervals(estimates: Sequence[Estimate], runs: Observations) -> list[Estimate]:
    """Return estimates from B sets of runs with the intervals that :func:`_intervals` gives."""
    known = _posterior(runs)
    ends = np.stack([known.ends("mean"), known.ends("std"), known.ends("next")])
    rows = ends.transpose(2, 0, 1).tolist()  # set, kind, end
    return [
        replace(
            one,
            mean_interval=(row[0][0], row[0][1]),
            std_interval=(row[1][0], row[1][1]),
            prediction_interval=(row[2][0], row[2][1]),
        )
        for one, row in zip(estimates, rows, strict=True)
    ]


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
            many=_gaussians,
        ),
        Estimator(
            "gaussian-c4",
            gaussian_c4,
            2,
            False,
            "N(μ, σ²) with σ unbiased for random runs",
            many=_gaussians_c4,
        ),
        Estimator(
            "smoothed",
            smoothed,
            2,
            False,
            "the runs smoothed by a normal kernel",
            few_draws=True,
            many=_smootheds,
        ),
        Estimator(
            "regression",
            regression,
            2,
            True,
            "a predictor's distribution, fitted",
            few_draws=True,
            many=_regressions,
        ),
    )
}


def get_estimator(name: str) -> Estimator:
    """Return the estimator of that name."""
    if name not in ESTIMATORS:
        raise unknown("estimator", name, ESTIMATORS)
    return ESTIMATORS[name]
