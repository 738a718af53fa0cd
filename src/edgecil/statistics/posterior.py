"""One population, a new class order and a new training: what a few runs say about it.

accuracy = mean + order + training, normal and nested: a run is one order trained once, σ is the
standard deviation of a run, and a share h of its variance comes from the training. Repeats of an
order separate the two; without repeats the split does not matter, because every run has its own
order and its own training. Orders of a Latin design are treated as random ones: their mean is
somewhat more accurate than claimed, and on truth tables claims hold as often as they say.

The mean has a flat prior. log σ is flat over the range that it has on truth tables and falls off
outside, so that a few nearly equal runs do not give a needle; where accuracies of single classes
are known, they say more about σ. Everything else is integrated on a small grid. All functions take
a batch of B samples at once: arrays of shape (B, n) in place of (n,).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from edgecil.io.arrays import Bools, Floats, Ints
from edgecil.io.json import read_typed_json
from edgecil.statistics.inversion import bisect, invert
from edgecil.statistics.student import Sample, Student
from edgecil.statistics.verdicts import LEVEL

Interval = tuple[float, float]
Quantity = Literal["mean", "std", "next", "tail"]

TAIL = 0.05
SCHEMA = "edgecil.priors/3"
FILE = Path(__file__).with_name("priors.json")

# Equally likely: learners differ so much that no share of the training may be assumed.
_SHARES: Floats = 1.0 / (1.0 + np.exp(-np.arange(-6.0, 7.0)))
_COARSE, _FINE = 90, 48
_STEPS = 44
_OPEN = 4.0  # the prior falls off so much more slowly above the range than below it
_TINY = 1e-12
_SAME_PROBABILITY = 0.01  # by which the model may differ from Student's t to be called by its name


@dataclass(frozen=True)
class Prior:
    """What truth tables say before the first run; `python -m edgecil.lab calibrate` measures it.

    Attributes:
        command: that measured it.
        truths: number of learners and class sets that it was measured on.
        std_range: least and greatest standard deviation of a run, points.
        std_edge: scale in log σ of the decline outside this range.
        class_ratio: σ² as a multiple of the variance that independent classes would give.
        class_scale: scale of the Cauchy distribution of log σ around what classes suggest: most
            learners are near it, a few far from it.
        seed_share: equally likely variances, in σ², of the effect that one seed has on all orders
            alike. They matter only where all runs share one training seed.
        tail_place: standard deviations from the mean to the tail, the usual number.
        tail_far: the largest number, of learners with rare bad runs.
        tail_weight: probability of such a learner before any run.
        tail_slope: how much further away the tail is for each unit of skewness, in σ.
    """

    command: str
    truths: int
    std_range: tuple[float, float]
    std_edge: float
    class_ratio: float
    class_scale: float
    seed_share: tuple[float, ...]
    tail_place: float
    tail_far: float
    tail_weight: float
    tail_slope: float


@lru_cache(maxsize=1)
def measured_prior() -> Prior:
    """Return the prior that comes with the package, for accuracies in per cent."""
    return read_typed_json(FILE, Prior, SCHEMA)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the likelihood needs of the runs, for each of m supposed training shares.

    Attributes:
        order_count: n.
        freedom: degrees of freedom of σ.
        shares: (m,) values of h.
        centre: (…, m) generalised least squares estimate of the mean.
        precision: (m,) σ² over the variance of `centre`.
        misfit: (…, m) sum of squares around `centre`, in units in which it is σ² χ².
        log_determinant: (m,) of the covariance, and of `precision`.
        skewness: (…) of the runs.
        kurtosis: (…) excess kurtosis of the runs, at least 0.
        mean: (…) of the orders, which weigh the same.
        squares: (…) sum of squares of the orders around it.
    """

    order_count: int
    freedom: int
    shares: Floats
    centre: Floats
    precision: Floats
    misfit: Floats
    log_determinant: Floats
    skewness: Floats
    kurtosis: Floats
    mean: Floats
    squares: Floats

    @property
    def has_repeats(self) -> bool:
        """Whether some order was trained more than once."""
        return self.freedom > self.order_count - 1

    @property
    def error(self) -> Floats:
        """The standard error of the mean of the orders, (…)."""
        variance = self.squares / (self.order_count - 1)
        return np.asarray(np.sqrt(np.maximum(variance, _TINY**2) / self.order_count))

    @property
    def shape_weight(self) -> float:
        """The weight of skewness and kurtosis: how far the runs show their shape, below 1."""
        return self.order_count / (self.order_count + 20.0)


