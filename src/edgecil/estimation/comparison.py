"""Methods on the same class orders: which one is better, by how much, how certainly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from edgecil.engine.metrics import DEFAULT_METRIC, find_metric
from edgecil.engine.runs import Runs
from edgecil.errors import UsageError, unknown
from edgecil.estimation.distributions import SAME
from edgecil.estimation.oddities import warn_of_failures
from edgecil.estimation.population import (
    LEAST_ORDERS,
    LEVEL,
    Grade,
    Interval,
    Posterior,
    grade,
)
from edgecil.estimation.samples import Choice, know, paired, random_protocols
from edgecil.estimation.sentences import count, explain_differences
from edgecil.estimation.sources import (
    Source,
    default_metric,
    describe_source,
    gather_runs,
    list_sources,
)
from edgecil.io.arrays import Bools, Floats, Ints
from edgecil.io.notebook import new_axes, show_printed
from edgecil.sequences.protocols import RANDOM, find_protocol

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_Key = TypeVar("_Key")

_FEWEST = 2
_LEAST_P = 1e-12  # what the grid of the posterior can resolve


@dataclass(frozen=True)
class Comparison:
    """The first method against the second, order by order.

    Attributes:
        n: orders that both ran.
        difference: mean of the first minus that of the second, in points.
        interval: 90 %, of the mean difference over orders and trainings; None with fewer than
            three orders, or if they are not random draws.
        probability: that the first is better on average; None where there is no interval.
        grade: how sure it is which one is better, given the number of pairs that are compared.
        won: share of these orders on which the first is better, ties half.
        won_interval: 90 %, of the share of all orders, by Clopper and Pearson; None if the orders
            are not random draws.
        new_run_probability: that the first is better in a new run, one new order trained once;
            None where there is no interval.
        p_value: of no mean difference, two-sided; None where there is no interval.
        adjusted_p: the same, adjusted for the number of pairs by Holm's method.
        blind: whether the orders are random draws, or all; otherwise they may not represent all
            orders.
        reason: why something is None.
        tied: orders on which both are equal.
        protocols: that chose these orders, if not blindly.
        shared_seeds: number of training seeds that all orders share; 0 if every order has its own.
    """

    n: int
    difference: float
    interval: Interval | None
    won: float
    probability: float | None = None
    grade: Grade = "too few"
    won_interval: Interval | None = None
    new_run_probability: float | None = None
    p_value: float | None = None
    adjusted_p: float | None = None
    blind: bool = True
    reason: str | None = None
    tied: int = 0
    protocols: tuple[str, ...] = ()
    shared_seeds: int = 0

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

        chance, sure = self.new_run_probability, self.probability
        return replace(
            self,
            difference=-self.difference,
            interval=negated(self.interval),
            won=1.0 - self.won,
            won_interval=rest(self.won_interval),
            probability=None if sure is None else 1.0 - sure,
            new_run_probability=None if chance is None else 1.0 - chance,
        )


def compare_gains(
    gains: Floats, known: Posterior | None, *, blind: bool = True, higher_is_better: bool = True
) -> Comparison:
    """Compare two methods by their differences.

    Args:
        gains: (n,) the first method's value minus the second's, on each order.
        known: what they say about orders and trainings; None if there is no interval.
        blind: whether the orders are random draws, or all.
        higher_is_better: whether a greater value wins; forgetting is better low.
    """
    n, tied = len(gains), np.abs(gains) <= SAME
    won = float(np.mean(np.where(tied, 0.5, (gains > 0.0) == higher_is_better)))
    share = _share_interval(won, n) if blind else None
    mean = float(gains.mean()) if known is None else float(known.mean)
    plain = Comparison(n, mean, None, won, won_interval=share, blind=blind, tied=int(tied.sum()))
    if known is None:
        few = n < LEAST_ORDERS
        reason = f"requires at least {LEAST_ORDERS} orders; got {n}" if few else "not random"
        return replace(plain, reason=reason, grade="too few" if few else "cannot tell")
    above, below = float(known.above("mean", 0.0)), float(known.cdf("mean", 0.0))
    following = float(known.above("next", 0.0))
    if not higher_is_better:
        above, below, following = below, above, 1.0 - following
    return replace(
        plain,
        interval=known.interval("mean"),
        probability=above,
        grade=grade(above, n),
        new_run_probability=following,
        p_value=min(1.0, max(2.0 * min(below, above), _LEAST_P)),
        shared_seeds=known.shared_seeds,
    )


def compare_accuracies(
    first: ArrayLike, second: ArrayLike, *, higher_is_better: bool = True
) -> Comparison:
    """Compare the accuracies of two methods, both of shape (n,), on the same n random orders."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or not a.size:
        raise UsageError(
            "Paired accuracies must have the same shape (n,), n >= 1. "
            f"Got {a.shape} and {b.shape} instead."
        )
    gains, seeds = (a - b)[:, None], np.arange(len(a))[:, None]
    known = know(gains, seeds, DEFAULT_METRIC, (), Choice((RANDOM,), random=True))
    return compare_gains(a - b, known, higher_is_better=higher_is_better)


