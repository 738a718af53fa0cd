"""What to run next for one method, and what it would buy."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from scipy.special import stdtrit

from edgecil.estimation.claims import Answer
from edgecil.estimation.comparison import SEED_EFFECT, Comparison
from edgecil.estimation.intervals import LEVEL
from edgecil.estimation.variance import OrderEffect

LEAST_ORDERS = 3
REPEATED_ORDERS = 2
EQUAL_ORDERS = 5
_FURTHER = (1, 2, 3, 4, 6, 8, 12, 20, 40, 80, 160)
_NARROWER = 0.5
_MOST_ORDERS = 1_000_000

Step = Literal["orders", "repeats", "nothing"]


@dataclass(frozen=True)
class Gain:
    """What further orders would buy.

    Attributes:
        order_count: how many more.
        half_width: expected half-width of the 90 % interval of the mean after them, points.
    """

    order_count: int
    half_width: float


@dataclass(frozen=True)
class NextStep:
    """What to run next.

    Attributes:
        step: `orders`: run `order_count` more class orders; `repeats`: train `repeats` of the
            orders once more, to separate order from training noise; `nothing`: the mean is known as
            precisely as asked, or all orders were run and repeated.
        order_count: how many more orders.
        repeats: how many trainings of orders that were run before.
        half_width: of the mean's 90 % interval now; None if there is none.
        expected_half_width: after the step; None if it does not change or cannot be said.
        target: the half-width aimed at; None if there is none.
        equal_orders: the number of orders that were run, if all have the same accuracy; else 0.
        gains: what several numbers of further orders would buy.
        seconds: expected duration of the step, one training after the other; None if the durations
            of the runs are not recorded.
        replaces: whether the orders that were run were not chosen blindly, so that claims will
            rest on the further orders alone.
        spread_grew: whether orders that an earlier step suggested have made the standard deviation
            larger, so the mean is known less precisely than that step expected.
    """

    step: Step
    order_count: int = 0
    repeats: int = 0
    half_width: float | None = None
    expected_half_width: float | None = None
    target: float | None = None
    equal_orders: int = 0
    gains: tuple[Gain, ...] = ()
    seconds: float | None = None
    replaces: bool = False
    spread_grew: bool = False


def advise(
    answer: Answer,
    effect: OrderEffect,
    space_size: int,
    *,
    target: float | None = None,
    seconds: float | None = None,
    replaces: bool = False,
) -> NextStep:
    """Return what to run next for a method.

    At least 3 orders come first; then one more training of 2 orders, if no order was repeated and
    no target is given; then more orders, until the interval of the mean has the wanted half-width.
    Orders that all have the same accuracy have no interval: 5 of them are enough.

    Args:
        answer: what is known about the method.
        effect: order and noise.
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
    width, left = answer.mean.half_width, space_size - answer.order_count
    if replaces:
        return timed(_afresh(answer, width, left, space_size, target), seconds)
    gains = () if width is None else _gains(answer.order_count, width, space_size)
    equal = answer.order_count if answer.lowest == answer.highest else 0
    if equal >= EQUAL_ORDERS:
        return NextStep("nothing", equal_orders=equal)
    if answer.order_count < LEAST_ORDERS or width is None:
        least = EQUAL_ORDERS if equal >= LEAST_ORDERS else LEAST_ORDERS
        more = min(max(least - answer.order_count, 1), left)
        expected = (
            None
            if width is None
            else expected_half_width(answer.order_count, width, more, space_size)
        )
        return timed(
            NextStep(
                "orders",
                more,
                half_width=width,
                expected_half_width=expected,
                equal_orders=equal if equal >= LEAST_ORDERS else 0,
                gains=gains,
            ),
            seconds,
        )
    goal = _NARROWER * width if target is None else target
    nothing = NextStep("nothing", half_width=width, target=goal, gains=gains)
    if not effect.repeats and target is None:
        return timed(replace(nothing, step="repeats", repeats=REPEATED_ORDERS), seconds)
    if width <= goal:
        return nothing
    more, expected = _orders_for(answer.order_count, width, goal, space_size)
    return timed(
        replace(nothing, step="orders", order_count=more, expected_half_width=expected), seconds
    )


