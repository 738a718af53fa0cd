"""The sentences of a report: they word the numbers of an analysis and compute none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

import numpy as np

from edgecil.analysis.answers import DatasetAnalysis
from edgecil.analysis.pair_verdicts import Comparison
from edgecil.analysis.similarities import NO_CLASS_NAMES
from edgecil.io.numbers import per_cent, rounded, rounded_limit
from edgecil.runs.identity import join_distinct, read_option, training_facts
from edgecil.runs.run_table import FINISHED, Runs
from edgecil.sequences.protocols import (
    PROTOCOLS,
    USER_SEQUENCES,
    describe_origins,
    find_protocol,
)
from edgecil.sequences.space import count_text
from edgecil.wording.analysis_sentences import method_warnings, pooled_notes
from edgecil.wording.comparison_sentences import describe_leader, describe_pair
from edgecil.wording.metric_words import MetricWords
from edgecil.wording.phrases import MOST_NAMED, count, count_range, list_methods
from edgecil.wording.sentences import describe_claims, describe_step

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def headline(dataset: DatasetAnalysis) -> str:
    """The title of the page."""
    return f"{count(len(dataset.methods), 'method')} on {' '.join(_what(dataset))}"


def _scenario(table: Runs) -> str:
    """Return what its orders arrange: classes in tasks, or given tasks."""
    tasks = f"{table.space.tasks} tasks"
    return tasks if table.arranges == "tasks" else f"{len(table.classes)} classes in {tasks}"


def _what(dataset: DatasetAnalysis) -> Iterator[str]:
    table = dataset.table
    yield table.dataset or "your data"
    if table.has_orders:
        yield f"({_scenario(table)})"


def describe_setting(dataset: DatasetAnalysis, orders: int) -> list[str]:
    """The lines above the answer: dataset, classes, methods, orders, what was trained and how."""
    table = dataset.table
    what = [table.dataset or "your data"]
    if table.has_orders:
        what.append(_scenario(table))
        base, _, power = count_text(table.space.size).partition("^")
        what.append(f"{orders:,} of {base}{power.translate(_RAISED)} orders run")
    else:
        what.append("class orders unknown")
    what.append(describe_run_counts(dataset))
    return [*what, *(f"{name} {value}" for name, value in setup_facts(dataset).items())]


def describe_run_counts(dataset: DatasetAnalysis) -> str:
    """How many runs each method has, of how many that are planned."""
    finished, planned = _count_runs(dataset)
    texts = {}
    for name, number in finished.items():
        texts[name] = f"{number:,}"
        if number < planned[name]:
            texts[name] += f" of {planned[name]:,}"
    if len(set(texts.values())) == 1:
        return f"{next(iter(texts.values()))} runs of {'each' if len(texts) > 1 else 'one'} method"
    if len(texts) <= MOST_NAMED:
        return "runs: " + ", ".join(f"{name} {text}" for name, text in texts.items())
    return f"{min(finished.values()):,} to {max(finished.values()):,} runs of each method"


def describe_moment(dataset: DatasetAnalysis, *, live: bool = False) -> str:
    """That the page shows one moment, if planned runs have no result yet; empty otherwise."""
    finished, planned = (sum(counts.values()) for counts in _count_runs(dataset))
    if finished == planned:
        return ""
    now = f"read at {datetime.now(timezone.utc):%H:%M:%S} UTC; it loads itself again"
    read = now if live else "all read at once"
    return f"This page shows {finished:,} of {planned:,} runs, {read}."


def _count_runs(dataset: DatasetAnalysis) -> tuple[dict[str, int], dict[str, int]]:
    """By method, different trainings with a result, and those that were planned."""
    table = dataset.table
    keys = np.stack([table.method, table.sequence, table.seed])
    finished = np.unique(keys[:, table.status == FINISHED], axis=1)[0].tolist()
    planned = np.unique(keys, axis=1)[0].tolist()
    numbers = {name: table.methods.index(name) for name in dataset.methods}
    return (
        {name: finished.count(number) for name, number in numbers.items()},
        {name: planned.count(number) for name, number in numbers.items()},
    )


def setup_facts(dataset: DatasetAnalysis) -> dict[str, str]:
    """What was trained and how, as far as it is recorded: setup, backbone, epochs, encoder."""
    facts = training_facts(dataset.experiments, dataset.methods)
    origins = describe_origins(dataset.provenance)
    facts |= origins
    uses_similarity = any(find_protocol(name).needs_similarity for name in dataset.table.protocols)
    if uses_similarity and not origins:
        facts["similarity by"] = join_distinct(
            read_option(config, "similarity", "file")
            or read_option(config, "similarity", "encoder")
            for config in _configs(dataset)
        )
    if dataset.table.chance is not None:
        facts["chance level"] = f"{rounded(dataset.table.chance)} %"
    return {name: text for name, text in facts.items() if text}


def _configs(dataset: DatasetAnalysis) -> list[Mapping[str, Any]]:
    """The configurations of all experiments that a dataset's runs are from."""
    return [config for experiment in dataset.experiments for config in experiment.configs]


