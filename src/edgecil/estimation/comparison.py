"""Methods on the same class orders: which one is better, by how much, how certainly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from edgecil.engine.metrics import find_metric
from edgecil.engine.runs import Runs, pair_orders
from edgecil.errors import UsageError
from edgecil.estimation.calibration import reached_coverage
from edgecil.estimation.choice import Choice, random_protocols
from edgecil.estimation.distributions import SAME
from edgecil.estimation.intervals import LEVEL, Interval, posterior
from edgecil.io.arrays import Bools, Floats, Ints
from edgecil.sequences.protocols import RANDOM, find_protocol

_Key = TypeVar("_Key")

# Variance of the effect that a training seed has on all orders alike (the initial network, RanPAC's
# projection, tasks that orders share), in variances of the differences between orders. It makes
# intervals from one seed cover what another seed gives; benchmarks/leave_one_out.py.
SEED_EFFECT = 0.024
_FEWEST = 2


@dataclass(frozen=True)
class Comparison:
    """The first method against the second, order by order.

    Attributes:
        n: orders that both ran.
        difference: mean accuracy of the first minus that of the second, in points.
        interval: 90 %, of the mean difference over all orders and training seeds; None with one
            order or if all differences are equal.
        won: share of these orders on which the first is better, ties half.
        won_interval: 90 %, of the share of all orders, by Clopper and Pearson; None if the orders
            are not random draws.
        new_order_probability: that the first is better on a new random order; None where there is
            no interval.
        p_value: of no mean difference, two-sided; None where there is no interval.
        adjusted_p: the same, adjusted for the number of pairs by Holm's method.
        blind: whether the orders are random draws, or all; otherwise they may not represent all
            orders.
        reached: the coverage of such intervals, of a nominal 90 %, on truth tables; None if it was
            not measured.
        reason: why something is None.
        tied: orders on which both are equal.
        protocols: that chose these orders, if not blindly.
        seeds: training seeds that both have for every order.
    """

    n: int
    difference: float
    interval: Interval | None
    won: float
    won_interval: Interval | None = None
    new_order_probability: float | None = None
    p_value: float | None = None
    adjusted_p: float | None = None
    blind: bool = True
    reached: float | None = None
    reason: str | None = None
    tied: int = 0
    protocols: tuple[str, ...] = ()
    seeds: int = 1

    @property
    def wins(self) -> int:
        """On how many of these orders the first method is better."""
        return round(self.won * self.n - self.tied / 2.0)

    def swapped(self) -> Comparison:
        """Return the second method against the first."""

        def negated(interval: Interval | None) -> Interval | None:
            return None if interval is None else (-interval[1], -interval[0])

        def rest(interval: Interval | None) -> Interval | None:
            return None if interval is None else (1.0 - interval[1], 1.0 - interval[0])

        chance = self.new_order_probability
        return replace(
            self,
            difference=-self.difference,
            interval=negated(self.interval),
            won=1.0 - self.won,
            won_interval=rest(self.won_interval),
            new_order_probability=None if chance is None else 1.0 - chance,
        )


def compare_accuracies(
    first: ArrayLike,
    second: ArrayLike,
    *,
    overlap: Floats | None = None,
    blind: bool = True,
    calibration: str | None = RANDOM.calibration,
    higher_is_better: bool = True,
    seeds: int = 1,
) -> Comparison:
    """Compare the accuracies of two methods, both of shape (n,), on the same n orders.

    The interval is that of :func:`~edgecil.estimation.intervals.posterior` for the differences. It
    is about all orders and all training seeds, so that the size of the space does not narrow it:
    even where every order was run, another seed would give other accuracies. A seed shifts the
    differences on all orders alike, which they cannot show; the interval allows for such a shift
    with the variance that it has on truth tables (:data:`SEED_EFFECT`), divided by the number of
    seeds.

    Args:
        first: accuracies of the first method, means over repeats.
        second: accuracies of the second method.
        overlap: covariance that the orders' design implies, see :meth:`Protocol.overlap`.
        blind: whether the orders are random draws, or all.
        calibration: key of such orders' measured coverage, :attr:`Protocol.calibration`.
        higher_is_better: whether a greater value wins; forgetting is better low.
        seeds: number of training seeds that the means are over.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or not a.size:
        raise UsageError(
            "Paired accuracies must have the same shape (n,), n >= 1. "
            f"Got {a.shape} and {b.shape} instead."
        )
    gain = a - b
    n, mean, tied = len(gain), float(gain.mean()), np.abs(gain) <= SAME
    won = float(np.mean(np.where(tied, 0.5, (gain > 0.0) == higher_is_better)))
    share = _share_interval(won, n) if blind else None
    made = posterior(gain, overlap=overlap, common=SEED_EFFECT / seeds)
    if made is None:
        reason = "requires at least 2 orders; got 1" if n == 1 else "all differences are equal"
        return Comparison(
            n,
            mean,
            None,
            won,
            share,
            blind=blind,
            reason=reason,
            tied=int(tied.sum()),
            seeds=seeds,
        )
    chance = made.next_above(0.0)
    return Comparison(
        n,
        mean,
        made.mean_interval(),
        won,
        share,
        chance if higher_is_better else 1.0 - chance,
        min(1.0, 2.0 * min(made.mean_above(0.0), made.mean_below(0.0))),
        blind=blind,
        reached=reached_coverage("difference", calibration, n),
        tied=int(tied.sum()),
        seeds=seeds,
    )