def _afresh(
    answer: Answer, width: float | None, left: int, space_size: int, target: float | None
) -> NextStep:
    """Return how many blind orders to run where none was run yet."""

    def after(more: int) -> float:
        assert width is not None
        return width * _scale(more, space_size) / _scale(answer.order_count, space_size)

    more = min(LEAST_ORDERS, left)
    if width is None:
        return NextStep("orders", more, replaces=True)
    if target is not None:
        while more < min(left, _MOST_ORDERS) and after(more) > target:
            more = min(2 * more, left)
        low = more // 2
        while more - low > 1 and low >= LEAST_ORDERS:
            middle = (low + more) // 2
            low, more = (low, middle) if after(middle) <= target else (middle, more)
    gains = tuple(Gain(count, after(count)) for count in _FURTHER if 2 <= count <= left)
    return NextStep(
        "orders",
        more,
        half_width=width,
        expected_half_width=after(more) if more > 1 else None,
        target=target,
        gains=gains,
        replaces=True,
    )


def orders_to_decide(pair: Comparison, space_size: int, *, replaces: bool = False) -> int | None:
    """Return how many more orders the difference of two methods requires to exclude 0.

    That is the least number after which the expected half-width t s √(1/n + c) of its 90 % interval
    is below the difference so far, with c for the training seeds' common effect. None if neither
    all orders of the space nor a million suffice, or without an interval. If further orders replace
    those that were run, n starts at 0.
    """
    if pair.interval is None:
        return None
    if not pair.interval[0] <= 0.0 <= pair.interval[1]:
        return 0
    width = (pair.interval[1] - pair.interval[0]) / 2.0

    def scale(count: int) -> float:
        return _quantile(count) * math.sqrt(1.0 / count + SEED_EFFECT / pair.seeds)

    def decides(more: int) -> bool:
        return width * scale(kept + more) / scale(pair.n) < abs(pair.difference)

    kept = 0 if replaces else pair.n
    low, high = 1 if replaces else 0, min(space_size, _MOST_ORDERS) - pair.n
    if high <= low or not decides(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high


def expected_half_width(order_count: int, half_width: float, more: int, space_size: int) -> float:
    """Return the expected half-width of the mean's interval after more orders.

    t s √(1/n - 1/|Ω|) with n and the quantile of t as they will be.
    """
    after = min(order_count + more, space_size)

    return half_width * _scale(after, space_size) / _scale(order_count, space_size)


def _scale(count: int, space_size: int) -> float:
    """Return the half-width of the mean of so many orders, in standard deviations."""
    return _quantile(count) * math.sqrt(max(1.0 / count - 1 / space_size, 0.0))


def _quantile(count: int) -> float:
    """Return that of Student's t for the mean of so many orders."""
    return float(stdtrit(count - 1, (1.0 + LEVEL) / 2.0))


def _gains(order_count: int, half_width: float, space_size: int) -> tuple[Gain, ...]:
    return tuple(
        Gain(more, expected_half_width(order_count, half_width, more, space_size))
        for more in _FURTHER
        if order_count + more <= space_size
    )


def _orders_for(
    order_count: int, half_width: float, target: float, space_size: int
) -> tuple[int, float]:
    """Return the least number of further orders for the target, and the half-width then."""
    low, high = 0, 1
    while order_count + high < space_size and (
        expected_half_width(order_count, half_width, high, space_size) > target
    ):
        low, high = high, 2 * high
    high = min(high, space_size - order_count)
    while high - low > 1:
        middle = (low + high) // 2
        reached = expected_half_width(order_count, half_width, middle, space_size) <= target
        low, high = (low, middle) if reached else (middle, high)
    return high, expected_half_width(order_count, half_width, high, space_size)


def timed(step: NextStep, seconds: float | None) -> NextStep:
    """Return the step with its duration, from the mean duration of a run; None if unknown."""
    if seconds is None:
        return step
    return replace(step, seconds=seconds * (step.order_count + step.repeats))
