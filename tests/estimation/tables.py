"""Tables of made-up accuracies over six classes in three tasks, all 90 orders of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from edgecil.estimation import AccuracyTable, Run
from edgecil.sequences import ClassSequence, SequenceSpace, protocol
from edgecil.similarity import SimilarityMatrix

SPACE = SequenceSpace.equal(6, 3)


def six_classes(seed: int = 0) -> SimilarityMatrix:
    values = np.random.default_rng(seed).random((6, 6))
    return SimilarityMatrix.of((values + values.T) / 2)


def runs_of(
    method: str,
    name: str,
    accuracy: Callable[[ClassSequence], float | None],
    *,
    seed: int = 0,
    dataset: str = "made-up",
) -> list[Run]:
    labelled = protocol(name, SPACE, similarity=six_classes())
    return [
        Run(method, dataset, name, run.label, run.sequence, seed, accuracy(run.sequence))
        for run in labelled
    ]


def table_of(
    methods: Mapping[str, Callable[[ClassSequence], float | None]],
    protocols: tuple[str, ...] = ("random", "edge", "latin", "enumerate"),
) -> AccuracyTable:
    runs = [
        run
        for method, accuracy in methods.items()
        for name in protocols
        for run in runs_of(method, name, accuracy)
    ]
    return AccuracyTable(tuple(runs))


def noisy(seed: int, *, mean: float = 50.0, std: float = 5.0) -> Callable[[ClassSequence], float]:
    """Accuracies that have nothing to do with similarity."""
    drawn = np.random.default_rng(seed).normal(mean, std, SPACE.size)
    values = dict(zip(SPACE.enumerate(), drawn.tolist(), strict=True))
    return lambda sequence: values[sequence]


def two_hard_orders(table: AccuracyTable, method: str) -> AccuracyTable:
    """The table with a second hard order of `edge`, run by a method."""
    hard = next(run for run in table.runs if run.label == "hard")
    other = next(
        run for run in table.runs if run.protocol == "enumerate" and run.sequence != hard.sequence
    )
    second = replace(other, method=method, protocol="edge", label="hard")
    return replace(table, runs=(*table.runs, second))