def evidence(
    values: ArrayLike, *, repeats: ArrayLike | None = None, within: ArrayLike = 0.0
) -> Evidence:
    """Summarise the runs of n >= 1 orders.

    Args:
        values: (…, n) accuracy of each order, the mean over its trainings.
        repeats: (n,) number of trainings of each order; 1 by default.
        within: (…) sum of squares of all trainings around the means of their orders.
    """
    y = np.asarray(values, dtype=np.float64)
    count = y.shape[-1]
    times = np.ones(count) if repeats is None else np.asarray(repeats, dtype=np.float64)
    extra = int(times.sum()) - count
    shares = _SHARES if extra else _SHARES[:1]
    variance = (1.0 - shares[:, None]) + shares[:, None] / times
    weights = 1.0 / variance
    precision = weights.sum(axis=-1)
    centre = (weights * y[..., None, :]).sum(axis=-1) / precision
    misfit = (weights * (y[..., None, :] - centre[..., None]) ** 2).sum(axis=-1)
    mean = y.mean(axis=-1, keepdims=True)
    z = y - mean
    second = np.maximum((z**2).mean(axis=-1), _TINY)
    return Evidence(
        count,
        count - 1 + extra,
        shares,
        centre,
        precision,
        misfit + np.asarray(within)[..., None] / shares,
        np.log(variance).sum(axis=-1) + extra * np.log(shares) + np.log(precision),
        (z**3).mean(axis=-1) / second**1.5,
        np.maximum((z**4).mean(axis=-1) / second**2 - 3.0, 0.0),
        mean[..., 0],
        (z**2).sum(axis=-1),
    )


def independent_variance(class_accuracies: Floats, tasks: Ints) -> Floats:
    """Return the variance of the mean over classes if classes varied independently, shape (…).

    N classes tell more about the spread over runs than the n means of the classes alone. The mean
    of each class and of each position is taken off first: that the classes of the last task fare
    best does not change the mean over classes.

    Args:
        class_accuracies: (…, n, N) final accuracy of every class in n >= 2 runs.
        tasks: (…, n, N) number of the task in which it comes.
    """
    rest = class_accuracies - class_accuracies.mean(axis=-2, keepdims=True)
    count, classes = rest.shape[-2:]
    positions = int(tasks.max()) + 1
    for position in range(positions):
        here = tasks == position
        share = here.sum(axis=(-1, -2), keepdims=True)
        rest = rest - here * ((rest * here).sum(axis=(-1, -2), keepdims=True) / share)
    freedom = max((count - 1) * classes - (positions - 1), 1)
    return np.asarray((rest**2).sum(axis=(-1, -2)) / freedom / classes)


