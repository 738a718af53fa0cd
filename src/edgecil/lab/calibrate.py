"""Calibration: whether claims about one population are right as often as they say, on truth tables.

A truth is one learner on one set of classes, trained several times on every order, or on many
random ones. A draw takes n orders and, for each, one of its trainings; claims from it are judged by
the runs that it did not take, with a prior that was measured on the other half of the class sets.
Averages hide learners, so each figure comes with the worst learner and with the quarter of truths
that has the smallest spread.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from edgecil.analysis.calibration import (
    FILE,
    SCHEMA,
    TOLERATED,
    Calibration,
    Figure,
    least_of,
)
from edgecil.analysis.next_runs import orders_for
from edgecil.errors import UsageError
from edgecil.io.arrays import Floats, Ints
from edgecil.io.json import to_json
from edgecil.io.numbers import per_cent
from edgecil.lab.truth_tables import TruthTable, truths, varies
from edgecil.sequences.protocols import LATIN, RANDOM, Protocol
from edgecil.sequences.protocols.latin import latin
from edgecil.statistics.distributions import accuracy_step
from edgecil.statistics.posterior import (
    FILE as PRIORS,
    SCHEMA as PRIORS_SCHEMA,
    TAIL,
    Posterior,
    Prior,
    evidence,
    independent_variance,
    measured_prior,
    posterior,
)
from edgecil.statistics.sequential import excludes_zero
from edgecil.statistics.verdicts import LEVEL

ORDERS = (3, 5, 10, 20, 30)
LEVELS = (LEVEL, 0.9, 0.99)
_FURTHER = 10  # runs by which a prediction is judged
_NARROWER = 0.5
_MOST_DESIGNS = 60


@dataclass(frozen=True, eq=False)
class Learner:
    """A truth: one learner on one set of classes.

    Attributes:
        name: of the learner.
        values: (R, M) accuracy of repeat and order.
        class_accuracies: (R, M, N); None if they are unknown.
        table: where the orders are.
        half: 0 or 1, of the class sets.
    """

    name: str
    values: Floats
    class_accuracies: Floats | None
    table: TruthTable
    half: int = 0

    @property
    def family(self) -> str:
        """The learner on a dataset, whatever the classes."""
        return f"{self.name} on {self.table.dataset}"

    @cached_property
    def step(self) -> float:
        """The difference of neighbouring accuracies; 0 if they have no common step."""
        return accuracy_step(self.values.ravel()) or 0.0


def format_calibration(measured: Calibration) -> Iterator[str]:
    """Yield a table per level: average [least to greatest learner], smallest spreads."""
    drawn = f"{measured.truths} truths, {measured.draws} draws of each."
    yield f"{drawn} Average [least to greatest learner], and the quarter of smallest spreads.\n"
    for level, figures in measured.figures.items():
        counts: set[str] = set()
        for by_protocol in figures.values():
            for by_count in by_protocol.values():
                counts |= by_count.keys()
        orders = sorted(counts, key=int)
        yield f"At a level of {per_cent(float(level))}:\n"
        yield f"| claim | protocol | {' | '.join(orders)} |\n|---|---|{'---|' * len(orders)}"
        for claim, by_protocol in figures.items():
            for protocol, by_count in by_protocol.items():
                cells = (_format_figure(by_count.get(count)) for count in orders)
                yield f"| {claim} | {protocol} | {' | '.join(cells)} |"
        yield ""


def _format_figure(figure: Figure | None) -> str:
    if figure is None:
        return "–"
    learners = f"{figure.least:.3f} to {figure.greatest:.3f}"
    return f"{figure.average:.3f} [{learners}] {figure.small:.3f}"


def learners(tables: Iterable[TruthTable]) -> list[Learner]:
    """Return the truths with repeats on every order, without those that hardly vary."""
    return [
        Learner(name, values, table.class_accuracies(name), table, place % 2)
        for place, table in enumerate(tables)
        for name in table.methods
        if len(values := table.accuracies(name)) > 1 and varies(values)
    ]


@dataclass(frozen=True, eq=False)
class _Draw:
    """B draws of n orders, each with one of its trainings.

    Attributes:
        orders: (B, n).
        repeats: (B, n).
        values: (B, n).
        unseen: (B, R, M) all runs, NaN where they were taken.
        bad: what 95 % of the runs that were not taken exceed, half a step down and up, (B,) each.
        estimate: what the draws say.
    """

    orders: Ints
    repeats: Ints
    values: Floats
    unseen: Floats
    bad: tuple[Floats, Floats]
    estimate: Posterior


def calibrate(
    truths: Sequence[Learner],
    *,
    draws: int = 200,
    orders: Sequence[int] = ORDERS,
    priors: Sequence[Prior] | None = None,
    seed: int = 0,
    command: str = "python -m edgecil.lab calibrate",
) -> Calibration:
    """Judge all claims on truths with two repeats or more, which :func:`learners` returns.

    `priors` are those for the truths of each half, by default the measured one.
    """
    if not truths:
        raise UsageError("Calibration requires truth tables with two repeats of every order.")
    spreads = np.array([truth.values.std() for truth in truths])
    small = spreads <= np.quantile(spreads, 0.25)
    names = [truth.name for truth in truths]
    chosen = priors or (measured_prior(), measured_prior())
    result = Calibration(command, len(truths), draws, {f"{level:g}": {} for level in LEVELS})

    def note(
        claim: str, count: int, values: Sequence[ArrayLike], design: Protocol = RANDOM
    ) -> None:
        """Add the figures of one claim, whose values are (T, levels) or, of one level, (T,)."""
        by_level = np.array(values).reshape(len(truths), -1).T
        for figures, rates in zip(result.figures.values(), by_level, strict=False):
            means = _by_learner(names, rates)
            parts = np.nanmean(rates), min(means), max(means), np.nanmean(rates[small])
            figure = Figure(*(round(float(part), 3) for part in parts))
            figures.setdefault(claim, {}).setdefault(design.name, {})[str(count)] = figure

    for count in orders:
        rng = np.random.default_rng([seed, count])
        for design in (RANDOM, LATIN):
            balanced = design is LATIN
            rows: list[dict[str, Floats]] = [{} for _ in truths]
            for row, truth in zip(rows, truths, strict=True):
                if not balanced or truth.table.kind == "enumerated":
                    prior = chosen[truth.half]
                    drawn = _draw(truth, count, draws, rng, prior, balanced=balanced)
                    row |= _judge(truth, drawn, rng)
            for claim in max(rows, key=len):
                note(claim, count, [row.get(claim, _UNKNOWN) for row in rows], design)
        pairs = [_pairs(truth, truths, count, draws, rng, chosen[truth.half]) for truth in truths]
        note("difference", count, pairs)
        shared = [_one_seed(truth, count, draws, rng, chosen[truth.half]) for truth in truths]
        note("one seed for all: mean", count, shared)
    rng = np.random.default_rng(seed)
    looks = [_until(truth, max(orders), draws, rng) for truth in truths]
    note("until: a learner against itself", max(orders), [apart for apart, _ in looks])
    note("until: mean", max(orders), [off for _, off in looks])
    for count in [count for count in orders if count <= 10]:
        few = max(draws // 10, 4)
        kept = [_kept(truth, count, few, rng, chosen[truth.half]) for truth in truths]
        note("next: 80 % kept", count, kept)
    return result


def _draw(
    truth: Learner,
    count: int,
    draws: int,
    rng: np.random.Generator,
    prior: Prior,
    *,
    balanced: bool = False,
) -> _Draw:
    repeats, size = truth.values.shape
    if balanced:
        orders = _latin(truth.table, count, draws)
    else:
        orders = np.argsort(rng.random((draws, size)), axis=1)[:, :count]
    seeds = rng.integers(0, repeats, (draws, count))
    values = truth.values[seeds, orders]
    unseen = np.broadcast_to(truth.values, (draws, repeats, size)).copy()
    unseen[np.arange(draws)[:, None], seeds, orders] = np.nan
    rest = np.sort(unseen.reshape(draws, -1))[:, : repeats * size - count]  # NaN comes last
    bad, half = np.quantile(rest, TAIL, axis=1), truth.step / 2.0
    classes = truth.class_accuracies
    between = None
    if classes is not None:
        between = independent_variance(classes[seeds, orders], truth.table.tasks[orders])
    estimate = posterior(evidence(values), prior=prior, class_variance=between)
    return _Draw(orders, seeds, values, unseen, (bad - half, bad + half), estimate)


@cache
def _latin(table: TruthTable, count: int, draws: int) -> Ints:
    """Return the orders of some designs, (draws, count); the same for every learner."""
    rng = np.random.default_rng(count)
    place = {sequence: index for index, sequence in enumerate(table.sequences)}
    designs = [latin(table.space, count, rng) for _ in range(min(draws, _MOST_DESIGNS))]
    orders = np.array([[place[sequence] for sequence in design] for design in designs])
    return np.resize(orders, (draws, count))


def _judge(truth: Learner, drawn: _Draw, rng: np.random.Generator) -> dict[str, Floats]:
    """Return, by claim, how often it is right at each level."""
    estimate = drawn.estimate
    draws, repeats, size = drawn.unseen.shape
    unseen_means = np.nanmean(drawn.unseen, axis=1)  # (B, M) over trainings that were not taken
    fresh = np.asarray(~np.isnan(drawn.unseen).any(axis=1))
    score = np.where(fresh[:, None, :], rng.random((draws, _FURTHER, size)), -1.0)
    following = score.argmax(axis=2)
    other = rng.integers(0, repeats, following.shape)
    future = truth.values[other, following]
    std = truth.values.std(ddof=1)
    against = truth.values[(drawn.repeats + 1) % repeats, drawn.orders]
    itself = posterior(evidence(drawn.values - against), prior=estimate.prior)
    following = [_inside(estimate.cdf("next", values)) for values in future.T]
    return {
        "mean": _inside(estimate.cdf("mean", unseen_means.mean(axis=1))),
        "next run": np.mean(following, axis=0),
        "tail": _holds_tail(estimate, drawn.bad),
        "std": _inside(estimate.cdf("std", np.full(draws, std))),
        "estimated std / true std": np.full(len(LEVELS), (estimate.std / std).mean()),
        "a learner against itself": 1.0 - _inside(itself.cdf("mean", np.zeros(draws))),
    }


def _holds_tail(estimate: Posterior, bad: tuple[Floats, Floats]) -> Floats:
    """Return the share of draws whose interval holds the tail, (levels,)."""
    low, high = (estimate.cdf("tail", end) for end in bad)
    inside = [(high >= (1.0 - level) / 2.0) & (low <= (1.0 + level) / 2.0) for level in LEVELS]
    return np.asarray(np.mean(inside, axis=1))


def _by_learner(names: Sequence[str], values: ArrayLike) -> list[float]:
    """Return the mean of each learner that has one."""
    array, places = np.asarray(values), np.asarray(names)
    means = []
    for name in dict.fromkeys(names):
        values_of_name = array[places == name]
        if not np.isnan(values_of_name).all():
            means.append(float(np.nanmean(values_of_name)))
    return means


def _inside(below: Floats) -> Floats:
    """Return the share of (B,) probabilities that lie in the central interval, (levels,)."""
    return np.array([(np.abs(below - 0.5) <= level / 2.0).mean() for level in LEVELS])


def _pairs(
    truth: Learner,
    truths: Sequence[Learner],
    count: int,
    draws: int,
    rng: np.random.Generator,
    prior: Prior,
) -> Floats:
    """How often the interval of a difference holds the one between runs that were not taken."""
    rates = []
    for other in truths:
        if other.table.name != truth.table.name or other.name <= truth.name:
            continue
        gain = truth.values - other.values  # paired by order and seed
        few = max(draws // 5, 10)
        drawn = _draw(replace(truth, values=gain, class_accuracies=None), count, few, rng, prior)
        exact = np.nanmean(drawn.unseen, axis=1).mean(axis=1)
        rates.append(_inside(drawn.estimate.cdf("mean", exact)))
    return np.mean(rates, axis=0) if rates else _UNKNOWN


def _one_seed(
    truth: Learner, count: int, draws: int, rng: np.random.Generator, prior: Prior
) -> Floats:
    """How often the interval from one seed holds the mean over orders of another seed."""
    repeats, size = truth.values.shape
    orders = np.argsort(rng.random((draws, size)), axis=1)[:, :count]
    seed = rng.integers(0, repeats, draws)
    values = truth.values[seed[:, None], orders]
    estimate = posterior(evidence(values), prior=prior, shared_seeds=1)
    return _inside(estimate.cdf("mean", truth.values[(seed + 1) % repeats].mean(axis=1)))


def _until(
    truth: Learner, most: int, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """How often some look excludes a zero difference with itself, or the true mean."""
    repeats, size = truth.values.shape
    orders = np.argsort(rng.random((draws, size)), axis=1)[:, :most]
    seeds = rng.integers(0, repeats, (draws, most))
    first, second = truth.values[seeds, orders], truth.values[(seeds + 1) % repeats, orders]
    apart, off = [], []
    for level in LEVELS:
        apart.append(excludes_zero(first - second, level).any(axis=1).mean())
        off.append(excludes_zero(first - truth.values.mean(), level).any(axis=1).mean())
    return np.array(apart), np.array(off)


def _kept(truth: Learner, count: int, draws: int, rng: np.random.Generator, prior: Prior) -> float:
    """How often the orders that `next` names with 80 % halve the interval of the mean."""
    repeats, size = truth.values.shape
    kept = []
    for _ in range(draws):
        orders = rng.permutation(size)
        seeds = rng.integers(0, repeats, size)
        values = truth.values[seeds, orders]
        estimate = posterior(evidence(values[:count]), prior=prior)
        target = _NARROWER * float(estimate.half_width())
        more = orders_for(estimate, target, 0.8, most=size)
        if more is None or count + more > size:
            continue
        after = posterior(evidence(values[: count + more]), prior=prior)
        kept.append(float(after.half_width()) <= target)
    return float(np.mean(kept)) if kept else float("nan")


def fit_prior(truths: Sequence[Learner], like: Prior, command: str) -> Prior:
    """Measure what a prior takes from truths; `like` has the other constants.

    Measured are the range of standard deviations, the spread that classes suggest, the usual place
    of the tail, and the effect of a seed on all orders alike. The latter is made three times as
    large as it is on average, because learners that are not among the truths have shown up to eight
    times as much.

    The rest is chosen to suit every learner on every dataset, not the usual ones: classes count as
    much as leaves each one's mean standard deviation within .8 and 1.25 of the truth, and each
    one's mean in at least 89 % of its intervals from three orders, because the more they count, the
    closer the estimated distribution is to the truth; with the tail's constants the label
    `calibrated` is missed least.
    """
    spreads, seeds, ratios, places = [], [], [], []
    for truth in truths:
        values, classes = truth.values, truth.class_accuracies
        training = float(values.var(axis=0, ddof=1).mean())
        total = float(values.var(ddof=1))
        spreads.append(total**0.5)
        places.append((values.mean() - np.quantile(values, TAIL)) / total**0.5)
        if truth.table.kind == "enumerated":
            means = values.mean(axis=1)
            seeds.append((float(means.var(ddof=1)) - training / values.shape[1]) / total)
        if classes is not None:
            independent = [independent_variance(repeat, truth.table.tasks) for repeat in classes]
            ratios.append(np.log(total / max(float(np.mean(independent)), _TINY)))
        else:
            ratios.append(float("nan"))
    effect = 3.0 * max(float(np.mean(seeds or [0.0])), 1e-3)
    ratio = _by_learner([truth.family for truth in truths], ratios)
    measured = replace(
        like,
        command=command,
        truths=len(truths),
        std_range=(
            min(like.std_range[0], round(min(spreads), 2)),
            max(like.std_range[1], round(max(spreads), 2)),
        ),
        class_ratio=round(math.exp(np.mean(ratio)), 2) if ratio else like.class_ratio,
        seed_share=tuple(round(effect * part, 4) for part in _CHI_SQUARED),
        tail_place=round(float(np.mean(places)), 2),
    )
    return _suit_every_learner(truths, measured)


def _suit_every_learner(truths: Sequence[Learner], prior: Prior) -> Prior:
    rng = np.random.default_rng(0)
    families = [truth.family for truth in truths]
    true = np.array([truth.values.std(ddof=1) for truth in truths])
    drawn_few = [_draw(truth, min(ORDERS), 4 * _FIT_DRAWS, rng, prior) for truth in truths]
    few = [draw.estimate for draw in drawn_few]
    true_means = [np.nanmean(draw.unseen, axis=1).mean(axis=1) for draw in drawn_few]

    def with_scale(scale: float) -> list[Posterior]:
        """Return what the draws say if classes count as much as this scale leaves."""
        scaled = replace(prior, class_scale=scale)
        return [
            posterior(estimate.evidence, prior=scaled, class_variance=estimate.class_variance)
            for estimate in few
        ]

    def off_std(scale: float) -> float:
        """Return the greatest |log| of a family's estimated over its true standard deviation."""
        stds = [estimate.std.mean() for estimate in with_scale(scale)]
        return max(abs(math.log(mean)) for mean in _by_learner(families, stds / true))

    def worst_coverage(scale: float) -> float:
        """Return how often the intervals of the mean hold it, for the family with the fewest."""
        rates = [
            _inside(estimate.cdf("mean", means))[LEVELS.index(LEVEL)]
            for estimate, means in zip(with_scale(scale), true_means, strict=True)
        ]
        return min(_by_learner(families, rates))

    suited = (
        scale
        for scale in _SCALES
        if off_std(scale) <= math.log(_SAME_STD) and worst_coverage(scale) >= _LEAST_COVERAGE
    )
    prior = replace(prior, class_scale=next(suited, max(_SCALES)))
    drawn: dict[int, list[tuple[Posterior, tuple[Floats, Floats]]]] = {}
    for count, truth in product(ORDERS, truths):
        draw = _draw(truth, count, _FIT_DRAWS, rng, prior)
        drawn.setdefault(count, []).append((draw.estimate, draw.bad))

    def off_tail(candidate: Prior) -> float:
        """Return the squares of what labels miss, 1 is as much as is tolerated, summed."""
        off = 0.0
        for draws in drawn.values():
            judged = [
                _holds_tail(replace(estimate, prior=candidate), bad) for estimate, bad in draws
            ]
            rates = [rate[0] for rate in judged]
            off += ((float(np.mean(rates)) - LEVEL) / TOLERATED) ** 2
            off += ((LEVEL - min(_by_learner(families, rates))) / (LEVEL - least_of(LEVEL))) ** 2
        return off

    # The middle values first, then one after the other.
    prior = replace(prior, tail_far=6.0, tail_slope=0.7, tail_weight=0.5)
    prior = min((replace(prior, tail_slope=slope) for slope in _SLOPES), key=off_tail)
    prior = min((replace(prior, tail_far=far) for far in _FAR), key=off_tail)
    return min((replace(prior, tail_weight=weight) for weight in _WEIGHTS), key=off_tail)


