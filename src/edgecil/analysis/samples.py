"""Which runs of a table represent all class orders or are all, and what they say about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from edgecil.analysis.terms import DEFAULT_TERMS, Terms
from edgecil.io.arrays import Floats, Ints
from edgecil.runs.design import Design
from edgecil.runs.metrics import find_metric
from edgecil.runs.run_table import Orders, Runs
from edgecil.sequences.protocols import ENUMERATE, Protocol, find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.statistics.posterior import (
    Combination,
    Posterior,
    evidence,
    independent_variance,
    measured_prior,
    posterior,
)
from edgecil.statistics.student import Student
from edgecil.statistics.verdicts import LEAST_RUNS
from edgecil.wording.populations import Chosen, population_words

_FEWEST = 2
_PER_CENT = (0.0, 100.0)
_ROUNDING = 1e-12
_USUAL = 3.0  # times the least standard deviation on truth tables is a usual one
LEAST_SAMPLE = 30
_WIDEST = 3.0  # half an interval of the next run, in standard deviations
_TENTH = 10  # an int, as |Ω| may exceed any float


@dataclass(frozen=True)
class OrderChoice:
    """How one sample of orders was chosen, by one protocol or by several together, by name.

    It is random if the orders represent all: each is a uniform random draw, or they are all.
    """

    protocols: dict[str, Protocol]
    random: bool

    @property
    def independent(self) -> bool:
        """Whether the orders do not depend on each other, so that claims on ranks are exact."""
        return self.random and not any(protocol.joint for protocol in self.protocols.values())

    @property
    def unknown(self) -> bool:
        """Whether nobody said how the orders were chosen, so that they may be random."""
        return all(protocol.unknown for protocol in self.protocols.values())

    @property
    def calibration(self) -> str | None:
        """The key under which the coverage of intervals was measured; None if it was not.

        Independent draws beside a design count as what they are: the design makes the mean more
        accurate, not less.
        """
        every = list(self.protocols.values())
        if any(protocol.calibration is None for protocol in every):
            return None
        single = [protocol for protocol in every if not protocol.joint]
        keys = {protocol.calibration for protocol in single or every}
        return keys.pop() if len(keys) == 1 else None


@dataclass(frozen=True, eq=False)
class Truth:
    """Accuracies of one method over all sequences, Ω.

    Attributes:
        kind: `enumerated` if (nearly) all of Ω was run, `sample` if random sequences represent it.
        protocols: whose runs these are; they are not evaluated against themselves.
        sizes: of the tasks.
        accuracies: (n,) per cent, means over training seeds.
        sequences: n different sequences; none in an :class:`Analysis`, whose table has them.
    """

    kind: Literal["enumerated", "sample"]
    protocols: tuple[str, ...]
    sizes: tuple[int, ...]
    accuracies: Floats
    sequences: tuple[ClassSequence, ...]

    def __len__(self) -> int:
        return len(self.accuracies)

    @cached_property
    def space_size(self) -> int:
        """|Ω|, the number of all sequences."""
        return SequenceSpace(self.sizes).size


def find_truth(table: Runs, method: str) -> Truth | None:
    """Return a method's true distribution, if the table holds it.

    That is all of Ω, of which up to a tenth may have failed, if it was run; else at least 30
    different independent random draws, if there are as many; else None.
    """
    kind: Literal["enumerated", "sample"] = "enumerated"
    size = table.space.size
    drawn = dict(table.orders(method).by_sequence())
    names = [name for name in table.protocols if find_protocol(name).exhaustive]
    nearly = bool(names) and _TENTH * len(drawn) >= (_TENTH - 1) * size
    if not nearly and len(drawn) < size:
        kind, drawn = "sample", {}
        names = [name for name in table.protocols if find_protocol(name).independent]
        for name in names:
            drawn |= table.orders(method, name).by_sequence()
        if len(drawn) < LEAST_SAMPLE:
            return None
    # in the order of the table's runs, which is the same for every method
    sequences = tuple(sequence for sequence in table.sequences if sequence in drawn)
    values = np.array([drawn[sequence] for sequence in sequences])
    protocols = tuple(names) or (ENUMERATE.name,)
    return Truth(kind, protocols, sequences[0].sizes, values, sequences)


def representative_orders(table: Runs, method: str) -> tuple[OrderChoice, Orders]:
    """Return the orders that an answer about a method rests on, and how they were chosen.

    These are all orders if (nearly) all were run, else random draws if there are two, else what the
    protocol with most orders chose.
    """
    first_runs = [name for name in table.protocols if not find_protocol(name).repeats]
    names = first_runs or table.protocols
    ran = {name: set(table.orders(method, name).places.tolist()) for name in names}
    ran = {name: places for name, places in ran.items() if places}
    random = random_protocols(table, method)
    blind = {name: random[name] for name in ran if name in random}
    most = max(ran, key=lambda name: len(ran[name]))
    if len(set[int]().union(*(ran[name] for name in blind))) < min(len(ran[most]), _FEWEST):
        blind = {}  # a single blind order gives no interval
    choice = OrderChoice(blind or {most: find_protocol(most)}, bool(blind))
    orders = table.orders(method)
    places = set[int]().union(*(ran[name] for name in choice.protocols))
    return choice, orders.take(np.isin(orders.places, list(places)))


def random_protocols(table: Runs, method: str | None = None) -> dict[str, Protocol]:
    """Return the protocols whose orders of a method (or all) represent all orders, by name.

    Orders of an exhaustive protocol follow a system, so that they count only once nine tenths of
    all orders have an accuracy. All orders count whatever their protocol is called.
    """
    methods = table.methods if method is None else (method,)
    protocols = {name: find_protocol(name) for name in table.protocols}
    chosen = {name: protocol for name, protocol in protocols.items() if protocol.random}
    least = min(len(table.orders(name)) for name in methods)
    if 10 * least >= 9 * table.space.size:
        chosen |= {name: protocol for name, protocol in protocols.items() if protocol.exhaustive}
    if len(table.sequences) == table.space.size:
        for name in table.protocols:
            order_counts = [
                len(set(table.orders(each_method, name).places.tolist())) for each_method in methods
            ]
            if name not in chosen and set(order_counts) == {table.space.size}:
                chosen[name] = ENUMERATE
    return chosen


def unbiased_orders(
    table: Runs, method: str, truth: Truth | None
) -> tuple[tuple[ClassSequence, ...], Floats]:
    """Return orders that represent all of Ω, the truth's or blind ones, with their accuracies.

    An order that another method ran for `random` may be an extreme one here.
    """
    if truth is not None:
        return truth.sequences, truth.accuracies
    rows, orders = table.rows(method), table.orders(method)
    codes = [table.protocols.index(name) for name in random_protocols(table, method)]
    places = table.sequence[rows[np.isin(table.protocol[rows], codes)]]
    kept = orders.take(np.isin(orders.places, places))
    return kept.sequences, kept.accuracies


def design_of(table: Runs, method: str, orders: Orders) -> Design:
    """Return what the runs of a method vary that a claim about it rests on.

    A single run shows nothing of what would vary, so that it counts as the first of several orders,
    unless the source says that its seeds only vary the training.
    """
    design = table.design(method)
    if not table.counts_orders:
        return design
    trainings = int(orders.counts.sum())
    if len(orders) == 1 and trainings > 1:
        return replace(design, varies="trainings", runs=trainings, orders=1)
    if design.varies == "trainings":
        return replace(design, varies="both")
    return design


def describe_population(
    table: Runs, design: Design, seeds: int, choice: OrderChoice | None = None
) -> str:
    """Return what claims are about, after 'over'; without a choice these are all orders."""
    chosen: Chosen = "drawn"
    if choice is not None and not choice.random:
        chosen = "unknown" if choice.unknown else "constructed"
    return population_words(design, chosen=chosen, shared_seeds=seeds, order_name=table.order_name)


def posterior_of_orders(
    table: Runs, orders: Orders, design: Design, terms: Terms = DEFAULT_TERMS
) -> Posterior | None:
    """Return what trainings on some orders say; see :func:`posterior_of_values`.

    Trainings of one class order are a sample of further trainings of it.
    """
    if design.is_one_order:
        trainings = np.concatenate(orders.repeats())[:, None]
        return posterior_of_values(trainings, np.arange(len(trainings))[:, None], None, terms=terms)
    variance = None
    if len(orders) > 1 and table.by_class is not None and (orders.counts == 1).all():
        classes = table.by_class[orders.rows[:, 0]]
        if not np.isnan(classes).any():
            tasks = np.array([_tasks_of(table.classes, order) for order in orders.sequences])
            variance = float(independent_variance(classes, tasks))
    return posterior_of_values(
        orders.values, orders.seeds, table.metric, class_variance=variance, terms=terms
    )


def _tasks_of(classes: Sequence[int], order: ClassSequence) -> list[int]:
    """Return the number of the task, from 0 on, in which an order has each class."""
    task_of_class = {}
    for number, task in enumerate(order.tasks):
        task_of_class.update(dict.fromkeys(task, number))
    return [task_of_class[class_] for class_ in classes]


def posterior_of_values(
    values: Floats,
    seeds: Ints,
    metric: str | None,
    *,
    class_variance: float | None = None,
    terms: Terms = DEFAULT_TERMS,
) -> Posterior | None:
    """Return what values of some orders say.

    The prior on the standard deviation is of accuracies in per cent, over class orders; any other
    metric, whose scale says nothing, has Student's t.

    Args:
        values: (n, r) of order and training; NaN where an order has fewer trainings.
        seeds: (n, r) their training seeds; -1 there.
        metric: what they are values of; None for trainings of one class order.
        class_variance: see :func:`~edgecil.statistics.posterior.independent_variance`.
        terms: how the interval is made.

    Returns:
        None with fewer than three orders, and without a prior if all values are equal: these show
        no spread.
    """
    if len(values) < LEAST_RUNS:
        return None
    has_prior = metric is not None and find_metric(metric).bounds == _PER_CENT
    if (terms.textbook or not has_prior) and _are_equal(values):
        return None
    has_value = ~np.isnan(values)
    means = np.nanmean(values, axis=1)
    within = float(np.where(has_value, (values - means[:, None]) ** 2, 0.0).sum())
    return posterior(
        evidence(means, repeats=has_value.sum(axis=1), within=within),
        prior=measured_prior() if has_prior else None,
        class_variance=class_variance,
        shared_seeds=shared_seeds(seeds),
        textbook=terms.textbook,
    )


def shows_runs(estimate: Posterior) -> bool:
    """Return whether runs show enough of their spread to say where the next one lies.

    From three or four it would be an interval of eight standard deviations and more.
    """
    low, high = estimate.interval("next")
    return (high - low) / 2.0 <= _WIDEST * float(estimate.std)


def why_unknown(count: int, unit: str) -> str:
    """Return why :func:`posterior_of_values` says nothing of so many orders, runs or trainings."""
    if count < LEAST_RUNS:
        return f"requires at least {LEAST_RUNS} {unit}s; got {count}"
    return f"all {count} {unit}s are equal, which shows no spread"


def _are_equal(values: Floats) -> bool:
    """Return whether values do not differ by more than rounding."""
    largest = float(np.nanmax(np.abs(values)))
    return float(np.nanmax(values) - np.nanmin(values)) <= _ROUNDING * largest


Basis = Literal[
    "student", "welch", "constant", "anytime",
    "nearly equal", "large spread", "outliers", "classes", "repeats", "shared seed", "combined",
]  # fmt: skip
"""What an interval is: a textbook's, or what moved it."""


