"""`compare`: methods on the same class orders; which one is better, by how much, how surely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from typing_extensions import Unpack

from edgecil.analysis.differences import Differences, Pairs, pair_methods, published_names
from edgecil.analysis.plausibility import warn_of_failures
from edgecil.analysis.samples import (
    Basis,
    representative_orders,
)
from edgecil.analysis.sources import Source, gather
from edgecil.analysis.terms import DEFAULT_TERMS, IntervalKind, Terms
from edgecil.errors import UsageError, unknown_name_error
from edgecil.hints import Level
from edgecil.io.arrays import Floats
from edgecil.io.notebook import show_printed
from edgecil.options import checked
from edgecil.runs.metrics import find_metric
from edgecil.runs.reading.reading_options import ReadingOptions
from edgecil.runs.run_table import Runs
from edgecil.statistics.distributions import SAME
from edgecil.statistics.posterior import Combination, Interval, combine, cut
from edgecil.statistics.verdicts import LEAST_RUNS, LEVEL, Grade, grade
from edgecil.wording.published import describe_published
from edgecil.wording.sentences import count, describe_comparison
from edgecil.wording.verdicts import NoVerdict

if TYPE_CHECKING:
    import pandas

_Key = TypeVar("_Key")

_FEWEST = 2
_LEAST_P = 1e-12  # what the grid of the posterior can resolve
_POINTS, _DRAWS = 101, 2_000  # of a performance profile


@dataclass(frozen=True)
class Comparison:
    """The first method against the second, order by order.

    Attributes:
        n: orders that both ran; of unpaired runs, those of the method with fewer.
        difference: mean of the first minus that of the second.
        interval: of the mean difference over the population, at `level`, adjusted for the number
            of pairs; None with fewer than three orders, or if they are not random draws.
        won: share of these orders on which the first is better, ties half.
        probability: that the first is better on average; None where there is no interval.
        grade: how sure it is which one is better, given the number of pairs that are compared.
        new_run_probability: that the first is better in a new run, one new order trained once;
            None where there is no interval.
        p_value: of no mean difference, two-sided; None where there is no interval.
        adjusted_p: the same, adjusted for the number of pairs by Holm's method.
        blind: whether the orders are random draws, or all; otherwise they may not represent all
            orders.
        reason: why something is None.
        tied: orders on which both are equal.
        protocols: that chose these orders, if not blindly.
        population: what the comparison is about: `uniformly random class orders and trainings`, or
            less.
        paired: whether both methods ran the same orders, or the same seeds.
        level: probability with which the interval contains the mean difference.
        basis: what the interval is: Student's or Welch's t, or what moved it; None without one.
    """

    n: int
    difference: float
    interval: Interval | None
    won: float
    probability: float | None = None
    grade: Grade = "too few"
    new_run_probability: float | None = None
    p_value: float | None = None
    adjusted_p: float | None = None
    blind: bool = True
    reason: NoVerdict | None = None
    tied: int = 0
    protocols: tuple[str, ...] = ()
    population: str = "uniformly random class orders and trainings"
    paired: bool = True
    level: float = LEVEL
    basis: Basis | None = None

    @property
    def wins(self) -> int:
        """On how many of these orders the first method is better."""
        return round(self.won * self.n - self.tied / 2.0)

    def swapped(self) -> Comparison:
        """Return the second method against the first."""
        chance, sure = self.new_run_probability, self.probability
        return replace(
            self,
            difference=-self.difference,
            interval=None if self.interval is None else (-self.interval[1], -self.interval[0]),
            won=1.0 - self.won,
            probability=None if sure is None else 1.0 - sure,
            new_run_probability=None if chance is None else 1.0 - chance,
        )


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Overall:
    """Two methods over several datasets, each of which weighs the same.

    Attributes:
        first: a method.
        second: another method.
        datasets: on which both have an interval.
        difference: mean over datasets of the mean differences, points.
        interval: at `level`, for these datasets.
        probability: that the first is better on average over these datasets.
        grade: how sure it is which one is better.
        opposite: datasets on which the mean difference has the other sign.
        level: probability with which the interval contains the mean difference.
    """

    first: str
    second: str
    datasets: tuple[str, ...]
    difference: float
    interval: Interval
    probability: float
    grade: Grade
    opposite: tuple[str, ...] = ()
    level: float = LEVEL


@dataclass(frozen=True, eq=False)
class PerformanceProfile:
    """Share of a method's runs above each score, a mean over datasets, with bands.

    Attributes:
        scores: (m,) values of the metric.
        share: (m,) in [0, 1].
        low: (m,) pointwise lower end.
        high: (m,) upper end.
        level: probability with which the band contains the share at a score.
    """

    scores: Floats
    share: Floats
    low: Floats
    high: Floats
    level: float = LEVEL


@dataclass(frozen=True, repr=False)
class MethodComparison:
    """All pairs of methods.

    Attributes:
        source: the experiments or files, as they were given.
        metric: that was compared.
        pairs: by dataset, in the order of the methods; p-values are adjusted within a dataset.
        over_datasets: pairs over all datasets; empty with one dataset.
        profiles: performance profiles by method, of methods that ran every dataset; empty with
            one dataset.
        notes: a sentence for each method and protocol with orders that have no result, and on the
            table.
    """

    source: str
    metric: str
    pairs: tuple[Pair, ...]
    over_datasets: tuple[Overall, ...] = ()
    profiles: dict[str, PerformanceProfile] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __getitem__(self, names: tuple[str, str]) -> Comparison:
        """Return the first method against the second, if there is one dataset."""
        first, second = names
        for pair in self.pairs:
            if (pair.first, pair.second) == (first, second):
                return pair.comparison
            if (pair.first, pair.second) == (second, first):
                return pair.comparison.swapped()
        raise KeyError(f"{first!r} and {second!r} were not compared.")

    def to_pandas(self) -> pandas.DataFrame:
        """Return one row for each pair."""
        import pandas

        rows = [{**vars(pair), **vars(pair.comparison)} for pair in self.pairs]
        frame: pandas.DataFrame = pandas.DataFrame(rows).drop(columns="comparison")
        return frame

    def __repr__(self) -> str:
        return f"<Comparison of {self.source}: {count(len(self.pairs), 'pair')} of methods>"

    def __str__(self) -> str:
        """Return which method of each pair is better, a line each."""
        return "\n".join(describe_comparison(self, most=len(self.pairs)))

    _repr_pretty_ = show_printed


@checked
def compare(
    source: Source | Sequence[Source],
    *,
    method: Sequence[str] | None = None,
    metric: str | None = None,
    classifier: str | None = None,
    level: Level | None = None,
    interval: IntervalKind | None = None,
    anytime: bool = False,
    **reading: Unpack[ReadingOptions],
) -> MethodComparison:
    """Compare methods on the class orders, and the training seeds, that they share.

    Args:
        source: experiment directories and CSV files. Runs on the same dataset are joined, so that
            methods may come from different sources. In Python also experiments, DataFrames and
            accuracy tables.
        method: the methods to compare; all by default.
        metric: metric to compare; by default the experiment's.
        classifier: classifier of the methods, such as `nme`; each method's main one by default.
        level: probability with which an interval contains the mean difference; 0.95 by default.
        interval: `t` for Student's (or Welch's) interval whatever the spread is; by default that of
            the measured model, which is nearly always the same.
        anytime: whether verdicts and intervals stay valid if one compares again after every run. By
            default they are for a number of runs that was chosen beforehand.
        reading: see :class:`~edgecil.runs.reading.reading_options.ReadingOptions`.
    """
    terms = Terms.of(level=level, interval=interval, anytime=anytime)
    gathered = gather(source, metric=metric, classifier=classifier, **reading)
    runs = gathered.datasets
    named = [published_names(part.table, part.published) for part in runs]
    available: dict[str, None] = {}
    for part, published in zip(runs, named, strict=True):
        available |= dict.fromkeys([*part.table.methods, *published])
    for name in method or ():
        if name not in available:
            raise unknown_name_error("method", name, available)
    if len(compared := dict.fromkeys(method or available)) < 2:
        words = gathered.words
        twice = next((f", twice from {it}" for it in words if words.count(it) > 1), "")
        raise UsageError(
            f"A comparison requires at least two methods. Got {', '.join(compared)} alone{twice}."
        )
    tables = [part.table for part in runs]
    pairs: list[Pair] = []
    notes = [note for part in runs for note in part.notes]
    for table, published in zip(tables, named, strict=True):
        chosen = [name for name in compared if name in table.methods]
        for name in chosen:
            notes += (f"{name}, {it}" for it in warn_of_failures(table, name, None))
        shown = [name for name in compared if name in published]
        notes += [describe_published(name, published[name]) for name in shown]
        differences = pair_methods(table, [*chosen, *shown], terms, published)
        for first, others in judge_pairs(table, differences, terms).items():
            pairs += (Pair(table.dataset, first, second, one) for second, one in others.items())
    if not pairs:
        raise UsageError(
            "A comparison requires two methods that ran the same class orders. "
            f"Got {', '.join(available)}, without a common order. "
            "Train both on the same protocol with the same order seed."
        )
    return MethodComparison(
        ", ".join(gathered.words),
        gathered.metric,
        tuple(pairs),
        compare_over_datasets(tables, tuple(compared), terms),
        profile_methods(tables, tuple(compared), terms),
        tuple(notes),
    )


def compare_pairs(
    table: Runs, methods: Sequence[str], terms: Terms = DEFAULT_TERMS
) -> dict[str, dict[str, Comparison]]:
    """Return every pair of methods on the orders that both ran, by first and second method."""
    return judge_pairs(table, pair_methods(table, methods, terms), terms)


def judge_pairs(
    table: Runs, pairs: Pairs, terms: Terms = DEFAULT_TERMS
) -> dict[str, dict[str, Comparison]]:
    """Return which method of each pair is better, by first and second method.

    Grades and intervals allow for the number of pairs.
    """
    adjusted = holm({pair: both.p_value for pair, both in pairs.items()})
    comparisons: dict[str, dict[str, Comparison]] = {}
    for (first, second), both in pairs.items():
        one = _compare(table, both, terms)
        p, adjusted_p = both.p_value, adjusted[first, second]
        if p is not None and adjusted_p is not None:
            # The interval excludes 0 where the adjusted p is below 1 - level.
            level = 1.0 - (p / adjusted_p) * (1.0 - terms.level)
            graded = grade(adjusted_p, one.n)
            interval = _interval(both, table.metric, level)
            one = replace(one, adjusted_p=adjusted_p, grade=graded, interval=interval)
        comparisons.setdefault(first, {})[second] = one
    return comparisons


def _compare(table: Runs, both: Differences, terms: Terms) -> Comparison:
    """Return a pair without what depends on the number of pairs: interval and grade."""
    higher_is_better = find_metric(table.metric).higher_is_better
    tied = np.abs(both.gains) <= SAME
    known, few = both.known, both.runs < LEAST_RUNS
    plain = Comparison(
        both.runs,
        both.mean,
        None,
        float(np.mean(np.where(tied, 0.5, (both.gains > 0.0) == higher_is_better))),
        grade="too few" if few else "cannot tell",
        blind=both.blind,
        tied=int(tied.sum()) if both.is_paired else 0,
        protocols=both.protocols,
        population=both.population,
        paired=both.is_paired,
        level=terms.level,
        basis=both.basis,
    )
    p_value = both.p_value
    if known is None or p_value is None:
        return replace(plain, reason=both.no_verdict)
    above, following = float(known.above("mean", 0.0)), float(known.above("next", 0.0))
    if not higher_is_better:
        above, following = float(known.cdf("mean", 0.0)), 1.0 - following
    return replace(plain, probability=above, new_run_probability=following, p_value=p_value)


def _interval(both: Differences | Combination, metric: str, level: float) -> Interval | None:
    """Return the interval of a mean difference, as far as the metric's bounds allow one."""
    low, high = find_metric(metric).bounds
    if isinstance(both, Combination):
        interval: Interval | None = both.interval("mean", level)
    else:
        interval = both.interval(level)
    return None if interval is None else cut(interval, (low - high, high - low))