@dataclass(frozen=True, eq=False)
class Posterior:
    """Mean, standard deviation, next run and tail of the population, given some runs.

    Each is a mixture over a grid of S values of σ and C further components.

    Attributes:
        log_std: (…, S) grid of log σ, with equal steps.
        weights: (…, S, C) summing to 1.
        centre: (…, 1, C) of the mean.
        mean_variance: (…, 1, C) of the mean, in σ².
        extra: (…, 1, C) variance of a run beyond σ², in σ²: of the seed where all runs share one.
        evidence: the runs.
        prior: that was used; None if it was flat.
        class_variance: that was given.
        shared_seeds: number of training seeds that all orders share; 0 if seeds vary.
        is_student: (…) whether mean and next run have Student's distribution, since the prior
            hardly moves them; the mixture gives standard deviation and tail.
        textbook: whether Student's t was asked for.
    """

    log_std: Floats
    weights: Floats
    centre: Floats
    mean_variance: Floats
    extra: Floats
    evidence: Evidence
    prior: Prior | None
    class_variance: Floats | None
    shared_seeds: int
    is_student: Bools
    textbook: bool = False

    @property
    def mean(self) -> Floats:
        """The expected mean, (…)."""
        expected = np.asarray((self.weights * self.centre).sum(axis=(-1, -2)))
        return np.where(self.is_student, self.evidence.mean, expected)

    @property
    def sample(self) -> Sample | None:
        """The runs as a sample, if Student's t is what is said about their mean."""
        if not bool(self.is_student):
            return None
        runs = self.evidence
        std = float(np.sqrt(runs.squares / (runs.order_count - 1)))
        return Sample(float(runs.mean), std, runs.order_count)

    @property
    def std(self) -> Floats:
        """The median of the standard deviation of a run, (…)."""
        return self.quantile("std", 0.5)

    def cdf(self, quantity: Quantity, at: ArrayLike) -> Floats:
        """Return the probability that a quantity is below a value, (…)."""
        if quantity in ("mean", "next"):
            return self._below(quantity, at, 1.0)
        x = np.asarray(at, dtype=np.float64)[..., None, None]
        std = np.exp(self.log_std)[..., None]
        total = np.sqrt(1.0 + self.extra)
        if quantity == "std":
            step = (self.log_std[..., 1] - self.log_std[..., 0])[..., None, None]
            edge = self.log_std[..., None] - step / 2.0
            place = (np.log(np.maximum(x, _TINY) / total) - edge) / step
            return _sum(self.weights * np.clip(place, 0.0, 1.0))
        width, below = self._width("mean"), np.zeros(x.shape[:-2])
        for weight, place in _tail_places(self.evidence, self.prior or measured_prior()):
            reached = x + place[..., None, None] * std * total
            below = below + weight * _sum(self.weights * ndtr((reached - self.centre) / width))
        return below

    def above(self, quantity: Literal["mean", "next"], at: ArrayLike) -> Floats:
        """Return the probability that a quantity is above a value, exact also where it is tiny."""
        return self._below(quantity, at, -1.0)

    def _below(self, quantity: Literal["mean", "next"], at: ArrayLike, sign: float) -> Floats:
        """Return the probability that a quantity is below a value, or above it with sign -1."""
        value, student = np.asarray(at, dtype=np.float64), self._uses_student(quantity)
        if student.all():
            return self._student_below(quantity, value, sign)
        distance = sign * (value[..., None, None] - self.centre)
        mixture = _sum(self.weights * ndtr(distance / self._width(quantity)))
        if not student.any():
            return mixture
        return np.where(student, self._student_below(quantity, value, sign), mixture)

    def _uses_student(self, quantity: Quantity) -> Bools:
        """Return where Student's t is said of a quantity, (…): means of repeats are no runs."""
        return self.is_student & (quantity == "mean" or not self.evidence.has_repeats)

    def _student_below(self, quantity: Quantity, at: Floats, sign: float) -> Floats:
        distance = sign * (at - self.evidence.mean) / self._student_error(quantity)
        return np.asarray(stdtr(self.evidence.order_count - 1, distance))

    def _student_error(self, quantity: Quantity) -> Floats:
        runs = self.evidence
        return runs.error * (np.sqrt(1.0 + runs.order_count) if quantity == "next" else 1.0)

    def _width(self, quantity: Quantity) -> Floats:
        alone = 1.0 + self.extra if quantity == "next" else 0.0
        return np.asarray(np.exp(self.log_std)[..., None] * np.sqrt(self.mean_variance + alone))

    def quantile(self, quantity: Quantity, probability: float) -> Floats:
        """Return the value below which a quantity is with this probability, (…)."""
        far = np.exp(self.log_std[..., -1]) * 10.0
        low, high = self.mean - far, self.mean + far
        if quantity == "std":
            low, high = 0.0 * far, 2.0 * far
        if quantity in ("std", "tail"):
            low, high = bisect(
                lambda value: self.cdf(quantity, value) < probability, low, high, _STEPS
            )
            return np.asarray((low + high) / 2.0)
        places = stdtrit(self.evidence.order_count - 1, probability)
        student = self.evidence.mean + places * self._student_error(quantity)
        uses_student = self._uses_student(quantity)
        if uses_student.all():
            return np.asarray(student)
        width = self._width(quantity)

        def curve(at: Floats) -> tuple[Floats, Floats]:
            z = (at[..., None, None] - self.centre) / width
            density = np.exp(-0.5 * z**2) / (width * np.sqrt(2.0 * np.pi))
            return _sum(self.weights * ndtr(z)), _sum(self.weights * density)

        mixture = invert(curve, np.full(far.shape, probability), low, high)
        return np.where(uses_student, student, mixture)

    def ends(self, quantity: Quantity, level: float = LEVEL) -> tuple[Floats, Floats]:
        """Return both ends of the central interval, (…) each."""
        tail = (1.0 - level) / 2.0
        return self.quantile(quantity, tail), self.quantile(quantity, 1.0 - tail)

    def interval(self, quantity: Quantity, level: float = LEVEL) -> Interval:
        """Return the central interval that contains a quantity with this probability."""
        low, high = self.ends(quantity, level)
        return float(low), float(high)

    def half_width(self, level: float = LEVEL) -> Floats:
        """Return half the length of the mean's interval, (…)."""
        low, high = self.ends("mean", level)
        return np.asarray((high - low) / 2.0)

    def after(self, more: int, squares: ArrayLike) -> Posterior:
        """Return the posterior after more orders, trained once, that add to the sum of squares."""
        runs = self.evidence
        precision = runs.precision + more
        added = np.asarray(squares, dtype=np.float64)
        return posterior(
            replace(
                runs,
                order_count=runs.order_count + more,
                freedom=runs.freedom + more,
                precision=precision,
                misfit=runs.misfit + added[..., None],
                squares=runs.squares + added,
                log_determinant=runs.log_determinant - np.log(runs.precision) + np.log(precision),
            ),
            prior=self.prior,
            class_variance=self.class_variance,
            shared_seeds=self.shared_seeds,
            textbook=self.textbook,
        )


