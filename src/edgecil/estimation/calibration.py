"""How often claims were right on truth tables, by kind of claim, protocol and number of orders.

`benchmarks/calibration.py` draws designs from enumerated truths, measures, and writes the figures
to `calibration.json` beside this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from edgecil.estimation.intervals import LEVEL
from edgecil.io.json import read_json

SCHEMA = "edgecil.calibration/1"
FILE = Path(__file__).with_name("calibration.json")

TOLERATED = 0.03 + 1e-9

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


def reached_coverage(kind: Kind, key: str | None, orders: int) -> float | None:
    """Return what a kind of claim reaches with this number of orders.

    Numbers of orders that were not measured get the figure of the next smaller one; None if there
    is none, or if nothing was measured under the key.

    Args:
        kind: of claim.
        key: of the orders' protocol, :attr:`Protocol.calibration`.
        orders: how many.
    """
    measured = calibration().coverage.get(kind, {}).get(key or "", {})
    budgets = [int(text) for text in measured if int(text) <= orders]
    return measured[str(max(budgets))] if budgets else None


def is_calibrated(reached: float | None) -> bool:
    """Return whether 90 % intervals reach 90 % to within 3 points; not if it was not measured."""
    return reached is not None and abs(reached - LEVEL) <= TOLERATED


def describe_coverage(what: str, reached: Iterable[float | None]) -> str:
    """Return a sentence on intervals that reach something else than 90 %; empty if all reach that.

    Args:
        what: of what the intervals are.
        reached: what each of them reaches.

    >>> describe_coverage("the mean", [0.94, 0.91])
    'On truth tables such intervals of the mean contain the true value in 94 % of cases.'
    >>> describe_coverage("the mean", [0.91, None])
    'Some intervals of the mean from such orders have not been compared with a truth.'
    """
    values = list(reached)
    off = [100.0 * value for value in values if value is not None and not is_calibrated(value)]
    sentences = []
    if off:
        ends = " to ".join(dict.fromkeys(f"{value:.0f}" for value in (min(off), max(off))))
        sentences.append(
            f"On truth tables such intervals of {what} contain the true value in {ends} % of cases."
        )
    if None in values:
        some = "Intervals" if set(values) == {None} else "Some intervals"
        sentences.append(f"{some} of {what} from such orders have not been compared with a truth.")
    return " ".join(sentences)
