"""The terms of an answer: at which level, by which interval, and whether one may look again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edgecil.statistics.verdicts import LEVEL

IntervalKind = Literal["model", "t"]


@dataclass(frozen=True)
class Terms:
    """How intervals are made and verdicts are given.

    Attributes:
        level: probability with which an interval contains what it is about.
        interval: `model` for the measured model's, which is Student's t unless runs are
            nearly equal, differ very much or say more by their classes; `t` for Student's t alone.
        anytime: whether verdicts stay valid if one looks after every run. Otherwise they are for a
            number of runs that was chosen beforehand.
    """

    level: float = LEVEL
    interval: IntervalKind = "model"
    anytime: bool = False

    @classmethod
    def of(
        cls,
        *,
        level: float | None = None,
        interval: IntervalKind | None = None,
        anytime: bool = False,
    ) -> Terms:
        """Return terms from options that are None where they were not given."""
        return cls(LEVEL if level is None else level, interval or "model", anytime)

    @property
    def textbook(self) -> bool:
        """Whether only Student's t is wanted."""
        return self.interval == "t"


DEFAULT_TERMS = Terms()
