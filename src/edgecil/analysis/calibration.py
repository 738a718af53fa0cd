"""How often claims were right on truth tables, by kind of claim, protocol and number of orders.

`python -m edgecil.lab calibrate --write` judges them and writes the figures to `calibration.json`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from edgecil.io.json import read_typed_json
from edgecil.statistics.verdicts import LEVEL

SCHEMA = "edgecil.calibration/3"
FILE = Path(__file__).with_name("calibration.json")

TOLERATED = 0.03 + 1e-9
_LEAST_SHARE = 2.0  # the worst learner may miss this many times as often as its level says

Kind = Literal["mean", "std", "next run", "tail", "difference", "one seed for all: mean"]


@dataclass(frozen=True)
class Figure:
    """A share or a ratio over truths.

    Attributes:
        average: over all truths.
        least: of the learner with the smallest mean.
        greatest: of the learner with the greatest mean.
        small: of the quarter of truths with the smallest spread.
    """

    average: float
    least: float
    greatest: float
    small: float


@dataclass(frozen=True)
class Calibration:
    """What claims reach.

    Attributes:
        command: that measured it.
        truths: number of truths: learners and sets of classes.
        draws: from each truth, for each number of orders.
        figures: by level, claim, calibration key of the protocol, and number of orders, as texts.
    """

    command: str
    truths: int
    draws: int
    figures: dict[str, dict[str, dict[str, dict[str, Figure]]]]


@lru_cache(maxsize=1)
def calibration() -> Calibration:
    """Return the stored result."""
    return read_typed_json(FILE, Calibration, SCHEMA)


def reached_coverage(
    kind: Kind, key: str | None, orders: int, level: float = LEVEL
) -> Figure | None:
    """Return what a kind of claim reaches with this number of orders.

    Numbers of orders that were not measured get the figure of the next smaller one; None if there
    is none, or if nothing was measured at the level or under the key,
    :attr:`Protocol.calibration`.
    """
    figures = calibration().figures.get(f"{level:g}", {})
    measured = figures.get(kind, {}).get(key or "", {})
    budgets = [int(text) for text in measured if int(text) <= orders]
    return measured[str(max(budgets))] if budgets else None


def is_calibrated(reached: Figure | None, level: float = LEVEL) -> bool:
    """Return whether intervals deserve their label; not if it was not measured.

    They reach their level to within 3 points on average; for every learner, and for the quarter of
    truths with the smallest spread, they miss at most twice as often as the level says.
    """
    if reached is None:
        return False
    is_right = abs(reached.average - level) <= TOLERATED
    return is_right and min(reached.least, reached.small) >= least_of(level)


def least_of(level: float) -> float:
    """Return the least share of intervals that must be right for every learner.

    >>> round(least_of(0.9), 3)
    0.8
    """
    return 1.0 - _LEAST_SHARE * (1.0 - level)