@dataclass(frozen=True, eq=False)
class Differences:
    """The differences of two methods on the orders that both ran.

    Attributes:
        gains: (n,) one per order, the mean over its trainings.
        known: what they say; None if there is no interval.
        choice: how the orders were chosen.
        protocols: names of the protocols that chose them.
    """

    gains: Floats
    known: Posterior | None
    choice: Choice
    protocols: tuple[str, ...]


def differences(table: Runs, first: str, second: str) -> Differences | None:
    """Return the differences of two methods, by order and training seed; None without an order.

    If both ran two or more random orders, only these count.
    """
    places, gains, seeds = paired(table.orders(first), table.orders(second))
    if not places.size:
        return None
    random = [random_protocols(table, name) for name in (first, second)]
    shared = {name: one for name, one in random[0].items() if name in random[1]}
    chosen_by = _chosen_by(table)
    used = np.zeros(len(places), dtype=bool)
    for name in shared:
        used |= chosen_by[name][places]
    if used.sum() < min(len(places), _FEWEST):
        used[:] = False
    if used.any():
        names = [name for name in shared if chosen_by[name][places[used]].any()]
        choice = Choice(tuple(shared[name] for name in names), random=True)
    else:
        used[:] = True
        names = _names_of(table, first, places)
        choice = Choice(tuple(map(find_protocol, names)), random=False)
    sequences = [table.sequences[place] for place in places[used]]
    known = None
    if choice.random or choice.unknown:
        known = know(gains[used], seeds[used], table.metric, sequences, choice)
    return Differences(np.nanmean(gains[used], axis=1), known, choice, tuple(names))


def compare_pairs(table: Runs, methods: Sequence[str]) -> dict[str, dict[str, Comparison]]:
    """Return every pair of methods on the orders that both ran, by first and second method.

    Methods are paired by order and training seed, and grades allow for the number of pairs.
    """
    higher_is_better = find_metric(table.metric).higher_is_better
    pairs: dict[tuple[str, str], Comparison] = {}
    for first, second in combinations(methods, 2):
        both = differences(table, first, second)
        if both is None:
            continue
        blind = both.choice.random
        pair = compare_gains(both.gains, both.known, blind=blind, higher_is_better=higher_is_better)
        pairs[first, second] = replace(pair, protocols=() if blind else both.protocols)
    adjusted = holm({pair: one.p_value for pair, one in pairs.items()})
    comparisons: dict[str, dict[str, Comparison]] = {}
    for (first, second), one in pairs.items():
        p = adjusted[first, second]
        graded = one.grade if p is None else grade(1.0 - p / 2.0, one.n)
        made = replace(one, adjusted_p=p, grade=graded)
        comparisons.setdefault(first, {})[second] = made
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


@dataclass(frozen=True, repr=False)
class Pair:
    """Two methods on one dataset.

    Attributes:
        dataset: its name.
        first: a method.
        second: another method.
        comparison: the first against the second.
    """

    dataset: str
    first: str
    second: str
    comparison: Comparison

    def __repr__(self) -> str:
        one = self.comparison
        between = (
            "" if one.interval is None else " (90 %: {:+.1f} to {:+.1f})".format(*one.interval)
        )
        return (
            f"<Pair on {self.dataset}: {self.first} - {self.second} = {one.difference:+.1f} points"
            f"{between} on {count(one.n, 'order')}>"
        )


