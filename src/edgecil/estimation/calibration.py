"""How often claims were right on truth tables, by kind of claim, protocol and number of orders.

`benchmarks/calibration.py` draws designs from enumerated truths, measures, and writes the figures
to `calibration.json` beside this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from edgecil.io.json import read_json

SCHEMA = "edgecil.calibration/1"
FILE = Path(__file__).with_name("calibration.json")

Kind = Literal["mean", "std", "next", "outside", "worse", "difference"]


@dataclass(frozen=True)
class Calibration:
    """The result of the benchmark.

    Attributes:
        command: that measured it.
        truths: how many enumerated truths were used.
        draws: designs drawn from each truth, per protocol and number of orders.
        coverage: by kind, protocol and number of orders (as text): the share of intervals that
            contain the true value; for `outside` and `worse` the true share minus the claimed one.
    """

    command: str
    truths: int
    draws: int
    coverage: dict[str, dict[str, dict[str, float]]]


@lru_cache(maxsize=1)
def calibration() -> Calibration:
    """Return the stored result of the benchmark."""
    return read_json(FILE, Calibration, SCHEMA)


def reached_coverage(kind: Kind, protocol: str, orders: int) -> float | None:
    """Return what a kind of claim reaches with a protocol and this number of orders.

    Numbers of orders that were not measured get the figure of the next smaller one; None if there
    is none, or if the protocol was not measured.
    """
    measured = calibration().coverage.get(kind, {}).get(protocol, {})
    budgets = [int(text) for text in measured if int(text) <= orders]
    return measured[str(max(budgets))] if budgets else None
