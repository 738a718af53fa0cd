"""The sentences of a report: they word the numbers of an analysis and compute none."""

from __future__ import annotations

from edgecil.estimation.analysis import DatasetAnalysis, MethodAnalysis
from edgecil.estimation.summary import (
    MethodSummary,
    compare_pair,
    protocol_budget,
    protocol_range,
    random_coverage,
    summaries,
    summarize,
)
from edgecil.report.figures.canvas import missing_letters
from edgecil.sequences.counting import count_text
from edgecil.sequences.protocols import PROTOCOLS

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def headline(dataset: DatasetAnalysis) -> str:
    """The title of the page."""
    table = dataset.table
    return (
        f"{count(len(dataset.methods), 'method')} on {table.dataset or 'your data'}: "
        f"{len(table.classes)} classes in {table.space.tasks} tasks"
    )


def lead(dataset: DatasetAnalysis) -> list[str]:
    """The answer: which method is best, how much the order matters, and how certain that is."""
    ranked = summaries(dataset)
    return [*_best_method(dataset, ranked), *_order_effect(dataset, ranked), *_noise(dataset)]


def method_answer(dataset: DatasetAnalysis, name: str) -> list[str]:
    """What the analysis says about one method."""
    method, summary = dataset.methods[name], summarize(dataset, name)
    sentences = [_mean_sentence(summary, dataset)]
    others = (protocol for protocol in dataset.protocols if protocol != "random")
    ranges = {
        protocol: ends
        for protocol in ("random", *others)
        if (ends := protocol_range(method, protocol)) is not None
    }
    if method.truth is not None:
        bound = "at least " if method.truth.kind == "sample" else ""
        sentences.append(
            f"From the worst to the best order it changes by {bound}{summary.range:.1f} points "
            f"({summary.worst:.1f} to {summary.best:.1f})."
        )
        covered = [f"{_runs_of(method, p)} {high - low:.1f}" for p, (low, high) in ranges.items()]
        if covered:
            sentences.append(f"Points covered on average: {', '.join(covered)}.")
    elif ranges:
        measured = [
            f"{_runs_of(method, p)} {low:.1f} to {high:.1f}" for p, (low, high) in ranges.items()
        ]
        sentences.append(f"Measured: {', '.join(measured)}.")
    r = None if method.predictor is None else method.correlations[method.predictor].pearson
    if r is not None and dataset.predictor is not None:
        sentences.append(f"Correlation of accuracy with {dataset.predictor.label}: r = {r:+.2f}.")
    return sentences


def warnings(dataset: DatasetAnalysis) -> list[str]:
    """Everything a reader should know before trusting the numbers."""
    several = len(dataset.methods) > 1
    sentences = [
        f"{name}: {warning}" if several else warning
        for name, method in dataset.methods.items()
        for warning in method.warnings
    ]
    return [*sentences, *dataset.notes, *_missing_letters(dataset)]


def glossary(dataset: DatasetAnalysis) -> dict[str, str]:
    """What the names on the page mean, by name."""
    entries = {}
    for name in dataset.compared_protocols:
        if name in PROTOCOLS:
            entries[name] = f"{PROTOCOLS[name].summary}{_objective(dataset, name)}."
    predictor = dataset.predictor
    if predictor is not None and predictor.name == "adjacent":
        origin = "" if predictor.origin is None else f", from {predictor.origin}"
        entries[predictor.label] = f"similarity between neighbouring tasks{origin}."
    return entries


