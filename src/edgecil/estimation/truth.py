"""The true distribution of accuracy: that of every sequence, or of a large random sample."""

from __future__ import annotations

from dataclasses import dataclass
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

    def __len__(self) -> int:
        return len(self.accuracies)

    @cached_property
    def space_size(self) -> int:
        """|Ω|, the number of all sequences."""
        return SequenceSpace(self.sizes).size


def find_truth(table: Runs, method: str) -> Truth | None:
    """Return a method's true distribution, if the table holds it.

    That is all of Ω, of which up to a tenth may have failed, if it was run; else at least 30
    different independent random draws, if there are as many; else None.
    """
    kind: Literal["enumerated", "sample"] = "enumerated"
    size = table.space.size
    drawn = dict(table.orders(method).by_sequence())
    names = [name for name in table.protocols if find_protocol(name).exhaustive]
    nearly = bool(names) and _TENTH * len(drawn) >= (_TENTH - 1) * size
    if not nearly and len(drawn) < size:
        kind, drawn = "sample", {}
        names = [name for name in table.protocols if find_protocol(name).independent]
        for name in names:
            drawn |= table.orders(method, name).by_sequence()
        if len(drawn) < LEAST_SAMPLE:
            return None
    # in the order of the table's runs, which is the same for every method
    sequences = tuple(one for one in table.sequences if one in drawn)
    values = np.array([drawn[one] for one in sequences])
    protocols = tuple(names) or (ENUMERATE.name,)
    return Truth(kind, protocols, sequences[0].sizes, values, sequences)
