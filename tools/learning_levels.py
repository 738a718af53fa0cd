"""Measure what each learner reaches on a small experiment, and by how much rounding changes it.

    python tools/learning_levels.py [METHOD …]

Writes tests/methods/learning_levels.csv, with which `make test` compares: all learners by default,
otherwise the rows of these. Run it where a learner's defaults have changed.

Processors add numbers in different orders, so their sums differ in the last bits, and training
makes of this what it makes of another seed. Here another processor is imitated: after every step
of an optimiser, each parameter is multiplied by 1 ± 2⁻²⁰, eight times the rounding of float32, with
random signs. A learner in closed form takes no step, so nothing changes it.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

import edgecil

ROOT = Path(__file__).parents[1]
FILE = ROOT / "tests" / "methods" / "learning_levels.csv"
DATA = {"dataset": "caltech101", "data": {"classes": 20}, "tasks": 5}
ORDERS = 2
PROCESSORS = 10
ROUNDING = 2.0**-20

# The backbone on which each learner runs: a linear layer, or two trained layers.
BACKBONES = {
    "acil": "mlp",
    "derpp": "linear",
    "er": "mlp",
    "finetune": "mlp",
    "lwf": "mlp",
    "ranpac": "linear",
    "simplecil": "linear",
    "wa": "linear",
}
SETTINGS: dict[str, dict[str, Any]] = {"ranpac": {"bottleneck": 0}}

# A prediction in closed form changes where two classes are as good as equal: a few inputs of 1,000.
CLOSED_FORM = 0.5
# Standard errors between two means; with 18 degrees of freedom chance exceeds them once in 10,000.
STANDARD_ERRORS = 5.0


@dataclass(frozen=True)
class Level:
    """What a learner reaches: the mean accuracy over all test inputs after the last task.

    Attributes:
        method: the learner.
        backbone: that it trains.
        accuracy: mean over orders and imitated processors.
        spread: standard deviation of the mean over orders, between imitated processors.
    """

    method: str
    backbone: str
    accuracy: float
    spread: float

    @property
    def bound(self) -> float:
        """The largest difference that another processor explains, in points."""
        error = self.spread * (1 + 1 / PROCESSORS) ** 0.5
        return CLOSED_FORM + STANDARD_ERRORS * error


def train(method: str) -> float:
    """Train a learner on all orders; return the mean accuracy."""
    with tempfile.TemporaryDirectory() as folder:
        experiment = edgecil.run(
            **DATA,
            method=method,
            protocol=f"random:{ORDERS}",
            out=Path(folder) / "run",
            training={
                "backbone": BACKBONES[method],
                "memory_per_class": 3,
                "set": {name: value for name, value in SETTINGS.items() if name == method},
            },
            execution={"workers": 1, "progress": False},
        )
        accuracies = [run.metric("last") for run in experiment.results()]
    assert len(accuracies) == ORDERS
    return float(np.mean(accuracies))


@contextmanager
def other_rounding(seed: int) -> Iterator[None]:
    """Change the last bits of every parameter after every step of any optimiser."""
    generator = torch.Generator().manual_seed(seed)

    def change_last_bits(optimizer: torch.optim.Optimizer, *_: object) -> None:
        with torch.no_grad():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    signs = torch.randint(2, parameter.shape, generator=generator) * 2 - 1
                    parameter.mul_(1 + ROUNDING * signs)

    hook = register_optimizer_step_post_hook(change_last_bits)
    try:
        yield
    finally:
        hook.remove()


def measure(method: str) -> Level:
    """Train a learner once on every imitated processor."""
    accuracies = []
    for seed in range(PROCESSORS):
        with other_rounding(seed):
            accuracies.append(train(method))
    mean, spread = float(np.mean(accuracies)), float(np.std(accuracies, ddof=1))
    return Level(method, BACKBONES[method], round(mean, 3), round(spread, 3))


def read_levels(path: Path = FILE) -> dict[str, Level]:
    """Read the stored levels, by method."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        row["method"]: Level(
            row["method"], row["backbone"], float(row["accuracy"]), float(row["spread"])
        )
        for row in rows
    }


def write_levels(levels: dict[str, Level], path: Path = FILE) -> None:
    """Write levels as a table with one row per learner."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(Level)])
        writer.writerows(astuple(levels[method]) for method in sorted(levels))


def main(methods: list[str]) -> None:
    """Measure learners and store their levels."""
    levels = read_levels() if methods and FILE.exists() else {}
    for method in methods or BACKBONES:
        levels[method] = measure(method)
        level = levels[method]
        print(f"{method}: {level.accuracy:.2f} ± {level.bound:.2f}", flush=True)
    write_levels(levels)


if __name__ == "__main__":
    main(sys.argv[1:])
