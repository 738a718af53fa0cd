"""What may be claimed about one method from the orders that it ran, and how sure each claim is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from edgecil.engine.metrics import find_metric
from edgecil.engine.runs import Runs
from edgecil.estimation.calibration import Kind, is_calibrated, reached_coverage
from edgecil.estimation.distributions import Distribution, smooth
from edgecil.estimation.population import LEAST_ORDERS, LEVEL, Interval, Posterior, Quantity
from edgecil.estimation.samples import Choice, know_method, random_protocols, shared_seeds
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
            3 points of its level on average, and at least 80 % for every learner and for the
            smallest spreads; `rough` if it is not; `none` without a value or an interval.
        level: nominal probability.
        reached: the average coverage on truth tables for this protocol and number of orders; None
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
        """The level."""
        return f"{100.0 * self.level:.0f} %"


@dataclass(frozen=True)
class Answer:
    """One method over class orders and trainings, from the orders that represent them best.

    These are all orders if (nearly) all were run, else random draws (`random`, `latin`) if there
    are two, else those of the protocol that ran most. Accuracies are per cent.

    Attributes:
        protocols: whose runs they are.
        blind: whether the orders are random draws, or all.
        order_count: how many different ones.
        trainings: how many trainings of them.
        lowest: the lowest accuracy of these orders, each the mean over its trainings.
        highest: the highest accuracy.
        shared_seeds: number of training seeds that all orders share, so that claims are about
            these seeds; 0 if every order has its own.
        estimator: that gives `distribution`; None if it is the measured one.
        distribution: of runs, estimated or measured.
        mean: over orders and trainings.
        std: standard deviation of a run, a new order trained once.
        next_run: accuracy of the next run: a prediction interval around the mean.
        tail: the accuracy that 95 % of runs exceed.
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
    shared_seeds: int
    estimator: str | None
    distribution: Distribution
    mean: Claim
    std: Claim
    next_run: Claim
    tail: Claim
    outside: Claim
    worse: Claim
    not_worse: Claim

    def __str__(self) -> str:
        """Return the claims in one line, as far as they can be made."""
        orders = "1 order" if self.order_count == 1 else f"{self.order_count} orders"
        between = f"between {rounded(self.lowest)} and {rounded(self.highest)}"
        if self.lowest == self.highest:
            between = f"{'at' if self.order_count == 1 else 'all at'} {rounded(self.lowest)}"
        if self.mean.validity == "none":
            return (
                f"{orders} {between}; a claim about other orders requires {LEAST_ORDERS} orders "
                "that were drawn at random"
            )
        assert self.mean.value is not None
        parts = [f"mean {rounded(self.mean.value)}{_bracketed(self.mean)}"]
        if self.next_run.interval is not None:
            low, high = map(rounded_limit, self.next_run.interval)
            parts.append(f"next run {low} to {high}")
        if self.tail.value is not None:
            parts.append(f"95 % of runs exceed {rounded(self.tail.value)}")
        parts.append(f"{orders} {between}")
        if self.shared_seeds:
            seeds = "one training seed" if self.shared_seeds == 1 else "the same training seeds"
            parts.append(f"all trained with {seeds}")
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
    count, choice, bounds = len(values), sample.choice, bounds_of(table.metric)
    known = know_method(table, method, sample.sequences, choice)
    mean = float(values.mean()) if known is None else float(known.mean)
    std = float(values.std()) if known is None else float(known.std)

    def claim(quantity: Quantity) -> Claim:
        own = bounds if quantity != "std" else (0.0, np.inf)
        return _interval_claim(quantity, mean, known, count, choice, own)

    return Answer(
        sample.protocols,
        choice.random,
        count,
        table.count_trainings(method, sample.sequences),
        float(values.min()),
        float(values.max()),
        0 if known is None else known.shared_seeds,
        "smoothed" if count >= LEAST_ORDERS else "gaussian",
        smooth(values, std, size),
        claim("mean"),
        claim("std"),
        claim("next"),
        claim("tail"),
        _share(1.0 - expected_share_inside(count, size), choice),
        _share(worse_probability(count) if count < size else 0.0, choice),
        _tolerance(count, size, choice),
    )


def _measured(table: Runs, method: str, truth: Truth) -> Answer:
    """Return the answer where every order was run."""
    values = truth.accuracies
    low, high = (float(end) for end in np.quantile(values, [0.05, 0.95]))
    orders = table.orders(method)
    chosen = np.isin(orders.places, [table.place_of[one] for one in truth.sequences])
    return Answer(
        truth.protocols,
        True,
        len(values),
        table.count_trainings(method, truth.sequences),
        truth.min,
        truth.max,
        shared_seeds(orders.seeds[chosen]),
        None,
        Distribution.of(values),
        Claim(truth.mean, None, "measured"),
        Claim(truth.std, None, "measured"),
        Claim(truth.mean, (low, high), "measured"),
        Claim(low, None, "measured"),
        Claim(0.0, None, "measured"),
        Claim(0.0, None, "measured"),
        Claim(1.0, None, "measured", CONFIDENCE),
    )


def _interval_claim(
    quantity: Quantity,
    mean: float,
    known: Posterior | None,
    count: int,
    choice: Choice,
    bounds: Interval,
) -> Claim:
    if known is None:
        value = mean if quantity in ("mean", "next") else None
        return Claim(value, reason=f"requires at least {LEAST_ORDERS} orders; got {count}")
    value = mean if quantity in ("mean", "next") else float(known.quantile(quantity, 0.5))
    if not choice.random and not choice.unknown:
        return Claim(value, reason="requires orders chosen at random")
    interval = known.interval(quantity)
    reached = reached_coverage(_KINDS[quantity], choice.calibration, count)
    return Claim(
        value,
        cut(interval, bounds),
        "calibrated" if is_calibrated(reached) else "rough",
        LEVEL,
        None if reached is None else reached.average,
        half_width=(interval[1] - interval[0]) / 2.0,
    )


_KINDS: dict[Quantity, Kind] = {"mean": "mean", "std": "std", "next": "next run", "tail": "tail"}


def _bracketed(claim: Claim) -> str:
    if claim.interval is None:
        return ""
    low, high = map(rounded_limit, claim.interval)
    return f" ({100.0 * claim.level:.0f} % interval {low} to {high})"


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


def _share(value: float, choice: Choice) -> Claim:
    """Make a claim on ranks, which is exact for independent draws."""
    if not choice.random:
        return Claim(None, reason="requires orders chosen at random")
    return Claim(value, None, "exact" if choice.independent else "rough")


def _tolerance(count: int, size: int, choice: Choice) -> Claim:
    if not choice.random:
        return Claim(None, level=CONFIDENCE, reason="requires orders chosen at random")
    value = tolerance_share(count, CONFIDENCE, size=size)
    return Claim(value, None, "exact" if choice.independent else "rough", CONFIDENCE)
