"""Comparisons of methods and advice on the next runs, as a table and sentences."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from edgecil.io.rounding import rounded, rounded_limit
from edgecil.report.duration import format_duration
from edgecil.report.metrics import metric_words
from edgecil.report.table import Cell, Column, Table

if TYPE_CHECKING:
    from edgecil.engine.until import GoalStatus
    from edgecil.estimation.compare import MethodComparison
    from edgecil.estimation.comparison import Comparison
    from edgecil.estimation.next_runs import NextRuns
    from edgecil.estimation.next_step import NextStep

_SHOWN = 5  # orders
_BY_LUCK = 0.1  # p from which a difference is not called one; that of a 90 % interval
_DESCRIBED = 6  # pairs; more of them are in the table only


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


def explain_differences(comparison: MethodComparison) -> Iterator[str]:
    """Which method of each pair is better, and what limits the comparison."""
    from edgecil.estimation.predictors import ENUMERATION, describe_unknown_choice

    higher_is_better = metric_words(comparison.metric).higher_is_better
    said, described = set[str](), list[str]()
    for pair in comparison.pairs:
        first, second, one = pair.first, pair.second, pair.comparison
        if (one.difference < 0.0) == higher_is_better:
            first, second, one = second, first, one.swapped()
        if len(comparison.pairs) <= _DESCRIBED:
            described.append(describe_pair(first, second, one, higher_is_better=higher_is_better))
            yield described[-1]
        if one.reason is not None:
            yield f"{first} and {second} have no interval: {one.reason}."
        if not one.blind:
            sentence = describe_unknown_choice(one.protocols) or (
                f"{first} and {second} ran orders that were chosen "
                f"{'one after the other' if ENUMERATION in one.protocols else 'by similarity'}, so "
                "that the mean difference over all orders may be different."
            )
            if sentence not in said:
                said.add(sentence)
                yield sentence
    if any("with probability" in sentence for sentence in described):
        yield "Probabilities for a new order assume normally distributed differences."
    yield from comparison.unfinished


def describe_pair(
    better: str,
    other: str,
    pair: Comparison,
    *,
    higher_is_better: bool = True,
    all_run: bool = False,
    metric: str = "",
) -> str:
    """Which of two methods is better, by how much, on how many orders, and how surely.

    Args:
        better: the method with the better mean.
        other: the other method.
        pair: their comparison, with `better` as the first.
        higher_is_better: whether a higher value of the metric is better.
        all_run: whether all orders were run.
        metric: what the numbers are, if they are not accuracies.
    """
    of_metric = f" in {metric}" if metric else ""
    sign = 1.0 if higher_is_better else -1.0
    gain, share = sign * pair.difference, _wins(pair)
    if pair.tied == pair.n:
        return f"{better} and {other} are equal on {_all(pair.n)}."
    if pair.interval is None:
        return f"{better} is {_points(gain)} better than {other}{of_metric} on average, {share}."
    low, high = sorted(sign * end for end in pair.interval)
    between = f"90 %: {_signed(low)} to {_signed(high)}"
    by_luck = pair.adjusted_p is not None and pair.adjusted_p > _BY_LUCK
    if low <= 0.0 <= high or by_luck:
        if not low <= 0.0 <= high:
            between += f", p = {pair.adjusted_p:.2f} adjusted for the number of pairs"
        return (
            f"{better} and {other} are not clearly different{of_metric}: {_points(gain)} on "
            f"average ({between}); {better} is {'' if pair.tied else 'better '}{share}."
        )
    chance = pair.new_order_probability
    what = "in a new training of a random order" if all_run else "on a new order"
    new = "" if chance is None else f", and {what} with probability {_percent(chance)}"
    return (
        f"{better} is better than {other}{of_metric} by {_points(gain)} ({between}), {share}{new}."
    )


def _percent(chance: float) -> str:
    """A probability that is not certain does not become 100 %."""
    return "above 99 %" if chance > 0.995 else f"{100.0 * chance:.0f} %"


def count(number: int, noun: str) -> str:
    """A number and its noun.

    >>> count(1, "order"), count(3, "order")
    ('1 order', '3 orders')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _wins(pair: Comparison) -> str:
    """On how many orders the first method is better, and on how many both are equal."""
    if pair.wins == pair.n:
        return f"on {_all(pair.n)}"
    orders = count(pair.n, "order")
    if not pair.tied:
        return f"on {pair.wins:,} of {orders}"
    worse = pair.n - pair.wins - pair.tied
    return f"better on {pair.wins:,}, equal on {pair.tied:,}, worse on {worse:,} of {orders}"


def _all(orders: int) -> str:
    return "1 of 1 order" if orders == 1 else f"all {orders:,} orders"


def _points(gain: float) -> str:
    return f"{rounded(gain)} points".replace("-", "−")


def _signed(value: float) -> str:
    return rounded_limit(value).replace("-", "−")


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
        for first, others in dataset.decisions.items():
            for second, more in others.items():
                yield f"{first} − {second}: {_decision(more)}"
        if dataset.orders:
            yield "Next orders:"
            yield from (f"  {order}" for order in dataset.orders[:_SHOWN])
            if dataset.orders[_SHOWN:]:
                yield f"  and {len(dataset.orders) - _SHOWN} more"
            wanted = max(step.order_count for step in dataset.steps.values())
            if wanted > len(dataset.orders):
                yield f"These are the first {len(dataset.orders)} of {wanted:,}; ask again then."
        if dataset.repeat:
            yield f"Train once more: {'; '.join(map(str, dataset.repeat))}"
        yield from _how_to_run(dataset, out, option)


def _decision(more: int | None) -> str:
    if more == 0:
        return "the 90 % interval of the difference excludes 0 already."
    if more is None:
        return (
            "all orders are not expected to suffice for a 90 % interval that excludes 0; "
            "train them with further seeds."
        )
    return f"about {count(more, 'more order')} of both for a 90 % interval that excludes 0."


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


def _step(step: NextStep) -> str:
    now = (
        ""
        if step.half_width is None
        else f"the mean is known to ± {rounded_limit(step.half_width)} points"
    )
    grew = " (accuracies spread more than before the last orders)" if step.spread_grew else ""
    duration = "" if step.seconds is None else f"; about {format_duration(step.seconds)}"
    if step.equal_orders:
        now = f"all {step.equal_orders} orders have the same accuracy"
    if step.step == "nothing":
        return f"{now or 'all orders were run'}; nothing more to run."
    if step.step == "repeats":
        again = f"train {step.repeats} of the orders once more to separate order from noise"
        return f"{now + grew + '; ' if now else ''}{again}{duration}."
    more = count(step.order_count, "more order")
    if step.expected_half_width is None:
        return f"run {more}{'; ' + now if now else ''}{duration}."
    if step.replaces:
        now = f"those run so far were not chosen at random and will not count; {now}"
    reason = f"{now} now{grew}, and about ± {rounded_limit(step.expected_half_width)} afterwards"
    return f"run {more}: {reason}{duration}."
