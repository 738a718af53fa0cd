"""Every sequence of the space."""

from __future__ import annotations

from collections.abc import Iterator

from edgecil.errors import UsageError
from edgecil.sequences.counting import count_text
from edgecil.sequences.protocols.protocol import MOST_SEQUENCES, LabelledSequence, Protocol, Request
from edgecil.sequences.protocols.random import RANDOM
from edgecil.sequences.space import SequenceSpace


class Enumerate(Protocol):
    """All of Ω in a fixed order: the truth once it is complete, and no random sample before."""

    name = "enumerate"
    summary = "every sequence: the truth"
    exhaustive = True
    calibration = RANDOM.calibration  # all orders are as representative as random ones

    def check_budget(self, budget: int | None, space: SequenceSpace) -> int:
        """Return the size of the space."""
        if space.size > MOST_SEQUENCES:
            raise UsageError(
                f"The space has {count_text(space.size)} sequences, too many to enumerate; "
                "use fewer classes or another protocol."
            )
        if budget is not None:
            raise UsageError(
                f"Protocol {self.name!r} runs every sequence and has no `budget`; leave it out."
            )
        return space.size

    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        """Yield every sequence."""
        for index, sequence in enumerate(request.space.enumerate()):
            yield LabelledSequence(f"all-{index + 1}", sequence)


ENUMERATE = Enumerate()
