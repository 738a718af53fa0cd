"""`analyze`: what runs say about each method over class orders and trainings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from typing_extensions import Unpack

from edgecil.analysis.answers import (
    Analysis,
    AnalysisOptions,
    DatasetAnalysis,
    MethodAnalysis,
    PredictorSummary,
)
from edgecil.analysis.claims import make_claims
from edgecil.analysis.correlation import (
    Correlation,
    Predictor,
    correlate,
    objective_predictor,
    relabelled_values,
    warn_of_predictor,
)
from edgecil.analysis.details import describe_runs, note_unlearned
from edgecil.analysis.next_runs import advise, run_seconds
from edgecil.analysis.pair_verdicts import Comparison, compare_tables, holm
from edgecil.analysis.plausibility import warn_of_failures, warn_of_truth
from edgecil.analysis.profiles import profile_methods
from edgecil.analysis.samples import Truth, find_truth, representative_orders, unbiased_orders
from edgecil.analysis.similarities import (
    SimilarityLike,
    describe_given,
    describe_similarity,
    find_similarity,
)
from edgecil.analysis.sources import (
    DatasetRuns,
    Source,
    collect_runs,
    is_saved_analysis,
    join_sources,
    registered_names,
)
from edgecil.analysis.terms import IntervalKind, Terms
from edgecil.errors import UsageError, format_value, unknown_name_error
from edgecil.hints import Level
from edgecil.io.arrays import Floats
from edgecil.options import checked
from edgecil.runs.reading.reading_options import ReadingOptions
from edgecil.runs.run_table import Runs
from edgecil.sequences.objective import OBJECTIVES, applicable_objectives
from edgecil.sequences.protocols import find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.statistics.variance import OrderEffect, split_variance
from edgecil.statistics.verdicts import LEVEL


@checked
def analyze(
    source: Source | Sequence[Source],
    *more: Source,
    metric: str | None = None,
    classifier: str | None = None,
    similarity: SimilarityLike | None = None,
    predictor: str | None = None,
    level: Level | None = None,
    interval: IntervalKind | None = None,
    **reading: Unpack[ReadingOptions],
) -> Analysis:
    """Say how accuracy depends on the class order: what may be claimed, and what to run next.

    Args:
        source: experiment directories and CSV files of accuracies, or the JSON file of a saved
            analysis. Runs of several sources on the same dataset are analysed together. In Python
            also experiments, DataFrames and accuracy tables.
        more: further sources.
        metric: metric to analyse: `accuracy`, `last`, `average`, `forgetting`, `bwt`,
            `learning`, `training_accuracy`, or a column of the CSV file. By default the one in the
            experiment's configuration, or else `accuracy`, the paper's A(O).
        classifier: classifier of the methods to analyse, such as `nme` (nearest mean of
            exemplars); methods without it are left out. By default each method's main one.
        similarity: file with the similarity of the classes, for predictors. By default the
            similarity that chose the experiment's sequences or, for a CSV file, the similarity of
            the dataset's class names. In Python also a similarity.
        predictor: objective to show beside the orders as a predictor of accuracy; by default
            `adjacent`, the paper's S.
        level: probability with which an interval contains what it is about; 0.95 by default.
        interval: `t` for Student's (or Welch's) interval whatever the spread is; by default the
            interval of the measured model, which is nearly always the same.
        reading: see :class:`~edgecil.runs.reading.reading_options.ReadingOptions`.
    """
    options_or_none: dict[str, Any] = {
        **reading,
        "metric": metric,
        "classifier": classifier,
        "similarity": describe_given(similarity),
        "predictor": predictor,
        "level": None if level == LEVEL else level,
        "interval": interval,
    }
    chosen = {name: value for name, value in options_or_none.items() if value is not None}
    if is_saved_analysis(source) and not more:
        return _load(source, chosen)
    collected = collect_runs(
        join_sources(source, more), metric=metric, classifier=classifier, **reading
    )
    options = AnalysisOptions(**{**chosen, "metric": collected.metric})
    parts = collected.datasets
    tables = [part.table.renumbered() for part in parts]
    methods = tuple(dict.fromkeys(name for table in tables for name in table.methods))
    baseline = options.baseline
    if baseline is not None and baseline not in methods:
        raise unknown_name_error("baseline", baseline, methods)
    judged = compare_tables(tables, methods, options.terms)
    datasets = [
        _analyze_dataset(part, table, pairs, options, similarity)
        for part, table, pairs in zip(parts, tables, judged.by_table, strict=True)
    ]
    return Analysis(
        collected.source_names,
        options,
        tuple(datasets),
        version("edgecil"),
        judged.over_datasets,
        profile_methods(tables, methods, options.terms),
        collected.reading.line,
    )


def as_analysis(source: Analysis | Source | Sequence[Source], **options: Any) -> Analysis:
    """Return an analysis unchanged, or analyse a source with the options that are not None."""
    chosen = {name: value for name, value in options.items() if value is not None}
    if not isinstance(source, Analysis):
        return analyze(source, **chosen)
    if chosen:
        raise UsageError(
            f"An Analysis already has its options; {', '.join(map(repr, chosen))} cannot be "
            "changed. Give the experiment instead."
        )
    return source


def _load(source: Any, options: Mapping[str, str]) -> Analysis:
    """Return a saved analysis; options other than its own are refused."""
    path = source[0] if isinstance(source, (list, tuple)) else source
    analysis = Analysis.load(path)
    for name, value in options.items():
        saved_value = getattr(analysis.options, name)
        if value != saved_value:
            raise UsageError(
                f"The analysis in {path} has {name} {saved_value!r}. Got {format_value(value)}; "
                f"analyse {analysis.source} again instead."
            )
    return analysis


def _analyze_dataset(
    runs: DatasetRuns,
    table: Runs,
    comparisons: tuple[Comparison, ...],
    options: AnalysisOptions,
    chosen_similarity: SimilarityLike | None,
) -> DatasetAnalysis:
    similarity, notes, why_none = find_similarity(runs, chosen_similarity)
    predictor, summary = None, None
    if options.predictor not in OBJECTIVES:
        raise unknown_name_error("predictor", options.predictor, OBJECTIVES)
    if similarity is not None and options.predictor in applicable_objectives(table.space):
        predictor = objective_predictor(similarity, table.space, options.predictor)
        z, origin = predictor.z(table.sequences), describe_similarity(similarity)
        summary = PredictorSummary(options.predictor, predictor.label, origin, predictor.sign, z)
    truths = {name: find_truth(table, name) for name in table.methods if len(table.orders(name))}
    correlations = {} if predictor is None else _correlate_methods(table, truths, predictor)
    methods = {
        name: _analyze_method(
            table,
            name,
            truth,
            predictor,
            correlations.get(name),
            run_seconds(runs, name),
            options.terms,
        )
        for name, truth in truths.items()
    }
    protocols = {name: method.claims.protocols for name, method in methods.items()}
    details = describe_runs(table, runs.experiments, protocols, options.classifier)
    first_tasks = {
        name: of_method.first_task for name, of_method in details.items() if of_method.first_task
    }
    notes += note_unlearned(first_tasks)
    lost = [name for name in table.methods if name not in truths]
    notes += [f"{name} is left out: none of its runs has an accuracy." for name in lost]
    if predictor is None and table.has_orders and table.arranges == "classes":
        notes.append(
            f"{why_none} Therefore the correlation of accuracy with the similarity of tasks (S) "
            "is unknown."
        )
    spent = [experiment.training_seconds() for experiment in runs.experiments]
    totals = {name: sum(seconds.get(name, 0.0) for seconds in spent) for name in methods}
    return DatasetAnalysis(
        table.dataset,
        table.metric,
        replace(table, names=registered_names(runs.table), by_class=None),
        methods,
        comparisons,
        summary,
        (*runs.notes, *notes),
        tuple(experiment.record() for experiment in runs.experiments),
        details,
        {name: total for name, total in totals.items() if total > 0.0},
        options.baseline,
    )


def _correlate_methods(
    table: Runs, truths: Mapping[str, Truth | None], predictor: Predictor
) -> dict[str, Correlation]:
    """Return each method's correlation with a predictor; p is adjusted over the methods."""
    made: dict[str, Correlation] = {}
    last: tuple[ClassSequence, ...] | None = None
    relabelled: Floats | None = None
    for method, truth in truths.items():
        sequences, accuracies = unbiased_orders(table, method, truth)
        if sequences != last:  # methods that ran the same orders share the relabellings
            last, relabelled = sequences, relabelled_values(predictor, sequences)
        made[method] = correlate(predictor.z(sequences), accuracies, relabelled)
    adjusted = holm({method: correlation.p_value for method, correlation in made.items()})
    return {
        method: replace(correlation, adjusted_p=adjusted[method])
        for method, correlation in made.items()
    }