def compare_over_datasets(
    tables: Sequence[Runs], methods: Sequence[str], terms: Terms = DEFAULT_TERMS
) -> tuple[Overall, ...]:
    """Return every pair of methods over the datasets on which both have an interval."""
    if len(tables) < 2:
        return ()
    made: list[Overall] = []
    higher_is_better = find_metric(tables[0].metric).higher_is_better
    every = {
        table.dataset: pair_methods(table, [name for name in methods if name in table.methods])
        for table in tables
    }
    for pair in combinations(methods, 2):
        both = {dataset: pairs[pair].known for dataset, pairs in every.items() if pair in pairs}
        known = {dataset: own for dataset, own in both.items() if own is not None}
        if len(known) < 2:
            continue
        over = combine(list(known.values()), [1.0 / len(known)] * len(known))
        above = over.above("mean", 0.0)
        interval = _interval(over, tables[0].metric, terms.level)
        assert interval is not None
        sure = above if higher_is_better else 1.0 - above
        graded = grade(2.0 * min(sure, 1.0 - sure), LEAST_RUNS)
        opposite = tuple(name for name, it in known.items() if it.mean * over.mean < 0.0)
        datasets = tuple(known)
        made.append(
            Overall(*pair, datasets, over.mean, interval, sure, graded, opposite, terms.level)
        )
    return tuple(made)


