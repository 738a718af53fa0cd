"""Orders that no registered protocol chose, such as those of a user's own table."""

from __future__ import annotations

from collections.abc import Iterable

from edgecil.errors import UsageError
from edgecil.sequences.protocols.extremes import GOALS
from edgecil.sequences.protocols.protocol import LabelledSequence, Protocol, Request, Role
from edgecil.sequences.protocols.random import RANDOM


class Unregistered(Protocol):
    """Orders of which nobody says how they were chosen; hard and easy ones are constructed."""

    constructed: tuple[str, ...] | None = GOALS
    unknown = True

    def __init__(self, name: str) -> None:
        self.name = name

    def role(self, label: str) -> Role:
        """Return that nothing is known, but for constructed sequences."""
        return "constructed" if label in GOALS else "unknown"

    def choose(self, request: Request) -> Iterable[LabelledSequence]:
        """Raise an error: only a user can choose these."""
        raise UsageError(f"The orders of {self.name!r} cannot be drawn; give the sequences.")


class Repeats(Unregistered):
    """Orders of other protocols that `run` trains once more."""

    repeats = True
    unknown = False


class Continued(Unregistered):
    """Orders of `next_runs`: random ones that were not run before."""

    constructed = ()
    unknown = False
    calibration = RANDOM.calibration

    def role(self, label: str) -> Role:
        """Return that all are random draws."""
        return "random"


REPEATS = "repeats"
CONTINUED = "next"
GIVEN: dict[str, Protocol] = {REPEATS: Repeats(REPEATS), CONTINUED: Continued(CONTINUED)}
"""Names that edgecil itself gives to orders which no protocol draws."""
