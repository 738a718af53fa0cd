"""The analysis of one table of accuracies: what each protocol estimates, and how reliably."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from edgecil.engine.accuracies import AccuracyTable, OrderAccuracies
from edgecil.engine.metrics import find_metric
from edgecil.errors import DataError
from edgecil.estimation.analysis import (
    DatasetAnalysis,
    MethodAnalysis,
    PredictorSummary,
    ProtocolEstimate,
)
from edgecil.estimation.budgets import check_draws, count_outside
from edgecil.estimation.claims import answer, bounds_of, cut
from edgecil.estimation.closeness import closeness
from edgecil.estimation.comparison import compare_pairs
from edgecil.estimation.correlation import correlate
from edgecil.estimation.estimators import ESTIMATORS, Observations, independent_variance
from edgecil.estimation.method_rankings import rank_protocols, rank_truth
from edgecil.estimation.next_step import advise
from edgecil.estimation.normality import check_normality
from edgecil.estimation.oddities import note_oddities, warn_of_failures, warn_of_truth
from edgecil.estimation.placebo import ProtocolComparison, compare_protocols
from edgecil.estimation.predictors import (
    Predictor,
    column_predictor,
    objective_predictor,
    pilot_predictor,
    predictor_label,
    unbiased_sequences,
)
from edgecil.estimation.redraws import (
    AllRedraws,
    average_protocols,
    budget_curves,
    find_candidates,
    redraw_estimates,
)
from edgecil.estimation.relabelling import Relabelled, adjust_correlations, relabel
from edgecil.estimation.truth import Truth, find_truth
from edgecil.estimation.variance import split_variance
from edgecil.io.arrays import Floats
from edgecil.sequences.given import NAME as OWN_ORDERS
from edgecil.sequences.objective import OBJECTIVES, applicable_objectives
from edgecil.sequences.protocols import find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

DRAWS = 2_000
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def analyze_table(
    table: AccuracyTable,
    *,
    similarities: Mapping[str, Similarity] | None = None,
    predictor: str = "adjacent",
    pilot: AccuracyTable | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    why_none: str = "No similarity of the classes was given.",
) -> DatasetAnalysis:
    """Estimate each method's distribution of accuracy, and evaluate the estimates.

    Args:
        table: the runs on one dataset.
        similarities: by source (`text`, `images`), over the table's N classes in ascending order of
            their ids; objectives of the first have their bare names, objectives of the others have
            the source as a prefix.
        predictor: what the estimators `regression` and `stratified` use: an objective's name, a
            column of the table, or `pilot`.
        pilot: cheap runs of the same methods over the same classes.
        draws: number of random draws of each protocol.
        seed: seed of those draws.
        why_none: a sentence on why there are no similarities, for the notes.
    """
    check_draws(draws)
    if table.failed == len(table.runs):
        raise DataError(f"No run on {table.dataset!r} has an accuracy to analyse.")
    table = table.renumbered()
    pilot = None if pilot is None else pilot.renumbered()
    shared = build_predictors(table, similarities or {}, predictor)
    notes = note_oddities(table)
    methods: dict[str, MethodAnalysis] = {}
    redraws: dict[str, AllRedraws] = {}
    relabelled: Relabelled = {}
    for method in table.methods:
        if not len(table.orders(method)):
            notes.append(f"{method} is left out: none of its runs has an accuracy.")
            continue
        predictors = dict(shared)
        if pilot is not None:
            predictors["pilot"] = pilot_predictor(pilot, method)
        methods[method], redraws[method] = _analyze_method(
            table, method, predictors, predictor, draws, seed, relabelled
        )
    sign = shared[predictor].sign if predictor in shared else 1
    methods = adjust_correlations(methods, predictor, sign)
    if not any(method.predictor for method in methods.values()):
        notes.append(
            f"{why_none} Therefore the correlation of accuracy with the similarity of tasks (S) "
            "is unknown, and no estimate uses it."
        )
    origins = (describe_similarity(similarity) for similarity in (similarities or {}).values())
    higher = find_metric(table.metric).higher_is_better
    return DatasetAnalysis(
        table.dataset,
        table.metric,
        table,
        methods,
        rank_truth(methods, methods, higher_is_better=higher),
        rank_protocols(methods, redraws, higher_is_better=higher),
        compare_pairs(table, tuple(methods)),
        _summarize(table, shared.get(predictor), next(origins, None)),
        _compare_protocols(table, methods, seed),
        tuple(notes),
        repeats=tuple(sorted({run.seed for run in table.runs})),
    )


def _compare_protocols(
    table: AccuracyTable, methods: Mapping[str, MethodAnalysis], seed: int
) -> dict[str, ProtocolComparison]:
    """Return protocols beside random orders and a placebo, over the methods that have a truth."""
    candidates, runs = {}, dict[str, int]()
    for name, method in methods.items():
        if method.truth is not None:
            ran = {protocol: table.orders(name, protocol) for protocol in method.estimates}
            candidates[name] = find_candidates(method.truth, ran, None)
            for protocol, orders in ran.items():
                runs[protocol] = max(runs.get(protocol, 0), len(orders))
    return compare_protocols(candidates, runs, table.space, seed=seed)


def describe_similarity(similarity: Similarity) -> str | None:
    """Return the origin of a similarity: encoder and template, or the file; None if unknown."""
    parts = (similarity.source.get(key) for key in ("encoder", "template", "file"))
    return ", ".join(repr(part) if "{" in part else part for part in parts if part) or None


def _summarize(
    table: AccuracyTable, predictor: Predictor | None, origin: str | None
) -> PredictorSummary | None:
    """Return what a report needs of a predictor: its z for every sequence of the table."""
    if predictor is None:
        return None
    values = zip(table.sequences, predictor.z(table.sequences).tolist(), strict=True)
    return PredictorSummary(
        predictor.name,
        predictor_label(predictor.name),
        origin if predictor.name in OBJECTIVES else None,
        predictor.sign,
        {str(sequence): z for sequence, z in values if np.isfinite(z)},
    )


def build_predictors(
    table: AccuracyTable, similarities: Mapping[str, Similarity], predictor: str
) -> dict[str, Predictor]:
    """Return every objective of every similarity, and the column that is asked for, by name."""
    predictors = {}
    for place, (source, similarity) in enumerate(similarities.items()):
        for objective in applicable_objectives(table.space).values():
            name = objective.name if place == 0 else f"{source} {objective.name}"
            predictors[name] = objective_predictor(similarity, table.space, objective, name=name)
    if predictor not in predictors and predictor not in OBJECTIVES and predictor != "pilot":
        predictors[predictor] = column_predictor(table, predictor)
    return predictors


def _analyze_method(
    table: AccuracyTable,
    method: str,
    predictors: dict[str, Predictor],
    chosen: str,
    draws: int,
    seed: int,
    relabelled: Relabelled,
) -> tuple[MethodAnalysis, AllRedraws]:
    space, truth = table.space, find_truth(table, method)
    predictor = predictors.get(chosen)
    ran = {
        name: orders
        for name in table.protocols
        if not find_protocol(name).repeats and len(orders := table.orders(method, name))
    }
    evaluated = {
        name: orders
        for name, orders in ran.items()
        if truth is None or truth.kind == "sample" or name not in truth.protocols
    }
    estimates = {
        name: _estimate(
            table,
            method,
            name,
            predictor,
            None if truth is None or name in truth.protocols else truth.accuracies,
        )
        for name in evaluated
    }
    sample = _unbiased_orders(table, method, truth)
    correlations = {
        name: correlate(
            other.z(sample.sequences),
            sample.accuracies,
            relabel(other, sample.sequences, relabelled),
        )
        for name, other in predictors.items()
    }
    warnings = warn_of_truth(truth) + warn_of_failures(table, method, truth)
    candidates = None
    if truth is not None:
        candidates = find_candidates(
            truth, evaluated, predictor, partial(table.class_accuracies, method)
        )
    redraws = (
        {}
        if candidates is None
        else redraw_estimates(candidates, evaluated, space, draws=draws, seed=seed)
    )
    said, effect = answer(table, method, truth), split_variance(table.repeats(method))
    # Rows of further orders in a file without protocols are like those before them.
    replaces = not said.blind and set(said.protocols) != {OWN_ORDERS}
    analysis = MethodAnalysis(
        answer=said,
        order_effect=effect,
        next_step=advise(said, effect, space.size, replaces=replaces),
        truth=truth,
        estimates=estimates,
        runs={name: len(orders) for name, orders in ran.items()},
        redraws={
            protocol: {name: drawn.summary() for name, drawn in by_estimator.items()}
            for protocol, by_estimator in redraws.items()
        },
        averages=average_protocols(truth, redraws) if truth else {},
        predictor=None if predictor is None else chosen,
        correlations=correlations,
        normality=check_normality(sample.accuracies),
        by_budget={} if candidates is None else budget_curves(candidates, draws=draws, seed=seed),
        outside_range={}
        if candidates is None
        else {
            name: count_outside(candidates.accuracies[places], candidates.truth.accuracies)
            for name, places in candidates.extremes.items()
        },
        warnings=tuple(warnings),
    )
    return analysis, redraws


def _unbiased_orders(table: AccuracyTable, method: str, truth: Truth | None) -> OrderAccuracies:
    """Return the orders that represent all of Ω: the truth, or orders not chosen by similarity."""
    if truth is not None:
        return OrderAccuracies(("",) * len(truth.sequences), truth.sequences, truth.accuracies)
    unbiased = set(unbiased_sequences(table, method))
    accuracies = table.orders(method).by_sequence()
    kept = {sequence: value for sequence, value in accuracies.items() if sequence in unbiased}
    return OrderAccuracies(("",) * len(kept), tuple(kept), np.array(list(kept.values())))


def _runs(
    sequences: tuple[ClassSequence, ...],
    accuracies: Floats,
    predictor: Predictor | None,
    space: SequenceSpace,
) -> Observations:
    if predictor is None:
        return Observations(accuracies, space_size=space.size)
    return Observations(accuracies, predictor.z(sequences), predictor.levels(), space.size)


def _estimate(
    table: AccuracyTable,
    method: str,
    protocol: str,
    predictor: Predictor | None,
    truth: Floats | None,
) -> dict[str, ProtocolEstimate]:
    """Return every estimator's answer, or why it has none."""
    orders, space, bounds = table.orders(method, protocol), table.space, bounds_of(table.metric)
    once = orders.by_sequence()
    labelled = _runs(orders.sequences, orders.accuracies, predictor, space)
    distinct = _runs(tuple(once), np.array(list(once.values())), predictor, space)
    classes = None if len(once) < 2 else table.class_accuracies(method, tuple(once))
    if classes is not None:
        distinct = replace(distinct, class_variance=float(independent_variance(classes)))
    if len(once) > 1:
        distinct = replace(distinct, overlap=find_protocol(protocol).overlap(tuple(once)))
    answers = {}
    for name, estimator in ESTIMATORS.items():
        runs = labelled if estimator.counts_repeats else distinct
        count, reason = len(runs.accuracies), estimator.obstacle(runs)
        if reason is not None:
            answers[name] = ProtocolEstimate(None, count, None, f"{name} {reason}")
            continue
        estimate = estimator(runs)
        if estimate.mean_interval is not None and estimate.prediction_interval is not None:
            estimate = replace(
                estimate,
                mean_interval=cut(estimate.mean_interval, bounds),
                prediction_interval=cut(estimate.prediction_interval, bounds),
            )
        levels = estimate.distribution.quantile(np.array(_QUANTILES)).tolist()
        answers[name] = ProtocolEstimate(
            estimate,
            count,
            None if truth is None else closeness(truth, estimate),
            quantiles={f"{p:g}": level for p, level in zip(_QUANTILES, levels, strict=True)},
        )
    return answers
