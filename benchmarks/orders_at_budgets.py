"""Random, grouped and spread orders at several training budgets: is an effect of orders a law?

    python benchmarks/orders_at_budgets.py caltech101 --backbone mlp --tasks 10 --out RUNS
    python benchmarks/orders_at_budgets.py cub200.npz --backbone linear --tasks 10 --out RUNS
    python benchmarks/orders_at_budgets.py quickdraw --backbone resnet-tiny --classes 20 \
        --tasks 5 --methods finetune er --epochs 5 20 --out RUNS

Trains every learner on random orders and on the two probes, at each budget, and prints one
Markdown table; a probe is its difference from the mean of random orders, in points and in their
standard deviations. Grouped orders put similar classes into one task, spread ones into different
tasks; the similarity is that of the class means of the training inputs. Every order has its own
training seed. The same command resumes below RUNS.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy import stats

import edgecil
from edgecil.data.load import load_dataset
from edgecil.similarity.images import image_similarity
from edgecil.similarity.similarity_files import save_similarity

METHODS = ["finetune", "naive", "er", "lwf", "wa", "derpp"]
EXEMPLARS = 3


def describe(experiment: edgecil.Experiment, method: str) -> list[str]:
    """Return the cells of a learner: its random orders, and each probe beside them.

    A probe is printed in bold if it lies outside the interval of a new random run, which is the
    Student prediction interval; the number behind it counts standard deviations from the mean.
    """
    runs = experiment.to_pandas()
    runs = runs[runs["method"] == method]
    accuracies = runs.loc[runs["protocol"] == "random", "accuracy"].to_numpy()
    count = len(accuracies)
    mean, deviation = float(np.mean(accuracies)), float(np.std(accuracies, ddof=1))
    quantile = float(stats.t.ppf(0.975, count - 1))
    of_mean = quantile * deviation / np.sqrt(count)
    of_new_run = quantile * deviation * np.sqrt(1.0 + 1.0 / count)
    cells = [
        f"{mean:.1f} ({mean - of_mean:.1f} to {mean + of_mean:.1f})",
        f"{mean - of_new_run:.1f} to {mean + of_new_run:.1f}",
    ]
    probes = runs[runs["protocol"] == "probes"].set_index("label")["accuracy"]
    for label in ("grouped", "spread"):
        difference = float(probes[label]) - mean
        cell = f"{difference:+.1f} ({difference / deviation:+.1f} s)"
        cells.append(f"**{cell}**" if abs(difference) > of_new_run else cell)
    return cells


def main() -> None:
    """Train, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("dataset")
    parser.add_argument("--backbone", required=True)
    parser.add_argument("--tasks", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--classes", type=int)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--orders", type=int, default=20)
    parser.add_argument("--steps", type=int, nargs="+", default=[100, 400])
    parser.add_argument(
        "--epochs", type=int, nargs="+", help="budgets in epochs, in place of steps"
    )
    options = parser.parse_args()
    data = {} if options.classes is None else {"classes": options.classes}
    options.out.mkdir(parents=True, exist_ok=True)
    similarity = options.out / f"{Path(options.dataset).stem}-similarity.npz"
    save_similarity(
        image_similarity(load_dataset(options.dataset, count=options.classes)), similarity
    )
    budgets = [("epochs", number) for number in options.epochs or ()]
    budgets = budgets or [("steps", number) for number in options.steps]
    columns = ["learner", "budget per task", "mean (95 %)", "a new random run (95 %)"]
    columns += ["grouped", "spread"]
    print(f"| {' | '.join(columns)} |")
    print(f"|{'---|' * len(columns)}")
    for method in options.methods:
        for unit, number in budgets:
            name = f"{Path(options.dataset).stem}-{options.backbone}-{method}-{number}-{unit}"
            experiment = edgecil.run(
                options.dataset,
                method=method,
                tasks=options.tasks,
                data=data,
                protocol=[f"random:{options.orders}", "probes"],
                similarity={"file": str(similarity)},
                training={
                    "backbone": options.backbone,
                    "memory_per_class": EXEMPLARS,
                    unit: number,
                },
                out=options.out / name,
                execution={"progress": False, "workers": 1},
            )
            cells = describe(experiment, method)
            print(f"| {method} | {number} {unit} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
