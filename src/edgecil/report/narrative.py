"""The sentences of a report: they word the numbers of an analysis and compute none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone

import numpy as np

from edgecil.analysis.answers import DatasetAnalysis
from edgecil.analysis.pair_verdicts import Comparison
from edgecil.analysis.similarities import NO_CLASS_NAMES
from edgecil.io.numbers import per_cent, rounded, rounded_limit
from edgecil.runs.identity import inside, listed, training_facts
from edgecil.runs.run_table import FINISHED, Runs
from edgecil.sequences.protocols import PROTOCOLS, describe_origins, find_protocol
from edgecil.sequences.space import count_text
from edgecil.sequences.user_sequences import USER_SEQUENCES as GIVEN
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
    what.append(describe_runs(dataset))
    return [*what, *(f"{name} {value}" for name, value in setup_facts(dataset).items())]


def describe_runs(dataset: DatasetAnalysis) -> str:
    """How many runs each method has, of how many that are planned."""
    finished, planned = _count_runs(dataset)
    texts = {
        name: f"{number:,}" if number == planned[name] else f"{number:,} of {planned[name]:,}"
        for name, number in finished.items()
    }
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
    counts: list[dict[str, int]] = []
    for rows in (table.status == FINISHED, np.ones(len(table), dtype=bool)):
        methods = np.unique(keys[:, rows], axis=1)[0].tolist()
        counts.append({n: methods.count(table.methods.index(n)) for n in dataset.methods})
    return counts[0], counts[1]


def setup_facts(dataset: DatasetAnalysis) -> dict[str, str]:
    """What was trained and how, as far as it is recorded: setup, backbone, epochs, encoder."""
    configs = [config for one in dataset.experiments for config in one.configs]
    facts = training_facts(dataset.experiments, dataset.methods)
    facts |= (origins := describe_origins(dataset.provenance))
    uses = any(find_protocol(name).needs_similarity for name in dataset.table.protocols)
    if uses and not origins:
        facts["similarity by"] = listed(
            inside(config, "similarity", "file") or inside(config, "similarity", "encoder")
            for config in configs
        )
    if dataset.table.chance is not None:
        facts["chance level"] = f"{rounded(dataset.table.chance)} %"
    return {name: text for name, text in facts.items() if text}


def about_training(dataset: DatasetAnalysis) -> str:
    """One sentence for the caption of a paper's table: what was trained, how, how often."""
    facts = [f"{name} {value}" for name, value in setup_facts(dataset).items()]
    if dataset.table.counts_orders:
        all_claims = [method.claims for method in dataset.methods.values()]
        counts = [claims.order_count for claims in all_claims]
        facts.append(f"mean over {_count_range(counts, dataset.table.order_name)}")
        if any(it.trainings > it.order_count for it in all_claims):
            facts[-1] += f", {_count_range((it.trainings for it in all_claims), 'training')}"
        elif len(own := {it.shared_seeds == 0 for it in all_claims}) == 1:
            seeds = "each with its own training seed" if own.pop() else "one training seed for all"
            facts[-1] += f", {seeds}"
    setting = [f"Setting: {' '.join(_what(dataset))}; {'; '.join(facts)}."] if facts else []
    return " ".join([*setting, *pooled_notes(dataset)])


def _count_range(numbers: Iterable[int], noun: str) -> str:
    ordered = sorted(numbers)
    return count_range(ordered[0], ordered[-1], noun)