def posterior(
    runs: Evidence,
    *,
    prior: Prior | None,
    class_variance: ArrayLike | None = None,
    shared_seeds: int = 0,
    textbook: bool = False,
) -> Posterior:
    """Return what runs of at least 2 orders, or a repeated one, say about the population.

    Args:
        runs: from :func:`evidence`.
        prior: for accuracies in per cent; None for values of another unit: 1/σ, Jeffreys' prior,
            which makes the mean of orders that were trained once Student's t.
        class_variance: (…) from :func:`independent_variance`; None if it is unknown.
        shared_seeds: number of training seeds that all orders share, whose effect the runs cannot
            show; 0 if seeds vary with the order.
        textbook: have Student's t for mean and next run whatever the prior says. Otherwise it is
            what is said of orders that were trained once, if the model gives its 95 % interval a
            probability between 94 and 96 %: that is nearly always so, unless the standard deviation
            is at an end of the prior's range, classes say more about it, or there are outliers.
    """
    shape = prior or measured_prior()
    freedom, misfit = runs.freedom, np.maximum(runs.misfit, _TINY)
    sharpness = (1.0 / (1.0 + 0.5 * runs.shape_weight * runs.kurtosis))[..., None, None]
    between = None if class_variance is None else np.asarray(class_variance, dtype=np.float64)

    def density(log_std: Floats) -> Floats:
        squared = np.exp(2.0 * log_std)[..., None]
        log = -0.5 * runs.log_determinant[..., None, :] - freedom * log_std[..., None]
        log = sharpness * (log - misfit[..., None, :] / (2.0 * squared))
        if prior is not None:
            log = log + _log_prior(log_std, prior, between)[..., None]
        weights = np.exp(log - log.max(axis=(-1, -2), keepdims=True))
        return np.asarray(weights / weights.sum(axis=(-1, -2), keepdims=True))

    middle = 0.5 * np.log(misfit.mean(axis=-1) / freedom)
    if prior is None:
        log_std = middle[..., None] + np.linspace(-3.0, 6.0, _COARSE)
    else:
        low, high = (np.log(end) for end in prior.std_range)
        low, high = np.minimum(middle, low) - 3.0, np.maximum(middle, high) + 3.0
        log_std = low[..., None] + (high - low)[..., None] * np.linspace(0.0, 1.0, _COARSE)
    rough = density(log_std).sum(axis=-1)
    centre = (rough * log_std).sum(axis=-1, keepdims=True)
    scale = np.sqrt((rough * (log_std - centre) ** 2).sum(axis=-1, keepdims=True) + 1e-6)
    log_std = centre + scale * np.linspace(-5.0, 7.0, _FINE)
    weights = density(log_std)
    mean, variance = runs.centre[..., None, :], 1.0 / runs.precision[..., None, :]
    extra = np.zeros(1)
    if shared_seeds:
        times, extra = len(shape.seed_share), np.repeat(shape.seed_share, len(runs.shares))
        weights, mean = np.tile(weights / times, times), np.tile(mean, times)
        variance = np.tile(variance, times) + extra / shared_seeds
    is_plain = not (runs.has_repeats or shared_seeds or between is not None)
    is_certain = textbook or (prior is None and is_plain)
    made = Posterior(
        log_std,
        weights,
        mean,
        variance,
        extra,
        runs,
        prior,
        between,
        shared_seeds,
        np.full(runs.mean.shape, is_certain),
        textbook,
    )
    if is_certain or not is_plain:
        return made
    reach = stdtrit(runs.order_count - 1, 0.975) * runs.error
    inside = made.cdf("mean", runs.mean + reach) - made.cdf("mean", runs.mean - reach)
    return replace(made, is_student=np.abs(inside - 0.95) <= _SAME_PROBABILITY)


