"""Every class order that was run, once, with the accuracy that each method reached on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np

from edgecil.engine.runs import Runs
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


def list_choices(table: Runs) -> list[list[tuple[str, str]]]:
    """Return, for each sequence of a table, the protocols and labels that chose it."""
    keys = np.stack([table.sequence, table.protocol, table.label])
    _, first = np.unique(keys, axis=1, return_index=True)
    choices: list[list[tuple[str, str]]] = [[] for _ in table.sequences]
    for place, protocol, label in keys[:, np.sort(first)].T.tolist():
        choices[place].append((table.protocols[protocol], table.labels[label]))
    return choices


def list_orders(dataset: DatasetAnalysis) -> list[OrderRow]:
    """Return all orders of a dataset that have an accuracy, lowest mean over the methods first."""
    table, predictor = dataset.table, dataset.predictor
    accuracies: list[dict[str, float]] = [{} for _ in table.sequences]
    repeats: list[dict[str, int]] = [{} for _ in table.sequences]
    for name in dataset.methods:
        orders = table.orders(name)
        columns = orders.places, orders.accuracies, orders.counts
        for place, accuracy, count in zip(*(it.tolist() for it in columns), strict=True):
            accuracies[place][name], repeats[place][name] = accuracy, count
    choices = list_choices(table)
    rows = []
    for place, sequence in enumerate(table.sequences):
        if accuracies[place]:
            z = None if predictor is None else predictor.value(sequence)
            labels = tuple(choices[place])
            rows.append(OrderRow(sequence, labels, z, accuracies[place], repeats[place]))
    return sorted(rows, key=lambda row: fmean(row.accuracies.values()))