_UNKNOWN: Floats = np.full(len(LEVELS), np.nan)
_FIT_DRAWS = 100
_SAME_STD = 1.25  # a standard deviation that is off by less counts as right
_LEAST_COVERAGE = 0.89  # of 95 % intervals; .88 is what every learner is to have on other truths
_SCALES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.7, 2.0, 3.0, 4.0, 6.0, 10.0, 30.0)
_FAR = (4.0, 5.0, 6.0, 8.0)
_SLOPES = (0.4, 0.5, 0.6, 0.7, 0.8)
_WEIGHTS = (0.3, 0.4, 0.5, 0.6)
_CHI_SQUARED = (0.0247, 0.2389, 0.7853, 2.3535)  # quantiles 1/8, 3/8, 5/8, 7/8 of one degree
_TINY = 1e-6


def check_claims(*, draws: int = 60, write: bool = False) -> Calibration:
    """Judge the claims of `analyze`, `compare`, `until` and `next` on the bundled truth tables.

    The prior is measured on one half of the class sets and judged on the other, and the other way
    round.

    Args:
        draws: number of draws from each truth and number of orders.
        write: store the prior, measured on all class sets, and the figures in the package.
    """
    every_learner, like = learners(truths()), measured_prior()
    halves = []
    for half in (0, 1):
        other_half = [learner for learner in every_learner if learner.half != half]
        halves.append(other_half or every_learner)
    command = f"python -m edgecil.lab calibrate --draws {draws}"
    priors = [fit_prior(half, like, command) for half in halves]
    figures = calibrate(every_learner, draws=draws, priors=priors, command=command)
    if write:
        whole = fit_prior(every_learner, like, f"{command} --write")
        PRIORS.write_bytes(to_json(whole, PRIORS_SCHEMA) + b"\n")
        FILE.write_bytes(to_json(figures, SCHEMA) + b"\n")
    return figures
