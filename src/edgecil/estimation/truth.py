"""What stands for the true distribution of accuracy: every sequence, or a large random sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from edgecil.engine.accuracies import AccuracyTable
from edgecil.io.arrays import Floats
from edgecil.sequences.counting import decimal_text
from edgecil.sequences.sequence import ClassSequence

LEAST_SAMPLE = 30
_TENTH = 10  # in whole numbers: |Ω| may be beyond any float
_RANDOM = ("random", "random-legacy")


@dataclass(frozen=True, eq=False)
class Truth:
    """Accuracies of one method over Ω.

    Attributes:
        kind: `enumerated` if (nearly) all of Ω was run, `sample` if random sequences stand for it.
        protocols: whose runs these are; they are not judged against themselves.
        sequences: n different ones.
        accuracies: (n,) per cent, means over training seeds.
        orders: |Ω|.
    """

    kind: Literal["enumerated", "sample"]
    protocols: tuple[str, ...]
    sequences: tuple[ClassSequence, ...]
    accuracies: Floats
    orders: int

    def index(self) -> dict[ClassSequence, int]:
        """Where each sequence stands."""
        return {sequence: place for place, sequence in enumerate(self.sequences)}

    def as_dict(self) -> dict[str, Any]:
        """Population statistics as plain JSON values."""
        values = self.accuracies
        return {
            "mean": float(values.mean()),
            "std": float(values.std()),
            "min": float(values.min()),
            "max": float(values.max()),
            "n": len(values),
            "kind": self.kind,
            "orders": decimal_text(self.orders),
        }


def find_truth(table: AccuracyTable, method: str) -> Truth | None:
    """A method's true distribution, if the table holds it.

    All of Ω, of which up to a tenth may have failed; else at least 30 different sequences that the
    random protocols ran; else None.
    """
    orders = table.space.size
    found = _in_order(table, table.orders(method).by_sequence())
    nearly = "enumerate" in table.protocols and _TENTH * len(found) >= (_TENTH - 1) * orders
    if nearly or len(found) == orders:
        return _truth("enumerated", ("enumerate",), found, orders)
    drawn: dict[ClassSequence, float] = {}
    for protocol in _RANDOM:
        drawn |= table.orders(method, protocol).by_sequence()
    if len(drawn) >= LEAST_SAMPLE:
        return _truth("sample", _RANDOM, _in_order(table, drawn), orders)
    return None


def _in_order(
    table: AccuracyTable, found: dict[ClassSequence, float]
) -> dict[ClassSequence, float]:
    """Sequences as the table first names them, so that methods with the same ones agree."""
    named = dict.fromkeys(run.sequence for run in table.runs)
    return {sequence: found[sequence] for sequence in named if sequence in found}


def _truth(
    kind: Literal["enumerated", "sample"],
    protocols: tuple[str, ...],
    found: dict[ClassSequence, float],
    orders: int,
) -> Truth:
    return Truth(kind, protocols, tuple(found), np.array(list(found.values())), orders)
