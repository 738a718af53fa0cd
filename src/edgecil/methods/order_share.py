"""How much of a learner's spread over class orders is the order, and how much training noise.

Measured on the truth tables with repeats: all 90 orders of six classes of Quick, Draw! in three
tasks, four draws of classes, each order trained twice with training recipe `fast`
(`edgecil.truths()`; `tests/estimation/test_order_share.py` recomputes them).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

CANNOT_SHOW = 0.5  # share of the order below which one training per order shows mostly noise


@dataclass(frozen=True)
class OrderShare:
    """Standard deviations of the final accuracy in points, pooled over truth tables.

    Attributes:
        order_std: due to the order.
        noise_std: between trainings of one order.
        tables: number of truth tables with repeats.
    """

    order_std: float
    noise_std: float
    tables: int

    @property
    def share(self) -> float:
        """Of the variance of single trainings, the part that is due to the order, in [0, 1]."""
        order, noise = self.order_std**2, self.noise_std**2
        return order / (order + noise)


MEASURED = {
    "ranpac": OrderShare(0.63, 1.78, 4),
    "ease": OrderShare(0.38, 0.20, 4),
    "ewc": OrderShare(3.19, 5.13, 4),
    "icarl": OrderShare(2.41, 3.75, 4),
}


def suggest_repeats(methods: Iterable[str], repeats: int) -> str | None:
    """Return a sentence if one training per order cannot show the order effect of some method.

    >>> suggest_repeats(["ease"], 1) is None
    True
    """
    if repeats > 1:
        return None
    noisy = [name for name in methods if name in MEASURED and MEASURED[name].share < CANNOT_SHOW]
    if not noisy:
        return None
    shares = ", ".join(f"{name} {100 * (1 - MEASURED[name].share):.0f} %" for name in noisy)
    return (
        "One training per order cannot separate the effect of the order from training noise, which "
        f"was most of the variance on the bundled truth tables ({shares}); set 'repeats' to 2 or "
        "more to compare orders."
    )