def _tail_places(runs: Evidence, prior: Prior) -> Iterator[tuple[float, Floats]]:
    """Yield probabilities and (…) supposed distances from the mean to the tail, in σ.

    With hundreds of orders it is as far as for a normal distribution, and further away where the
    runs are skew to the left, by how much is uncertain. A learner may also have rare bad runs, the
    worst tenth, none of which was drawn.
    """
    unseen = prior.tail_weight * (1.0 - 2.0 * TAIL) ** runs.order_count
    skew = prior.tail_slope * runs.shape_weight * runs.skewness
    normal = runs.order_count / (runs.order_count + 100.0)
    usual = prior.tail_place + normal * (_NORMAL - prior.tail_place) - skew
    for part in (-1.5, 0.0, 1.5):
        yield (1.0 - unseen) / 3.0, usual - part * skew
    for part in (1 / 3, 2 / 3, 1.0):
        yield unseen / 3.0, usual + part * (prior.tail_far - usual)


_NORMAL = float(-ndtri(TAIL))  # σ from the mean to the tail of a normal distribution


def _log_prior(log_std: Floats, prior: Prior, class_variance: Floats | None) -> Floats:
    low, high = (np.log(end) for end in prior.std_range)
    below, above = np.maximum(low - log_std, 0.0), np.maximum(log_std - high, 0.0)
    log = -0.5 * ((below + above / _OPEN) / prior.std_edge) ** 2
    if class_variance is not None:
        expected = 0.5 * np.log(np.maximum(prior.class_ratio * class_variance, 1e-4))
        log = log - np.log1p(((log_std - expected[..., None]) / prior.class_scale) ** 2)
    return np.asarray(log)


