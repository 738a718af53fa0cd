"""How close the estimators come to a simulated truth, beside the paper's Gaussian.

    python benchmarks/estimators.py [--replications 200] [--json FILE]

A space of 90 or 100,000 orders; a predictor z, standard normal over it; accuracy = 50 + 5 (ρ z +
√(1-ρ²) ε), both standardised over the space. EDGE runs the orders with the least and the greatest z
and L-2 random ones. The table gives the mean W₁ in standard deviations of the truth (0.1 is half a
point here) and, in brackets, the mean estimated std over the true one. The same runs, drawn with
the same seeds, go to every estimator; 512 quantiles stand for the truth of the large space.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from edgecil.estimation import Predictor
from edgecil.lab.distances import wasserstein
from edgecil.lab.estimators import ESTIMATORS, Observations

CORRELATIONS = (-0.6, 0.0, 0.2, 0.4, 0.6, 0.8, 0.95)
BUDGETS = (3, 5, 10)
SPACES = (90, 100_000)
STD = 5.0
NAMES = ("gaussian", "regression")


def standardised(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def edge_runs(z: np.ndarray, budget: int, rng: np.random.Generator) -> np.ndarray:
    """Places of the two ends of z and of random orders between them."""
    hard, easy = int(z.argmin()), int(z.argmax())
    between = np.setdiff1d(rng.choice(len(z), budget, replace=False), [hard, easy])
    return np.array([hard, *rng.permutation(between)[: budget - 2], easy])


def measure(size: int, budget: int, replications: int) -> dict[tuple[str, float], list[float]]:
    """By estimator and correlation: mean W₁ and mean std, both in true standard deviations."""
    measured: dict[tuple[str, float], list[tuple[float, float]]] = defaultdict(list)
    for replication in range(replications):
        rng = np.random.default_rng([size, budget, replication])
        z = standardised(rng.standard_normal(size))
        noise = rng.standard_normal(size)
        noise = standardised(noise - z * (noise @ z) / size)
        levels = Predictor(
            "z", lambda sequences: np.full(len(sequences), np.nan), lambda z=z: z, 0.0, 1.0
        ).levels()
        places = edge_runs(z, budget, rng)
        for rho in CORRELATIONS:
            accuracy = 50.0 + STD * (rho * z + np.sqrt(1.0 - rho**2) * noise)
            truth = accuracy if size < 1000 else np.quantile(accuracy, (np.arange(512) + 0.5) / 512)
            runs = Observations(accuracy[places], z[places], levels, size)
            for name in NAMES:
                if ESTIMATORS[name].obstacle(runs) is None:
                    made = ESTIMATORS[name](runs).distribution
                    measured[name, rho].append((wasserstein(truth, made) / STD, made.std / STD))
    return {
        key: [float(mean) for mean in np.mean(pairs, axis=0)] for key, pairs in measured.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    rows = []
    table = Table("orders", "runs", "estimator", *(f"ρ = {rho:g}" for rho in CORRELATIONS))
    for size in SPACES:
        for budget in BUDGETS:
            cells = measure(size, budget, args.replications)
            for name in NAMES:
                if (name, 0.0) in cells:
                    numbers = [cells[name, rho] for rho in CORRELATIONS]
                    shown = (f"{distance:.3f} ({std:.2f})" for distance, std in numbers)
                    table.add_row(f"{size:,}", str(budget), name, *shown)
                    rows.append(
                        {"orders": size, "runs": budget, "estimator": name}
                        | {
                            f"{rho:g}": pair
                            for rho, pair in zip(CORRELATIONS, numbers, strict=True)
                        }
                    )
    Console(width=140).print(table)
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