def describe_answer(
    dataset: DatasetAnalysis, ranked: Sequence[str], words: MetricWords
) -> list[str]:
    """The answer in one sentence, then sentences on what it rests on."""
    best, *others = ranked
    metric = "" if words.name == "accuracy" else words.title
    sentences = []
    if len(others) == 1:
        pair = dataset.compare(best, others[0])
        sentences.append(
            f"{best} has the best mean {words.title}, but no order in common with {others[0]}."
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
    sentences += _furthest(dataset, others, words)
    table = dataset.table
    if not table.has_orders:
        if table.seeds_are == "":
            sentences.append(
                "Whether the class order varied between these runs is not known, so nothing is "
                "said about other class orders, and order and training cannot be told apart."
            )
        return sentences
    measured = any(one.claims.mean.validity == "measured" for one in dataset.methods.values())
    if set(table.protocols) == {GIVEN} and not measured:
        sentences.append(
            "This holds if your orders were not chosen by their results or their similarity."
        )
    has_shares = any(one.order_effect.order_share is not None for one in dataset.methods.values())
    return sentences + noise_sentences(dataset, ranked)[has_shares:]  # the chart shows the shares


def _furthest(dataset: DatasetAnalysis, names: Sequence[str], words: MetricWords) -> list[str]:
    """The constructed order that lies furthest from a method's random orders, if one does."""
    distances = []
    for name in names:
        claims = dataset.methods[name].claims
        low, high = claims.next_run.interval or (-np.inf, np.inf)
        for meaning, value in claims.probes.items():
            text = (
                f"A new run of {name} lies between {rounded_limit(low)} and {rounded_limit(high)} "
                f"{words.unit} ({per_cent(claims.level)}); it reaches {rounded(value)} {meaning}."
            )
            distances.append((max(low - value, value - high), text))
    return [text for far, text in [max(distances, default=(0.0, ""))] if far > 0.0]


def noise_sentences(dataset: DatasetAnalysis, ranked: Sequence[str]) -> list[str]:
    """How far the differences between orders may be training noise."""
    effects = {name: dataset.methods[name].order_effect for name in ranked}
    repeated = {name: e for name, e in effects.items() if e.order_share is not None}
    if not repeated:
        once = all(effect.repeated_orders == 0 for effect in effects.values())
        once = once and dataset.table.counts_orders
        text = "Each order was trained once, so differences between orders include training noise."
        return [text] if once else []
    shares: list[str] = []
    for name, effect in list(repeated.items())[:MOST_NAMED]:
        assert effect.order_share is not None
        between = ""
        if effect.order_share_interval is not None:
            low, high = (100.0 * end for end in effect.order_share_interval)
            between = f" ({per_cent(dataset.level)} interval {low:.0f} to {high:.0f})"
        what = "" if shares else " of the variance of single trainings"
        shares.append(f"{100.0 * effect.order_share:.0f} %{between}{what} of {name}")
    lucky = [name for name, effect in effects.items() if effect.exceeds_noise is False]
    sentences = [f"The order explains {', '.join(shares)}."]
    if lucky:
        sentences.append(
            f"Training noise alone could make the range of {list_methods(lucky)} as wide as it is."
        )
    return sentences


def next_step(dataset: DatasetAnalysis, ranked: Sequence[str]) -> str:
    """What to run next, for the method that needs it most."""
    steps = {name: dataset.methods[name].next_step for name in ranked}
    name = max(steps, key=lambda one: (steps[one].order_count, steps[one].repeats))
    text = describe_step(steps[name])
    return f"{name}: {text}" if len(steps) > 1 else text[0].upper() + text[1:]


def warnings(dataset: DatasetAnalysis) -> list[str]:
    """Everything a reader should know before trusting the numbers."""
    others = remarks(dataset)
    notes = [note for note in dataset.notes if note not in others]
    return [*method_warnings(dataset), *notes]


def remarks(dataset: DatasetAnalysis) -> list[str]:
    """What the analysis lacks because the runs do not have it; the numbers are no less certain."""
    return [note for note in dataset.notes if note.startswith(NO_CLASS_NAMES)]


def glossary(dataset: DatasetAnalysis) -> dict[str, str]:
    """What the names on the page mean, by name."""
    configs = [config for experiment in dataset.experiments for config in experiment.configs]
    entries = {}
    for name in dataset.protocols:
        if name in PROTOCOLS:
            protocol = PROTOCOLS[name]
            objective = listed(config.get("objective") for config in configs)
            asked = f" (objective: {objective})" if protocol.takes_objective and objective else ""
            entries[name] = f"{protocol.summary}{asked}."
    predictor = dataset.predictor
    if predictor is not None and predictor.name == "adjacent":
        origin = "" if predictor.origin is None else f", from {predictor.origin}"
        entries[predictor.label] = f"similarity between neighbouring tasks{origin}."
    return entries
