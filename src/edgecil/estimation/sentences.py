"""Comparisons of methods and advice on the next runs, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from edgecil.engine.metrics import find_metric
from edgecil.estimation.population import LEAST_ORDERS
from edgecil.io.numbers import format_duration, rounded, rounded_limit
from edgecil.sequences.protocols import find_protocol

if TYPE_CHECKING:
    from edgecil.estimation.comparison import Comparison, MethodComparison
    from edgecil.estimation.next_runs import NextRuns, NextStep

_SHOWN = 5  # orders
MOST_ORDERS = 100
"""Orders that are suggested at a time."""
_DESCRIBED = 6  # pairs; more of them are in the table only


def explain_differences(comparison: MethodComparison, *, most: int = _DESCRIBED) -> Iterator[str]:
    """Which method of each pair is better, and what limits the comparison.

    Args:
        comparison: of all pairs.
        most: pairs to describe; if there are more, none is.
    """
    from edgecil.estimation.samples import describe_unknown_choice

    metric = comparison.metric
    higher_is_better = find_metric(metric).higher_is_better
    said = set[str]()
    for pair in comparison.pairs:
        first, second, one = pair.first, pair.second, pair.comparison
        if (one.difference < 0.0) == higher_is_better:
            first, second, one = second, first, one.swapped()
        if len(comparison.pairs) <= most:
            yield describe_pair(first, second, one, higher_is_better=higher_is_better)
        if not one.blind:
            sentence = describe_unknown_choice(one.protocols) or (
                f"{first} and {second} ran orders that were chosen {_how(one.protocols)}, so that "
                "the mean difference over all orders may be different."
            )
            if sentence not in said:
                said.add(sentence)
                yield sentence
    yield from comparison.unfinished


def _how(names: Iterable[str]) -> str:
    """How orders were chosen that do not count as random."""
    protocols = [find_protocol(name) for name in names]
    if any(protocol.exhaustive for protocol in protocols):
        return "one after the other"
    return "by similarity" if any(it.needs_similarity for it in protocols) else "by construction"


def describe_pair(
    better: str,
    other: str,
    pair: Comparison,
    *,
    higher_is_better: bool = True,
    metric: str = "",
) -> str:
    """Which of two methods is better, by how much, on how many orders, and how surely.

    Args:
        better: the method with the better mean.
        other: the other method.
        pair: their comparison, with `better` as the first.
        higher_is_better: whether a higher value of the metric is better.
        metric: what the numbers are, if they are not accuracies.
    """
    of_metric = f" in {metric}" if metric else ""
    sign = 1.0 if higher_is_better else -1.0
    gain = sign * pair.difference
    if pair.tied == pair.n:
        return f"{better} and {other} are equal on {_all(pair.n)}."
    if pair.grade == "too few":
        runs = "One run" if pair.n == 1 else f"{_NUMBERS.get(pair.n, str(pair.n))} runs"
        missing = count(LEAST_ORDERS - pair.n, "more order")
        return (
            f"{runs} of each {'is' if pair.n == 1 else 'are'} too few to compare {better} and "
            f"{other} ({better} is {_points(gain)} ahead{of_metric} so far). Train {missing}: "
            "edgecil next."
        )
    if pair.interval is None:
        return (
            f"{better} is {_points(gain)} ahead of {other}{of_metric}, {_wins(pair)}; these were "
            "not chosen at random, so nothing can be said about others."
        )
    low, high = sorted(sign * end for end in pair.interval)
    between = f"90 % interval {_signed(low)} to {_signed(high)}"
    population = "over class orders and trainings"
    if pair.shared_seeds:
        population = "over class orders for one training seed"
    if pair.grade == "cannot tell":
        return (
            f"{better} and {other} cannot be told apart{of_metric}: {better} is {_points(gain)} "
            f"ahead on average {population} ({between}), {_wins(pair)}."
        )
    assert pair.new_run_probability is not None
    return (
        f"{better} is {'clearly' if pair.grade == 'clear' else 'likely'} better than {other}"
        f"{of_metric}: by {_points(gain)} on average {population} ({between}), {_wins(pair)}, and "
        f"in a new run with probability {describe_probability(pair.new_run_probability)}."
    )


_NUMBERS = {2: "Two"}


def describe_probability(chance: float) -> str:
    """A probability that is not certain does not become 0 or 100 %.

    >>> describe_probability(0.9999), describe_probability(0.42), describe_probability(0.0001)
    ('above 99 %', '42 %', 'below 1 %')
    """
    if chance > 0.995:
        return "above 99 %"
    return "below 1 %" if chance < 0.005 else f"{100.0 * chance:.0f} %"


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


def describe_next(dataset: NextRuns) -> Iterator[str]:
    """What to run next on a dataset, as sentences, and the orders."""
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


def _decision(more: int | None) -> str:
    if more == 0:
        return "decided already."
    if more is None:
        return f"not expected to be decided by {MOST_ORDERS} more orders."
    return (
        f"with probability 80 %, {count(more, 'more order')} of both decide which is better; you "
        "may look after every order."
    )


def _step(step: NextStep) -> str:
    duration = "" if step.seconds is None else f"; about {format_duration(step.seconds)}"
    now = ""
    if step.half_width is not None:
        now = f"the mean is known to ± {rounded_limit(step.half_width)} points"
    if step.step == "nothing":
        return f"{now or 'all orders were run'}; nothing more to run."
    if step.step == "repeats":
        again = f"train {step.repeats} of the orders once more to separate order from training"
        return f"{now + '; ' if now else ''}{again}{duration}."
    more = count(step.order_count, "more order")
    if step.replaces:
        return f"run {more} at random; those run so far were not chosen at random{duration}."
    if step.target is None:
        return f"run {more}; a claim requires {LEAST_ORDERS}{duration}."
    sure = "" if step.sure_count is None else f" ({step.sure_count:,} for 95 %)"
    return (
        f"{now}; with probability 80 %, {more} bring it to ± {rounded_limit(step.target)}{sure}"
        f"{duration}."
    )