def about_training(dataset: DatasetAnalysis) -> str:
    """One sentence for the caption of a paper's table: what was trained, how, how often."""
    facts = [f"{name} {value}" for name, value in setup_facts(dataset).items()]
    if dataset.table.counts_orders:
        all_claims = [method.claims for method in dataset.methods.values()]
        counts = [claims.order_count for claims in all_claims]
        averaged = f"mean over {_count_range(counts, dataset.table.order_name)}"
        has_own_seeds = {claims.shared_seeds == 0 for claims in all_claims}
        if any(claims.trainings > claims.order_count for claims in all_claims):
            trainings = [claims.trainings for claims in all_claims]
            averaged += f", {_count_range(trainings, 'training')}"
        elif has_own_seeds == {True}:
            averaged += ", each with its own training seed"
        elif has_own_seeds == {False}:
            averaged += ", one training seed for all"
        facts.append(averaged)
    sentences = pooled_notes(dataset)
    if facts:
        sentences = [f"Setting: {' '.join(_what(dataset))}; {'; '.join(facts)}.", *sentences]
    return " ".join(sentences)


def _count_range(numbers: Iterable[int], noun: str) -> str:
    ordered = sorted(numbers)
    return count_range(ordered[0], ordered[-1], noun)


def describe_answer(
    dataset: DatasetAnalysis, ranked: Sequence[str], words: MetricWords
) -> list[str]:
    """The answer in one sentence, then sentences on what it rests on."""
    best, *other_methods = ranked
    metric = "" if words.name == "accuracy" else words.title
    sentences = []
    if len(other_methods) == 1:
        second = other_methods[0]
        pair = dataset.compare(best, second)
        sentences.append(
            f"{best} has the best mean {words.title}, but no order in common with {second}."
            if pair is None
            else describe_pair(pair, metric)
        )
    elif groups := dataset.compared_groups:
        sentences.append(describe_leader(groups[0].leader))
        sentences += [
            describe_pair(pair, metric)
            for pair in groups[0].leader.against[:1]
            if isinstance(pair, Comparison)
        ]
    sentences.append(describe_claims(dataset.methods[best].claims, best, words.name))
    sentences += _furthest(dataset, other_methods, words)
    table = dataset.table
    if not table.has_orders:
        if table.seeds_are == "":
            sentences.append(
                "Whether the class order varied between these runs is not known, so nothing is "
                "said about other class orders, and order and training cannot be told apart."
            )
        return sentences
    methods = dataset.methods.values()
    is_measured = any(method.claims.mean.validity == "measured" for method in methods)
    if set(table.protocols) == {USER_SEQUENCES} and not is_measured:
        sentences.append(
            "This holds if your orders were not chosen by their results or their similarity."
        )
    noise = noise_sentences(dataset, ranked)
    if any(method.order_effect.order_share is not None for method in methods):
        noise = noise[1:]  # the chart shows the shares
    return [*sentences, *noise]


