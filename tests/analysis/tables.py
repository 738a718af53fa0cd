"""Tables of made-up accuracies over six classes in three tasks, all 90 orders of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from edgecil.analysis import Comparison, DatasetAnalysis, analyze, compare_tables
from edgecil.runs.run_files import write_runs
from edgecil.runs.run_table import FAILED, FINISHED, PENDING, Runs
from edgecil.sequences import ClassSequence, SequenceSpace, profile, protocol
from edgecil.similarity import SimilarityMatrix

SPACE = SequenceSpace.equal(6, 3)


def six_classes(seed: int = 0) -> SimilarityMatrix:
    values = np.random.default_rng(seed).random((6, 6))
    return SimilarityMatrix.of((values + values.T) / 2)


@dataclass(frozen=True)
class Run:
    """A row of a table; tests change single rows."""

    method: str
    dataset: str
    protocol: str
    label: str
    sequence: ClassSequence
    seed: int
    accuracy: float | None
    pending: bool = False


def build(
    runs: Iterable[Run], names: tuple[str, ...] | None = None, metric: str = "accuracy"
) -> Runs:
    """Make a table of rows of one dataset."""
    given = list(runs)
    (dataset,) = {run.dataset for run in given}
    missing = [PENDING if run.pending else FAILED for run in given]
    return Runs.of(
        [run.method for run in given],
        [run.sequence for run in given],
        [np.nan if run.accuracy is None else run.accuracy for run in given],
        protocol=[run.protocol for run in given],
        label=[run.label for run in given],
        seed=[run.seed for run in given],
        status=[
            FINISHED if run.accuracy is not None else status
            for run, status in zip(given, missing, strict=True)
        ],
        dataset=dataset,
        metric=metric,
        names=names,
    )


def rows(table: Runs) -> list[Run]:
    """Return the rows of a table."""
    return [
        Run(
            table.methods[table.method[row]],
            table.dataset,
            table.protocols[table.protocol[row]],
            table.labels[table.label[row]],
            table.sequences[table.sequence[row]],
            int(table.seed[row]),
            None if np.isnan(table.values[row]) else float(table.values[row]),
            bool(table.status[row] == PENDING),
        )
        for row in range(len(table))
    ]


def write(runs: Iterable[Run], path: Path | str, metric: str = "accuracy") -> None:
    """Write rows, of several datasets perhaps, as a CSV file."""
    by_dataset: dict[str, list[Run]] = {}
    for run in runs:
        by_dataset.setdefault(run.dataset, []).append(run)
    write_runs([build(group, metric=metric) for group in by_dataset.values()], path)


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
) -> Runs:
    runs = [
        run
        for method, accuracy in methods.items()
        for name in protocols
        for run in runs_of(method, name, accuracy)
    ]
    return build(runs)


def drawn_table(
    methods: Mapping[str, Callable[[ClassSequence], float | None]],
    count: int,
    *,
    seeds: Sequence[int] = (),
) -> Runs:
    """Return runs of as many random orders, with one training seed unless there are more."""
    orders = SPACE.sample(count, np.random.default_rng(count))
    return build(
        Run(method, "made-up", "random", f"seed-{place}", order, seed, accuracy(order))
        for method, accuracy in methods.items()
        for place, (order, seed) in enumerate(zip(orders, seeds or [0] * count, strict=True))
    )


def noisy(seed: int, *, mean: float = 50.0, std: float = 5.0) -> Callable[[ClassSequence], float]:
    """Accuracies that have nothing to do with similarity."""
    drawn = np.random.default_rng(seed).normal(mean, std, SPACE.size)
    values = dict(zip(SPACE.enumerate(), drawn.tolist(), strict=True))
    return lambda sequence: values[sequence]


def analysed(table: Runs, **options: Any) -> DatasetAnalysis:
    """Analyse the runs on one dataset."""
    (dataset,) = analyze(table, **options).datasets
    return dataset


def compare_two(table: Runs, first: str, second: str) -> Comparison:
    """Return the only comparison of two methods of a table."""
    ((comparison,),) = compare_tables([table], (first, second)).by_table
    return comparison


def two_hard_orders(table: Runs, method: str) -> Runs:
    """The table with a second hard order of `edge`, run by a method."""
    hard = next(run for run in rows(table) if run.label == "hard")
    other = next(
        run for run in rows(table) if run.protocol == "enumerate" and run.sequence != hard.sequence
    )
    second = replace(other, method=method, protocol="edge", label="hard")
    return build([*rows(table), second])


ALONG_S = {
    sequence: 50.0 + 4.0 * profile(six_classes(), sequence).z + 0.2 * noisy(3, mean=0.0)(sequence)
    for sequence in SPACE.enumerate()
}


def along_s(sequence: ClassSequence) -> float:
    """Accuracy that S decides, but for a little."""
    return ALONG_S[sequence]


def against_s(sequence: ClassSequence) -> float:
    return 100.0 - along_s(sequence)