def count(number: int, noun: str) -> str:
    """A number and its noun.

    >>> count(1, "order"), count(3, "order")
    ('1 order', '3 orders')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _best_method(dataset: DatasetAnalysis, ranked: list[MethodSummary]) -> list[str]:
    best = ranked[0]
    if len(ranked) == 1:
        return [_mean_sentence(best, dataset)]
    sentences = [
        f"{best.name} has the highest mean accuracy over class orders: {best.mean:.1f} %"
        f"{_interval(best.mean_interval)}."
    ]
    second = ranked[1].name
    pair = compare_pair(dataset, best.name, second)
    if pair is not None:
        by = f"{abs(pair.difference):.1f} points"
        side = "above" if pair.difference >= 0.0 else "below"
        around = "" if pair.interval is None else " (90 % interval {:+.1f} to {:+.1f})"
        sentences.append(
            f"On the {count(pair.n, 'order')} that both ran, it is on average {by} {side} {second}"
            f"{around.format(*(pair.interval or ()))} and better on "
            f"{_percent(pair.won)} of them."
        )
    return sentences


def _order_effect(dataset: DatasetAnalysis, ranked: list[MethodSummary]) -> list[str]:
    measured = sorted(
        (s for s in ranked if s.basis in ("enumerated", "sample")), key=lambda s: s.range
    )
    if not measured:
        return _estimated_effect(dataset, ranked[0], several=len(ranked) > 1)
    least, most = measured[0], measured[-1]
    bound = "at least " if most.basis == "sample" else ""
    span = f"{most.range:.1f} points"
    if least is not most:
        span = f"{least.range:.1f} ({least.name}) to {most.range:.1f} points ({most.name})"
    sentences = [f"Between the worst and the best class order, accuracy differs by {bound}{span}."]
    coverage = random_coverage(dataset)
    if coverage is not None:
        low, high = map(_percent, coverage)
        share = low if low == high else f"{low} to {high}"
        runs = protocol_budget(dataset.methods[most.name], "random")
        sentences.append(f"On average, {_random_orders(runs)} cover {share} of this range.")
    return sentences


def _estimated_effect(dataset: DatasetAnalysis, best: MethodSummary, *, several: bool) -> list[str]:
    sentences = []
    if several and best.central is not None:
        low, high = best.central
        sentences.append(
            f"An estimated 90 % of its class orders lie between {low:.1f} and {high:.1f} %."
        )
    orders = count_text(dataset.table.space.size)
    sentences.append(
        f"These are estimates: {count(best.orders, 'order')} of {orders} "
        f"{'was' if best.orders == 1 else 'were'} run, and their error is not known."
    )
    return sentences


def _noise(dataset: DatasetAnalysis) -> list[str]:
    """How much of the differences between orders is due to the training seed."""
    effects = {name: method.order_effect for name, method in dataset.methods.items()}
    if all(effect.repeats == 0 for effect in effects.values()):
        return ["Each order was trained once, so these differences include training noise."]
    shares, unknown = [], []
    for name, effect in effects.items():
        if effect.order_share is None or effect.order_share_interval is None:
            unknown.append(f"{name} ({effect.reason})")
            continue
        low, high = map(_percent, effect.order_share_interval)
        shares.append(f"{_percent(effect.order_share)} for {name} (90 % interval {low} to {high})")
    sentences = []
    if shares:
        sentences.append(
            "Share of the variance that is due to the class order and not to the training seed: "
            f"{', '.join(shares)}."
        )
    if unknown:
        sentences.append(f"The share of training noise is not known for {', '.join(unknown)}.")
    return sentences


def _mean_sentence(summary: MethodSummary, dataset: DatasetAnalysis) -> str:
    name, mean = summary.name, f"{summary.mean:.1f} %"
    if summary.basis == "runs":
        orders = count(summary.orders, "order")
        return f"{name} reaches {mean} on average over the {orders} that {_was(summary)} run."
    interval, central = _interval(summary.mean_interval), ""
    if summary.central is not None:
        low, high = summary.central
        central = f"; 90 % of the orders lie between {low:.1f} and {high:.1f} %"
    truth = dataset.methods[name].truth
    if truth is None:
        assert summary.chosen is not None
        source = f"{summary.chosen.estimator} from {summary.chosen.protocol}"
        return f"{name} reaches an estimated {mean} on average{interval}{central} ({source})."
    orders = f"{len(truth.sequences):,}"
    over = f"{orders} random orders" if truth.kind == "sample" else f"all {orders} orders"
    if truth.kind == "enumerated" and len(truth.sequences) < truth.space_size:
        over = f"{orders} of {truth.space_size:,} orders"
    return f"{name} reaches {mean} on average over {over}{central}."


def _was(summary: MethodSummary) -> str:
    return "was" if summary.orders == 1 else "were"


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f" (90 % interval {interval[0]:.1f} to {interval[1]:.1f})"


def _objective(dataset: DatasetAnalysis, protocol: str) -> str:
    """The objective of `optimal`, if the configuration says it."""
    if protocol != "optimal":
        return ""
    objectives = [config["objective"] for config in dataset.configs if config.get("objective")]
    return f" (objective: {objectives[0]})" if objectives else ""


def _missing_letters(dataset: DatasetAnalysis) -> list[str]:
    label = "" if dataset.predictor is None else dataset.predictor.label
    letters = missing_letters("".join([*dataset.methods, *dataset.compared_protocols, label]))
    if not letters:
        return []
    return [
        f"No installed font has the letters {letters}; figures show boxes in their place. Install "
        "a font that has them, such as Noto Sans CJK, and write the report again."
    ]


def _runs_of(method: MethodAnalysis, protocol: str) -> str:
    """A protocol's runs by their number."""
    budget = protocol_budget(method, protocol)
    if protocol == "random":
        return _random_orders(budget)
    return f"{_spell(budget)} {'order' if budget == 1 else 'orders'} of {protocol}"


def _random_orders(number: int) -> str:
    return f"{_spell(number)} random {'order' if number == 1 else 'orders'}"


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"


def _spell(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)