def _furthest(dataset: DatasetAnalysis, names: Sequence[str], words: MetricWords) -> list[str]:
    """The constructed order that lies furthest from the interval of a new run, if one does."""
    furthest, sentence = 0.0, ""
    for name in names:
        claims = dataset.methods[name].claims
        low, high = claims.next_run.interval or (-np.inf, np.inf)
        for meaning, value in claims.probes.items():
            text = (
                f"A new run of {name} lies between {rounded_limit(low)} and {rounded_limit(high)} "
                f"{words.unit} ({per_cent(claims.level)}); it reaches {rounded(value)} {meaning}."
            )
            furthest, sentence = max((furthest, sentence), (max(low - value, value - high), text))
    return [sentence] if furthest > 0.0 else []


def noise_sentences(dataset: DatasetAnalysis, ranked: Sequence[str]) -> list[str]:
    """How far the differences between orders may be training noise."""
    effects = {name: dataset.methods[name].order_effect for name in ranked}
    share_of_method = {
        name: effect.order_share
        for name, effect in effects.items()
        if effect.order_share is not None
    }
    if not share_of_method:
        is_repeated = any(effect.repeated_orders for effect in effects.values())
        if is_repeated or not dataset.table.counts_orders:
            return []
        return [
            "Each order was trained once, so differences between orders include training noise."
        ]
    shares: list[str] = []
    for name, share in list(share_of_method.items())[:MOST_NAMED]:
        effect = effects[name]
        between = ""
        if effect.order_share_interval is not None:
            low, high = (100.0 * end for end in effect.order_share_interval)
            between = f" ({per_cent(dataset.level)} interval {low:.0f} to {high:.0f})"
        what = "" if shares else " of the variance of single trainings"
        shares.append(f"{100.0 * share:.0f} %{between}{what} of {name}")
    sentences = [f"The order explains {', '.join(shares)}."]
    noisy = [name for name, effect in effects.items() if effect.exceeds_noise is False]
    if noisy:
        sentences.append(
            f"Training noise alone could make the range of {list_methods(noisy)} as wide as it is."
        )
    return sentences


def next_step(dataset: DatasetAnalysis, ranked: Sequence[str]) -> str:
    """What to run next, for the method that needs it most."""
    steps = {name: dataset.methods[name].next_step for name in ranked}
    name = max(steps, key=lambda method: (steps[method].order_count, steps[method].repeats))
    text = describe_step(steps[name], dataset.metric)
    return f"{name}: {text}" if len(steps) > 1 else text[0].upper() + text[1:]


def warnings(dataset: DatasetAnalysis) -> list[str]:
    """Everything a reader should know before trusting the numbers."""
    harmless = missing_facts(dataset)
    notes = [note for note in dataset.notes if note not in harmless]
    return [*method_warnings(dataset), *notes]


def missing_facts(dataset: DatasetAnalysis) -> list[str]:
    """What the analysis lacks because the runs do not have it; the numbers are no less certain."""
    return [note for note in dataset.notes if note.startswith(NO_CLASS_NAMES)]


def glossary(dataset: DatasetAnalysis) -> dict[str, str]:
    """What the names on the page mean, by name."""
    entries = {}
    for name in dataset.protocols:
        if name in PROTOCOLS:
            protocol = PROTOCOLS[name]
            objective = join_distinct(config.get("objective") for config in _configs(dataset))
            optimised = ""
            if protocol.takes_objective and objective:
                optimised = f" (objective: {objective})"
            entries[name] = f"{protocol.summary}{optimised}."
    predictor = dataset.predictor
    if predictor is not None and predictor.name == "adjacent":
        origin = "" if predictor.origin is None else f", from {predictor.origin}"
        entries[predictor.label] = f"similarity between neighbouring tasks{origin}."
    return entries