@dataclass(frozen=True, repr=False)
class MethodComparison:
    """All pairs of methods that share class orders.

    Attributes:
        source: the experiments or files, as they were given.
        metric: that was compared.
        pairs: by dataset, in the order of the methods; p-values are adjusted within a dataset.
        unfinished: a sentence for each method and protocol with orders that have no result.
    """

    source: str
    metric: str
    pairs: tuple[Pair, ...]
    unfinished: tuple[str, ...] = ()

    def __getitem__(self, names: tuple[str, str]) -> Comparison:
        """Return the first method against the second, if there is one dataset."""
        first, second = names
        for pair in self.pairs:
            if (pair.first, pair.second) == (first, second):
                return pair.comparison
            if (pair.first, pair.second) == (second, first):
                return pair.comparison.swapped()
        raise KeyError(f"No class order was run by both {first!r} and {second!r}.")

    def to_pandas(self) -> pandas.DataFrame:
        """Return one row for each pair."""
        import pandas

        frame: pandas.DataFrame = pandas.DataFrame(
            {
                "dataset": pair.dataset,
                "first": pair.first,
                "second": pair.second,
                **vars(pair.comparison),
            }
            for pair in self.pairs
        )
        return frame

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw each mean difference with its 90 % interval; a line marks no difference.

        Args:
            ax: the axes to draw on; new ones by default.
        """
        ax = new_axes((6.0, 0.8 + 0.35 * len(self.pairs))) if ax is None else ax
        for row, pair in enumerate(self.pairs):
            if pair.comparison.interval is not None:
                ax.plot(pair.comparison.interval, (row, row), color="0.35", linewidth=2)
            ax.plot([pair.comparison.difference], [row], "o", color="#0072B2")
        ax.axvline(0.0, color="0.6", linewidth=0.8)
        labels = [f"{pair.first} − {pair.second}" for pair in self.pairs]
        ax.set_yticks(range(len(labels)), labels)
        ax.set_ylim(len(labels) - 0.5, -0.5)
        ax.set_xlabel(f"difference of {self.metric}, points")
        return ax

    def __repr__(self) -> str:
        return f"<Comparison of {self.source}: {count(len(self.pairs), 'pair')} of methods>"

    def __str__(self) -> str:
        """Return which method of each pair is better, a line each."""
        return "\n".join(explain_differences(self, most=len(self.pairs)))

    _repr_pretty_ = show_printed


def compare(
    source: Source | Sequence[Source],
    *,
    method: Sequence[str] | None = None,
    metric: str | None = None,
    classifier: str | None = None,
) -> MethodComparison:
    """Compare methods on the class orders, and the training seeds, that they share.

    Args:
        source: experiment directories and CSV files. Runs on the same dataset are joined, so that
            methods may come from different sources. In Python also experiments, DataFrames and
            accuracy tables.
        method: the methods to compare; all by default.
        metric: metric to compare; by default the experiment's.
        classifier: classifier of the methods, such as `nme`; each method's main one by default.
    """
    sources = list_sources(source)
    metric = default_metric(sources) if metric is None else metric
    runs = gather_runs(sources, metric, classifier)
    pairs: list[Pair] = []
    unfinished: list[str] = []
    available = dict.fromkeys(name for part in runs for name in part.table.methods)
    for name in method or ():
        if name not in available:
            raise unknown("method", name, available)
    if len(compared := dict.fromkeys(method or available)) < 2:
        raise UsageError(
            f"A comparison requires at least two methods. Got {', '.join(compared)} alone."
        )
    for part in runs:
        chosen = [name for name in method or part.table.methods if name in part.table.methods]
        for name in chosen:
            unfinished += (f"{name}, {it}" for it in warn_of_failures(part.table, name, None))
        for first, others in compare_pairs(part.table, chosen).items():
            for second, comparison in others.items():
                pairs.append(Pair(part.table.dataset, first, second, comparison))
    if not pairs:
        raise UsageError(
            "A comparison requires two methods that ran the same class orders. "
            f"Got {', '.join(available)}, without a common order. "
            "Train both on the same protocol with the same order seed."
        )
    return MethodComparison(
        ", ".join(map(describe_source, sources)),
        runs[0].table.metric,
        tuple(pairs),
        tuple(unfinished),
    )
