"""How good the constants of estimates and intervals are on class sets that did not choose them.

    python benchmarks/leave_one_out.py [--draws 50] [estimate intervals]

Constants are chosen on the truths of all sets of six drawings but one and judged on that one, in
turn. `estimate`: the three constants of `smoothed` (kernel, share and weight of the variance of
independent classes), by W₁ at 3, 5, 10 and 30 Latin orders, as a multiple of that of random orders
with `gaussian-c4`. `intervals`: the excess kurtosis in the interval of the
standard deviation (random and Latin orders), b in the prior Beta(1, b) of the share of position
effects (mean, Latin orders), and the effect of a training seed (difference, random and Latin
orders; judged by another seed), by the squared distance of the coverage from 90 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from itertools import combinations, permutations, product

import numpy as np
from scipy.special import chdtrc

from edgecil import lab
from edgecil.estimation import estimators, intervals
from edgecil.estimation.distributions import SAME
from edgecil.estimation.intervals import posteriors
from edgecil.lab._leaderboard import BUDGETS, REFERENCE
from edgecil.lab.designs import Designs
from edgecil.lab.distances import Target
from edgecil.lab.estimators import Estimate, Observations, get_estimator
from edgecil.lab.truth_tables import TruthTable

USUAL = estimators._KERNEL, estimators._CLASS_SHARE, estimators._CLASS_WEIGHT
# Kernels, shares of the variance of independent classes, and weights of these; the last without.
CHOICES = [
    *product((0.7, 0.9), (0.45, 0.55, 0.7), (2.0, 4.0)),
    (USUAL[0], 0.0, 0.0),
]
KURTOSES = (0.1, 0.2, 0.3, 0.4, 0.6)
PRIORS = (1.0, 2.0, 3.0, 4.0)
SEED_EFFECTS = (0.0, 0.008, 0.016, 0.024, 0.032, 0.04)
ORDERS = (3, 4, 5, 6, 8, 10, 15, 20, 30)
TAIL = (1.0 - intervals.LEVEL) / 2.0


def truths_of(table: TruthTable) -> list[np.ndarray]:
    rows = [row for method in table.methods for row in table.accuracies(method)]
    return [row for row in rows if np.ptp(row) > SAME]


def judge_estimate(tables: list[TruthTable], designs: Designs) -> None:
    shape = len(tables), len(CHOICES), len(BUDGETS)
    distance, unit = np.empty(shape), np.empty((len(tables), len(BUDGETS)))
    plain = get_estimator(REFERENCE[1])
    for place, table in enumerate(tables):
        for column, budget in enumerate(BUDGETS):
            latin, random = (designs.draw(table, name, budget) for name in ("latin", "random"))
            ours, reference = [], []
            for method in table.methods:
                trainings = table.accuracies(method), table.class_accuracies(method)
                for truth, classes in zip(*trainings, strict=True):
                    target = Target.of(truth)
                    made = plain.estimates(Observations(truth[random]))
                    reference.append(mean_distance(target, made) / truth.std())
                    runs = designs.observe(table, "latin", latin, truth, classes)
                    ours.append([mean_distance(target, smooth(runs, *c)) for c in CHOICES])
                    ours[-1] = np.divide(ours[-1], truth.std())
            distance[place, :, column] = np.mean(ours, axis=0)
            unit[place, column] = np.mean(reference)
    relative = distance / unit[:, None]
    chosen, judged = choose(lambda some: relative[some].mean(axis=0).sum(axis=1), distance)
    constants = "; ".join("{:g}, {:g}, {:g}".format(*CHOICES[index]) for index in chosen)
    print(f"Kernel, share and weight chosen: {constants}.\n")
    print("| relative W₁ of `latin` with `smoothed` | 3 runs | 5 | 10 | 30 |")
    print("|---|---|---|---|---|")
    row("constants chosen on the other class sets", judged.mean(axis=0) / unit.mean(axis=0))
    every = distance.mean(axis=0) / unit.mean(axis=0)
    row("constants as they are", every[CHOICES.index(USUAL)])
    row("best constants of each number of runs, in sample", every.min(axis=0))
    row("without the accuracies of classes", every[CHOICES.index((USUAL[0], 0.0, 0.0))])


def mean_distance(target: Target, made: Sequence[Estimate]) -> float:
    return float(target.distances([one.distribution for one in made])[:, 1].mean())


def smooth(runs: Observations, kernel: float, share: float, weight: float) -> list[Estimate]:
    """The estimate `smoothed` with other constants."""
    estimators._KERNEL, estimators._CLASS_SHARE, estimators._CLASS_WEIGHT = kernel, share, weight
    made = get_estimator("smoothed").estimates(runs)
    estimators._KERNEL, estimators._CLASS_SHARE, estimators._CLASS_WEIGHT = USUAL
    return made


def judge_intervals(tables: list[TruthTable], designs: Designs) -> None:
    parts: dict[str, tuple[Sequence[float], Callable[..., np.ndarray], tuple[str, ...]]] = {
        "standard deviation": (KURTOSES, std_covered, ("random", "latin")),
        "mean": (PRIORS, mean_covered, ("latin",)),
        "difference of two methods": (SEED_EFFECTS, difference_covered, ("random", "latin")),
    }
    lines, notes = [], []
    for claim, (constants, covered, protocols) in parts.items():
        coverage = np.array(
            [
                [[covered(table, protocol, n, designs) for n in ORDERS] for protocol in protocols]
                for table in tables
            ]
        )  # (sets, protocols, orders, constants)
        coverage = np.moveaxis(coverage, -1, 1)
        chosen, judged = choose(
            lambda some, c=coverage: ((c[some].mean(axis=0) - 0.9) ** 2).sum(axis=(1, 2)), coverage
        )
        notes.append(f"{claim}: {listed(chosen, constants)}")
        for protocol, values in zip(protocols, judged.mean(axis=0), strict=True):
            lines.append((f"{claim} | `{protocol}`", values))
    print(f"Constants chosen: {'; '.join(notes)}.\n")
    print(f"| claim | protocol | orders: {' | '.join(map(str, ORDERS))} |")
    print("|---|---" + "|---" * len(ORDERS) + "|")
    for title, values in lines:
        row(title, values)


def std_covered(table: TruthTable, protocol: str, n: int, designs: Designs) -> np.ndarray:
    """For each kurtosis, how often the interval contains the true standard deviation."""
    hits = []
    for truth in truths_of(table):
        made, varied = observe(truth, table, protocol, n, designs, len(truth))
        true = truth.std(ddof=1)
        for kurtosis in KURTOSES:
            freedom = (n - 1) / ((1 - n / len(truth)) * (1 + kurtosis * (n - 1) / (2 * n)))
            below = chdtrc(freedom, freedom * (made.spread / true) ** 2) * made.weights
            hits.append(inside(below.sum(axis=-1))[varied].mean())
    return np.mean(np.reshape(hits, (-1, len(KURTOSES))), axis=0)


def mean_covered(table: TruthTable, protocol: str, n: int, designs: Designs) -> np.ndarray:
    """For each prior, how often the interval contains the true mean."""
    hits, usual = [], intervals._PRIOR
    for b in PRIORS:
        prior = (1.0 - intervals._SHARES) ** (b - 1.0)
        intervals._PRIOR = prior / prior.sum()
        own = []
        for truth in truths_of(table):
            made, varied = observe(truth, table, protocol, n, designs, len(truth))
            own.append(inside(made.mean_cdf(truth.mean()))[varied].mean())
        hits.append(np.mean(own))
    intervals._PRIOR = usual
    return np.array(hits)


def difference_covered(table: TruthTable, protocol: str, n: int, designs: Designs) -> np.ndarray:
    """For each effect of a seed, how often the interval holds the difference of another seed."""
    values = {method: table.accuracies(method) for method in table.methods}
    hits = []
    for first, second in combinations(values, 2):
        seeds = min(len(values[first]), len(values[second]))
        for seed, other in permutations(range(seeds), 2):
            gain = values[first][seed] - values[second][seed]
            exact = values[first][other].mean() - values[second][other].mean()
            for effect in SEED_EFFECTS:
                made, varied = observe(gain, table, protocol, n, designs, None, 2.0 * effect)
                hits.append(inside(made.mean_cdf(exact))[varied].mean())
    return np.mean(np.reshape(hits, (-1, len(SEED_EFFECTS))), axis=0)


def observe(
    truth: np.ndarray,
    table: TruthTable,
    protocol: str,
    n: int,
    designs: Designs,
    size: int | None,
    common: float = 0.0,
) -> tuple[intervals.Posterior, np.ndarray]:
    """What the designs say, and in which of them values differ."""
    drawn = designs.draw(table, protocol, n)
    overlap = designs.overlap(table, protocol, drawn)
    made = posteriors(truth[drawn], overlap=overlap, space_size=size, common=common)
    return made, np.ptp(truth[drawn], axis=1) > SAME


def choose(
    loss: Callable[[np.ndarray], np.ndarray], measured: np.ndarray
) -> tuple[list[int], np.ndarray]:
    """For each set, the constant that is best on the others, and what it measures on the set."""
    sets = np.arange(len(measured))
    chosen = [int(loss(np.delete(sets, index)).argmin()) for index in sets]
    return chosen, np.array([measured[index, best] for index, best in enumerate(chosen)])


def inside(below: np.ndarray) -> np.ndarray:
    return np.asarray((below >= TAIL) & (below <= 1.0 - TAIL))


def listed(chosen: list[int], constants: Sequence[float]) -> str:
    return ", ".join(f"{constants[index]:g}" for index in chosen)


def row(title: str, values: np.ndarray) -> None:
    cells = (f"{value:.2f}".removeprefix("0") for value in values)
    print(f"| {title} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", nargs="*", default=["estimate", "intervals"])
    parser.add_argument("--draws", type=int, default=50)
    options = parser.parse_args()
    tables = [
        table for table in lab.truths() if table.kind == "enumerated" and len(table.methods) > 1
    ]
    tables = [table for table in tables if table.space == tables[0].space]
    designs = Designs(["latin"], draws=options.draws, seed=0)
    for part in options.part:
        {"estimate": judge_estimate, "intervals": judge_intervals}[part](tables, designs)


if __name__ == "__main__":
    main()
