"""The difference of two methods, as their runs show it: paired, as two samples, or as published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from edgecil.analysis.samples import (
    Basis,
    OrderChoice,
    basis_of,
    describe_population,
    design_of,
    paired_differences,
    posterior_of_orders,
    posterior_of_values,
    random_protocols,
    representative_orders,
)
from edgecil.analysis.terms import DEFAULT_TERMS, Terms
from edgecil.io.arrays import Bools, Floats, Ints
from edgecil.runs.design import Design
from edgecil.runs.published import PublishedResult
from edgecil.runs.run_table import Orders, Runs
from edgecil.sequences.protocols import find_protocol
from edgecil.statistics import student
from edgecil.statistics.posterior import Combination, Interval, Posterior, combine
from edgecil.statistics.sequential import ConfidenceSequence
from edgecil.statistics.student import Sample, Student
from edgecil.statistics.verdicts import LEAST_RUNS
from edgecil.wording.missing_verdicts import NoVerdict
from edgecil.wording.populations import population_words

Known = Posterior | Combination | Student

_FEWEST = 2
_LEAST_P = 1e-12  # what the grid of the posterior can resolve
_LEAST_DRAWN_P = 1e-4  # what the draws of a combination can


@dataclass(frozen=True, eq=False)
class PairDifferences:
    """The differences of two methods.

    Attributes:
        values: (n,) one per order, the mean over its trainings; of unpaired runs all (n₁ n₂,).
        posterior: what they say about the population; None if there is no interval.
        population: what the difference is about, after 'over'.
        count: n; of unpaired runs, the smaller number of the two methods.
        paired: whether there is a difference for each order, seed or run.
        random_orders: whether the orders are random draws, or all.
        chosen_by: protocols that chose the orders, if they are not random.
        sequence: that keeps a verdict valid after every run; None unless that is wanted.
        no_verdict: why there is no interval; None if there is one.
    """

    values: Floats
    posterior: Known | None
    population: str
    count: int
    paired: bool = True
    random_orders: bool = True
    chosen_by: tuple[str, ...] = ()
    sequence: ConfidenceSequence | None = None
    no_verdict: NoVerdict | None = None

    @property
    def mean(self) -> float:
        """The estimated mean difference."""
        if self.sequence is not None:
            return self.sequence.mean
        return float(self.values.mean() if self.posterior is None else self.posterior.mean)

    @property
    def has_interval(self) -> bool:
        """Whether something follows about the population."""
        return self.posterior is not None and self.no_verdict is None

    @property
    def p_value(self) -> float | None:
        """Of no mean difference, two-sided; None without an interval."""
        if self.no_verdict is not None or self.posterior is None:
            return None
        if self.sequence is not None:
            return self.sequence.p_value
        below = float(self.posterior.cdf("mean", 0.0))
        above = float(self.posterior.above("mean", 0.0))
        is_drawn = isinstance(self.posterior, Combination)
        return min(1.0, max(2.0 * min(below, above), _LEAST_DRAWN_P if is_drawn else _LEAST_P))

    @property
    def basis(self) -> Basis | None:
        """What the interval is; None without one."""
        if self.posterior is None or self.no_verdict is not None:
            return None
        if self.sequence is not None:
            return "anytime"
        return basis_of(self.posterior)

    def interval(self, level: float) -> Interval | None:
        """Return the interval of the mean difference; None if there is none."""
        if self.posterior is None or self.no_verdict is not None:
            return None
        if self.sequence is not None:
            return self.sequence.interval(level)
        return self.posterior.interval("mean", level)


Pairs = dict[tuple[str, str], PairDifferences]


def published_names(
    table: Runs, published: Sequence[PublishedResult]
) -> dict[str, PublishedResult]:
    """Return published results by a name that no method of the table, and no other one, has."""
    names: dict[str, PublishedResult] = {}
    for result in published:
        name = result.method
        if name in table.methods or name in names:
            name = f"{name} ({Path(result.source).name or 'published'})"
        names[name] = result
    return names


def pair_methods(
    table: Runs,
    methods: Sequence[str],
    terms: Terms = DEFAULT_TERMS,
    published: Mapping[str, PublishedResult] | None = None,
) -> Pairs:
    """Return the differences of every pair of methods that can be compared.

    Args:
        table: the runs.
        methods: names of methods of the table, and of `published`.
        terms: how intervals are made.
        published: results of which only mean, and perhaps spread, is posterior, by name.
    """
    results = published or {}
    pairs: Pairs = {}
    for first, second in combinations(methods, 2):
        if first in results or second in results:
            pairs[first, second] = _with_published(table, first, second, results, terms)
            continue
        differences = _pair(table, first, second, terms)
        if differences is not None:
            pairs[first, second] = differences
    return pairs


def _pair(table: Runs, first: str, second: str, terms: Terms) -> PairDifferences | None:
    """Return the differences of two methods, by order and training seed; None without an order.

    If both ran two or more random orders, only these count. Runs whose orders are unknown are
    compared as independent samples if they share fewer than three seeds, and so are trainings of
    one class order unless their seeds also draw the data.
    """
    orders, other_orders = table.orders(first), table.orders(second)
    designs = design_of(table, first, orders), design_of(table, second, other_orders)
    if any(design.is_one_order for design in designs):
        return _of_trainings(table, first, second, designs, terms)
    places, gains, seeds = paired_differences(orders, other_orders)
    if len(places) < min(LEAST_RUNS, len(orders), len(other_orders)):
        both = _unpaired(table, first, second, terms)
        if not table.has_orders or both.posterior is not None:
            return both
    if not places.size:
        return None
    choice, used = _shared_choice(table, first, second, places)
    posterior = None
    if choice.random or choice.unknown:
        posterior = posterior_of_values(gains[used], seeds[used], table.metric, terms=terms)
    if posterior is not None and len(places) == table.space.size:
        # All orders weigh the same, repeated or not.
        mean = orders.accuracies.mean() - other_orders.accuracies.mean()
        posterior = replace(posterior, centre=np.full_like(posterior.centre, mean))
    shared = orders.take(np.isin(orders.places, places))
    design = design_of(table, first if len(orders) <= len(other_orders) else second, shared)
    means = np.nanmean(gains[used], axis=1)
    shared_seeds = 0 if posterior is None else posterior.shared_seeds
    differences = PairDifferences(
        means,
        posterior,
        describe_population(table, design, shared_seeds, choice),
        int(used.sum()),
        random_orders=choice.random,
        chosen_by=() if choice.random else tuple(choice.protocols),
        no_verdict=None if choice.random or choice.unknown else "not random",
    )
    return _with_reason(_in_sequence(differences, means, terms))


def _shared_choice(table: Runs, first: str, second: str, places: Ints) -> tuple[OrderChoice, Bools]:
    """Return how the orders that both ran were chosen, and which of them count, (n,)."""
    random = [random_protocols(table, name) for name in (first, second)]
    chosen_by = {
        name: np.isin(places, table.sequence[table.rows(protocol=name)])
        for name in random[0]
        if name in random[1]
    }
    used = np.any([np.zeros(len(places), dtype=bool), *chosen_by.values()], axis=0)
    if used.sum() >= min(len(places), _FEWEST):
        names = [name for name, is_of_protocol in chosen_by.items() if is_of_protocol.any()]
        return OrderChoice({name: random[0][name] for name in names}, random=True), used
    ran = {name: table.orders(first, name).places for name in table.protocols}
    names = [name for name, run_places in ran.items() if np.isin(run_places, places).any()]
    choice = OrderChoice({name: find_protocol(name) for name in names}, random=False)
    return choice, np.ones(len(places), dtype=bool)


def _of_trainings(
    table: Runs, first: str, second: str, designs: tuple[Design, Design], terms: Terms
) -> PairDifferences:
    """Return the difference where one method, or both, trained one class order several times."""
    orders, other_orders = table.orders(first), table.orders(second)
    words = [
        describe_population(table, design, 0, representative_orders(table, name)[0])
        for name, design in zip((first, second), designs, strict=True)
    ]
    population = words[0]
    if words[0] != words[1]:
        population = f"{words[0]} ({first}) and {words[1]} ({second})"
    elif table.counts_orders and set(orders.places.tolist()) != set(other_orders.places.tolist()):
        population = f"trainings of one {table.order_name} each, not the same one"
    elif all(design.paired_by == "seeds" for design in designs):
        values = _by_seed(orders), _by_seed(other_orders)
        seeds = [seed for seed in values[0] if seed in values[1]]
        gains = np.array([values[0][seed] - values[1][seed] for seed in seeds])
        if len(seeds) >= min(LEAST_RUNS, len(values[0]), len(values[1])):
            posterior = posterior_of_values(
                gains[:, None], np.array(seeds)[:, None], None, terms=terms
            )
            differences = PairDifferences(gains, posterior, population, len(gains))
            return _with_reason(_in_sequence(differences, gains, terms))
    return replace(_unpaired(table, first, second, terms), population=population)


def _by_seed(orders: Orders) -> dict[int, float]:
    """Return the value of each training by its seed."""
    seeds, values = orders.seeds.ravel(), orders.values.ravel()
    return {
        seed: value
        for seed, value in zip(seeds.tolist(), values.tolist(), strict=True)
        if seed >= 0
    }


def _unpaired(table: Runs, first: str, second: str, terms: Terms) -> PairDifferences:
    """Return the difference of two independent samples."""
    choice, mine = representative_orders(table, first)
    other_choice, theirs = representative_orders(table, second)
    designs = design_of(table, first, mine), design_of(table, second, theirs)
    values = [
        np.concatenate(orders.repeats()) if design.is_one_order else orders.accuracies
        for orders, design in zip((mine, theirs), designs, strict=True)
    ]
    posterior = None
    may_claim = all(
        order_choice.random or order_choice.unknown or design.is_one_order
        for order_choice, design in zip((choice, other_choice), designs, strict=True)
    )
    if may_claim:
        posterior = _subtract(
            posterior_of_orders(table, mine, designs[0], terms),
            posterior_of_orders(table, theirs, designs[1], terms),
        )
    fewer = 0 if len(values[0]) <= len(values[1]) else 1
    shared_seeds = 0 if posterior is None else posterior.shared_seeds
    runs = len(values[fewer])
    differences = PairDifferences(
        (values[0][:, None] - values[1]).ravel(),
        posterior,
        describe_population(table, designs[fewer], shared_seeds, (choice, other_choice)[fewer]),
        runs,
        paired=False,
        random_orders=choice.random and other_choice.random,
        no_verdict=None if may_claim else "not random",
    )
    in_turn = values[0][:runs] - values[1][:runs]
    return _with_reason(_in_sequence(differences, in_turn, terms))


def _subtract(
    first: Posterior | Sample | None, second: Posterior | Sample | None
) -> Student | Combination | None:
    """Return the difference of two means: Welch's, unless the prior moves one of them."""
    if first is None or second is None:
        return None
    parts = (first, second)
    samples = [part if isinstance(part, Sample) else part.sample for part in parts]
    if samples[0] is not None and samples[1] is not None:
        return student.difference(samples[0], samples[1])
    posteriors: list[Posterior | Student] = []
    weights: list[float] = []
    shift = 0.0
    for part, weight in zip(parts, (1.0, -1.0), strict=True):
        if isinstance(part, Posterior):
            posteriors.append(part)
        else:
            mean = student.difference(part, Sample(0.0))
            if mean is None:
                shift += weight * part.mean
                continue
            posteriors.append(mean)
        weights.append(weight)
    return combine(posteriors, weights).shifted(shift)


