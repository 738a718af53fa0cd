"""Comparisons of methods and advice on the next runs, as a table and sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from edgecil.io.csv_files import Cell
from edgecil.report.table import Column, Table

if TYPE_CHECKING:
    from edgecil.engine.until import GoalStatus
    from edgecil.estimation.comparison import MethodComparison


def differences_table(comparison: MethodComparison) -> Table:
    """A row per pair of methods."""
    rows: list[tuple[Cell, ...]] = []
    several = len({pair.dataset for pair in comparison.pairs}) > 1
    for pair in comparison.pairs:
        one = pair.comparison
        low, high = one.interval or (None, None)
        chance = one.new_run_probability
        rows.append(
            (
                *((pair.dataset,) if several else ()),
                f"{pair.first} - {pair.second}",
                one.n,
                one.difference,
                low,
                high,
                100.0 * one.won,
                None if chance is None else 100.0 * chance,
                one.adjusted_p,
            )
        )
    return Table(
        "differences",
        "Differences between methods",
        "Mean difference in points with its 90 % interval, the share of these orders that the "
        "first method wins, the probability that it wins in a new run, a new order trained once, "
        "and p, adjusted for the number of pairs (Holm).",
        (
            *((Column("dataset"),) if several else ()),
            Column("methods"),
            Column("orders", 0),
            Column("difference", 2, signed=True),
            Column("from", 2, signed=True),
            Column("to", 2, signed=True),
            Column("won, %", 0),
            Column("new run, %", 0),
            Column("p", 4),
        ),
        tuple(rows),
    )


def explain_goal(goal: GoalStatus) -> Iterator[str]:
    """The outcome of `until`."""
    for name, interval in goal.intervals.items():
        text = "no interval yet" if interval is None else f"{interval[0]:.2f} to {interval[1]:.2f}"
        after = f"after {goal.order_count} orders"
        valid = "90 %, valid after every order, for this training seed"
        yield f"Mean of {name} {after}: {text} ({valid})"
    if goal.answer is None:
        yield "The budget does not suffice to decide the goal; raise it to continue."
    else:
        yield "The goal is reached." if goal.answer else "The opposite of the goal holds."