def compare_pairs(table: Runs, methods: Sequence[str]) -> dict[str, dict[str, Comparison]]:
    """Return every pair of methods on the orders that both ran, by first and second method.

    If both ran two or more random orders, only these count. An order that both trained with the
    same seeds is compared by the means over these seeds.
    """
    trained = {name: table.orders(name) for name in methods}
    random = {name: random_protocols(table, name) for name in methods}
    chosen_by = _chosen_by(table)
    pairs: dict[tuple[str, str], Comparison] = {}
    for first, second in combinations(methods, 2):
        both, a, b, seeds = pair_orders(trained[first], trained[second])
        if not both.size:
            continue
        shared = {name: one for name, one in random[first].items() if name in random[second]}
        blind = np.zeros(len(table.sequences), dtype=bool)
        for name in shared:
            blind |= chosen_by[name]
        used = blind[both]
        if used.sum() < min(len(both), _FEWEST):  # a single order gives no interval
            used[:] = False
        if used.any():
            names = [name for name in shared if chosen_by[name][both[used]].any()]
            choice = Choice(tuple(shared[name] for name in names), random=True)
        else:
            used[:] = True
            names = _names_of(table, first, both)
            choice = Choice(tuple(map(find_protocol, names)), random=False)
        pair = compare_accuracies(
            a[used],
            b[used],
            overlap=choice.overlap([table.sequences[place] for place in both[used]]),
            blind=choice.random,
            calibration=choice.calibration,
            higher_is_better=find_metric(table.metric).higher_is_better,
            seeds=max(1, int(seeds[used].min())),
        )
        pairs[first, second] = replace(pair, protocols=() if choice.random else tuple(names))
    adjusted = holm({pair: one.p_value for pair, one in pairs.items()})
    comparisons: dict[str, dict[str, Comparison]] = {}
    for (first, second), one in pairs.items():
        comparisons.setdefault(first, {})[second] = replace(one, adjusted_p=adjusted[first, second])
    return comparisons


def _chosen_by(table: Runs) -> dict[str, Bools]:
    """Return for each protocol which of the table's sequences it chose."""
    chosen = {name: np.zeros(len(table.sequences), dtype=bool) for name in table.protocols}
    for name, is_chosen in chosen.items():
        is_chosen[table.sequence[table.rows(protocol=name)]] = True
    return chosen


def _names_of(table: Runs, method: str, places: Ints) -> list[str]:
    """Return the protocols under which a method ran the sequences at some places."""
    rows = table.rows(method)
    given = ~np.isnan(table.values[rows]) & np.isin(table.sequence[rows], places)
    return [table.protocols[code] for code in dict.fromkeys(table.protocol[rows[given]].tolist())]


def holm(p_values: Mapping[_Key, float | None]) -> dict[_Key, float | None]:
    """p-values adjusted by Holm's method (1979); None stays None and does not count.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    given = [(p, key) for key, p in p_values.items() if p is not None]
    adjusted: dict[_Key, float | None] = dict.fromkeys(p_values)
    largest = 0.0
    for place, (p, key) in enumerate(sorted(given, key=lambda pair: pair[0])):
        largest = max(largest, min(1.0, p * (len(given) - place)))
        adjusted[key] = largest
    return adjusted


def _share_interval(won: float, n: int) -> Interval:
    """Clopper and Pearson's interval of a share; half a win counts as such."""
    wins, tail = won * n, (1.0 - LEVEL) / 2.0
    low = 0.0 if wins <= 0.0 else float(betaincinv(wins, n - wins + 1.0, tail))
    high = 1.0 if wins >= n else float(betaincinv(wins + 1.0, n - wins, 1.0 - tail))
    return low, high