def profile_methods(
    tables: Sequence[Runs], methods: Sequence[str], terms: Terms = DEFAULT_TERMS
) -> dict[str, PerformanceProfile]:
    """Return performance profiles of the methods that ran every dataset."""
    shared = [name for name in methods if all(name in table.methods for table in tables)]
    if len(tables) < 2 or not shared:
        return {}
    runs = {
        name: [representative_orders(table, name)[1].accuracies for table in tables]
        for name in shared
    }
    values = np.concatenate([own for some in runs.values() for own in some])
    scores = np.linspace(values.min(), values.max(), _POINTS)
    return {name: performance_profile(some, scores, terms.level) for name, some in runs.items()}


def performance_profile(
    runs: Sequence[Floats], scores: Floats, level: float = LEVEL
) -> PerformanceProfile:
    """Return the share of runs above each score, a mean over datasets, with bands.

    The bands are stratified bootstrap percentiles: orders are drawn again within each dataset
    (Agarwal et al. 2021, Deep Reinforcement Learning at the Edge of the Statistical Precipice).
    """
    rng = np.random.default_rng(0)
    share, samples = np.zeros(len(scores)), np.zeros((_DRAWS, len(scores)))
    for values in runs:
        above, count = values[:, None] > scores, len(values)
        drawn = rng.multinomial(count, np.full(count, 1.0 / count), _DRAWS) / count
        share += above.mean(axis=0) / len(runs)
        samples += drawn @ above / len(runs)
    low, high = np.quantile(samples, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
    return PerformanceProfile(scores, share, low, high, level)


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
