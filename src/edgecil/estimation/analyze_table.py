"""The analysis of one table of accuracies: what each protocol estimates, and how reliably."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from edgecil.engine.accuracies import AccuracyTable, OrderAccuracies, Run
from edgecil.engine.metrics import METRICS
from edgecil.errors import DataError, UsageError
from edgecil.estimation.analysis import (
    DatasetAnalysis,
    MethodAnalysis,
    PredictorSummary,
    ProtocolEstimate,
)
from edgecil.estimation.budgets import count_outside
from edgecil.estimation.claims import answer, bounds_of, cut
from edgecil.estimation.closeness import closeness
from edgecil.estimation.comparison import compare_pairs
from edgecil.estimation.correlation import correlate
from edgecil.estimation.estimators import ESTIMATORS, Observations
from edgecil.estimation.intervals import Interval, position_overlap
from edgecil.estimation.method_rankings import rank_protocols, rank_truth
from edgecil.estimation.next_step import advise
from edgecil.estimation.normality import check_normality
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
    EXTREMES,
    AllRedraws,
    average_protocols,
    budget_curves,
    find_candidates,
    labelled_orders,
    redraw_estimates,
)
from edgecil.estimation.relabelling import Relabelled, adjust_correlations, relabel
from edgecil.estimation.truth import Truth, find_truth
from edgecil.estimation.variance import split_variance
from edgecil.io.arrays import Floats
from edgecil.sequences.given import REPEATS
from edgecil.sequences.objective import OBJECTIVES, applicable_objectives
from edgecil.sequences.protocols import describe_duplicates
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

DRAWS = 2_000
_NAMED = 3
_FRACTION = 1.0
_NEAR = 10.0  # points
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
    if draws < 1:
        raise UsageError(f"The 'draws' parameter must be an int >= 1. Got {draws} instead.")
    if table.failed == len(table.runs):
        raise DataError(f"No run on {table.dataset!r} has an accuracy to analyse.")
    table = table.renumbered()
    pilot = None if pilot is None else pilot.renumbered()
    shared = build_predictors(table, similarities or {}, predictor)
    notes = []
    if table.failed:
        notes.append(f"{table.failed} of {len(table.runs)} runs have no accuracy and do not count.")
    notes += _note_repeats(table) + _note_contradictions(table) + _note_fractions(table)
    notes += _note_extremes(table)
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
    higher = table.metric not in METRICS or METRICS[table.metric].higher_is_better
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


def _note_repeats(table: AccuracyTable) -> list[str]:
    """Return a sentence on each protocol whose labels share sequences."""
    runs: dict[str, dict[tuple[str, int], None]] = {}
    for run, place in zip(table.runs, table.places, strict=True):
        runs.setdefault(run.protocol, {})[run.label, place] = None
    notes = []
    for protocol, labelled in runs.items():
        sequences = ((label, table.sequences[place]) for label, place in labelled)
        sentence = describe_duplicates(protocol, sequences)
        if sentence is None:
            continue
        if protocol in ("random", "random-legacy") and set(runs) - {protocol, "enumerate"}:
            # gaussian on 19 truth tables of 90 orders, in standard deviations of the truth
            sentence += (
                " This puts it at a disadvantage against other protocols: three runs with one "
                "order twice have a mean W₁ of 0.76 standard deviations, three different "
                "orders 0.60."
            )
        notes.append(sentence)
    return notes


def _note_contradictions(table: AccuracyTable) -> list[str]:
    """Return a sentence if the same training has two different accuracies."""
    pairs = table.contradictions()
    if not pairs:
        return []
    first, other = pairs[0]
    return [
        f"{first.method} has two accuracies on {str(first.sequence)!r} with seed "
        f"{first.seed}, {first.accuracy:g} ({first.protocol} {first.label}) and "
        f"{other.accuracy:g} ({other.protocol} {other.label}); pairs of this kind: {len(pairs)}. "
        "They count as repeated trainings; if one is wrong, remove it."
    ]


def _note_extremes(table: AccuracyTable) -> list[str]:
    """Return a sentence on each protocol that calls several orders hard, or several easy."""
    notes = []
    for protocol in table.protocols:
        orders = [table.orders(method, protocol) for method in table.methods]
        for label in EXTREMES:
            by_method = [labelled_orders(own, label) for own in orders]
            different = set[ClassSequence]().union(*by_method)
            if len(different) < 2:
                continue
            effect = (
                "it is not compared with random orders"
                if any(len(own) > 1 for own in by_method)
                else "the methods ran different ones"
            )
            notes.append(
                f"{protocol} has {len(different)} different orders with the label {label!r}; "
                f"{effect}. Give each its own protocol."
            )
    return notes


def _note_fractions(table: AccuracyTable) -> list[str]:
    """Return a sentence if accuracies look like fractions."""
    most = max(run.accuracy for run in table.runs if run.accuracy is not None)
    if 0.0 < most <= 1.0:
        return [
            f"No accuracy is above {most:g} %: if these are fractions, multiply them by 100, as "
            "accuracies here are per cent."
        ]
    if table.metric not in METRICS or METRICS[table.metric].bounds[0] < 0.0:
        return []
    return [
        f"{run.method} has the {table.metric} {run.accuracy:g} on {str(run.sequence)!r} ("
        f"{run.protocol}, seed {run.seed}), while its other orders have {low:g} to {high:g} %: if "
        "it is a fraction, multiply it by 100."
        for method in table.methods
        for run, low, high in _fractions(table, method)[:_NAMED]
    ]


def _fractions(table: AccuracyTable, method: str) -> list[tuple[Run, float, float]]:
    """Return runs up to 1 % that would fit the method's others, in per cent, if times 100."""
    values = [run.accuracy for run in table.runs_of(method) if run.accuracy is not None]
    usual = [value for value in values if value > _FRACTION]
    if not usual or len(usual) == len(values):
        return []
    low, high = min(usual), max(usual)
    return [
        (run, low, high)
        for run in table.runs_of(method)
        if run.accuracy is not None
        and 0.0 < run.accuracy <= _FRACTION
        and low - _NEAR <= 100.0 * run.accuracy <= high + _NEAR
    ]


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
        if name != REPEATS and len(orders := table.orders(method, name))
    }
    evaluated = {
        name: orders
        for name, orders in ran.items()
        if truth is None or truth.kind == "sample" or name not in truth.protocols
    }
    estimates = {
        name: _estimate(
            name,
            orders,
            predictor,
            space,
            None if truth is None or name in truth.protocols else truth.accuracies,
            bounds_of(table.metric),
        )
        for name, orders in evaluated.items()
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
    warnings = _warn_of_truth(truth) + _warn_of_failures(table, method, truth)
    candidates = None if truth is None else find_candidates(truth, evaluated, predictor)
    redraws = (
        {}
        if candidates is None
        else redraw_estimates(candidates, evaluated, space, draws=draws, seed=seed)
    )
    said, effect = answer(table, method, truth), split_variance(table.repeats(method))
    analysis = MethodAnalysis(
        answer=said,
        order_effect=effect,
        next_step=advise(said, effect, space.size),
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


def _warn_of_truth(truth: Truth | None) -> list[str]:
    if truth is None or truth.kind == "sample" or len(truth.sequences) == truth.space_size:
        return []
    return [
        f"Only {len(truth.sequences)} of {truth.space_size} sequences have an accuracy; they are "
        "used as the truth."
    ]


def _warn_of_failures(table: AccuracyTable, method: str, truth: Truth | None) -> list[str]:
    """Return a sentence on each protocol some of whose sequences have no accuracy."""
    if not table.failed:
        return []
    warnings = []
    for protocol in table.protocols:
        lost = table.failures(method, protocol)
        pending = {run.label for run in table.runs_of(method, protocol) if run.pending}
        waiting = sum(label in pending for label in lost)
        lost = tuple(label for label in lost if label not in pending)
        if waiting and (truth is None or protocol not in truth.protocols):
            orders = "1 order is" if waiting == 1 else f"{waiting} orders are"
            warnings.append(f"{protocol}: {orders} not run yet.")
        if not lost or (truth is not None and protocol in truth.protocols):
            continue
        named = [*lost[:_NAMED], *([f"{len(lost) - _NAMED} more"] if lost[_NAMED:] else [])]
        left = len(table.orders(method, protocol))
        rest = "1 order remains" if left == 1 else f"{left} orders remain"
        warnings.append(f"{protocol}: {' and '.join(named)} failed or did not finish; {rest}.")
    return warnings


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
    protocol: str,
    orders: OrderAccuracies,
    predictor: Predictor | None,
    space: SequenceSpace,
    truth: Floats | None,
    bounds: Interval,
) -> dict[str, ProtocolEstimate]:
    """Return every estimator's answer, or why it has none."""
    once = orders.by_sequence()
    labelled = _runs(orders.sequences, orders.accuracies, predictor, space)
    distinct = _runs(tuple(once), np.array(list(once.values())), predictor, space)
    if protocol == "latin" and len(once) > 1:
        distinct = replace(distinct, overlap=position_overlap(tuple(once)))
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
