"""Which of two methods is better, by how much and how surely: on a dataset, and over several.

All comparisons that are answered together are one family: every pair of methods on every dataset
and every pair over the datasets. Their p-values are adjusted by Holm's method, so that with equal
methods a wrong verdict anywhere in the answer is as rare as one in a single comparison.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TypeVar

import numpy as np

from edgecil.analysis.pairs import PairDifferences, Pairs, average_pairs, pair_methods
from edgecil.analysis.samples import Basis
from edgecil.analysis.terms import DEFAULT_TERMS, Terms
from edgecil.io.notebook import show_printed
from edgecil.runs.metrics import find_metric
from edgecil.runs.published import PublishedResult
from edgecil.runs.run_table import Runs
from edgecil.statistics.distributions import SAME
from edgecil.statistics.posterior import Interval, clip_interval
from edgecil.statistics.verdicts import LEAST_RUNS, LEVEL, Grade, grade
from edgecil.wording.missing_verdicts import NoVerdict

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict:
    """Two methods: which one is better, by how much, how surely.

    Attributes:
        better: the better method; None where the two cannot be told apart.
        worse: the other one; None there, too.
        ahead: the method with the better mean, whether or not that is more than chance.
        behind: the other one.
        metric: what is compared.
        difference: by how much one method is ahead on average, at least 0, in points.
        low: lower end of the interval of this difference over the population, adjusted like `p`;
            below 0 where the other method may be better. None where there is no interval.
        high: upper end of this interval.
        level: of the interval.
        probability: that the method that is ahead has the better mean over the population, so that
            it is better on average over many runs; None where there is no interval. The sentence
            does not say it; it says `new_run_probability`.
        grade: `clear`, `likely`, `cannot tell` or `too few`; it follows from `p`.
        p: two-sided, of no mean difference, adjusted for all comparisons that are answered
            together (Holm); None where there is no interval.
        unadjusted_p: p of this comparison alone.
        adjusted_for: how many comparisons these are.
    """

    better: str | None
    worse: str | None
    ahead: str
    behind: str
    metric: str
    difference: float
    low: float | None = None
    high: float | None = None
    level: float = LEVEL
    probability: float | None = None
    grade: Grade = "too few"
    p: float | None = None
    unadjusted_p: float | None = None
    adjusted_for: int = 1

    @property
    def interval(self) -> Interval | None:
        """Both ends of the interval; None if there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def brief(self) -> str:
        """The verdict as a sentence, without what is the same for all that are answered."""
        raise NotImplementedError

    @property
    def methods(self) -> frozenset[str]:
        """The two methods."""
        return frozenset((self.ahead, self.behind))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    _repr_pretty_ = show_printed


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Verdict):
    """Two methods on one dataset, run by run.

    Attributes:
        dataset: its name.
        n: number of orders (or runs) that both ran; of unpaired runs, the smaller number of the
            two methods.
        wins: on how many of them the method that is ahead is better.
        ties: on how many both are equal.
        new_run_probability: that the method that is ahead is better in a single new run, one new
            order trained once; None where there is no interval. It is the number of the sentence:
            "and better in a new run with probability 94 %". Chance decides more in one run than on
            average, so that it is nearer to one half than `probability`.
        paired: whether both methods ran the same orders, or the same seeds.
        random_orders: whether the orders are random draws, or all; otherwise they may not represent
            all orders.
        chosen_by: protocols that chose the orders, if they are not random.
        population: what the comparison is about: `uniformly random class orders and trainings`, or
            less.
        basis: what the interval is: Student's or Welch's t, or what moved it; None without one.
        why_no_interval: why there is none; None where there is one.
    """

    dataset: str = ""
    n: int
    wins: int
    ties: int = 0
    new_run_probability: float | None = None
    paired: bool = True
    random_orders: bool = True
    chosen_by: tuple[str, ...] = ()
    population: str = "uniformly random class orders and trainings"
    basis: Basis | None = None
    why_no_interval: NoVerdict | None = None

    @property
    def losses(self) -> int:
        """On how many orders the method that is ahead is worse."""
        return self.n - self.wins - self.ties

    @property
    def brief(self) -> str:
        """The verdict as a sentence, without what is the same for all that are answered."""
        from edgecil.wording.comparison_sentences import describe_pair

        return describe_pair(self, brief=True)

    def __str__(self) -> str:
        """Return the comparison as a sentence."""
        from edgecil.wording.comparison_sentences import describe_pair

        return describe_pair(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class OverallComparison(Verdict):
    """Two methods over several datasets, each of which weighs the same.

    Attributes:
        differences: by dataset on which both have an interval, by how much the method that is ahead
            overall is ahead there; negative where it is behind.
    """

    differences: Mapping[str, float] = field(default_factory=dict)

    @property
    def datasets(self) -> tuple[str, ...]:
        """The datasets on which both have an interval."""
        return tuple(self.differences)

    @property
    def behind_on(self) -> tuple[str, ...]:
        """The datasets on which the method that is ahead overall is behind."""
        return tuple(name for name, value in self.differences.items() if value < 0.0)

    @property
    def brief(self) -> str:
        """The verdict as a sentence, without what is the same for all that are answered."""
        from edgecil.wording.comparison_sentences import describe_overall_pair

        return describe_overall_pair(self, brief=True)

    def __str__(self) -> str:
        """Return the comparison as a sentence."""
        from edgecil.wording.comparison_sentences import describe_overall_pair

        return describe_overall_pair(self)


@dataclass(frozen=True, eq=False)
class JudgedTables:
    """All comparisons of the methods of some tables, which are answered together.

    Attributes:
        by_table: the comparisons on each table, in the order of the methods.
        over_datasets: those over all tables; empty for one table.
    """

    by_table: tuple[tuple[Comparison, ...], ...]
    over_datasets: tuple[OverallComparison, ...]


@dataclass(frozen=True, eq=False)
class _Question:
    """One comparison before its p-value is adjusted: the first method against the second.

    Over datasets, `pair` has a value for each of them.
    """

    first: str
    second: str
    metric: str
    pair: PairDifferences

    @property
    def p(self) -> float | None:
        """P of this comparison alone; None where there is no interval."""
        return self.pair.p_value

    @property
    def gain_sign(self) -> float:
        """What turns a difference of the two into a gain of the method that is ahead."""
        upwards = 1.0 if find_metric(self.metric).higher_is_better else -1.0
        return upwards if upwards * self.pair.mean >= 0.0 else -upwards

    @property
    def first_is_ahead(self) -> bool:
        """Whether the first method has the better mean."""
        return (self.gain_sign > 0.0) == find_metric(self.metric).higher_is_better


def compare_tables(
    tables: Sequence[Runs],
    methods: Sequence[str],
    terms: Terms = DEFAULT_TERMS,
    published: Sequence[Mapping[str, PublishedResult]] = (),
) -> JudgedTables:
    """Return every pair of methods on each table, and over all of them, as one family.

    Args:
        tables: the runs on each dataset.
        methods: whose pairs are compared.
        terms: how intervals are made and verdicts are given.
        published: for each table, results of which only a summary is known, by name.
    """
    pairs_of_table = []
    for table, results in zip(tables, published or [{}] * len(tables), strict=True):
        names = [name for name in methods if name in table.methods or name in results]
        pairs_of_table.append(pair_methods(table, names, terms, results))
    return judge_pairs(tables, pairs_of_table, methods, terms)


def judge_pairs(
    tables: Sequence[Runs],
    pairs_of_table: Sequence[Pairs],
    methods: Sequence[str],
    terms: Terms = DEFAULT_TERMS,
) -> JudgedTables:
    """Return what differences say about every pair of methods, as one family."""
    metric = tables[0].metric
    questions: dict[tuple[int, str, str], _Question] = {}
    for place, pairs in enumerate(pairs_of_table):
        for (first, second), pair in pairs.items():
            questions[place, first, second] = _Question(first, second, metric, pair)
    overall_place = len(tables)
    overall_pairs = {} if terms.anytime else _over_datasets(pairs_of_table, methods)
    for (first, second), pair in overall_pairs.items():
        questions[overall_place, first, second] = _Question(first, second, metric, pair)
    alone = {key: question.p for key, question in questions.items()}
    adjusted = holm(alone)
    family = sum(p is not None for p in alone.values())
    by_table: list[list[Comparison]] = [[] for _ in tables]
    overall: list[OverallComparison] = []
    for key, question in questions.items():
        place, first, second = key
        verdict = _judge(question, alone[key], adjusted[key], family, terms.level)
        if place == overall_place:
            differences = _differences_by_dataset(question, tables, pairs_of_table)
            overall.append(OverallComparison(**vars(verdict), differences=differences))
        else:
            pair = pairs_of_table[place][first, second]
            by_table[place].append(_compare_pair(verdict, question, tables[place], pair))
    return JudgedTables(tuple(map(tuple, by_table)), tuple(overall))


def _over_datasets(pairs_of_table: Sequence[Pairs], methods: Sequence[str]) -> Pairs:
    """Return each pair over the datasets on which it has an interval, if these are several.

    Each dataset weighs the same. There is no such pair that stays valid after every run.
    """
    overall: Pairs = {}
    for key in combinations(methods, 2):
        average = average_pairs([pairs[key] for pairs in pairs_of_table if key in pairs])
        if average is not None:
            overall[key] = average
    return overall


def _judge(
    question: _Question, alone: float | None, p: float | None, family: int, level: float
) -> Verdict:
    """Return what the posterior of a comparison and its two p-values say.

    The interval excludes 0 exactly where the adjusted p is below 1 - level.
    """
    names = (question.first, question.second)
    ahead, behind = names if question.first_is_ahead else names[::-1]
    verdict = Verdict(
        better=None,
        worse=None,
        ahead=ahead,
        behind=behind,
        metric=question.metric,
        difference=abs(question.pair.mean),
        level=level,
        grade="too few" if question.pair.count < LEAST_RUNS else "cannot tell",
        adjusted_for=family,
    )
    posterior = question.pair.posterior
    if posterior is None or alone is None or p is None:
        return verdict
    least, most = find_metric(question.metric).bounds
    ends = question.pair.interval(1.0 - (1.0 - level) * alone / p)
    low = high = None
    if ends is not None:
        ends = clip_interval(ends, (least - most, most - least))
        low, high = sorted(question.gain_sign * end for end in ends)
    above = float(posterior.above("mean", 0.0))
    sureness = grade(p, question.pair.count)
    is_decided = sureness in ("clear", "likely")
    return replace(
        verdict,
        better=ahead if is_decided else None,
        worse=behind if is_decided else None,
        low=low,
        high=high,
        probability=above if question.gain_sign > 0.0 else 1.0 - above,
        grade=sureness,
        p=p,
        unadjusted_p=alone,
    )


def _compare_pair(
    verdict: Verdict, question: _Question, table: Runs, pair: PairDifferences
) -> Comparison:
    """Return the comparison of one pair on one table."""
    gains = question.gain_sign * pair.values
    is_tie = np.abs(gains) <= SAME
    won = float(np.mean(np.where(is_tie, 0.5, gains > 0.0)))
    ties = int(is_tie.sum()) if pair.paired else 0
    new_run = None
    if pair.posterior is not None and pair.has_interval:
        above = float(pair.posterior.above("next", 0.0))
        new_run = above if question.gain_sign > 0.0 else 1.0 - above
    return Comparison(
        **vars(verdict),
        dataset=table.dataset,
        n=pair.count,
        wins=round(won * pair.count - ties / 2.0),
        ties=ties,
        new_run_probability=new_run,
        paired=pair.paired,
        random_orders=pair.random_orders,
        chosen_by=pair.chosen_by,
        population=pair.population,
        basis=pair.basis,
        why_no_interval=pair.no_verdict,
    )


def _differences_by_dataset(
    question: _Question, tables: Sequence[Runs], pairs_of_table: Sequence[Pairs]
) -> dict[str, float]:
    """Return by how much the method that is ahead overall is ahead on each dataset."""
    differences = {}
    for table, pairs in zip(tables, pairs_of_table, strict=True):
        pair = pairs.get((question.first, question.second))
        if pair is not None and pair.has_interval:
            differences[table.dataset] = question.gain_sign * pair.mean
    return differences


def holm(p_values: Mapping[_Key, float | None]) -> dict[_Key, float | None]:
    """Return p-values adjusted by Holm's method (1979); None stays None and does not count.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    defined = [(p, key) for key, p in p_values.items() if p is not None]
    adjusted: dict[_Key, float | None] = dict.fromkeys(p_values)
    largest = 0.0
    for place, (p, key) in enumerate(sorted(defined, key=lambda pair: pair[0])):
        largest = max(largest, min(1.0, p * (len(defined) - place)))
        adjusted[key] = largest
    return adjusted
