"""What a number of random orders buys: the mean of few runs beside the rest, and the tails.

    python benchmarks/sample_sizes.py --truth caltech101-100 --methods finetune,lwf,er
    edgecil run caltech101 --tasks 10 --method finetune --protocol random:10820 --out RUNS
    python benchmarks/sample_sizes.py RUNS [MORE …] [--sizes 3,10,30,100] [--draws 5000]

The runs of a method on random orders, one training each, stand for the truth: those of a bundled
truth table, or of experiment directories. For each sample size n the script
draws n of them without replacement, many times, and compares them with the runs that were not
drawn. Prints a Markdown table for each method, in points of accuracy:

- `95 % of means`: 95 % of the sample means are within this distance of the mean of the rest;
- `std`: the middle 95 % of the samples' standard deviations (ddof 1);
- `beyond`: the mean share of the rest below the least or above the largest run of the sample;
- `misses the 5 %`: the share of samples without one of the worst 5 % of all runs;
- `worst is above`: how far the least run of the sample is above that of all, in the median.

Nothing is trained, and the draws are seeded.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from edgecil import Experiment, lab

Values = NDArray[np.float64]


def accuracies_on_random_orders(directory: str) -> dict[str, Values]:
    """Return A(O) of each method of an experiment on its random orders."""
    table = Experiment.open(directory).table()
    return {name: table.orders(name, "random").accuracies for name in table.methods}


def accuracies_of_truth(name: str, methods: list[str]) -> dict[str, Values]:
    """Return A(O) of methods on the orders of a bundled truth table, first trainings."""
    table = next(table for table in lab.truths() if table.name == name)
    return {method: table.accuracies(method)[0] for method in methods}


def describe_samples(values: Values, size: int, draws: int) -> list[str]:
    """Return the cells of a line: what samples of a size show of all runs (n,)."""
    rng = np.random.default_rng(size)
    count = len(values)
    ordered = np.sort(values)
    worst_twentieth = np.quantile(values, 0.05)
    errors, deviations, beyond, least = [], [], [], []
    for _ in range(draws):
        sample = values[rng.choice(count, size, replace=False)]
        rest_mean = (values.sum() - sample.sum()) / (count - size)
        errors.append(abs(sample.mean() - rest_mean))
        deviations.append(sample.std(ddof=1))
        below = np.searchsorted(ordered, sample.min(), side="left")
        above = count - np.searchsorted(ordered, sample.max(), side="right")
        beyond.append((below + above) / (count - size))
        least.append(sample.min())
    low, high = np.quantile(deviations, [0.025, 0.975])
    missed = np.mean(np.array(least) > worst_twentieth)
    return [
        f"{size:,}",
        f"± {np.quantile(errors, 0.95):.2f}",
        f"{low:.2f}–{high:.2f}",
        f"{100.0 * np.mean(beyond):.1f} %",
        f"{100.0 * missed:.0f} %",
        f"{np.median(least) - ordered[0]:.1f}",
    ]


def print_tables(method: str, values: Values, sizes: list[int], draws: int) -> None:
    """Print the distribution of a method and the table of its sample sizes."""
    low, high = np.quantile(values, [0.025, 0.975])
    print(
        f"**{method}**, {len(values):,} orders: mean {values.mean():.2f}, std "
        f"{values.std(ddof=1):.2f}, 95 % of runs {low:.1f} to {high:.1f}, all {values.min():.1f} "
        f"to {values.max():.1f}.\n"
    )
    print("| n | 95 % of means | std | beyond | misses the 5 % | worst is above |")
    print("|---|---|---|---|---|---|")
    for size in sizes:
        if size < len(values):
            print(f"| {' | '.join(describe_samples(values, size, draws))} |")
    print()


def main() -> None:
    """Print the tables of every method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directories", nargs="*", metavar="RUNS")
    parser.add_argument("--truth", help="name of a bundled truth table")
    parser.add_argument("--methods", default="finetune,lwf,er", help="of the truth table")
    parser.add_argument("--sizes", default="3,10,30,100")
    parser.add_argument("--draws", type=int, default=5_000)
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    sources = [accuracies_on_random_orders(directory) for directory in arguments.directories]
    if arguments.truth is not None:
        sources.append(accuracies_of_truth(arguments.truth, arguments.methods.split(",")))
    for source in sources:
        for method, values in source.items():
            print_tables(method, values, sizes, arguments.draws)


if __name__ == "__main__":
    main()
