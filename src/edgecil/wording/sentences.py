"""Claims, comparisons and advice in sentences: the claim, its population, its grade."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from edgecil.io.numbers import format_duration, per_cent, rounded, rounded_limit
from edgecil.runs.metrics import DEFAULT_METRIC, find_metric
from edgecil.sequences.protocols import find_protocol
from edgecil.statistics.posterior import Interval
from edgecil.statistics.verdicts import LEAST_RUNS, Grade
from edgecil.wording.intervals import interval_remark
from edgecil.wording.populations import unit_of
from edgecil.wording.verdicts import no_verdict_words

if TYPE_CHECKING:
    from edgecil.analysis.claims import Claims
    from edgecil.analysis.comparison import Comparison, MethodComparison, Overall
    from edgecil.analysis.next_runs import NextRuns, NextStep
    from edgecil.sequences.sequence import ClassSequence

_SHOWN = 5  # orders
_WIDTH = 76  # letters of one
MOST_ORDERS = 100
"""Orders that are suggested at a time."""
_DESCRIBED = 6  # pairs; more of them are in the table only


def describe_claims(claims: Claims, name: str = "", metric: str = DEFAULT_METRIC) -> str:
    """What a method reaches on average and in a new run, in two sentences."""
    about = find_metric(metric)
    unit = " %" if about.bounds == (0.0, 100.0) else ""
    article = "an" if about.label[0] in "AĀEIOUaeiou" else "a"
    what = "" if metric == DEFAULT_METRIC else f"{article} {about.label} "
    of = "of " if what else ""
    verb = f"{name} reaches" if name else "reaches"
    between = f"between {rounded(claims.lowest)} and {rounded(claims.highest)}"
    if claims.run_count == 1 or claims.lowest == claims.highest:
        between = f"at {rounded(claims.lowest)}"
    kind = unit_of(claims.population)
    orders = count(claims.run_count, kind)
    guess = "" if claims.chance is None else f"chance is {rounded(claims.chance)} %"
    beside = f" ({guess})" if guess else ""
    probes = "".join(f"; {rounded(value)} {clause}" for clause, value in claims.probes.items())
    if claims.mean.validity == "none":
        verb = f"{name} ran" if name else "ran"
        missing = "these were not chosen at random, so no interval is given for a new order"
        if claims.run_count < LEAST_RUNS:
            missing = f"a claim about other {kind}s requires {LEAST_RUNS}"
        elif claims.blind or kind != "order":
            missing = "these are equal, so that nothing shows how far others may differ"
        at = f"with {what}{between}" if what else between
        return f"{verb} {orders} {at}{unit}{beside}; {missing}{probes}."
    assert claims.mean.value is not None
    mean = (
        f"{verb} {what}{of}{rounded(claims.mean.value)}{unit} on average over {claims.population}"
    )
    if claims.mean.validity == "measured":
        low, high = claims.next_run.interval or (claims.lowest, claims.highest)
        return (
            f"{mean}{beside}, measured on all {claims.order_count:,} orders. "
            f"{per_cent(claims.level)} of them lie "
            f"between {rounded(low)} and {rounded(high)}, all {between}{probes}."
        )
    following = ""
    if claims.next_run.interval is not None:
        ends = map(rounded_limit, claims.next_run.interval)
        following = "A new run lies between {} and {} ({}); the ".format(
            *ends, per_cent(claims.level)
        )
    remark = interval_remark(claims.mean.basis, claims.run_count, kind)
    more = "; ".join(text for text in (remark, guess) if text)
    claim = f"{mean}{_bracket(claims.mean.interval, claims.level, more)}"
    others = ""
    if kind == "training":
        others = f"; nothing follows about other {_order_name(claims.population)}s"
    return f"{claim}. {following or 'The '}{orders} lie {between}{unit}{probes}{others}."


def _order_name(population: str) -> str:
    """What an order is called in a population of trainings: `class order` or `task order`."""
    return " ".join(population.split()[-2:])


def _bracket(interval: Interval | None, level: float, more: str = "") -> str:
    ends = []
    if interval is not None:
        low, high = map(_signed, interval)
        ends.append(f"{per_cent(level)} interval {low} to {high}")
    inside = "; ".join([*ends, *([more] if more else [])])
    return f" ({inside})" if inside else ""


def describe_comparison(comparison: MethodComparison, *, most: int = _DESCRIBED) -> Iterator[str]:
    """Which method of each pair is better, unless there are many, and what limits it."""
    several = len({pair.dataset for pair in comparison.pairs}) > 1
    sentences = list(describe_overall(comparison.over_datasets, comparison.metric))
    for pair in comparison.pairs:
        first, second, one = pair.first, pair.second, pair.comparison
        if len(comparison.pairs) <= most:
            sentence = describe_pair(first, second, one, comparison.metric)
            sentences.append(f"{pair.dataset or 'your data'}: {sentence}" if several else sentence)
        if not one.blind and one.protocols and unit_of(one.population) == "order":
            sentences.append(
                describe_unknown_choice(one.protocols)
                or f"{first} and {second} ran orders that were chosen {_how(one.protocols)}, so "
                "that the mean difference over all orders may be different."
            )
    yield from dict.fromkeys([*sentences, *comparison.notes])


def describe_overall(pairs: Sequence[Overall], metric: str) -> Iterator[str]:
    """Which method of each pair is better over several datasets."""
    for pair in pairs[:_DESCRIBED]:
        better, other = pair.first, pair.second
        if (pair.difference < 0.0) == find_metric(metric).higher_is_better:
            better, other = other, better
        sign = -1.0 if pair.difference < 0.0 else 1.0
        low, high = sorted(sign * end for end in pair.interval)
        by = f"by {_points(sign * pair.difference)} on average{_bracket((low, high), pair.level)}"
        if pair.opposite:
            by += f", but behind on {', '.join(pair.opposite)}"
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


def describe_pair(better: str, other: str, pair: Comparison, metric: str, title: str = "") -> str:
    """Which of two methods is better, by how much, on how many orders, and how surely.

    The `title` of the metric is named if it is given.
    """
    higher_is_better = find_metric(metric).higher_is_better
    if (pair.difference < 0.0) == higher_is_better:
        better, other, pair = other, better, pair.swapped()
    of_metric = f" in {title}" if title else ""
    sign = 1.0 if higher_is_better else -1.0
    gain = sign * pair.difference
    if pair.n and pair.tied == pair.n:
        return f"{better} and {other} are equal on {_all(pair)}."
    unit = unit_of(pair.population)
    if pair.grade == "too few" and pair.reason == "few":
        runs = f"One {unit} of both is" if pair.n == 1 else f"Two {unit}s of both are"
        return (
            f"{runs} too few to compare {better} and {other} ({better} is {_points(gain)} "
            f"ahead{of_metric} so far). Train {count(LEAST_RUNS - pair.n, f'more {unit}')}."
        )
    if pair.interval is None:
        why = no_verdict_words(pair.reason or "few", unit)
        return f"{better} is {_points(gain)} ahead of {other}{of_metric}, {_wins(pair)}; {why}."
    low, high = sorted(sign * end for end in pair.interval)
    start = f"{better} is {_GRADES.get(pair.grade, '')} better than {other}{of_metric}: by"
    ahead = ""
    if pair.grade == "cannot tell":
        start = f"{better} and {other} cannot be told apart{of_metric}: {better} is"
        ahead = " ahead"
    assert pair.new_run_probability is not None
    remark = interval_remark(pair.basis, pair.n, unit)
    return (
        f"{start} {_points(gain)}{ahead} on average over {pair.population}"
        f"{_bracket((low, high), pair.level, remark)}, {_wins(pair)}, and better in a new run with "
        f"probability {describe_probability(pair.new_run_probability)}."
    )


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
    unit = unit_of(pair.population)
    orders = count(pair.n, unit)
    if not pair.paired:
        return f"from {pair.n:,} unpaired {unit}s"
    if unit == "run":
        return f"on {pair.wins:,} of {orders}, paired by seed"
    if pair.wins == pair.n:
        return f"on {_all(pair)}"
    if not pair.tied:
        return f"on {pair.wins:,} of {orders}"
    worse = pair.n - pair.wins - pair.tied
    return f"better on {pair.wins:,}, equal on {pair.tied:,}, worse on {worse:,} of {orders}"


def _all(pair: Comparison) -> str:
    unit = unit_of(pair.population)
    return f"1 of 1 {unit}" if pair.n == 1 else f"all {pair.n:,} {unit}s"


def _points(gain: float) -> str:
    return f"{_signed(gain)} points"


def _signed(value: float) -> str:
    return rounded_limit(value).replace("-", "−")


def describe_next(dataset: NextRuns) -> Iterator[str]:
    """What to run next on a dataset, as sentences, and the orders."""
    for method, step in dataset.steps.items():
        yield f"{method}: {describe_step(step)}"
    for first, others in dataset.decisions.items():
        for second, more in others.items():
            unit, grade = dataset.steps[first].unit, dataset.grades[first][second]
            yield f"{first} − {second}: {_decision(more, unit, dataset.most, grade)}"
    if dataset.orders:
        yield "Next orders:"
        for order in dataset.orders[:_SHOWN]:
            yield f"  {_describe_order(order, dataset.task_names)}"
        if dataset.orders[_SHOWN:]:
            yield f"  and {len(dataset.orders) - _SHOWN} more"
        wanted = max(step.order_count for step in dataset.steps.values())
        if wanted > len(dataset.orders):
            yield f"These are the first {len(dataset.orders)} of {wanted:,}; ask again then."
    if dataset.repeat:
        again = "; ".join(_describe_order(order, dataset.task_names) for order in dataset.repeat)
        yield f"To separate order from training, train once more: {again}"


def _describe_order(order: ClassSequence, task_names: Sequence[str]) -> str:
    """Return an order of classes by their ids, or of given tasks by their names, cut if long."""
    text = ", ".join(task_names[number] for number in order.order) if task_names else str(order)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH].rpartition(' ')[0]} …"


def _decision(more: int | None, unit: str, most: int, grade: Grade) -> str:
    if more == 0:
        return "decided already."
    runs = f"{count(more or 0, f'more {unit}')} of both"
    if grade == "clear":
        also = f"; {runs} would also satisfy the rule that allows looking after every {unit}"
        return f"clear already{also if more else ''}."
    if more is None and not most:
        return f"all {unit}s were run, and it is not decided."
    if more is None:
        return f"not expected to be decided by {count(most, f'more {unit}')}."
    return (
        f"{'likely already; ' if grade == 'likely' else ''}{runs} "
        f"{'decides' if more == 1 else 'decide'} which is better in 80 % of cases; "
        f"you may look after every {unit}."
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
        return f"run {more} at random; those run so far were constructed{duration}."
    if step.target is None:
        return f"run {more}; a claim requires {LEAST_RUNS}{duration}."
    sure = "" if step.sure_count is None else f", {step.sure_count:,} in 95 %"
    bring = "brings" if step.order_count == 1 else "bring"
    return (
        f"{now}; {more} {bring} it to ± {rounded_limit(step.target)} in 80 % of cases{sure}"
        f"{duration}."
    )


def describe_unknown_choice(protocols: Iterable[str]) -> str | None:
    """Return a sentence on protocols that are not registered; None if there are none."""
    unknown = [name for name in protocols if find_protocol(name).unknown]
    if not unknown:
        return None
    names = " and ".join(map(repr, unknown))
    return (
        f"How the orders of {names} were chosen is unknown, so claims are about orders like these. "
        "If they were drawn at random, name the protocol 'random': in the column 'protocol' of a "
        "table, or when logs are imported."
    )
