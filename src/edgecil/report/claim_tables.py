"""Comparisons of methods and advice on the next runs, as a table and sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from edgecil.report.table import Cell, Column, Table

if TYPE_CHECKING:
    from edgecil.engine.until import GoalStatus
    from edgecil.estimation.compare import MethodComparison
    from edgecil.estimation.next_runs import NextRuns
    from edgecil.estimation.next_step import NextStep

_SHOWN = 5


def differences_table(comparison: MethodComparison) -> Table:
    """A row per pair of methods."""
    rows: list[tuple[Cell, ...]] = []
    several = len({pair.dataset for pair in comparison.pairs}) > 1
    for pair in comparison.pairs:
        one = pair.comparison
        low, high = one.interval or (None, None)
        chance = one.new_order_probability
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
        "first method wins, the probability that it wins in a new training of a random order, and "
        "p, adjusted for the number of pairs (Holm).",
        (
            *((Column("dataset"),) if several else ()),
            Column("methods"),
            Column("orders", 0),
            Column("difference", 2, signed=True),
            Column("from", 2, signed=True),
            Column("to", 2, signed=True),
            Column("won, %", 0),
            Column("new training, %", 0),
            Column("p", 4),
        ),
        tuple(rows),
    )


def explain_differences(comparison: MethodComparison) -> Iterator[str]:
    """Sentences on pairs that have no interval or orders chosen by similarity."""
    for pair in comparison.pairs:
        one, names = pair.comparison, f"{pair.first} and {pair.second}"
        if one.reason is not None:
            yield f"{names}: there is no interval ({one.reason})."
        if not one.blind:
            yield (
                f"{names}: the orders were chosen by similarity, so that the mean difference over "
                "all orders may be another one."
            )


def explain_next(
    datasets: Sequence[NextRuns],
    out: str | None = None,
    option: Callable[[str], str] = repr,
) -> Iterator[str]:
    """What to run next, as sentences, the orders, and how to run them.

    Args:
        datasets: the advice.
        out: the file that has the orders; None if they were not written.
        option: how the option of this name is written.
    """
    for dataset in datasets:
        if len(datasets) > 1:
            yield f"{dataset.dataset}:"
        for method, step in dataset.steps.items():
            yield f"{method}: {_step(step)}"
        if dataset.orders:
            yield "Next orders:"
            yield from (f"  {order}" for order in dataset.orders[:_SHOWN])
            if dataset.orders[_SHOWN:]:
                yield f"  and {len(dataset.orders) - _SHOWN} more"
        if dataset.repeat:
            yield f"Train once more: {'; '.join(map(str, dataset.repeat))}"
        if dataset.orders:
            first = "" if out else f"write them with {option('out')} next.json, then "
            yield f"To run them: {first}edgecil run … {option('sequences')} {out or 'next.json'}"
        if dataset.repeat:
            repeats = f"{option('repeats_on')} {len(dataset.repeat)}"
            yield f"To train once more: add {repeats} to the same 'edgecil run' command."


def explain_goal(goal: GoalStatus) -> Iterator[str]:
    """The outcome of `until`."""
    for name, interval in goal.intervals.items():
        text = "not known yet" if interval is None else f"{interval[0]:.2f} to {interval[1]:.2f}"
        yield f"Mean of {name} after {goal.orders} orders: {text} (90 %, at all times at once)"
    if goal.answer is None:
        yield "The goal is not decided within the budget; raise it and run the same command again."
    else:
        yield "The goal is reached." if goal.answer else "The opposite of the goal holds."


def _step(step: NextStep) -> str:
    now = "" if step.half_width is None else f"the mean is known to ± {step.half_width:.2f}"
    duration = "" if step.seconds is None else f"; {say_duration(step.seconds)} on this machine"
    if step.step == "nothing":
        return f"{now or 'all orders were run'}; nothing more to run."
    if step.step == "repeats":
        again = f"train {step.repeats} of the orders once more to separate order from noise"
        return f"{now + '; ' if now else ''}{again}{duration}."
    more = f"{step.orders} more order{'' if step.orders == 1 else 's'}"
    if step.expected_half_width is None:
        return f"run {more}{'; ' + now if now else ''}{duration}."
    reason = f"{now} points now, and to about ± {step.expected_half_width:.2f} after them"
    return f"run {more}: {reason}{duration}."


def say_duration(seconds: float) -> str:
    """An expected duration in a sentence.

    >>> say_duration(0.2), say_duration(1.2), say_duration(8.0), say_duration(6000.0)
    ('less than a second', 'about 1 second', 'about 8 seconds', 'about 1.7 hours')
    """
    whole = round(seconds)
    if whole < 1:
        return "less than a second"
    if seconds < 90.0:
        return f"about {whole} second{'' if whole == 1 else 's'}"
    minutes = seconds / 60.0
    return f"about {minutes:.0f} minutes" if minutes < 90.0 else f"about {minutes / 60.0:.1f} hours"
