"""The sentences of a report: they word the numbers of an analysis and compute none."""

from __future__ import annotations

from collections.abc import Sequence

from edgecil.estimation.analysis import MOST_NAMED, DatasetAnalysis, list_methods, method_warnings
from edgecil.estimation.next_runs import NextStep
from edgecil.estimation.sentences import count, describe_pair
from edgecil.estimation.similarities import NO_CLASS_NAMES
from edgecil.estimation.summary import MethodSummary, compare_pair
from edgecil.io.numbers import format_duration, rounded, rounded_limit
from edgecil.io.terminal import printable
from edgecil.report.figures.canvas import missing_letters
from edgecil.report.metrics import MetricWords
from edgecil.sequences.counting import count_text
from edgecil.sequences.given import NAME as GIVEN
from edgecil.sequences.protocols import PROTOCOLS

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def headline(dataset: DatasetAnalysis) -> str:
    """The title of the page."""
    table = dataset.table
    return (
        f"{count(len(dataset.methods), 'method')} on {table.dataset or 'your data'}: "
        f"{len(table.classes)} classes in {table.space.tasks} tasks"
    )


def about(dataset: DatasetAnalysis, orders: int) -> list[str]:
    """The line above the answer: dataset, classes, methods, orders."""
    table = dataset.table
    return [
        table.dataset or "your data",
        f"{len(table.classes)} classes in {table.space.tasks} tasks",
        count(len(dataset.methods), "method"),
        f"{orders:,} of {_size(dataset)} orders run",
    ]


def answer(
    dataset: DatasetAnalysis, ranked: Sequence[MethodSummary], words: MetricWords
) -> list[str]:
    """The answer in one sentence, then sentences on what it rests on."""
    best = ranked[0]
    seen = _range_seen(dataset, ranked, words)
    if len(ranked) == 1:
        return [
            *seen,
            _one(dataset, best, words),
            *_given(dataset),
            *noise_sentences(dataset, ranked),
        ]
    second = ranked[1].name
    pair = compare_pair(dataset, best.name, second)
    reached = _one(dataset, best, words)
    if pair is None:
        return [
            f"{best.name} has the best mean {words.title}, {_value(best.mean, words)}, but it has "
            f"no order in common with {second}.",
            *seen,
            reached,
            *noise_sentences(dataset, ranked),
        ]
    return [
        describe_pair(
            best.name,
            second,
            pair,
            higher_is_better=words.higher_is_better,
            metric="" if words.name == "accuracy" else words.title,
        ),
        *seen,
        reached,
        *_given(dataset),
        *noise_sentences(dataset, ranked),
    ]


def next_step(dataset: DatasetAnalysis, ranked: Sequence[MethodSummary]) -> str:
    """What to run next, for the method that needs it most."""
    steps = {summary.name: dataset.methods[summary.name].next_step for summary in ranked}
    by_orders = [name for name, step in steps.items() if step.step == "orders"]
    if by_orders:
        name = max(by_orders, key=lambda one: steps[one].order_count)
        meant = [steps[one] for one in by_orders]
        seconds = [
            None
            if step.seconds is None
            else step.seconds * steps[name].order_count / step.order_count
            for step in meant
        ]
        several = len(steps) > 1
        return f"{_run_orders(name, steps[name], several=several)}{_duration(seconds)}."
    by_repeats = [name for name, step in steps.items() if step.step == "repeats"]
    if by_repeats:
        most = max(steps[name].repeats for name in by_repeats)
        every = " of every method" if len(steps) > 1 else ""
        who = every if len(by_repeats) == len(steps) else f" of {list_methods(by_repeats)}"
        seconds = [steps[name].seconds for name in by_repeats]
        return (
            f"train {count(most, 'order')}{who} once more with another training seed, to separate "
            f"the effect of the order from training noise{_duration(seconds)}."
        )
    return "nothing; more runs would change these numbers little."


def warnings(dataset: DatasetAnalysis) -> list[str]:
    """Everything a reader should know before trusting the numbers."""
    notes = [note for note in dataset.notes if note not in remarks(dataset)]
    return [*method_warnings(dataset), *notes, *_missing_letters(dataset)]


