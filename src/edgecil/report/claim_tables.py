"""Comparisons of methods and advice on the next runs, as a table and sentences."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from edgecil.io.csv_files import Cell
from edgecil.report.table import Column, Table

if TYPE_CHECKING:
    from edgecil.engine.until import GoalStatus
    from edgecil.estimation.compare import MethodComparison
    from edgecil.estimation.next_runs import NextRuns


def differences_table(comparison: MethodComparison) -> Table:
    """A row per pair of methods."""
    from edgecil.estimation.calibration import describe_coverage  # loads SciPy

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
    intervals = [pair.comparison for pair in comparison.pairs if pair.comparison.interval]
    coverage = describe_coverage("the difference", (pair.reached for pair in intervals))
    return Table(
        "differences",
        "Differences between methods",
        "Mean difference in points with its 90 % interval, the share of these orders that the "
        "first method wins, the probability that it wins in a new training of a random order, and "
        f"p, adjusted for the number of pairs (Holm).{f' {coverage}' if coverage else ''}",
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
    from edgecil.estimation.sentences import describe_next  # loads SciPy

    for dataset in datasets:
        if len(datasets) > 1:
            yield f"{dataset.dataset}:"
        yield from describe_next(dataset)
        yield from _how_to_run(dataset, out, option)


def _how_to_run(dataset: NextRuns, out: str | None, option: Callable[[str], str]) -> Iterator[str]:
    """The commands, if the experiment is recorded; else what to add to the file."""
    from edgecil.estimation.next_runs import CHOOSING, ONCE

    if dataset.orders:
        file = out or "next.json"
        first = "" if out else f"repeat this command with {option('out')} {file}, then "
        if dataset.directory is None:
            yield f"To run them: {first}train them with your program, and add a row for each."
        else:
            command = _command(dataset, option, without=(*CHOOSING, *ONCE))
            yield f"To run them: {first}{command} {option('sequences')} {shlex.quote(file)}"
    if dataset.repeat and dataset.directory is None:
        yield (
            "To train them once more: train these orders again with another seed, and add rows "
            "with a column 'seed'."
        )
    elif dataset.repeat:
        repeats = f"{option('repeats_on')} {len(dataset.repeat)}"
        if "sequences" in dataset.options:  # a file that is not recorded
            yield f"To train them once more: add {repeats} to the same 'edgecil run' command."
        else:
            yield f"To train them once more: {_command(dataset, option)} {repeats}"


def _command(
    dataset: NextRuns, option: Callable[[str], str], *, without: Sequence[str] = ()
) -> str:
    """The command that trains in the same experiment; '…' stands for options not recorded."""
    words = ["edgecil", "run"]
    for name, value in dataset.options.items():
        if name in without:
            continue
        if name == "dataset":
            words.insert(2, str(value))
        elif isinstance(value, Mapping):
            words += (word for text in _settings(value) for word in (option(name), text))
        elif value is True:
            words.append(option(name))
        else:
            text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
            words += (option(name), text)
    unknown = "" if dataset.options else " …"
    return f"{shlex.join(words)}{unknown} {option('out')} {shlex.quote(str(dataset.directory))}"


def _settings(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _settings(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}={json.dumps(value)}"


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
