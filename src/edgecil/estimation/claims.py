"""What may be claimed about one method from the orders that it ran, and how sure each claim is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from edgecil.engine.metrics import find_metric
from edgecil.engine.runs import Runs
from edgecil.estimation.calibration import TOLERATED, is_calibrated, reached_coverage
from edgecil.estimation.choice import Choice, random_protocols
from edgecil.estimation.distributions import Distribution
from edgecil.estimation.intervals import LEVEL, Interval, Posterior, posterior
from edgecil.estimation.smoothing import (
    default_estimator,
    estimate_distribution,
    independent_variance,
    unbiasing,
)
from edgecil.estimation.truth import Truth
from edgecil.io.arrays import Floats
from edgecil.io.numbers import rounded, rounded_limit
from edgecil.sequences.protocols import find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.theory import expected_share_inside, tolerance_share, worse_probability

CONFIDENCE = 0.95
_FEWEST = 2

Validity = Literal["measured", "exact", "calibrated", "rough", "none"]


@dataclass(frozen=True)
class Claim:
    """A number with its interval, and why it may be believed.

    Attributes:
        value: the number; None if nothing can be said.
        interval: contains the true value with probability `level`, cut at the bounds of the
            metric; None if there is none.
        validity: `measured` if all orders were run; `exact` if it follows from the random choice of
            orders whatever the distribution; `calibrated` if its coverage on truth tables is within
            3 points of its level; `rough` if it is not, and `reached` says what it is; `none`
            without a value or an interval.
        level: nominal probability.
        reached: the coverage measured on truth tables for this protocol and number of orders; None
            if it does not apply or was not measured.
        reason: why there is no value or no interval.
        half_width: half the length of the interval before it was cut; None without an interval.
    """

    value: float | None
    interval: Interval | None = None
    validity: Validity = "none"
    level: float = LEVEL
    reached: float | None = None
    reason: str | None = None
    half_width: float | None = None

    @property
    def label(self) -> str:
        """The level, and what such intervals reach on truth tables where that is something else."""
        level = f"{100.0 * self.level:.0f} %"
        if self.validity != "rough":
            return level
        if self.reached is None:
            return f"{level}, not calibrated"
        return f"{level}, on truth tables {100.0 * self.reached:.0f} %"


@dataclass(frozen=True)
class Answer:
    """One method over all class orders, from the orders that represent them best.

    These are all orders if (nearly) all were run, else random draws (`latin`, `random`) if there
    are two, else those of the protocol that ran most. Accuracies are per cent, means over repeats.

    Attributes:
        protocols: whose runs they are.
        blind: whether the orders are random draws, or all.
        order_count: how many different ones.
        trainings: how many trainings of them.
        lowest: the lowest accuracy of these orders.
        highest: the highest accuracy.
        estimator: that gives `distribution`; None if it is the measured one.
        distribution: over all orders, estimated or measured.
        mean: over all orders, with the training seeds that were run.
        std: standard deviation over all orders, unbiased for normal accuracies.
        next_order: accuracy of the next random order: a prediction interval around the mean.
        outside: expected share of all orders with an accuracy outside [lowest, highest].
        worse: probability that the next random order, which was not run yet, is worse than all of
            these.
        not_worse: share of all orders that is no worse than `lowest`, with confidence 95 %.
    """

    protocols: tuple[str, ...]
    blind: bool
    order_count: int
    trainings: int
    lowest: float
    highest: float
    estimator: str | None
    distribution: Distribution
    mean: Claim
    std: Claim
    next_order: Claim
    outside: Claim
    worse: Claim
    not_worse: Claim

    def __str__(self) -> str:
        """Return the claims in one line, as far as they can be made."""
        if self.order_count == 1 and self.mean.validity != "measured":
            return f"one order: {rounded(self.lowest)}; nothing can be said about other orders yet"
        parts = []
        for name, claim in (("mean", self.mean), ("next order", self.next_order)):
            value = "" if claim.value is None else f" {rounded(claim.value)}"
            if claim.interval is not None:
                low, high = map(rounded_limit, claim.interval)
                value += f" ({claim.label}: {low} to {high})"
            elif claim.validity == "none":
                continue
            parts += [f"{name}{value}"] if value else []
        orders = "1 order" if self.order_count == 1 else f"{self.order_count} orders"
        if self.lowest == self.highest:
            parts.append(f"{orders}, all {rounded(self.lowest)}")
            if self.mean.validity == "none":
                parts.append("their spread is unknown, so no interval can be given")
            return "; ".join(parts)
        parts.append(f"{orders} between {rounded(self.lowest)} and {rounded(self.highest)}")
        if self.outside.value:
            parts.append(f"about {100.0 * self.outside.value:.0f} % of all orders outside")
        return "; ".join(parts)


@dataclass(frozen=True, eq=False)
class Sample:
    """The orders of a method that represent all orders.

    Attributes:
        protocols: names of those that chose them.
        choice: what these say about the orders.
        sequences: n different orders.
        accuracies: (n,) means over repeats.
    """

    protocols: tuple[str, ...]
    choice: Choice
    sequences: tuple[ClassSequence, ...]
    accuracies: Floats


def representative_orders(table: Runs, method: str) -> Sample:
    """Return the orders that an answer about a method rests on; see :class:`Answer`."""
    names = [it for it in table.protocols if not find_protocol(it).repeats] or table.protocols
    ran = {name: table.orders(method, name).by_sequence() for name in names}
    ran = {name: orders for name, orders in ran.items() if orders}
    random = random_protocols(table, method)
    blind = {name: orders for name, orders in ran.items() if name in random}
    most = max(ran, key=lambda name: len(ran[name]))
    count = len({one for orders in blind.values() for one in orders})
    if count < min(len(ran[most]), _FEWEST):  # a single blind order gives no interval
        blind = {}
    chosen = blind or {most: ran[most]}
    accuracies = table.orders(method).by_sequence()
    sequences = tuple(dict.fromkeys(one for orders in chosen.values() for one in orders))
    return Sample(
        tuple(chosen),
        Choice(tuple(random.get(name) or find_protocol(name) for name in chosen), bool(blind)),
        sequences,
        np.array([accuracies[sequence] for sequence in sequences]),
    )


def answer(table: Runs, method: str, truth: Truth | None = None) -> Answer:
    """Return what may be claimed about a method of a table.

    Args:
        table: the runs.
        method: its name.
        truth: its truth, if the table contains it.
    """
    if truth is not None and truth.kind == "enumerated":
        return _measured(table, method, truth)
    sample = representative_orders(table, method)
    values, size = sample.accuracies, table.space.size
    count, choice = len(values), sample.choice
    made = posterior(values, overlap=choice.overlap(sample.sequences), space_size=size)
    name = default_estimator(count)
    classes = table.class_accuracies(method, sample.sequences) if count > 1 else None
    class_variance = None if classes is None else float(independent_variance(classes))
    mean, bounds = float(values.mean()), bounds_of(table.metric)
    std = float(values.std(ddof=1)) / unbiasing(count) if count > 1 else None
    return Answer(
        sample.protocols,
        choice.random,
        count,
        table.count_trainings(method, sample.sequences),
        float(values.min()),
        float(values.max()),
        name,
        estimate_distribution(values, class_variance, size),
        _interval_claim("mean", mean, values, made, choice, bounds),
        _interval_claim("std", std, values, made, choice),
        _interval_claim("next", mean, values, made, choice, bounds),
        _share("outside", 1.0 - expected_share_inside(count, size), count, choice),
        _share("worse", worse_probability(count) if count < size else 0.0, count, choice),
        _tolerance(count, size, choice),
    )


def _measured(table: Runs, method: str, truth: Truth) -> Answer:
    """Return the answer where every order was run."""
    values = truth.accuracies
    low, high = (float(end) for end in np.quantile(values, [0.05, 0.95]))
    return Answer(
        truth.protocols,
        True,
        len(values),
        table.count_trainings(method, truth.sequences),
        truth.min,
        truth.max,
        None,
        Distribution.of(values),
        Claim(truth.mean, None, "measured"),
        Claim(truth.std, None, "measured"),
        Claim(truth.mean, (low, high), "measured"),
        Claim(0.0, None, "measured"),
        Claim(0.0, None, "measured"),
        Claim(1.0, None, "measured", CONFIDENCE),
    )


def _interval_claim(
    kind: Literal["mean", "std", "next"],
    value: float | None,
    values: Floats,
    made: Posterior | None,
    choice: Choice,
    bounds: Interval = (-np.inf, np.inf),
) -> Claim:
    if made is None:
        count = len(values)
        reason = (
            "requires at least 2 orders; got 1"
            if count < 2
            else f"the {count} orders have the same accuracy, so their spread is unknown"
        )
        return Claim(value, reason=reason)
    interval = {
        "mean": made.mean_interval,
        "std": made.std_interval,
        "next": made.next_interval,
    }[kind]()
    reached = reached_coverage(kind, choice.calibration, len(values))
    return Claim(
        value,
        cut(interval, bounds),
        _validity(reached),
        LEVEL,
        reached,
        half_width=(interval[1] - interval[0]) / 2.0,
    )


def bounds_of(metric: str) -> Interval:
    """Return the least and the greatest value of a metric; infinite for a column of a file."""
    return find_metric(metric).bounds


def cut(interval: Interval, bounds: Interval) -> Interval:
    """Return the part of an interval between bounds, which covers no less of what is possible.

    >>> cut((-17.2, 99.5), (0.0, 100.0))
    (0.0, 99.5)
    """
    low, high = (float(min(max(end, bounds[0]), bounds[1])) for end in interval)
    return low, high


def _validity(reached: float | None) -> Validity:
    return "calibrated" if is_calibrated(reached) else "rough"


def _share(kind: Literal["outside", "worse"], value: float, count: int, choice: Choice) -> Claim:
    """Make a claim on ranks: exact for independent draws, checked on truth tables for designs."""
    if choice.independent:
        return Claim(value, None, "exact")
    error = reached_coverage(kind, choice.rank_calibration, count) if choice.random else None
    if error is None:
        return Claim(None, reason="requires orders chosen at random")
    validity: Validity = "calibrated" if abs(error) <= TOLERATED else "rough"
    return Claim(value, None, validity, reached=value + error)


def _tolerance(count: int, size: int, choice: Choice) -> Claim:
    if not choice.random:
        return Claim(None, level=CONFIDENCE, reason="requires orders chosen at random")
    value = tolerance_share(count, CONFIDENCE, size=size)
    return Claim(value, None, "exact" if choice.independent else "rough", CONFIDENCE)
