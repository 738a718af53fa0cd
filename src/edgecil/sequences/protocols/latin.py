"""Latin designs: random sequences that are balanced against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from edgecil.sequences.latin import latin
from edgecil.sequences.overlap import unevenness
from edgecil.sequences.protocols.protocol import LabelledSequence, Protocol, Request
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace


class Latin(Protocol):
    """See :mod:`edgecil.sequences.latin`.

    Each sequence is a uniform draw, but all are drawn together: a class avoids the positions that
    it has in the others, so that the mean over a design varies less than that of independent draws.
    """

    name = "latin"
    summary = "every class takes all positions equally often, with changing neighbours"
    constructed = ()
    joint = True
    calibration = "latin"

    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        """Yield the sequences of one design."""
        sequences = self.design(request.space, request.budget, request.rng())
        for index, sequence in enumerate(sequences):
            yield LabelledSequence(f"latin-{index + 1}", sequence)

    def design(
        self, space: SequenceSpace, budget: int, rng: np.random.Generator
    ) -> list[ClassSequence]:
        """Return another design."""
        return latin(space, budget, rng)

    def objection(self, runs: Sequence[LabelledSequence]) -> str | None:
        """Object to positions that are as uneven as those of independent draws."""
        sequences = {run.sequence for run in runs}
        tasks = len(runs[0].sequence)
        if len(sequences) < 2 or tasks < 2:
            return None
        even = max(0.0, (tasks - len(sequences)) / (tasks - 1.0))  # what a design has
        if unevenness(sequences)[0] <= (1.0 + even) / 2.0:
            return None
        return "classes do not visit the positions evenly"


LATIN = Latin()