def basis_of(estimate: Posterior | Student | Combination) -> Basis:
    """Return whether the interval of a mean is Student's t, or what moved it from there."""
    if isinstance(estimate, Student):
        return "constant" if estimate.against_constant else "welch"
    if isinstance(estimate, Combination):
        return "combined"
    if estimate.is_student:
        return "student"
    if estimate.shared_seeds:
        return "shared seed"
    if estimate.evidence.has_repeats:
        return "repeats"
    if estimate.class_variance is not None:
        return "classes"
    student = replace(estimate, is_student=np.array(True))
    if estimate.half_width() < student.half_width():
        return "large spread"
    spread = float(np.sqrt(estimate.evidence.squares / estimate.evidence.freedom))
    is_usual = estimate.prior is not None and spread > _USUAL * estimate.prior.std_range[0]
    return "outliers" if is_usual else "nearly equal"


def shared_seeds(seeds: Ints) -> int:
    """Return how many training seeds all orders have in common; 0 if seeds vary with the order."""
    if len(seeds) < 2 or not (seeds == seeds[0]).all():
        return 0
    return len(set(seeds[0].tolist()) - {-1})


def paired_differences(first: Orders, second: Orders) -> tuple[Ints, Floats, Ints]:
    """Return the differences of two methods of one table, by order and training seed.

    Where an order has no seed in common, its only difference is between the means.

    Returns:
        The orders' numbers in the table's `sequences`, (n,); the differences, (n, r), NaN where
        there are fewer; and their seeds, (n, r), -1 there.
    """
    are_same_runs = np.array_equal(first.places, second.places) and np.array_equal(
        first.seeds, second.seeds
    )
    if are_same_runs and (np.diff(first.seeds, axis=1) > 0).all() and (first.seeds >= 0).all():
        return first.places, first.values - second.values, first.seeds  # as is usual
    place_of = {place: row for row, place in enumerate(second.places.tolist())}
    places, rows = [], []
    for row_of_first, place in enumerate(first.places.tolist()):
        if place not in place_of:
            continue
        row_of_second = place_of[place]
        values_of_first = _by_seed(first, row_of_first)
        values_of_second = _by_seed(second, row_of_second)
        gains = {
            seed: value - values_of_second[seed]
            for seed, value in values_of_first.items()
            if seed in values_of_second
        }
        if not gains:
            gain_of_means = first.accuracies[row_of_first] - second.accuracies[row_of_second]
            gains = {-1: float(gain_of_means)}
        places.append(place)
        rows.append(gains)
    width = max(map(len, rows), default=1)
    values, seeds = np.full((len(rows), width), np.nan), np.full((len(rows), width), -1)
    for row, gains in enumerate(rows):
        values[row, : len(gains)] = list(gains.values())
        seeds[row, : len(gains)] = list(gains)
    return np.array(places, dtype=np.int64), values, seeds


def _by_seed(orders: Orders, row: int) -> dict[int, float]:
    """Return the mean value of each seed of one order."""
    seeds, values = orders.seeds[row], orders.values[row]
    return {
        seed: float(values[seeds == seed].mean())
        for seed in dict.fromkeys(seeds.tolist())
        if seed >= 0
    }
