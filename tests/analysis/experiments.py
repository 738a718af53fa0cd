"""Experiment directories with made-up accuracies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from edgecil.experiments import Experiment, Node, NodeResult, Reported, Store, WholeRun
from edgecil.sequences import ClassSequence, protocol
from tests.analysis.tables import SPACE, six_classes

NAMES = ("apple", "bear", "bed", "bee", "bench", "bicycle")

Accuracy = Callable[[ClassSequence], float]


def write_experiment(
    directory: Path,
    methods: Mapping[str, Accuracy],
    protocols: tuple[str, ...] = ("random", "edge"),
    *,
    names: tuple[str, ...] = NAMES,
    settings: Mapping[str, object] | None = None,
    content: str = "0",
    dataset: str = "made-up",
    more: Mapping[str, object] | None = None,
) -> Experiment:
    """An experiment in which each method ran each protocol once, as another tool reports it."""
    with closing(Store(directory)) as store:
        data = {"name": dataset, "classes": names, "sha256": content}
        settings_of = {f"method {name}": settings or {} for name in methods}
        store.check_identity({"dataset": data, **settings_of, **(more or {})})
        for name in protocols:
            labelled = protocol(name, SPACE, similarity=six_classes())
            store.add_sequences(name, labelled)
            for run in labelled:
                for method, accuracy in methods.items():
                    add_result(store, method, run.sequence, accuracy(run.sequence))
    return Experiment.open(directory)


def add_result(
    store: Store, method: str, sequence: ClassSequence, accuracy: float, seed: int = 0
) -> None:
    """Add a run whose final accuracy on every task is the given one."""
    rows = tuple((accuracy,) * (task + 1) for task in range(len(sequence)))
    reported = {"head": Reported(len(sequence), accuracy, rows=rows)}
    run = WholeRun((NodeResult({}, (), 1.0, 1),), reported)
    store.record(Node(method, seed, sequence.tasks), run)
