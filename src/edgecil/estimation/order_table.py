"""Every class order that was run, once, with the accuracy that each method reached on it."""

from __future__ import annotations

from dataclasses import dataclass
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

    @property
    def chosen_by(self) -> str:
        """The choices as text."""
        return ", ".join(" ".join(part for part in choice if part) for choice in self.choices)


def list_orders(dataset: DatasetAnalysis) -> list[OrderRow]:
    """Return all orders of a dataset that have an accuracy, lowest mean over the methods first."""
    places: dict[ClassSequence, int] = {}
    choices: list[dict[tuple[str, str], None]] = []
    trainings: list[dict[str, set[tuple[int, float]]]] = []
    for run in dataset.table.runs:
        place = places.setdefault(run.sequence, len(places))
        if place == len(choices):
            choices.append({})
            trainings.append({})
        choices[place][run.protocol, run.label] = None
        if run.accuracy is not None:
            # Protocols share runs: equal seed and accuracy mean the same run.
            trainings[place].setdefault(run.method, set()).add((run.seed, run.accuracy))
    rows = []
    for sequence, chosen, trained in zip(places, choices, trainings, strict=True):
        accuracies = {
            name: _mean([accuracy for _, accuracy in trained[name]])
            for name in dataset.methods
            if name in trained
        }
        if accuracies:
            z = None if dataset.predictor is None else dataset.predictor.value(sequence)
            repeats = {name: len(trained[name]) for name in accuracies}
            rows.append(OrderRow(sequence, tuple(chosen), z, accuracies, repeats))
    return sorted(rows, key=lambda row: _mean(list(row.accuracies.values())))


def _mean(values: list[float]) -> float:
    return values[0] if len(values) == 1 else fmean(values)