def _with_published(
    table: Runs,
    first: str,
    second: str,
    published: Mapping[str, PublishedResult],
    terms: Terms,
) -> PairDifferences:
    """Return the difference where one result, or both, is posterior by its summary alone."""
    samples: list[Sample] = []
    parts: list[Posterior | Sample | None] = []
    population = population_words(Design("unknown", 0))
    series, is_random = None, True
    for name in (first, second):
        if name in published:
            result = published[name]
            samples.append(Sample(result.mean, result.sample_std, result.n))
            is_few = result.std is not None and (result.n or 0) < LEAST_RUNS
            parts.append(None if is_few else samples[-1])
            continue
        choice, orders = representative_orders(table, name)
        design = design_of(table, name, orders)
        values = np.concatenate(orders.repeats()) if design.is_one_order else orders.accuracies
        std = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        samples.append(Sample(float(values.mean()), std, len(values)))
        parts.append(posterior_of_orders(table, orders, design, terms))
        population = describe_population(table, design, 0, choice)
        series = values
        is_random = choice.random or choice.unknown or design.is_one_order
    posterior = _subtract(*parts) if is_random else None
    sizes = [sample.size for sample in samples if sample.std is not None and sample.size]
    no_verdict: NoVerdict | None = None if is_random else "not random"
    if not sizes:
        no_verdict = "constants"
    elif min(sizes) < LEAST_RUNS:
        no_verdict = "published few"
    differences = PairDifferences(
        np.array([samples[0].mean - samples[1].mean]),
        posterior,
        population,
        min(sizes, default=0),
        paired=False,
        no_verdict=no_verdict,
    )
    differences = _with_reason(differences)
    if not terms.anytime or series is None or differences.posterior is None:
        return differences
    sign, other = (1.0, samples[1]) if second in published else (-1.0, samples[0])
    compared = _in_sequence(differences, sign * (series - other.mean), terms)
    fixed = student.difference(replace(other, mean=0.0), Sample(0.0))
    if compared.sequence is None or fixed is None:
        return compared
    return replace(compared, sequence=replace(compared.sequence, fixed=fixed))


