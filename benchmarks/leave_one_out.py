"""How good the constants of estimates and intervals are on class sets that did not choose them.

    python benchmarks/leave_one_out.py [--draws 50] [estimate intervals]

Constants are chosen on the truths of three of the four sets of six drawings and judged on the
fourth, in turn. `estimate`: the kernel of `smoothed`, by W₁ at 3, 5, 10 and 30 Latin orders, as a
multiple of that of random orders with `gaussian-c4`. `intervals`: the excess kurtosis in the
interval of the standard deviation (random and Latin orders), and b in the prior Beta(1, b) of the
share of position effects (mean and difference, Latin orders), by the squared distance of the
coverage from 90 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import combinations

import numpy as np
from scipy.special import chdtrc

import edgecil
from edgecil.estimation import Distribution, Estimate, Observations, intervals
from edgecil.estimation.accuracy_steps import round_to_steps
from edgecil.estimation.leaderboard import BUDGETS
from edgecil.estimation.truth_tables import TruthTable
from edgecil.sequences.latin import latin

KERNELS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
KURTOSES = (0.4, 0.5, 0.6, 0.75, 1.0)
PRIORS = (1.0, 2.0, 3.0, 4.0)
ORDERS = (3, 4, 5, 6, 8, 10, 15, 20, 30)
TAIL = (1.0 - intervals.LEVEL) / 2.0
PAIRS = 6


def smoothed(kernel: float) -> Callable[..., Estimate]:
    """The estimate `smoothed` with another kernel, without intervals."""

    def estimate(runs: Observations, **_: object) -> Estimate:
        values = runs.accuracies
        mean, spread = float(values.mean()), float(values.std())
        relative = min(kernel * 1.06 * len(values) ** -0.2, 1.0)
        at = mean + np.sqrt(1.0 - relative**2) * (values - mean)
        made = Distribution(at, np.ones(len(values)), relative * spread)
        ends = float(values.min()), float(values.max())
        return Estimate(round_to_steps(made, values), *ends)

    return estimate


def judge_estimate(tables: list[TruthTable], draws: int) -> None:
    own = {f"{kernel}": smoothed(kernel) for kernel in KERNELS}
    ours, reference = [], []
    for table in tables:
        board = edgecil.leaderboard(
            table, bundled=False, protocol=["latin"], estimators=own, draws=draws
        )
        ours.append(
            [[board.row("latin", name, n).wasserstein.mean for n in BUDGETS] for name in own]
        )
        reference.append([board.row("random", "gaussian-c4", n).wasserstein.mean for n in BUDGETS])
    distance, unit = (
        np.array(ours),
        np.array(reference),
    )  # (sets, kernels, budgets), (sets, budgets)
    chosen, judged = choose(
        lambda some: (distance[some].mean(axis=0) / unit[some].mean(axis=0)).sum(axis=1),
        distance,
    )
    print("kernels chosen:", [KERNELS[index] for index in chosen])
    print("relative W₁ out of sample:", (judged.mean(axis=0) / unit.mean(axis=0)).round(3))
    every = (distance.mean(axis=0) / unit.mean(axis=0)).round(3)
    print("relative W₁ with the best kernel of each budget, in sample:", every.min(axis=0))


def judge_intervals(tables: list[TruthTable], draws: int) -> None:
    rng = np.random.default_rng(0)
    orders = {
        n: [
            (rng.choice(90, n, replace=False), latin(tables[0].space, n, rng)) for _ in range(draws)
        ]
        for n in ORDERS
    }
    place = {sequence: index for index, sequence in enumerate(tables[0].sequences)}
    std = {"random": [], "latin": []}
    mean: dict[str, list] = {"mean": [], "difference": []}
    for table in tables:
        values = {method: table.accuracies(method) for method in table.methods}
        truths = [row for rows in values.values() for row in rows]
        gaps = [
            (a - b, float(values[first].mean() - values[second].mean()))
            for first, second in list(combinations(values, 2))[:PAIRS]
            for a, b in zip(values[first], values[second], strict=False)
        ]
        rows: dict[str, list] = {"random": [], "latin": [], "mean": [], "difference": []}
        for n in ORDERS:
            hits: dict[str, list] = {key: [] for key in rows}
            for chosen, design in orders[n]:
                overlap = intervals.position_overlap(design)
                places = np.array([place[one] for one in design])
                for truth in truths:
                    hits["random"].append(std_covered(truth, chosen, None))
                    hits["latin"].append(std_covered(truth, places, overlap))
                    hits["mean"].append(
                        mean_covered(truth[places], truth.mean(), overlap, len(truth))
                    )
                for gap, exact in gaps:
                    hits["difference"].append(mean_covered(gap[places], exact, overlap, None))
            for key, some in hits.items():
                rows[key].append(np.nanmean(some, axis=0))
        for key in std:
            std[key].append(np.array(rows[key]).T)
        for key in mean:
            mean[key].append(np.array(rows[key]).T)
    for title, constants, parts in (("kurtosis", KURTOSES, std), ("b", PRIORS, mean)):
        coverage = np.concatenate([np.array(some) for some in parts.values()], axis=2)
        chosen, judged = choose(
            lambda some, coverage=coverage: ((coverage[some].mean(axis=0) - 0.9) ** 2).sum(axis=1),
            coverage,
        )
        print(f"{title} chosen:", [constants[index] for index in chosen], "at", ORDERS)
        for name, some in zip(parts, np.split(judged.mean(axis=0), len(parts)), strict=True):
            print(f"coverage of {title}, {name}, out of sample:", some.round(3))


def choose(
    loss: Callable[[np.ndarray], np.ndarray], measured: np.ndarray
) -> tuple[list[int], np.ndarray]:
    """For each set, the constant that is best on the others, and what it measures on the set."""
    sets = np.arange(len(measured))
    chosen = [int(loss(np.delete(sets, index)).argmin()) for index in sets]
    return chosen, np.array([measured[index, best] for index, best in enumerate(chosen)])


def std_covered(truth: np.ndarray, places: np.ndarray, overlap: np.ndarray | None) -> list[float]:
    """For each kurtosis, whether the interval contains the true standard deviation."""
    made = intervals.posterior(truth[places], overlap=overlap, space_size=len(truth))
    if made is None:
        return [np.nan] * len(KURTOSES)
    n, true = len(places), truth.std(ddof=1)
    covered = []
    for kurtosis in KURTOSES:
        freedom = (n - 1) / ((1 - n / len(truth)) * (1 + kurtosis * (n - 1) / (2 * n)))
        below = chdtrc(freedom, freedom * (made.spread / true) ** 2) @ made.weights
        covered.append(float(TAIL <= below <= 1.0 - TAIL))
    return covered


def mean_covered(
    values: np.ndarray, true: float, overlap: np.ndarray, size: int | None
) -> list[float]:
    """For each prior, whether the interval contains the true mean."""
    covered = []
    usual = intervals._PRIOR
    for b in PRIORS:
        prior = (1.0 - intervals._SHARES) ** (b - 1.0)
        intervals._PRIOR = prior / prior.sum()
        made = intervals.posterior(values, overlap=overlap, space_size=size)
        below = np.nan if made is None else made.mean_below(float(true))
        covered.append(np.nan if made is None else float(TAIL <= below <= 1.0 - TAIL))
    intervals._PRIOR = usual
    return covered


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", nargs="*", default=["estimate", "intervals"])
    parser.add_argument("--draws", type=int, default=50)
    options = parser.parse_args()
    tables = [
        table for table in edgecil.truths() if table.kind == "enumerated" and len(table.methods) > 1
    ]
    for part in options.part:
        {"estimate": judge_estimate, "intervals": judge_intervals}[part](tables, options.draws)


if __name__ == "__main__":
    main()
