"""The whole judgement of a table of accuracies: what protocols say, how far to trust them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from edgecil.engine.accuracies import AccuracyTable, OrderAccuracies
from edgecil.errors import DataError, UsageError
from edgecil.estimation.analysis import Analysis, MethodAnalysis, ProtocolEstimate
from edgecil.estimation.closeness import closeness
from edgecil.estimation.comparison import Comparison, compare
from edgecil.estimation.correlation import correlate, warn_of_predictor
from edgecil.estimation.estimators import ESTIMATORS, Observations
from edgecil.estimation.method_rankings import rank_protocols, rank_truth
from edgecil.estimation.normality import check_normality
from edgecil.estimation.predictors import (
    Predictor,
    column_predictor,
    objective_predictor,
    pilot_predictor,
    unbiased_sequences,
)
from edgecil.estimation.redraws import (
    average_protocols,
    build_pool,
    redraw_estimates,
    sample_curves,
)
from edgecil.estimation.samples import capture
from edgecil.estimation.truth import Truth, find_truth
from edgecil.estimation.variance import split_variance
from edgecil.io.arrays import Floats
from edgecil.sequences.objective import OBJECTIVES, applicable_objectives
from edgecil.sequences.protocols import tell_repeats
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

DRAWS = 2_000
_NAMED = 3


def judge(
    table: AccuracyTable,
    *,
    similarities: Mapping[str, Similarity] | None = None,
    predictor: str = "adjacent",
    pilot: AccuracyTable | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Analysis:
    """Estimate, compare with the truth where there is one, and say how far to trust it.

    Args:
        table: the runs of one dataset.
        similarities: by source (`text`, `images`), over the table's N classes in ascending order of
            their ids; the first is the one whose objectives go by their bare names.
        predictor: what `regression` and `stratified` use: an objective's name, a column of the
            table's file, or `pilot`.
        pilot: cheap runs of the same methods over the same classes.
        draws: how often random parts of protocols are drawn again to be averaged over.
        seed: of those draws.
    """
    if draws < 1:
        raise UsageError(f"The 'draws' parameter must be an int >= 1. Got {draws} instead.")
    if table.failed == len(table.runs):
        raise DataError(f"No run on {table.dataset!r} has an accuracy; there is nothing to judge.")
    table = table.renumbered()
    pilot = None if pilot is None else pilot.renumbered()
    shared = build_predictors(table, similarities or {}, predictor)
    notes = []
    if table.failed:
        notes.append(f"{table.failed} of {len(table.runs)} runs have no accuracy and do not count.")
    notes += _tell_repeats(table) + _tell_contradictions(table) + _tell_fractions(table)
    methods = {}
    for method in table.methods:
        if not len(table.orders(method)):
            notes.append(f"No run of {method} has an accuracy yet, or all failed; it is left out.")
            continue
        known = dict(shared)
        if pilot is not None:
            known["pilot"] = pilot_predictor(pilot, method)
        methods[method] = _judge_method(table, method, known, predictor, draws, seed)
    if not any(found.predictor for found in methods.values()):
        notes.append(
            f"There is no predictor {predictor!r} here (no similarity of the classes is known), so "
            "nothing is said about how well it predicts, and no estimate uses it."
        )
    return Analysis(
        table.dataset,
        methods,
        rank_truth(methods, methods),
        rank_protocols(methods),
        _compare(table, methods),
        notes,
    )


def _tell_repeats(table: AccuracyTable) -> list[str]:
    """A sentence on each protocol whose labels share sequences."""
    runs: dict[str, dict[tuple[str, ClassSequence], None]] = {}
    for run in table.runs:
        runs.setdefault(run.protocol, {})[run.label, run.sequence] = None
    told = (tell_repeats(protocol, labelled) for protocol, labelled in runs.items())
    return [sentence for sentence in told if sentence is not None]


def _tell_contradictions(table: AccuracyTable) -> list[str]:
    """A sentence if one training seems to have had two results."""
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


def _tell_fractions(table: AccuracyTable) -> list[str]:
    """A sentence if accuracies look like fractions."""
    most = max(run.accuracy for run in table.runs if run.accuracy is not None)
    if not 0.0 < most <= 1.0:
        return []
    return [
        f"No accuracy is above {most:g} %: if these are fractions, multiply them by 100, as "
        "accuracies here are per cent."
    ]


def build_predictors(
    table: AccuracyTable, similarities: Mapping[str, Similarity], predictor: str
) -> dict[str, Predictor]:
    """Every objective of every similarity, and the column that is asked for, by name."""
    found = {}
    for place, (source, similarity) in enumerate(similarities.items()):
        for objective in applicable_objectives(table.space).values():
            name = objective.name if place == 0 else f"{source} {objective.name}"
            found[name] = objective_predictor(similarity, table.space, objective, name=name)
    if predictor not in found and predictor not in OBJECTIVES and predictor != "pilot":
        found[predictor] = column_predictor(table, predictor)
    return found


def _judge_method(
    table: AccuracyTable,
    method: str,
    predictors: dict[str, Predictor],
    chosen: str,
    draws: int,
    seed: int,
) -> MethodAnalysis:
    space, truth = table.space, find_truth(table, method)
    predictor = predictors.get(chosen)
    ran = {name: orders for name in table.protocols if len(orders := table.orders(method, name))}
    judged = {
        name: orders
        for name, orders in ran.items()
        if truth is None or truth.kind == "sample" or name not in truth.protocols
    }
    estimates = {
        name: _estimate(
            orders,
            predictor,
            space,
            None if truth is None or name in truth.protocols else truth.accuracies,
        )
        for name, orders in judged.items()
    }
    evidence = _evidence(table, method, truth)
    correlations = {
        name: correlate(known.z(evidence.sequences), evidence.accuracies)
        for name, known in predictors.items()
    }
    warnings = _warn_of_truth(truth) + _warn_of_failures(table, method, truth)
    if predictor is not None:
        warning = warn_of_predictor(
            "S" if chosen == "adjacent" else chosen, predictor.sign, correlations[chosen]
        )
        warnings += [] if warning is None else [warning]
    pool = None if truth is None else build_pool(truth, judged, predictor)
    redrawn = redraw_estimates(pool, judged, space, draws=draws, seed=seed) if pool else {}
    return MethodAnalysis(
        truth=truth,
        estimates=estimates,
        runs={name: len(orders) for name, orders in ran.items()},
        redrawn=redrawn,
        averages=average_protocols(truth, redrawn) if truth else {},
        predictor=None if predictor is None else chosen,
        correlations=correlations,
        normality=check_normality(evidence.accuracies),
        variance=split_variance(table.repeats(method)),
        samples=sample_curves(pool, draws=draws, seed=seed) if pool else {},
        captures={
            name: capture(pool.accuracies[places], pool.truth.accuracies)
            for name, places in pool.extremes.items()
        }
        if pool
        else {},
        warnings=warnings,
    )


def _evidence(table: AccuracyTable, method: str, truth: Truth | None) -> OrderAccuracies:
    """The orders on which statistics over Ω may rest: the truth, or whatever was drawn blindly."""
    if truth is not None:
        return OrderAccuracies(("",) * len(truth.sequences), truth.sequences, truth.accuracies)
    blind = set(unbiased_sequences(table, method))
    found = table.orders(method).by_sequence()
    kept = {sequence: value for sequence, value in found.items() if sequence in blind}
    return OrderAccuracies(("",) * len(kept), tuple(kept), np.array(list(kept.values())))


def _warn_of_truth(truth: Truth | None) -> list[str]:
    if truth is None or truth.kind == "sample" or len(truth.sequences) == truth.orders:
        return []
    return [
        f"Only {len(truth.sequences)} of {truth.orders} sequences have an accuracy; the truth is "
        "taken from those."
    ]


def _warn_of_failures(table: AccuracyTable, method: str, truth: Truth | None) -> list[str]:
    """A sentence on each protocol that lacks some of its sequences."""
    told = []
    for protocol in table.protocols:
        lost = table.failures(method, protocol)
        if not lost or (truth is not None and protocol in truth.protocols):
            continue
        named = [*lost[:_NAMED], *([f"{len(lost) - _NAMED} more"] if lost[_NAMED:] else [])]
        left = len(table.orders(method, protocol))
        rest = "nothing is" if left == 0 else "one run is" if left == 1 else f"{left} runs are"
        runs = " and ".join(named)
        told.append(f"Of {protocol}'s runs {runs} failed or have not ended: {rest} left of it.")
    return told


def _runs(
    sequences: tuple[ClassSequence, ...],
    accuracies: Floats,
    predictor: Predictor | None,
    space: SequenceSpace,
) -> Observations:
    if predictor is None:
        return Observations(accuracies, orders=space.size)
    return Observations(accuracies, predictor.z(sequences), predictor.levels(), space.size)


def _estimate(
    orders: OrderAccuracies, predictor: Predictor | None, space: SequenceSpace, truth: Floats | None
) -> dict[str, ProtocolEstimate]:
    """Every estimator's answer, or why it has none."""
    once = orders.by_sequence()
    labelled = _runs(orders.sequences, orders.accuracies, predictor, space)
    distinct = _runs(tuple(once), np.array(list(once.values())), predictor, space)
    found = {}
    for name, estimator in ESTIMATORS.items():
        runs = labelled if estimator.counts_repeats else distinct
        count, reason = len(runs.accuracies), estimator.obstacle(runs)
        if reason is not None:
            found[name] = ProtocolEstimate(None, count, None, f"{name} {reason}")
            continue
        estimate = estimator(runs)
        found[name] = ProtocolEstimate(
            estimate, count, None if truth is None else closeness(truth, estimate)
        )
    return found


def _compare(
    table: AccuracyTable, methods: Mapping[str, object]
) -> dict[tuple[str, str], Comparison]:
    """Every pair of methods on the orders that both ran."""
    by_method = {name: table.orders(name).by_sequence() for name in methods}
    found = {}
    for first, second in combinations(methods, 2):
        both = [sequence for sequence in by_method[first] if sequence in by_method[second]]
        if both:
            found[first, second] = compare(
                [by_method[first][sequence] for sequence in both],
                [by_method[second][sequence] for sequence in both],
            )
    return found