def remarks(dataset: DatasetAnalysis) -> list[str]:
    """What the analysis lacks because the runs do not have it; the numbers are no less certain."""
    return [note for note in dataset.notes if note.startswith(NO_CLASS_NAMES)]


def glossary(dataset: DatasetAnalysis) -> dict[str, str]:
    """What the names on the page mean, by name."""
    entries = {}
    for name in dataset.protocols:
        if name in PROTOCOLS:
            entries[name] = f"{PROTOCOLS[name].summary}{_objective(dataset, name)}."
    predictor = dataset.predictor
    if predictor is not None and predictor.name == "adjacent":
        origin = "" if predictor.origin is None else f", from {predictor.origin}"
        entries[predictor.label] = f"similarity between neighbouring tasks{origin}."
    return entries


def _one(dataset: DatasetAnalysis, summary: MethodSummary, words: MetricWords) -> str:
    """What a method reaches over class orders."""
    method = dataset.methods[summary.name]
    said, truth = method.answer, method.truth
    if said.order_count == 1 and truth is None:
        value = f"{_value(summary.mean, words)}"
        value += "" if words.name == "accuracy" else f" {words.title}"
        return (
            f"{summary.name} was run on one order of {_size(dataset)}: {value}; nothing can be "
            "said about other orders yet."
        )
    mean = (
        f"{words.title} {_value(summary.mean, words)}"
        if words.unit != "%"
        else (f"{_value(summary.mean, words)}")
    )
    verb = "reaches" if words.unit == "%" else "has"
    if words.unit == "%" and words.name != "accuracy":
        mean = f"{mean} {words.title}"
    if truth is not None:
        orders = f"{len(truth):,}"
        over = f"{orders} random orders" if truth.kind == "sample" else f"all {orders} class orders"
        if truth.kind == "enumerated" and len(truth) < truth.space_size:
            over = f"{orders} of {truth.space_size:,} class orders"
        start = f"Over {over} {summary.name} {verb} {mean} on average"
    else:
        start = f"Over class orders {summary.name} {verb} {mean} on average"
    if summary.mean_interval is not None:
        start += f" ({said.mean.label}: {_between(summary.mean_interval)})"
    parts = [start]
    if summary.central is not None:
        low, high = summary.central
        between = f"between {low:.1f} and {_value(high, words)}"
        parts.append(
            f"the next run will lie {between} with probability {said.next_run.label}"
            if truth is None
            else f"90 % of the orders lie {between}"
        )
    outside = said.outside.value
    if truth is None and outside and said.lowest < said.highest:
        parts.append(
            f"{_share(outside)} of all orders lie outside the range of these "
            f"{_spell(said.order_count)}"
        )
    if summary.mean_interval is None and truth is None:
        parts.append(
            f"this rests on {said.order_count} of the {summary.order_count} orders run, those not "
            "chosen by similarity or by results"
            if said.blind and said.order_count < summary.order_count
            else f"{count(said.order_count, 'order')} of {_size(dataset)} were run"
        )
    return "; ".join(parts) + "."


def _range_seen(
    dataset: DatasetAnalysis, ranked: Sequence[MethodSummary], words: MetricWords
) -> list[str]:
    """With a truth: between which accuracies the orders of the most variable method lie."""
    measured = [s for s in ranked if s.basis in ("enumerated", "sample") and s.range > 0.0]
    if not measured:
        return []
    most = max(measured, key=lambda summary: summary.range)
    method = dataset.methods[most.name]
    assert method.truth is not None
    low, high = method.truth.min, method.truth.max
    orders = f"{len(method.truth):,}"
    over = f"its {orders} orders" if most.basis == "enumerated" else f"{orders} random orders"
    true = f"{over} lie between {low:.1f} and {_value(high, words)}"
    what = most.name if words.name == "accuracy" else f"{words.title} of {most.name}"
    return [f"For {what}, {true}."]


