"""Populations in words: what the runs behind a claim vary, and hence what the claim is about."""

from __future__ import annotations

from typing import Literal

from edgecil.runs.design import Design

Chosen = Literal["drawn", "unknown", "constructed"]


def population_words(
    design: Design,
    *,
    chosen: Chosen = "drawn",
    shared_seeds: int = 0,
    order_name: str = "class order",
) -> str:
    """Return what a claim is about, to be read after 'over'.

    Args:
        design: what the runs vary.
        chosen: how the orders were chosen: at random, in an unknown way, or by construction.
        shared_seeds: number of training seeds that all orders share, which the claim is then
            about; 0 if every order has its own.
        order_name: what one of the orders is called: `class order` or `task order`.

    >>> population_words(Design("both", 5, 5))
    'uniformly random class orders and trainings'
    >>> population_words(Design("both", 5, 5), chosen="unknown")
    'class orders and trainings like these'
    >>> population_words(Design("orders", 5, 5), shared_seeds=1)
    'uniformly random class orders, for one training seed'
    >>> population_words(Design("trainings", 5, 1, "order 1993"))
    'trainings of this class order'
    >>> population_words(Design("unknown", 5))
    'runs like these'
    """
    if design.varies == "unknown":
        return "runs like these"
    if design.varies == "trainings":
        return f"trainings of this {order_name}"
    orders = f"uniformly random {order_name}s" if chosen == "drawn" else f"{order_name}s"
    alike = " like these" if chosen == "unknown" else ""
    if shared_seeds == 0:
        return f"{orders} and trainings{alike}"
    of_seeds = "one training seed" if shared_seeds == 1 else "these training seeds"
    return f"{orders}{alike}, for {of_seeds}"


def unit_of(population: str) -> str:
    """Return what one of a population is called: `order`, `run` or `training`.

    >>> [unit_of(text) for text in ("runs like these", "trainings of this class order")]
    ['run', 'training']
    >>> unit_of("uniformly random class orders and trainings")
    'order'
    """
    first = population.partition(" ")[0]
    return first.removesuffix("s") if first in ("runs", "trainings") else "order"


def nothing_follows(population: str) -> str:
    """Return the clause on what trainings of one order do not show; empty for other populations.

    >>> nothing_follows("trainings of this class order")
    '; nothing follows about other class orders'
    >>> nothing_follows("uniformly random class orders and trainings")
    ''
    """
    if unit_of(population) != "training":
        return ""
    order_name = "task order" if "task order" in population else "class order"
    return f"; nothing follows about other {order_name}s"