def _in_sequence(differences: PairDifferences, series: Floats, terms: Terms) -> PairDifferences:
    """Return differences with a verdict that is valid after every run, if that is wanted."""
    if not terms.anytime or differences.posterior is None:
        return differences
    sequence = ConfidenceSequence.of(series.tolist())
    if sequence is None:
        return replace(differences, no_verdict="too early")
    return replace(differences, sequence=sequence)


def _with_reason(differences: PairDifferences) -> PairDifferences:
    """Return differences that say why there is no interval."""
    if differences.posterior is not None or differences.no_verdict is not None:
        return differences
    reason: NoVerdict = "few" if differences.count < LEAST_RUNS else "equal"
    return replace(differences, no_verdict=reason)


def average_pairs(pairs: Sequence[PairDifferences]) -> PairDifferences | None:
    """Return the mean of a pair's differences on several datasets, each of which weighs the same.

    Its value is the mean on each dataset. None unless two or more of them have an interval.
    """
    posteriors = [pair.posterior for pair in pairs if pair.has_interval]
    estimates = [posterior for posterior in posteriors if posterior is not None]
    if len(estimates) < 2:
        return None
    textbook = [_as_student(posterior) for posterior in estimates]
    students = [part for part in textbook if part is not None]
    over: Known
    if len(students) == len(estimates):
        over = student.average_equally(students)
    else:
        over = combine(estimates, [1.0 / len(estimates)] * len(estimates))
    means = np.array([pair.mean for pair in pairs if pair.has_interval])
    return PairDifferences(means, over, "", LEAST_RUNS)


def _as_student(posterior: Known) -> Student | None:
    """Return what is estimates as Student's t, if it is that."""
    if isinstance(posterior, Student):
        return posterior
    if isinstance(posterior, Combination) or posterior.sample is None:
        return None
    return student.difference(posterior.sample, Sample(0.0))
