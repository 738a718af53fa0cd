"""Every class order that was run, once, with the accuracy that each method reached on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.sequences.sequence import ClassSequence


@dataclass(frozen=True)
class OrderRow:
    """One class order.

    Attributes:
        sequence: the classes, task by task.
        choices: protocols that chose it, each with its label: ("edge", "hard").
        z: the predictor in standard deviations from its mean over all orders; None without one.
        accuracies: by method, per cent, the mean over repeats; methods without a result are absent.
        repeats: by method, how many trainings the accuracy is the mean of.
    """

    sequence: ClassSequence
    choices: tuple[tuple[str, str], ...]
    z: float | None
    accuracies: dict[str, float]
    repeats: dict[str, int]

    @cached_property
    def chosen_by(self) -> str:
        """The choices as text, without labels that repeat the sequence, and nothing twice."""
        return ", ".join(self._describe(protocol, label) for protocol, label in self.choices)

    def _describe(self, protocol: str, label: str) -> str:
        if not label or ("|" in label and label == str(self.sequence)):
            return protocol
        return label if label.startswith(f"{protocol}-") else f"{protocol} {label}"


def list_orders(dataset: DatasetAnalysis) -> list[OrderRow]:
    """Return all orders of a dataset that have an accuracy, lowest mean over the methods first."""
    table, predictor = dataset.table, dataset.predictor
    choices: list[dict[tuple[str, str], None]] = [{} for _ in table.sequences]
    for run, place in zip(table.runs, table.places, strict=True):
        choices[place][run.protocol, run.label] = None
    by_method = {name: table.orders(name).by_sequence() for name in dataset.methods}
    trainings = {name: table.training_counts(name) for name in dataset.methods}
    rows = []
    for sequence, labels in zip(table.sequences, choices, strict=True):
        accuracies = {name: a[sequence] for name, a in by_method.items() if sequence in a}
        if not accuracies:
            continue
        z = None if predictor is None else predictor.value(sequence)
        repeats = {
            name: counts.get(sequence, 1) if (counts := trainings[name]) else 1
            for name in accuracies
        }
        rows.append(OrderRow(sequence, tuple(labels), z, accuracies, repeats))
    return sorted(rows, key=lambda row: fmean(row.accuracies.values()))