def _analyze_method(
    table: Runs,
    method: str,
    truth: Truth | None,
    predictor: Predictor | None,
    correlation: Correlation | None,
    seconds: float | None,
    terms: Terms,
) -> MethodAnalysis:
    named = (name for name in table.protocols if not find_protocol(name).repeats)
    ran = {name: len(table.orders(method, name)) for name in named}
    warnings = warn_of_truth(truth) + warn_of_failures(table, method, truth)
    chose = any(orders and find_protocol(name).needs_similarity for name, orders in ran.items())
    if chose and predictor is not None and correlation is not None and correlation.stable:
        weak = warn_of_predictor(predictor.label, predictor.sign, correlation)
        warnings += [] if weak is None else [weak]
    claims = make_claims(table, method, truth, terms)
    _, orders = representative_orders(table, method)
    effect = split_variance(orders.repeats(), terms.level)
    if len(set(table.identity[orders.rows[orders.rows >= 0]].tolist())) > 1:  # pooled
        effect = OrderEffect(
            effect.order_count,
            effect.repeated_orders,
            effect.repeats,
            effect.range,
            reason="the settings of trainings differ",
        )
    return MethodAnalysis(
        name=method,
        metric=table.metric,
        claims=claims,
        order_effect=effect,
        next_step=advise(table, method, claims, seconds=seconds, terms=terms),
        truth=None if truth is None else replace(truth, sequences=()),
        runs={name: orders for name, orders in ran.items() if orders},
        correlation=correlation,
        warnings=tuple(warnings),
    )
