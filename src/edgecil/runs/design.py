"""Designs: what differs between the runs of a method, and what pairs runs of two methods.

A claim is about what its runs vary. Runs of several class orders speak of other orders; trainings
of one order speak of further trainings of that order, and of no other order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edgecil.errors import wrong_value_error

Varies = Literal["orders", "trainings", "both", "unknown"]
PairedBy = Literal["orders", "seeds", "nothing"]

VARIES: tuple[Varies, ...] = ("orders", "trainings", "both", "unknown")
PAIRED_BY: tuple[PairedBy, ...] = ("orders", "seeds", "nothing")


@dataclass(frozen=True)
class Design:
    """What differs between the runs of one method on one dataset.

    Attributes:
        varies: `orders` if each run has another class order and all share a training seed;
            `trainings` if all runs are trainings of one class order; `both` if orders and training
            seeds differ; `unknown` if the source does not say what its runs or seeds vary.
        runs: number of runs.
        orders: number of different class orders; None if it is unknown.
        order: what the source calls the one class order of all runs, such as `order 1993`; empty
            if there are several, or if it has no name.
        paired_by: what makes a run of one method and a run of another a pair: the same class
            order; the same seed, where it draws the order or the data, or where its meaning is
            unknown; or nothing, since a seed that only draws the training does not relate two
            methods.
    """

    varies: Varies
    runs: int
    orders: int | None = None
    order: str = ""
    paired_by: PairedBy = "nothing"

    def __post_init__(self) -> None:
        if self.varies not in VARIES:
            raise wrong_value_error("varies", f"one of {', '.join(VARIES)}", self.varies)
        if self.paired_by not in PAIRED_BY:
            raise wrong_value_error("paired_by", f"one of {', '.join(PAIRED_BY)}", self.paired_by)

    @property
    def is_one_order(self) -> bool:
        """Whether all runs are trainings of one class order, so that nothing follows for others."""
        return self.varies == "trainings"
