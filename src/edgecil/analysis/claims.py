"""What may be claimed about one method from the orders that it ran, and how sure each claim is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from edgecil.analysis.calibration import Kind, is_calibrated, reached_coverage
from edgecil.analysis.samples import (
    Basis,
    OrderChoice,
    Truth,
    basis_of,
    describe_population,
    design_of,
    posterior_of_orders,
    representative_orders,
    shared_seeds,
    shows_runs,
    why_unknown,
)
from edgecil.analysis.terms import DEFAULT_TERMS, Terms
from edgecil.runs.design import Design
from edgecil.runs.metrics import find_metric
from edgecil.runs.run_table import Runs
from edgecil.sequences.protocols import find_protocol
from edgecil.statistics import tolerance_share, worse_probability
from edgecil.statistics.distributions import Distribution, smooth
from edgecil.statistics.posterior import TAIL, Interval, Posterior, Quantity, clip_interval
from edgecil.statistics.verdicts import LEAST_RUNS, LEAST_SHOWN, LEVEL
from edgecil.wording.populations import unit_of

CONFIDENCE = 0.95
_LOW = "of this metric a low value is good"

Validity = Literal["measured", "exact", "calibrated", "rough", "none"]


@dataclass(frozen=True)
class Claim:
    """A number with its interval, and why it may be believed.

    Attributes:
        value: the number; None if nothing can be said.
        low: the lower end of the interval that contains the true value with probability `level`,
            cut at the bounds of the metric; None if there is no interval.
        high: its upper end.
        validity: `measured` if all orders were run; `exact` if it follows from the random choice of
            orders whatever the distribution; `calibrated` if its coverage on truth tables is within
            3 points of its level on average, and at least 80 % for every learner and for the
            smallest spreads; `rough` if it is not; `none` without a value or an interval.
        level: nominal probability.
        reached: the average coverage on truth tables for this protocol and number of orders; None
            if it does not apply or was not measured.
        reason: why there is no value or no interval.
        half_width: half the length of the interval before it was cut; None without an interval.
        basis: what the interval of a mean is: Student's t, or what moved it; None without one.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    validity: Validity = "none"
    level: float = LEVEL
    reached: float | None = None
    reason: str | None = None
    half_width: float | None = None
    basis: Basis | None = None

    @property
    def interval(self) -> Interval | None:
        """Both ends of the interval; None if there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True)
class Claims:
    """One method over class orders and trainings, from the orders that represent them best.

    They are chosen by :func:`~edgecil.analysis.samples.representative_orders`. Accuracies are
    per cent.

    Attributes:
        protocols: whose runs they are.
        blind: whether the orders are random draws, or all.
        order_count: how many different ones.
        trainings: how many trainings of them.
        lowest: the lowest accuracy of these orders, each the mean over its trainings, or of the
            trainings of the one order.
        highest: the highest accuracy.
        population: what the claims are about: `uniformly random class orders and trainings`, or
            less.
        shared_seeds: number of training seeds that all orders share, so that claims are about
            these seeds; 0 if every order has its own.
        estimator: that gives `distribution`; None if it is the measured one.
        distribution: of runs, estimated or measured.
        mean: over orders and trainings.
        std: standard deviation of a run, a new order trained once.
        next_run: accuracy of the next run: a prediction interval around the mean.
        tail: the accuracy that 95 % of runs exceed; None of a metric whose low values are good.
        worse: probability that the next random order, which was not run yet, is worse than all of
            these.
        not_worse: share of all orders that is no worse than `lowest`, with confidence 95 %.
        chance: the accuracy of guessing if the mean is near it; None otherwise.
        probes: accuracy of constructed orders, by what their protocol says about them: `when
            similar classes arrive together`.
    """

    protocols: tuple[str, ...]
    blind: bool
    order_count: int
    trainings: int
    lowest: float
    highest: float
    population: str
    shared_seeds: int
    estimator: str | None
    distribution: Distribution
    mean: Claim
    std: Claim
    next_run: Claim
    tail: Claim
    worse: Claim
    not_worse: Claim
    chance: float | None = None
    probes: dict[str, float] = field(default_factory=dict)

    @property
    def run_count(self) -> int:
        """How many runs the claims rest on: orders, or trainings of the one order."""
        return self.trainings if unit_of(self.population) == "training" else self.order_count

    @property
    def level(self) -> float:
        """Probability with which each interval contains what it is about."""
        return self.mean.level

    def __str__(self) -> str:
        """Return the claims in a sentence, without the method's name."""
        from edgecil.wording.sentences import describe_claims

        return describe_claims(self)


