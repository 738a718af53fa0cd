"""The terms of an answer: at which level, and by which interval, claims are made."""

from __future__ import annotations

from dataclasses import dataclass

from edgecil.statistics.verdicts import LEVEL


@dataclass(frozen=True)
class Terms:
    """How intervals are made and verdicts are given.

    Attributes:
        level: probability with which an interval contains what it is about.
    """

    level: float = LEVEL

    @classmethod
    def of(cls, *, level: float | None = None) -> Terms:
        """Return terms from options that are None where they were not given."""
        return cls(LEVEL if level is None else level)


DEFAULT_TERMS = Terms()
