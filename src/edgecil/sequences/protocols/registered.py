"""Every protocol by name, and stand-ins for orders that no registered protocol chose."""

from __future__ import annotations

from collections.abc import Iterable

from edgecil.errors import UsageError, format_value
from edgecil.registry import Registry
from edgecil.sequences.protocols.extremes import EDGE, GOALS, OPTIMAL, PROBES
from edgecil.sequences.protocols.latin import LATIN
from edgecil.sequences.protocols.protocol import LabelledSequence, Protocol, Request, Role
from edgecil.sequences.protocols.random import ENUMERATE, RANDOM, RANDOM_LEGACY, RS

ENTRY_POINTS = "edgecil.protocols"
DEFAULT_PROTOCOL = RANDOM.name
RECOMMENDED = (RANDOM.name, PROBES.name)
"""Random orders for the distribution, probes for what random ones hardly ever show."""


def _check(name: str, entry: object) -> Protocol:
    """Return the protocol at an entry point, which names an object or a class."""
    protocol = entry() if isinstance(entry, type) else entry
    if not isinstance(protocol, Protocol) or protocol.name != name:
        raise UsageError(f"it must be an edgecil.Protocol with the name {name!r}")
    return protocol


PROTOCOLS: Registry[Protocol] = Registry("protocol", plugins=(ENTRY_POINTS, _check))
"""Every protocol by name."""


def register_protocol(protocol: Protocol) -> Protocol:
    """Register a protocol under its name, so that runs and analyses know it.

    Other packages register theirs by an entry point of the group `edgecil.protocols`.
    """
    if not isinstance(protocol, Protocol):
        raise UsageError(
            f"A protocol must be an edgecil.Protocol. Got {format_value(protocol)} instead."
        )
    return PROTOCOLS.add(protocol.name, protocol)


for _protocol in (RANDOM, PROBES, LATIN, RANDOM_LEGACY, RS, EDGE, OPTIMAL, ENUMERATE):
    register_protocol(_protocol)


class Unregistered(Protocol):
    """Orders whose choice is not documented; those called hard and easy are constructed."""

    constructed: tuple[str, ...] | None = GOALS
    unknown = True

    def __init__(self, name: str, *, searched: bool = False) -> None:
        self.name = name
        self.searched = searched

    def role(self, label: str) -> Role:
        """Return "unknown", except for the labels of constructed sequences."""
        return "constructed" if label in GOALS else "unknown"

    def choose(self, request: Request) -> Iterable[LabelledSequence]:
        """Raise an error: only a user can choose these."""
        raise UsageError(f"The orders of {self.name!r} cannot be drawn; give the sequences.")


class Repeats(Unregistered):
    """Orders of other protocols that `run` trains once more."""

    repeats = True
    unknown = False


class Continued(Unregistered):
    """Random orders that `next_runs` suggests; none of them was run before."""

    constructed = ()
    unknown = False
    calibration = RANDOM.calibration
    role = Protocol.role


USER_SEQUENCES = "given"
"""The name in tables for class orders that a user gives without a name."""

REPEATS, CONTINUED = "repeats", "next"
SEARCH, CONFIRMATION = "search", "confirmation"
STAND_INS: dict[str, Protocol] = {
    REPEATS: Repeats(REPEATS),
    CONTINUED: Continued(CONTINUED),
    SEARCH: Unregistered(SEARCH, searched=True),
    CONFIRMATION: Unregistered(CONFIRMATION, searched=True),
}
"""Protocols of orders that edgecil itself adds to an experiment, by the name in its tables."""


def find_protocol(name: str) -> Protocol:
    """Return the protocol with the name in a table of runs; any name has one."""
    if name in STAND_INS:
        return STAND_INS[name]
    return PROTOCOLS[name] if name in PROTOCOLS else Unregistered(name)
