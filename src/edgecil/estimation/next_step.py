"""What to run next for one method, and what it would buy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from edgecil.estimation.claims import Answer
from edgecil.estimation.population import LEAST_ORDERS, Posterior, orders_for
from edgecil.estimation.variance import OrderEffect

REPEATED_ORDERS = 2
ASSURANCES = (0.8, 0.95)
_FURTHER = (1, 2, 3, 4, 6, 8, 12, 20, 40, 80, 160)
_NARROWER = 0.5
_MOST_ORDERS = 100_000

Step = Literal["orders", "repeats", "nothing"]


@dataclass(frozen=True)
class Gain:
    """What further orders would buy.

    Attributes:
        order_count: how many more.
        half_width: usual half-width of the 90 % interval of the mean after them, points.
    """

    order_count: int
    half_width: float


@dataclass(frozen=True)
class NextStep:
    """What to run next.

    Attributes:
        step: `orders`: run `order_count` more class orders; `repeats`: train `repeats` of the
            orders once more, to separate order from training; `nothing`: the mean is known as
            precisely as asked, or all orders were run and repeated.
        order_count: how many more orders; with a target, as many as reach it with probability 80 %.
        sure_count: how many reach it with probability 95 %; None without a target.
        repeats: how many trainings of orders that were run before.
        half_width: of the mean's 90 % interval now; None if there is none.
        target: the half-width aimed at; None if there is none.
        gains: what several numbers of further orders would buy.
        seconds: expected duration of the step, one training after the other; None if the durations
            of the runs are not recorded.
        replaces: whether the orders that were run were not chosen at random, so that claims will
            rest on the further orders alone.
    """

    step: Step
    order_count: int = 0
    sure_count: int | None = None
    repeats: int = 0
    half_width: float | None = None
    target: float | None = None
    gains: tuple[Gain, ...] = ()
    seconds: float | None = None
    replaces: bool = False


def advise(
    answer: Answer,
    effect: OrderEffect,
    known: Posterior | None,
    space_size: int,
    *,
    target: float | None = None,
    seconds: float | None = None,
    replaces: bool = False,
) -> NextStep:
    """Return what to run next for a method.

    At least 3 orders come first; then one more training of 2 orders, if no order was repeated and
    no target is given; then more orders, until the interval of the mean has the wanted half-width.

    Args:
        answer: what is known about the method.
        effect: order and training.
        known: what its orders say about the population; None with fewer than three.
        space_size: |Ω|.
        target: wanted half-width of the mean's 90 % interval, in points; by default half of what it
            is now.
        seconds: mean duration of one run.
        replaces: whether the orders that were run will not count beside further ones.
    """
    if answer.mean.validity == "measured":
        if effect.repeats:
            return NextStep("nothing")
        return timed(NextStep("repeats", repeats=min(REPEATED_ORDERS, answer.order_count)), seconds)
    left = space_size - answer.order_count
    if replaces or known is None:
        more = LEAST_ORDERS - (0 if replaces else answer.order_count)
        return timed(NextStep("orders", min(max(more, 1), left), replaces=replaces), seconds)
    width = float(known.half_width())
    goal = _NARROWER * width if target is None else target
    gains = tuple(
        Gain(more, float(known.after(more, more * float(known.std) ** 2).half_width()))
        for more in _FURTHER
        if more <= left
    )
    nothing = NextStep("nothing", half_width=width, target=goal, gains=gains)
    if not effect.repeats and target is None:
        return timed(replace(nothing, step="repeats", repeats=REPEATED_ORDERS), seconds)
    if width <= goal or not left:
        return nothing
    most = min(left, _MOST_ORDERS)
    likely, sure = (orders_for(known, goal, assurance, most=most) for assurance in ASSURANCES)
    step = replace(nothing, step="orders", order_count=likely or most, sure_count=sure)
    return timed(step, seconds)


def timed(step: NextStep, seconds: float | None) -> NextStep:
    """Return the step with its duration, from the mean duration of a run; None if unknown."""
    if seconds is None:
        return step
    return replace(step, seconds=seconds * (step.order_count + step.repeats))
