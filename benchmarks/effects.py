"""What the settings that give the published behaviour change: mean and spread over class orders.

    python benchmarks/effects.py OUT [--methods l2p,der] [--classes 10] [--tasks 5] [--orders 12]

Every setting is trained on the same random orders with the same training seeds as the default of
the setup `fast`. Prints a Markdown table: mean and standard deviation of A(O) over the orders, and
the mean difference with its 90 % interval, from the differences by order. Results are stored below
OUT; the same command resumes.
"""

from __future__ import annotations

import argparse
import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

import edgecil

EFFECTS: dict[str, tuple[dict[str, Any], ...]] = {
    "ranpac": ({"ridge": "last-task"}, {"ridge": "last-task", "cosine": True}),
    "bic": ({"correction": "double-softmax"},),
    "ewc": ({"fisher_images": "training"},),
    "mos": ({"merging_rule": "use"}, {"small_head": True}),
    "l2p": ({"batchwise": True}, {"positions": True}, {"batchwise": True, "positions": True}),
    "hide-prompt": (
        {"inference_rate": 0.00046875, "small_inference": True},
        {"equal_centroids": True},
    ),
    "coda-prompt": ({"orthogonality": 0.0}, {"start": "gram-schmidt"}),
    "der": ({"balancing": 0},),
    "memo": ({"balancing": 0},),
    "tagfex": ({"balancing": 0},),
}


def accuracies(args: argparse.Namespace, method: str, settings: dict[str, Any]) -> np.ndarray:
    """A(O) of each order, in the order of the protocol; repeats are averaged."""
    name = "-".join([method, *(f"{key}={value}" for key, value in settings.items())])
    experiment = edgecil.run(
        out=Path(args.out) / name,
        method=method,
        dataset="quickdraw",
        tasks=args.tasks,
        protocol="random",
        budget=args.orders,
        repeats=args.repeats,
        data={"classes": args.classes},
        training={"set": {method: settings} if settings else None},
        execution={"workers": 1},
    )
    by_order: dict[str, list[float]] = {}
    for result in experiment.results():
        by_order.setdefault(str(result.sequence), []).append(result.accuracy)
    return np.array([np.mean(values) for _, values in sorted(by_order.items())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--methods", default=",".join(EFFECTS))
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--tasks", type=int, default=5)
    parser.add_argument("--orders", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=1)
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    columns = ("method", "setting", "default: mean", "std", "published: mean", "std", "difference")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for method in args.methods.split(","):
        default = accuracies(args, method, {})
        for settings in EFFECTS[method]:
            changed = accuracies(args, method, settings)
            apart = changed - default
            half = student.ppf(0.95, len(apart) - 1) * apart.std(ddof=1) / len(apart) ** 0.5
            text = ", ".join(f"`{key} = {json.dumps(value)}`" for key, value in settings.items())
            numbers = (default.mean(), default.std(ddof=1), changed.mean(), changed.std(ddof=1))
            cells = [method, text, *(f"{number:.2f}" for number in numbers)]
            cells.append(
                f"{apart.mean():+.2f} ({apart.mean() - half:+.2f} to {apart.mean() + half:+.2f})"
            )
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
