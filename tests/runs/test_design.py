"""What differs between runs decides what may be claimed, and what pairs two methods."""

from __future__ import annotations

import pytest

from edgecil.errors import UsageError
from edgecil.runs.design import Design
from edgecil.runs.run_table import Runs
from edgecil.sequences.sequence import ClassSequence

ORDERS = [ClassSequence([[first], [second]]) for first, second in ((0, 1), (1, 0))]


def known(orders: list[int], seeds: list[int], **options: bool) -> Design:
    """Return the design of runs whose class orders are known."""
    sequences = [ORDERS[order] for order in orders]
    labels = [f"order {order}" for order in orders]
    table = Runs.of(
        ["m"] * len(orders),
        sequences,
        [50.0 + seed for seed in seeds],
        protocol=["given"] * len(orders),
        label=labels,
        seed=seeds,
        **options,
    )
    return table.design("m")


def unknown(label: str, seeds_are: str) -> Design:
    """Return the design of three runs whose class orders are unknown."""
    sequences = [ClassSequence([[run]]) for run in range(3)]
    table = Runs.of(
        ["m"] * 3,
        sequences,
        [50.0, 60.0, 70.0],
        protocol=["given"] * 3,
        label=[f"{label} {run}" for run in range(3)],
        seed=[0, 1, 2],
        has_orders=False,
        seeds_are=seeds_are,
    )
    return table.design("m")


def test_known_orders_say_what_varies() -> None:
    assert known([0, 1], [7, 7]) == Design("orders", 2, 2, "", "orders")
    assert known([0, 1], [7, 8]) == Design("both", 2, 2, "", "orders")
    assert known([0, 0, 1, 1], [7, 8, 7, 8]) == Design("both", 4, 2, "", "orders")
    assert known([0, 0], [7, 8]) == Design("trainings", 2, 1, "order 0", "nothing")
    assert known([0, 0], [7, 8], seeds_draw_data=True) == Design(
        "trainings", 2, 1, "order 0", "seeds"
    )


def test_seeds_of_unknown_orders_have_the_meaning_that_is_given() -> None:
    assert unknown("seed", "") == Design("unknown", 3, None, "", "seeds")
    assert unknown("run", "") == Design("unknown", 3, None, "", "nothing")
    assert unknown("seed", "orders") == Design("orders", 3, 3, "", "seeds")
    assert unknown("seed", "both") == Design("both", 3, 3, "", "seeds")
    assert unknown("seed", "trainings") == Design("trainings", 3, 1, "", "nothing")


def test_an_unknown_meaning_is_refused() -> None:
    with pytest.raises(UsageError, match="one of orders, trainings, both, unknown"):
        Design("classes", 3)  # type: ignore[arg-type]
