"""Claims, comparisons and advice in sentences: the claim, its population, its grade."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from edgecil.engine.metrics import DEFAULT_METRIC, find_metric
from edgecil.estimation.population import LEAST_ORDERS, Interval
from edgecil.estimation.samples import describe_unknown_choice
from edgecil.io.numbers import format_duration, rounded, rounded_limit
from edgecil.sequences.protocols import find_protocol

if TYPE_CHECKING:
    from edgecil.estimation.claims import Answer
    from edgecil.estimation.comparison import Comparison, MethodComparison, Overall
    from edgecil.estimation.next_runs import NextRuns, NextStep

_SHOWN = 5  # orders
MOST_ORDERS = 100
"""Orders that are suggested at a time."""
_DESCRIBED = 6  # pairs; more of them are in the table only


def describe_answer(said: Answer, name: str = "", metric: str = DEFAULT_METRIC) -> str:
    """What a method reaches on average, in a new run, and in nearly all runs."""
    about = find_metric(metric)
    unit = " %" if about.bounds == (0.0, 100.0) else ""
    what = "" if metric == DEFAULT_METRIC else f" {about.label}"
    verb = f"{name} reaches" if name else "reaches"
    between = f"between {rounded(said.lowest)} and {rounded(said.highest)}"
    if said.order_count == 1 or said.lowest == said.highest:
        between = f"at {rounded(said.lowest)}"
    kind = "run" if said.population.startswith(("runs", "trainings")) else "order"
    orders = f"{count(said.order_count, kind)} {between}{unit}{what}"
    guess = "" if said.chance is None else f" (chance is {rounded(said.chance)} %)"
    probes = "".join(f"; {rounded(value)} {clause}" for clause, value in said.probes.items())
    if said.mean.validity == "none":
        verb = f"{name} ran" if name else "ran"
        few = said.order_count < LEAST_ORDERS
        missing = (
            f"a claim about other {kind}s requires {LEAST_ORDERS}"
            if few
            else "these were not chosen at random, so no interval is given for a new order"
        )
        return f"{verb} {orders}{guess}; {missing}{probes}."
    assert said.mean.value is not None
    mean = f"{verb} {rounded(said.mean.value)}{unit}{what} on average over {said.population}"
    if said.mean.validity == "measured":
        low, high = said.next_run.interval or (said.lowest, said.highest)
        return (
            f"{mean}{guess}, measured on all {said.order_count:,} orders; 90 % of them lie between "
            f"{rounded(low)} and {rounded(high)}, all {between}{probes}."
        )
    parts = [f"{mean}{_bracket(said.mean.interval)}{guess}"]
    if said.next_run.interval is not None:
        ends = map(rounded_limit, said.next_run.interval)
        parts.append("a new run lies between {} and {} (90 %)".format(*ends))
    if said.tail.value is not None and about.higher_is_better:
        exceeded = f"{rounded(said.tail.value)}{_bracket(said.tail.interval)}"
        parts.append(f"95 % of runs exceed {exceeded}")
    return "; ".join([*parts, orders]) + f"{probes}."


def _bracket(interval: Interval | None) -> str:
    if interval is None:
        return ""
    return f" (90 % interval {_signed(interval[0])} to {_signed(interval[1])})"


def describe_comparison(comparison: MethodComparison, *, most: int = _DESCRIBED) -> Iterator[str]:
    """Which method of each pair is better, unless there are many, and what limits it."""
    higher_is_better = find_metric(comparison.metric).higher_is_better
    several = len({pair.dataset for pair in comparison.pairs}) > 1
    yield from describe_overall(comparison.over_datasets, higher_is_better=higher_is_better)
    said = set[str]()
    for pair in comparison.pairs:
        first, second, one = pair.first, pair.second, pair.comparison
        if (one.difference < 0.0) == higher_is_better:
            first, second, one = second, first, one.swapped()
        if len(comparison.pairs) <= most:
            sentence = describe_pair(first, second, one, higher_is_better=higher_is_better)
            yield f"{pair.dataset}: {sentence}" if several else sentence
        if not one.blind and one.protocols and "runs" not in one.population:
            sentence = describe_unknown_choice(one.protocols) or (
                f"{first} and {second} ran orders that were chosen {_how(one.protocols)}, so that "
                "the mean difference over all orders may be different."
            )
            if sentence not in said:
                said.add(sentence)
                yield sentence
    yield from comparison.notes


def describe_overall(
    pairs: Iterable[Overall], *, higher_is_better: bool = True, most: int = _DESCRIBED
) -> Iterator[str]:
    """Which method of each pair is better over several datasets."""
    for pair in list(pairs)[:most]:
        better, other, sign = pair.first, pair.second, 1.0
        if (pair.difference < 0.0) == higher_is_better:
            better, other = other, better
        if pair.difference < 0.0:
            sign = -1.0
        low, high = sorted(sign * end for end in pair.interval)
        by = f"by {_points(sign * pair.difference)} on average{_bracket((low, high))}"
        start = f"Over {len(pair.datasets)} datasets"
        if pair.grade == "cannot tell":
            yield f"{start}, {better} and {other} cannot be told apart: {better} is ahead {by}."
        else:
            yield f"{start}, {better} is {_GRADES[pair.grade]} better than {other}: {by}."


_GRADES = {"clear": "clearly", "likely": "likely"}


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
    """Which of two methods is better, by how much, on how many orders, and how surely."""
    of_metric = f" in {metric}" if metric else ""
    sign = 1.0 if higher_is_better else -1.0
    gain = sign * pair.difference
    if pair.tied == pair.n:
        return f"{better} and {other} are equal on {_all(pair.n)}."
    if pair.grade == "too few":
        runs = "One run" if pair.n == 1 else f"{_NUMBERS.get(pair.n, str(pair.n))} runs"
        unit = "run" if "runs" in pair.population else "order"
        missing = count(LEAST_ORDERS - pair.n, f"more {unit}")
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
    start = f"{better} is {_GRADES.get(pair.grade, '')} better than {other}{of_metric}: by"
    ahead = ""
    if pair.grade == "cannot tell":
        start = f"{better} and {other} cannot be told apart{of_metric}: {better} is"
        ahead = " ahead"
    assert pair.new_run_probability is not None
    return (
        f"{start} {_points(gain)}{ahead} on average over {pair.population}{_bracket((low, high))}, "
        f"{_wins(pair)}, and better in a new run with probability "
        f"{describe_probability(pair.new_run_probability)}."
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
    if not pair.paired:
        return f"from {pair.n:,} unpaired runs"
    if "runs" in pair.population:
        return f"on {pair.wins:,} of {count(pair.n, 'run')}, paired by seed"
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
        yield f"{method}: {describe_step(step)}"
    for first, others in dataset.decisions.items():
        for second, more in others.items():
            yield f"{first} − {second}: {_decision(more, dataset.steps[first].unit)}"
    if dataset.orders:
        yield "Next orders:"
        yield from (f"  {order}" for order in dataset.orders[:_SHOWN])
        if dataset.orders[_SHOWN:]:
            yield f"  and {len(dataset.orders) - _SHOWN} more"
        wanted = max(step.order_count for step in dataset.steps.values())
        if wanted > len(dataset.orders):
            yield f"These are the first {len(dataset.orders)} of {wanted:,}; ask again then."
    if dataset.repeat:
        again = "; ".join(map(str, dataset.repeat))
        yield f"To separate order from training, train once more: {again}"


def _decision(more: int | None, unit: str) -> str:
    if more == 0:
        return "decided already."
    if more is None:
        return f"not expected to be decided by {MOST_ORDERS} more {unit}s."
    return (
        f"with probability 80 %, {count(more, f'more {unit}')} of both "
        f"{'decides' if more == 1 else 'decide'} which is better; you may look after every {unit}."
    )


def describe_step(step: NextStep) -> str:
    """What to run next for a method, and what it would buy."""
    duration = "" if step.seconds is None else f"; about {format_duration(step.seconds)}"
    now = ""
    if step.half_width is not None:
        now = f"the mean is known to ± {rounded_limit(step.half_width)} points"
    if step.step == "nothing":
        return f"{now or 'all orders were run'}; nothing more to run."
    if step.step == "repeats":
        return (
            f"all orders were run; train {step.repeats} of them once more to separate order from "
            f"training{duration}."
        )
    more = count(step.order_count, f"more {step.unit}")
    if step.replaces:
        return f"run {more} at random; those run so far were not chosen at random{duration}."
    if step.target is None:
        return f"run {more}; a claim requires {LEAST_ORDERS}{duration}."
    sure = "" if step.sure_count is None else f" ({step.sure_count:,} for 95 %)"
    bring = "brings" if step.order_count == 1 else "bring"
    return (
        f"{now}; with probability 80 %, {more} {bring} it to ± {rounded_limit(step.target)}{sure}"
        f"{duration}."
    )