def _given(dataset: DatasetAnalysis) -> list[str]:
    """If nothing is known about how the orders were chosen: what that means."""
    if set(dataset.table.protocols) != {GIVEN} or any(
        method.truth is not None for method in dataset.methods.values()
    ):
        return []
    return ["This holds if your orders were not chosen by their results or their similarity."]


def noise_sentences(dataset: DatasetAnalysis, ranked: Sequence[MethodSummary]) -> list[str]:
    """How far the differences between orders may be training noise."""
    effects = {summary.name: dataset.methods[summary.name].order_effect for summary in ranked}
    repeated = {name: e for name, e in effects.items() if e.order_share is not None}
    if not repeated:
        once = all(effect.repeated_orders == 0 for effect in effects.values())
        return (
            ["Each order was trained once, so differences between orders include training noise."]
            if once
            else []
        )
    shares: list[str] = []
    for name, effect in list(repeated.items())[:MOST_NAMED]:
        assert effect.order_share is not None
        interval = effect.order_share_interval
        between = (
            ""
            if interval is None
            else f" (90 %: {100.0 * interval[0]:.0f} to {100.0 * interval[1]:.0f})"
        )
        what = "" if shares else " of the variance of single trainings"
        shares.append(f"{_percent(effect.order_share)}{between}{what} of {name}")
    lucky = [name for name, effect in effects.items() if effect.exceeds_noise is False]
    sentences = [f"The order explains {', '.join(shares)}."]
    if lucky:
        sentences.append(
            f"Training noise alone could make the range of {list_methods(lucky)} as wide as it is."
        )
    return sentences


def _run_orders(name: str, step: NextStep, *, several: bool) -> str:
    who = f" of {name}" if several else ""
    text = f"run {count(step.order_count, 'more class order')}"
    if step.replaces:
        text += " not chosen by similarity, on which alone claims will rest"
    if step.half_width is not None and step.target is not None:
        now, after = rounded_limit(step.half_width), rounded_limit(step.target)
        sure = "" if step.sure_count is None else f" ({step.sure_count:,} for 95 %)"
        text += (
            f"; with probability 80 % they give the mean{who} to ± {after} points instead of ± "
            f"{now}{sure}"
        )
    return text


def _duration(seconds: Sequence[float | None]) -> str:
    """The expected time of the trainings of some methods, in words; empty if one is unknown."""
    durations = [one for one in seconds if one is not None]
    if not durations or len(durations) < len(seconds):
        return ""
    methods = f" for {len(seconds)} methods" if len(seconds) > 1 else ""
    return f"; about {format_duration(sum(durations))}{methods}"


def _size(dataset: DatasetAnalysis) -> str:
    """How many orders there are, with powers of ten as they are printed."""
    text = count_text(dataset.table.space.size)
    start, power, digits = text.partition("^")
    return start + digits.translate(_RAISED) if power else text


def _value(value: float, words: MetricWords) -> str:
    return f"{rounded(value)} {words.unit}".rstrip()


def _between(interval: tuple[float, float]) -> str:
    low, high = map(rounded_limit, interval)
    return f"{low} to {high}".replace("-", "−")


def _share(share: float) -> str:
    return "half" if abs(share - 0.5) < 0.005 else f"about {_percent(share)}"


def _objective(dataset: DatasetAnalysis, protocol: str) -> str:
    """The objective of a protocol that takes one, if the configuration says it."""
    if not PROTOCOLS[protocol].takes_objective:
        return ""
    objectives = [
        config["objective"]
        for experiment in dataset.experiments
        for config in experiment.configs
        if config.get("objective")
    ]
    return f" (objective: {objectives[0]})" if objectives else ""


def _missing_letters(dataset: DatasetAnalysis) -> list[str]:
    label = "" if dataset.predictor is None else dataset.predictor.label
    names = printable("".join([*dataset.methods, *dataset.protocols, label]))
    letters = missing_letters(names)
    if not letters:
        return []
    return [
        f"No installed font has the letters {letters}; PNG and PDF files show boxes in their "
        "place. Install a font that has them, such as Noto Sans CJK, and write the report again."
    ]


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"


def _spell(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"
