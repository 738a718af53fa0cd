"""The analysis of one table of accuracies: what may be claimed about each method."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edgecil.engine.runs import Runs
from edgecil.errors import DataError
from edgecil.estimation.analysis import DatasetAnalysis, MethodAnalysis, PredictorSummary
from edgecil.estimation.choice import unbiased_sequences
from edgecil.estimation.claims import answer, representative_orders
from edgecil.estimation.comparison import compare_pairs
from edgecil.estimation.correlation import correlate
from edgecil.estimation.inference import know_method
from edgecil.estimation.next_step import advise
from edgecil.estimation.oddities import note_oddities, warn_of_failures, warn_of_truth
from edgecil.estimation.predictors import (
    Predictor,
    column_predictor,
    objective_predictor,
    predictor_label,
)
from edgecil.estimation.relabelling import Relabelled, adjust_correlations, relabel
from edgecil.estimation.truth import Truth, find_truth
from edgecil.estimation.variance import split_variance
from edgecil.io.arrays import Floats
from edgecil.sequences.given import NAME as OWN_ORDERS
from edgecil.sequences.objective import OBJECTIVES, applicable_objectives
from edgecil.sequences.protocols import find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.similarity.matrix import Similarity


def analyze_table(
    table: Runs,
    *,
    similarities: Mapping[str, Similarity] | None = None,
    predictor: str = "adjacent",
    why_none: str = "No similarity of the classes was given.",
) -> DatasetAnalysis:
    """Say what the runs of one dataset allow to claim about each method.

    Args:
        table: the runs on one dataset.
        similarities: by source (`text`, `images`), over the table's N classes in ascending order of
            their ids; objectives of the first have their bare names, objectives of the others have
            the source as a prefix.
        predictor: the predictor of accuracy to show beside the orders: an objective's name, or a
            column of the table.
        why_none: a sentence on why there are no similarities, for the notes.
    """
    if table.missing == len(table):
        raise DataError(f"No run on {table.dataset!r} has an accuracy to analyse.")
    table = table.renumbered()
    predictors = build_predictors(table, similarities or {}, predictor)
    notes = note_oddities(table)
    methods: dict[str, MethodAnalysis] = {}
    relabelled: Relabelled = {}
    for method in table.methods:
        if len(table.orders(method)):
            methods[method] = _analyze_method(table, method, predictors, predictor, relabelled)
        else:
            notes.append(f"{method} is left out: none of its runs has an accuracy.")
    sign = predictors[predictor].sign if predictor in predictors else 1
    methods = adjust_correlations(methods, predictor, sign)
    if predictor not in predictors:
        notes.append(
            f"{why_none} Therefore the correlation of accuracy with the similarity of tasks (S) "
            "is unknown."
        )
    origins = (describe_similarity(similarity) for similarity in (similarities or {}).values())
    return DatasetAnalysis(
        table.dataset,
        table.metric,
        table,
        methods,
        compare_pairs(table, tuple(methods)),
        _summarize(table, predictors.get(predictor), next(origins, None)),
        tuple(notes),
        repeats=tuple(np.unique(table.repeat).tolist()),
    )


def describe_similarity(similarity: Similarity) -> str | None:
    """Return the origin of a similarity: encoder and template, or the file; None if unknown."""
    parts = (similarity.source.get(key) for key in ("encoder", "template", "file"))
    return ", ".join(repr(part) if "{" in part else part for part in parts if part) or None


def _summarize(
    table: Runs, predictor: Predictor | None, origin: str | None
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
    table: Runs, similarities: Mapping[str, Similarity], predictor: str
) -> dict[str, Predictor]:
    """Return every objective of every similarity, and the column that is asked for, by name."""
    predictors = {}
    for place, (source, similarity) in enumerate(similarities.items()):
        for objective in applicable_objectives(table.space).values():
            name = objective.name if place == 0 else f"{source} {objective.name}"
            predictors[name] = objective_predictor(similarity, table.space, objective, name=name)
    if predictor not in predictors and predictor not in OBJECTIVES:
        predictors[predictor] = column_predictor(table, predictor)
    return predictors


def _analyze_method(
    table: Runs,
    method: str,
    predictors: Mapping[str, Predictor],
    chosen: str,
    relabelled: Relabelled,
) -> MethodAnalysis:
    truth = find_truth(table, method)
    chosen_by = (name for name in table.protocols if not find_protocol(name).repeats)
    ran = ((name, len(table.orders(method, name))) for name in chosen_by)
    sequences, accuracies = unbiased_orders(table, method, truth)
    correlations = {
        name: correlate(
            other.z(sequences),
            accuracies,
            relabel(other, sequences, relabelled),
        )
        for name, other in predictors.items()
    }
    said, effect = answer(table, method, truth), split_variance(table.repeats(method))
    sample = representative_orders(table, method)
    known = know_method(table, method, sample.sequences, sample.choice)
    # Rows of further orders in a file without protocols are like those before them.
    replaces = not said.blind and set(said.protocols) != {OWN_ORDERS}
    return MethodAnalysis(
        answer=said,
        order_effect=effect,
        next_step=advise(said, effect, known, table.space.size, replaces=replaces),
        truth=None if truth is None else truth.without_sequences(),
        runs={name: count for name, count in ran if count},
        predictor=chosen if chosen in predictors else None,
        correlations=correlations,
        warnings=tuple(warn_of_truth(truth) + warn_of_failures(table, method, truth)),
    )


def unbiased_orders(
    table: Runs, method: str, truth: Truth | None
) -> tuple[tuple[ClassSequence, ...], Floats]:
    """Return orders that represent all of Ω, the truth's or blind ones, with their accuracies."""
    if truth is not None:
        return truth.sequences, truth.accuracies
    orders, unbiased = table.orders(method), set(unbiased_sequences(table, method))
    kept = orders.take(np.array([it in unbiased for it in orders.sequences], dtype=bool))
    return kept.sequences, kept.accuracies