def _sum(parts: Floats) -> Floats:
    return np.asarray(parts.sum(axis=(-1, -2)))


def clip_interval(interval: Interval, bounds: Interval) -> Interval:
    """Return the part of an interval between bounds, which covers no less of what is possible.

    >>> clip_interval((-17.2, 99.5), (0.0, 100.0))
    (0.0, 99.5)
    """
    low, high = (float(min(max(end, bounds[0]), bounds[1])) for end in interval)
    return low, high


@dataclass(frozen=True, eq=False)
class Combination:
    """A weighted sum of independent quantities, as draws: a mean over datasets, or a difference.

    Attributes:
        mean: expected mean.
        draws: of the mean and of the next run, by quantity, sorted.
        shared_seeds: number of training seeds that all orders share in every part, or 0.
    """

    mean: float
    draws: dict[Quantity, Floats]
    shared_seeds: int

    def cdf(self, quantity: Quantity, at: float) -> float:
        """Return the probability that a quantity is below a value."""
        return float((self.draws[quantity] < at).mean())

    def above(self, quantity: Quantity, at: float) -> float:
        """Return the probability that a quantity is above a value."""
        return float((self.draws[quantity] > at).mean())

    def quantile(self, quantity: Quantity, probability: float) -> float:
        """Return the value below which a quantity is with this probability."""
        return float(np.quantile(self.draws[quantity], probability))

    def interval(self, quantity: Quantity, level: float = LEVEL) -> Interval:
        """Return the central interval that contains a quantity with this probability."""
        tail = (1.0 - level) / 2.0
        return self.quantile(quantity, tail), self.quantile(quantity, 1.0 - tail)

    def shifted(self, by: float) -> Combination:
        """Return the sum with a constant."""
        draws = {quantity: values + by for quantity, values in self.draws.items()}
        return replace(self, mean=self.mean + by, draws=draws)


def combine(
    parts: Sequence[Posterior | Combination | Student], weights: Sequence[float]
) -> Combination:
    """Return the weighted sum of independent means, and of independent next runs."""
    rng = np.random.default_rng(0)
    draws: dict[Quantity, Floats] = {}
    quantities: tuple[Literal["mean", "next"], ...] = ("mean", "next")
    for quantity in quantities:
        total = np.zeros(_DRAWS)
        for part, weight in zip(parts, weights, strict=True):
            values = _quantiles(part, quantity, (np.arange(_DRAWS) + 0.5) / _DRAWS)
            total += weight * rng.permutation(values)
        draws[quantity] = np.sort(total)
    mean = sum(weight * float(part.mean) for part, weight in zip(parts, weights, strict=True))
    return Combination(mean, draws, min(part.shared_seeds for part in parts))


def _quantiles(
    part: Posterior | Combination | Student,
    quantity: Literal["mean", "next"],
    probabilities: Floats,
) -> Floats:
    """Return the values below which a quantity is with (n,) probabilities."""
    if isinstance(part, Student):
        places = stdtrit(part.freedom, probabilities)
        return np.asarray(part.mean + part.error_of(quantity) * places)
    if isinstance(part, Combination):
        return np.asarray(np.quantile(part.draws[quantity], probabilities))
    middle, quarter = (float(part.quantile(quantity, p)) for p in (0.5, 0.25))
    farthest = (middle - float(part.quantile(quantity, 0.5 / _DRAWS))) / (middle - quarter)
    reach = np.arcsinh(max(farthest, 1.0)) * np.linspace(-1.0, 1.0, _POINTS)
    values = middle + (middle - quarter) * np.sinh(reach)
    return np.asarray(np.interp(probabilities, part.cdf(quantity, values), values))


_DRAWS = 20_000
_POINTS = 501
