"""Claims and advice in sentences: the claim, its population, what to run next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from edgecil.errors import name_parameters
from edgecil.io.numbers import format_duration, per_cent, rounded, rounded_limit
from edgecil.runs.metrics import DEFAULT_METRIC, find_metric
from edgecil.statistics.verdicts import LEAST_RUNS, LEAST_SHOWN
from edgecil.wording.intervals import interval_remark
from edgecil.wording.phrases import (
    bracket,
    count,
    decimals_of,
    interval_words,
    join_words,
    points,
)
from edgecil.wording.populations import nothing_follows, unit_of

if TYPE_CHECKING:
    from edgecil.analysis.claims import Claims
    from edgecil.analysis.next_runs import DatasetNextRuns, NextStep
    from edgecil.sequences.sequence import ClassSequence

_SHOWN = 5  # orders
_WIDTH = 76  # letters of one
MOST_ORDERS = 100
"""Orders that are suggested at a time."""


def describe_claims(claims: Claims, name: str = "", metric: str = DEFAULT_METRIC) -> str:
    """What a method reaches on average and in a new run, in two sentences."""
    about = find_metric(metric)
    unit = " %" if about.bounds == (0.0, 100.0) else ""
    ends = claims.mean.interval or (claims.lowest, claims.highest)
    decimals = decimals_of(metric, ends)
    article = "an" if about.label[0] in "AĀEIOUaeiou" else "a"
    what = "" if metric == DEFAULT_METRIC else f"{article} {about.label} "
    of = "of " if what else ""
    verb = f"{name} reaches" if name else "reaches"
    lowest, highest = rounded(claims.lowest, decimals), rounded(claims.highest, decimals)
    between = f"between {lowest} and {highest}"
    if claims.run_count == 1 or claims.lowest == claims.highest:
        between = f"at {lowest}"
    kind = unit_of(claims.population)
    orders = count(claims.run_count, kind)
    guess = "" if claims.chance is None else f"chance is {rounded(claims.chance)} %"
    beside = f" ({guess})" if guess else ""
    if claims.mean.validity == "none":
        verb = f"{name} ran" if name else "ran"
        missing = "these were not chosen at random, so no interval is given for a new order"
        if claims.run_count < LEAST_RUNS:
            missing = f"a claim about other {kind}s requires {LEAST_RUNS}"
        elif claims.blind or kind != "order":
            missing = "these are equal, so that nothing shows how far others may differ"
        at = f"with {what}{between}" if what else between
        probes = _probes(claims.probes, decimals)
        return f"{verb} {orders} {at}{unit}{beside}; {missing}{probes}."
    assert claims.mean.value is not None
    value = rounded(claims.mean.value, decimals)
    mean = f"{verb} {what}{of}{value}{unit} on average over {claims.population}"
    if claims.mean.validity == "measured":
        low, high = claims.next_run.interval or (claims.lowest, claims.highest)
        return (
            f"{mean}{beside}, measured on all {claims.order_count:,} orders. "
            f"{per_cent(claims.level)} of them lie between {rounded(low, decimals)} and "
            f"{rounded(high, decimals)}, all {between}{_probes(claims.probes, decimals)}."
        )
    interval = ""
    if claims.mean.interval is not None:
        interval = interval_words(claims.mean.interval, claims.mean.level, decimals)
    remark = interval_remark(claims.mean.basis, claims.run_count, kind)
    claim = f"{mean}{bracket(interval, remark, guess)}"
    others = nothing_follows(claims.population)
    if claims.next_run.interval is None:
        if claims.run_count < LEAST_SHOWN:
            others = f"; where a new run lies takes {LEAST_SHOWN} {kind}s to say{others}"
        probes = _probes(claims.probes, decimals)
        return f"{claim}. The {orders} lie {between}{unit}{probes}{others}."
    low, high = claims.next_run.interval
    outside = {clause: value for clause, value in claims.probes.items() if not low <= value <= high}
    inside = {clause: value for clause, value in claims.probes.items() if clause not in outside}
    return (
        f"{claim}. A new run lies between {rounded_limit(low, decimals)} and "
        f"{rounded_limit(high, decimals)} ({per_cent(claims.next_run.level)})"
        f"{_exceptions(outside, decimals)}; the {orders} lie "
        f"{between}{unit}{_probes(inside, decimals)}{others}."
    )


def _exceptions(probes: Mapping[str, float], decimals: int) -> str:
    """Return the constructed orders that lie outside the interval of a new run."""
    clauses = [f"{clause} ({rounded(value, decimals)})" for clause, value in probes.items()]
    return f", but not {join_words(clauses, 'or')}" if clauses else ""


def _probes(probes: Mapping[str, float], decimals: int) -> str:
    return "".join(f"; {rounded(value, decimals)} {clause}" for clause, value in probes.items())


def describe_next(dataset: DatasetNextRuns) -> Iterator[str]:
    """What to run next on a dataset, as sentences, and the orders."""
    for method, step in dataset.steps.items():
        yield f"{method}: {describe_step(step, dataset.metric)}"
    for first, others in dataset.decisions.items():
        for second, more in others.items():
            decision = _decision(more, dataset.steps[first].unit, dataset.most)
            yield f"{first} − {second}: {name_parameters(decision)}"
    if len(dataset.steps) > 1 and not dataset.decisions:
        unit = next(iter(dataset.steps.values())).unit
        yield name_parameters(
            f"With compare's option `anytime` you may compare them after every {unit}."
        )
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


def _decision(more: int | None, unit: str, most: int) -> str:
    """Return when two methods are told apart by the rule that allows looking after every run."""
    if more == 0:
        return f"decided by compare's option `anytime`, even if you looked after every {unit}."
    if more is None and not most:
        return f"all {unit}s were run, and it is not decided."
    if more is None:
        return f"not expected to be decided by {count(most, f'more {unit}')}."
    return (
        f"{count(more, f'more {unit}')} of both {'decides' if more == 1 else 'decide'} which is "
        f"better in 80 % of cases; with compare's option `anytime` you may look after every {unit}."
    )


def describe_step(step: NextStep, metric: str = DEFAULT_METRIC) -> str:
    """What to run next for a method, and what it would buy."""
    duration = "" if step.seconds is None else f"; about {format_duration(step.seconds)}"
    now = ""
    if step.half_width is not None:
        decimals = decimals_of(metric, (0.0, step.half_width))
        now = f"the mean is known to ± {points(step.half_width, metric, decimals)}"
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
    target = rounded_limit(step.target, decimals_of(metric, (0.0, step.target)))
    return f"{now}; {more} {bring} it to ± {target} in 80 % of cases{sure}{duration}."
