"""How much of a learner's spread over class orders is the order, and how much training noise.

`tools/order_shares.py` computes the figures from the bundled truth tables, in which every order is
trained at least twice with the setup `fast`, and those of methods that are not in them
from an experiment on all orders of the first table; it writes `order_share.json` beside this
module.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from edgecil.io.json import read_json

SCHEMA = "edgecil.order-share/2"
FILE = Path(__file__).with_name("order_share.json")
SETUP = "fast"  # the setup of the truth tables
CANNOT_SHOW = 0.5  # share of the order below which one training per order shows mostly noise


@dataclass(frozen=True)
class OrderShare:
    """Standard deviations of the final accuracy in points, pooled over truth tables.

    Attributes:
        order_std: due to the order.
        noise_std: between trainings of one order.
        tables: number of truth tables with repeats, or of such sets of classes.
    """

    order_std: float
    noise_std: float
    tables: int

    @property
    def share(self) -> float:
        """Of the variance of single trainings, the part that is due to the order, in [0, 1].

        1 if nothing varies: one training shows all there is.
        """
        order, noise = self.order_std**2, self.noise_std**2
        return order / (order + noise) if order + noise else 1.0

    @property
    def per_cent(self) -> int | None:
        """The share in per cent; None if nothing varies."""
        return round(100 * self.share) if self.order_std or self.noise_std else None


@dataclass(frozen=True)
class OrderShares:
    """The stored figures.

    Attributes:
        command: that computed them.
        methods: by method, from the truth tables.
        others: by method, from an experiment; methods in neither are not measured yet.
    """

    command: str
    methods: dict[str, OrderShare]
    others: dict[str, OrderShare]


@lru_cache(maxsize=1)
def stored_shares() -> OrderShares:
    """Return the stored figures."""
    return read_json(FILE, OrderShares, SCHEMA)


def order_shares() -> dict[str, OrderShare]:
    """Return the share of every method that was measured, by name."""
    stored = stored_shares()
    return {**stored.others, **stored.methods}


def suggest_repeats(methods: Iterable[str], repeats: int, setup: str) -> str | None:
    """Return a sentence if one training per order cannot show the order effect of some method.

    Args:
        methods: their names.
        repeats: trainings per order.
        setup: the setup; for any other than that of the truth tables nothing is known.

    >>> suggest_repeats(["ease"], 1, "fast") is None
    True
    """
    if repeats > 1 or setup != SETUP:
        return None
    measured = order_shares()
    noisy = [name for name in methods if name in measured and measured[name].share < CANNOT_SHOW]
    if not noisy:
        return None
    shares = ", ".join(f"{name} {100 * (1 - measured[name].share):.0f} %" for name in noisy)
    return (
        "One training per order cannot separate the effect of the order from training noise, which "
        f"was most of the variance over all orders of six drawings (setup {SETUP}: "
        f"{shares}); set 'repeats' to 2 or more to compare orders."
    )
