"""An extreme sequence of an objective, and the certificate of how near to optimal it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from edgecil.sequences.sequence import ClassSequence


@dataclass(frozen=True)
class Certificate:
    """How close a sequence is to the extreme of an objective.

    Attributes:
        objective: the name of the objective.
        source: where the similarity comes from.
        value: the objective of the sequence.
        z: standard deviations of the value above the mean over all sequences of the space.
        bound: a value that no sequence of the space can pass; equal to `value` if `exact`.
        gap: distance between value and bound, as a share of the distance between both bounds.
        exact: whether the value is proved optimal.
    """

    objective: str
    source: Mapping[str, str]
    value: float
    z: float
    bound: float
    gap: float
    exact: bool


@dataclass(frozen=True)
class Optimum(Certificate):
    """An extreme sequence of an objective, with its certificate."""

    sequence: ClassSequence

    @property
    def certificate(self) -> Certificate:
        """The certificate without the sequence."""
        names = [field.name for field in fields(Certificate)]
        return Certificate(**{name: getattr(self, name) for name in names})
