"""Comparisons in sentences: who leads, who cannot be told apart, by how much, how surely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from edgecil.sequences.protocols import find_protocol
from edgecil.statistics.verdicts import LEAST_RUNS
from edgecil.wording.intervals import interval_remark
from edgecil.wording.missing_verdicts import no_verdict_words
from edgecil.wording.phrases import (
    bracket,
    count,
    decimals_of,
    describe_probability,
    interval_words,
    join_words,
    points,
)
from edgecil.wording.populations import nothing_follows, unit_of

if TYPE_CHECKING:
    from edgecil.analysis.pair_verdicts import Comparison, OverallComparison, Verdict
    from edgecil.analysis.standings import ComparedGroup, Standing

_GRADES = {"clear": "clearly", "likely": "likely"}
_MOST_IN_A_LINE = 12  # methods of a group that are named


def describe_pair(pair: Comparison, title: str = "", *, brief: bool = False) -> str:
    """Return which of two methods is better, by how much, on how many orders, and how surely.

    The `title` of the metric is named if it is given. A brief sentence leaves out what is the same
    for all pairs of an answer: the population.
    """
    ahead, behind = pair.ahead, pair.behind
    of_metric = f" in {title}" if title else ""
    decimals = _decimals(pair)
    gain = points(pair.difference, pair.metric, decimals)
    unit = unit_of(pair.population)
    if pair.n and pair.ties == pair.n:
        return f"{ahead} and {behind} are equal on {_all(pair)}."
    if pair.grade == "too few" and pair.why_no_interval == "few":
        runs = f"One {unit} of both is" if pair.n == 1 else f"Two {unit}s of both are"
        return (
            f"{runs} too few to compare {ahead} and {behind} ({ahead} is {gain} "
            f"ahead{of_metric} so far). Train {count(LEAST_RUNS - pair.n, f'more {unit}')}."
        )
    if pair.interval is None:
        why = no_verdict_words(pair.why_no_interval or "too early", unit)
        return f"{ahead} is {gain} ahead of {behind}{of_metric}, {_wins(pair)}; {why}."
    over = "" if brief and not _is_mixed(pair) else f" over {pair.population}"
    remark = interval_remark(pair.basis, pair.n, unit)
    around = bracket(interval_words(pair.interval, pair.level, decimals), remark)
    sentence = f"{_verdict(pair, gain, of_metric)} on average{over}{around}, {_wins(pair)}"
    if brief:
        return f"{sentence}."
    others = nothing_follows(pair.population)
    if pair.new_run_probability is None:
        return f"{sentence}{others}."
    chance = describe_probability(pair.new_run_probability)
    return f"{sentence}, and better in a new run with probability {chance}{others}."


def _is_mixed(pair: Comparison) -> bool:
    """Whether the two methods ran different designs, which the population then names."""
    return pair.population.endswith(f"({pair.ahead})") or pair.population.endswith(
        f"({pair.behind})"
    )


def _decimals(verdict: Verdict) -> int:
    """Return how many decimals a difference and both ends of its interval take."""
    return decimals_of(verdict.metric, verdict.interval or (0.0, verdict.difference))


def _verdict(pair: Verdict, gain: str, of_metric: str = "") -> str:
    """Return which method is better, or only ahead, and by how much."""
    if pair.better is None:
        return (
            f"{pair.ahead} and {pair.behind} cannot be told apart{of_metric}: "
            f"{pair.ahead} is {gain} ahead"
        )
    return f"{pair.better} is {_GRADES[pair.grade]} better than {pair.worse}{of_metric}: by {gain}"


def _wins(pair: Comparison) -> str:
    """Return on how many orders the method that is ahead is better, and on how many both equal."""
    unit = unit_of(pair.population)
    orders = count(pair.n, unit)
    if not pair.paired:
        return f"from {pair.n:,} unpaired {unit}s"
    if unit == "run":
        return f"on {pair.wins:,} of {orders}, paired by seed"
    if pair.wins == pair.n:
        return f"on {_all(pair)}"
    if not pair.ties:
        return f"on {pair.wins:,} of {orders}"
    return f"better on {pair.wins:,}, equal on {pair.ties:,}, worse on {pair.losses:,} of {orders}"


def _all(pair: Comparison) -> str:
    unit = unit_of(pair.population)
    return f"1 of 1 {unit}" if pair.n == 1 else f"all {pair.n:,} {unit}s"


def describe_overall_pair(pair: OverallComparison, *, brief: bool = False) -> str:
    """Return which of two methods is better over several datasets, and the range over them."""
    number = len(pair.differences)
    least, most = min(pair.differences.values()), max(pair.differences.values())
    decimals = _decimals(pair)
    around = ""
    if pair.interval is not None:
        around = bracket(interval_words(pair.interval, pair.level, decimals))
    wins = number - len(pair.behind_on)
    behind = f" (behind on {join_words(pair.behind_on)})" if pair.behind_on else ""
    span = f"by {_short(least)} to {_short(most)}"
    verdict = _verdict(pair, points(pair.difference, pair.metric, decimals))
    start = "" if brief else f"Over {number} datasets, "
    return f"{start}{verdict} on average{around}, ahead on {wins} of {number}{behind}, {span}."


def _short(value: float) -> str:
    """Return a difference; small ones keep a digit that is not 0.

    >>> _short(0.031), _short(34.84), _short(-2.5)
    ('0.03', '34.8', '−2.5')
    """
    text = f"{value:.1f}" if abs(value) >= 0.1 else f"{value:.1g}"
    return text.replace("-", "−")


def describe_comparisons(groups: Sequence[ComparedGroup]) -> Iterator[str]:
    """Yield who is better: over all datasets first, then on each.

    Two methods have a sentence of their own on each dataset. With more, the first lines say who
    leads and who cannot be told apart from the leader; then each method is compared with the
    baseline, or else with the leader.
    """
    verdicts = [verdict for group in groups for verdict in group.pairs]
    pairs = [pair for group in groups for pair in group.comparisons]
    several = len({group.dataset for group in groups} - {None}) > 1
    if len({name for verdict in verdicts for name in verdict.methods}) > 2:
        yield from _describe_many(groups, several)
        yield from _describe_family(pairs)
    else:
        for group in groups:
            start = f"{group.dataset or 'your data'}: " if several and group.dataset else ""
            yield from (f"{start}{verdict}" for verdict in group.pairs)
    yield from _describe_chosen_orders(pairs)


def _describe_many(groups: Sequence[ComparedGroup], several: bool) -> Iterator[str]:
    """Yield who leads, over all datasets and on each, and the others against one method.

    These pairs are described over all datasets if there are several, and on the dataset otherwise.
    """
    has_overall = any(group.dataset is None for group in groups)
    for group in groups:
        start = ""
        if group.dataset is None:
            start = f"Over {len(groups) - 1} datasets, "
        elif several:
            start = f"On {group.dataset or 'your data'}, "
        yield describe_leader(group.leader, start)
        if group.against is not None and has_overall == (group.dataset is None):
            yield from (f"  {verdict.brief}" for verdict in group.against.against)


def describe_leader(standing: Standing, start: str = "") -> str:
    """Return who leads, whom it is better than, and who cannot be told apart from it."""
    name = standing.reference
    groups = []
    for grade, adverb in _GRADES.items():
        if others := standing.methods_of_grade(grade):
            groups.append(f"{adverb} better than {_name_group(others)}")
    level = [*standing.methods_of_grade("cannot tell"), *standing.methods_of_grade("too few")]
    if not groups:
        several = f"any of the other {len(level)}" if len(level) > 1 else level[0]
        if all(verdict.grade == "too few" for verdict in standing.against):
            return f"{start}{name} has the best mean so far; {LEAST_RUNS} runs allow a verdict."
        return f"{start}{name} has the best mean, but cannot be told apart from {several}."
    sentence = f"{start}{name} leads: it is {', '.join(groups)}"
    if level:
        return f"{sentence}, and cannot be told apart from {_name_group(level)}."
    return f"{sentence}."


def _name_group(names: Sequence[str]) -> str:
    if len(names) > _MOST_IN_A_LINE:
        return f"{len(names)} methods"
    return join_words(names)


def _describe_family(pairs: Sequence[Comparison]) -> Iterator[str]:
    """Yield what the comparisons are about, and for how many of them they are adjusted."""
    with_interval = [pair for pair in pairs if pair.interval is not None]
    alike = [pair.population for pair in with_interval if not _is_mixed(pair)]
    populations = list(dict.fromkeys(alike))
    if populations:
        others = nothing_follows(populations[0]) if len(populations) == 1 else ""
        yield (
            f"Comparisons are about means over {', or '.join(populations)}{others}; verdicts and "
            f"intervals are adjusted for all {with_interval[0].adjusted_for:,} of them (Holm)."
        )


def _describe_chosen_orders(pairs: Sequence[Comparison]) -> Iterator[str]:
    """Yield a sentence for each way in which orders were chosen that were not random."""
    methods_of: dict[tuple[str, ...], dict[str, None]] = {}
    for pair in pairs:
        is_constructed = not pair.random_orders and pair.chosen_by
        if is_constructed and unit_of(pair.population) == "order":
            names = methods_of.setdefault(pair.chosen_by, {})
            names |= dict.fromkeys((pair.ahead, pair.behind))
    for protocols, names in methods_of.items():
        yield describe_unknown_choice(protocols) or (
            f"{join_words(list(names))} ran orders that were chosen {_how(protocols)}, so that the "
            "mean difference over all orders may be different."
        )


def _how(names: Iterable[str]) -> str:
    """Return how orders were chosen that do not count as random."""
    protocols = [find_protocol(name) for name in names]
    if any(protocol.exhaustive for protocol in protocols):
        return "one after the other"
    needs_similarity = any(protocol.needs_similarity for protocol in protocols)
    return "by similarity" if needs_similarity else "by construction"


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
