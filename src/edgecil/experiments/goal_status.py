"""What is known about the goal of a run, as it is stored with an experiment."""

from __future__ import annotations

from dataclasses import dataclass, field

from edgecil.io.numbers import per_cent
from edgecil.statistics.verdicts import LEVEL


@dataclass(frozen=True)
class GoalStatus:
    """What is known about a goal after some orders.

    Attributes:
        order_count: number of different class orders.
        intervals: by method, or by `first - second`: the interval that holds the mean at all times
            with probability `level`; None while it is infinite.
        answer: True or False as soon as the goal is decided; None until then.
        means: by the same names; empty without orders.
        one_seed: whether all orders were trained with the same seed, so that the answer is about
            this seed.
        level: probability with which all intervals hold their means.
    """

    order_count: int
    intervals: dict[str, tuple[float, float] | None]
    answer: bool | None
    means: dict[str, float] = field(default_factory=dict)
    one_seed: bool = False
    level: float = LEVEL

    def __str__(self) -> str:
        """Return what is known in the words of `analyze` and `compare`, and whether it suffices."""
        over = (
            "uniformly random class orders, for one training seed"
            if self.one_seed
            else "uniformly random class orders and trainings"
        )
        lines = []
        for name, interval in self.intervals.items():
            reached = "" if name not in self.means else f"{self.means[name]:.1f} "
            between = "no interval yet"
            if interval is not None:
                low, high = (f"{end:.1f}".replace("-", "−") for end in interval)
                between = (
                    f"{per_cent(self.level)} interval {low} to {high}, valid after every order"
                )
            lines.append(
                f"{name.replace(' - ', ' − ')}: {reached.replace('-', '−')}on average over {over} "
                f"({between}), {self.order_count} orders."
            )
        decided = {True: "The goal is reached.", False: "The opposite of the goal holds."}
        undecided = "The budget does not suffice to decide the goal; raise it to continue."
        return "\n".join([*lines, undecided if self.answer is None else decided[self.answer]])
