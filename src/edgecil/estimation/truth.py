"""The true distribution of accuracy: that of every sequence, or of a large random sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from edgecil.engine.runs import Runs
from edgecil.io.arrays import Floats
from edgecil.sequences.protocols import ENUMERATE, find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

LEAST_SAMPLE = 30
_TENTH = 10  # an int, as |Ω| may exceed any float


@dataclass(frozen=True, eq=False)
class Truth:
    """Accuracies of one method over all sequences, Ω.

    Attributes:
        kind: `enumerated` if (nearly) all of Ω was run, `sample` if random sequences represent it.
        protocols: whose runs these are; they are not evaluated against themselves.
        sizes: of the tasks.
        accuracies: (n,) per cent, means over training seeds.
        sequences: n different sequences; none in an :class:`Analysis`, whose table has them.
    """

    kind: Literal["enumerated", "sample"]
    protocols: tuple[str, ...]
    sizes: tuple[int, ...]
    accuracies: Floats
    sequences: tuple[ClassSequence, ...]

    @cached_property
    def mean(self) -> float:
        """Mean of the accuracies."""
        return float(self.accuracies.mean())

    @cached_property
    def std(self) -> float:
        """Population standard deviation of the accuracies."""
        return float(self.accuracies.std())

    @cached_property
    def min(self) -> float:
        """The worst order's accuracy."""
        return float(self.accuracies.min())

    @cached_property
    def max(self) -> float:
        """The best order's accuracy."""
        return float(self.accuracies.max())

    def __len__(self) -> int:
        return len(self.accuracies)

    def without_sequences(self) -> Truth:
        """Return the same truth without its sequences."""
        return replace(self, sequences=())

    @cached_property
    def space_size(self) -> int:
        """|Ω|, the number of all sequences."""
        return SequenceSpace(self.sizes).size

    def index(self) -> dict[ClassSequence, int]:
        """Return the position of each sequence."""
        return {sequence: place for place, sequence in enumerate(self.sequences)}


def find_truth(table: Runs, method: str) -> Truth | None:
    """Return a method's true distribution, if the table holds it.

    That is all of Ω, of which up to a tenth may have failed, if it was run; else at least 30
    different independent random draws, if there are as many; else None.
    """
    size = table.space.size
    accuracies = _in_order(table, table.orders(method).by_sequence())
    every = [name for name in table.protocols if find_protocol(name).exhaustive]
    nearly = bool(every) and _TENTH * len(accuracies) >= (_TENTH - 1) * size
    if nearly or len(accuracies) == size:
        return _truth("enumerated", tuple(every) or (ENUMERATE.name,), accuracies)
    random = tuple(name for name in table.protocols if find_protocol(name).independent)
    drawn: dict[ClassSequence, float] = {}
    for name in random:
        drawn |= table.orders(method, name).by_sequence()
    if len(drawn) >= LEAST_SAMPLE:
        return _truth("sample", random, _in_order(table, drawn))
    return None


def _in_order(table: Runs, accuracies: Mapping[ClassSequence, float]) -> dict[ClassSequence, float]:
    """Return sequences in the order of the table's runs, which is the same for every method."""
    if tuple(accuracies) == table.sequences:
        return dict(accuracies)
    return {one: accuracies[one] for one in table.sequences if one in accuracies}


def _truth(
    kind: Literal["enumerated", "sample"],
    protocols: tuple[str, ...],
    accuracies: dict[ClassSequence, float],
) -> Truth:
    sequences = tuple(accuracies)
    values = np.array(list(accuracies.values()))
    return Truth(kind, protocols, sequences[0].sizes, values, sequences)