def make_claims(
    table: Runs, method: str, truth: Truth | None = None, terms: Terms = DEFAULT_TERMS
) -> Claims:
    """Return what may be claimed about a method, given its truth if the table contains it."""
    metric = find_metric(table.metric)
    choice: OrderChoice | None = None
    if truth is not None and truth.kind == "enumerated":
        orders, protocols, estimator = table.orders(method), truth.protocols, None
        design, values = design_of(table, method, orders), truth.accuracies
        distribution, centre = Distribution.of(values), float(values.mean())
        outside = (1.0 - terms.level) / 2.0
        low, high, bad = np.quantile(values, [outside, 1.0 - outside, TAIL]).tolist()
        mean = Claim(centre, validity="measured", level=terms.level)
        std = Claim(float(values.std()), validity="measured")
        following = Claim(centre, low, high, "measured", terms.level)
        tail = Claim(bad, validity="measured")
        worse = Claim(0.0, validity="measured")
        not_worse = Claim(1.0, validity="measured", level=CONFIDENCE)
    else:
        choice, orders = representative_orders(table, method)
        design, protocols = design_of(table, method, orders), (*choice.protocols,)
        values, size = orders.accuracies, table.space.size
        if design.is_one_order:
            values = np.concatenate(orders.repeats())
        count, posterior = len(values), posterior_of_orders(table, orders, design, terms)
        estimator = "smoothed" if count >= LEAST_RUNS else "gaussian"
        distribution = smooth(values, float(values.std() if posterior is None else posterior.std))
        centre = float(values.mean() if posterior is None else posterior.mean)
        about = centre, posterior, count, choice, design, terms.level
        mean = _claim("mean", *about, metric.bounds)
        std = _claim("std", *about, (0.0, np.inf))
        following = _claim("next", *about, metric.bounds)
        tail = _claim("tail", *about, metric.bounds)
        if design.is_one_order:
            worse = not_worse = Claim(None, reason="all runs are trainings of one class order")
        else:
            worse = _rank_claim(worse_probability(count) if count < size else 0.0, choice)
            share = tolerance_share(count, CONFIDENCE, size=size)
            not_worse = _rank_claim(share, choice, CONFIDENCE)
    seeds = shared_seeds(orders.seeds)
    return Claims(
        protocols,
        choice is None or choice.random,
        len(orders),
        int(orders.counts.sum()),
        float(values.min()),
        float(values.max()),
        describe_population(table, design, seeds, choice),
        seeds,
        estimator,
        distribution,
        mean,
        std,
        following,
        tail if metric.higher_is_better else Claim(None, reason=_LOW),
        worse,
        not_worse,
        _near_chance(table, mean),
        _probes(table, method),
    )


def _claim(
    quantity: Quantity,
    mean: float,
    posterior: Posterior | None,
    count: int,
    choice: OrderChoice,
    design: Design,
    level: float,
    bounds: Interval,
) -> Claim:
    value: float | None = mean if quantity in ("mean", "next") else None
    unit = "training" if design.is_one_order else "order"
    if design.varies == "unknown":
        unit = "run"
    if posterior is None:
        return Claim(value, level=level, reason=why_unknown(count, unit))
    if value is None:
        value = float(posterior.quantile(quantity, 0.5))
    if not (choice.random or choice.unknown or design.is_one_order):
        return Claim(value, level=level, reason="requires orders chosen at random")
    if quantity in ("next", "tail") and not shows_runs(posterior):
        kept = mean if quantity == "next" else None
        return Claim(kept, level=level, reason=f"requires {LEAST_SHOWN} {unit}s; got {count}")
    interval = posterior.interval(quantity, level)
    kind: Kind = "next run" if quantity == "next" else quantity
    if quantity == "mean" and posterior.shared_seeds:  # judged by the mean of another seed
        kind = "one seed for all: mean"
    key = None if design.is_one_order else choice.calibration
    reached = reached_coverage(kind, key, count, level)
    return Claim(
        min(max(value, bounds[0]), bounds[1]),
        *clip_interval(interval, bounds),
        "calibrated" if is_calibrated(reached, level) else "rough",
        level,
        None if reached is None else reached.average,
        half_width=(interval[1] - interval[0]) / 2.0,
        basis=basis_of(posterior) if quantity == "mean" else None,
    )


def _rank_claim(value: float, choice: OrderChoice, level: float = LEVEL) -> Claim:
    """Make a claim on ranks, which is exact for independent draws."""
    if not choice.random:
        return Claim(None, level=level, reason="requires orders chosen at random")
    return Claim(value, validity="exact" if choice.independent else "rough", level=level)


def _near_chance(table: Runs, mean: Claim) -> float | None:
    """Return the accuracy of guessing if a mean, or its interval, is at most half above it."""
    chance = table.chance
    if chance is None or mean.value is None:
        return None
    low = mean.value if mean.interval is None else mean.interval[0]
    return chance if low <= 1.5 * chance else None


def _probes(table: Runs, method: str) -> dict[str, float]:
    accuracies = {}
    for name in table.protocols:
        meanings = find_protocol(name).meanings
        orders = table.orders(method, name)
        for label, accuracy in zip(orders.labels, orders.accuracies.tolist(), strict=True):
            if label in meanings:
                accuracies[meanings[label]] = accuracy
    return accuracies
