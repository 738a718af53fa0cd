"""`audit`: how close protocols and estimators come to the truth of an enumerated experiment."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

from edgecil.engine.experiment import Experiment
from edgecil.engine.metrics import find_metric
from edgecil.engine.runs import Runs
from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.estimation.analysis import build_predictors
from edgecil.estimation.claims import cut
from edgecil.estimation.correlation import Predictor, pilot_predictor
from edgecil.estimation.population import independent_variance
from edgecil.estimation.similarities import Similarities, describe_given, find_similarities
from edgecil.estimation.sources import (
    Source,
    describe_source,
    gather,
)
from edgecil.estimation.truth import LEAST_SAMPLE, Truth, find_truth
from edgecil.io.arrays import Floats
from edgecil.lab.audits import Audit, AuditOptions, DatasetAudit, MethodAudit, ProtocolEstimate
from edgecil.lab.budgets import check_draws, count_outside
from edgecil.lab.closeness import closeness
from edgecil.lab.estimators import ESTIMATORS, Observations
from edgecil.lab.method_rankings import rank_protocols, rank_truth
from edgecil.lab.placebo import ProtocolComparison, compare_protocols
from edgecil.lab.redraws import (
    AllRedraws,
    average_protocols,
    budget_curves,
    find_candidates,
    redraw_estimates,
)
from edgecil.sequences.protocols import find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

PILOT = "pilot"
_FOLDER = "audits"
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def audit(
    source: Source | Sequence[Source],
    *,
    metric: str | None = None,
    classifier: str | None = None,
    similarity: Similarities | None = None,
    predictor: str = AuditOptions.predictor,
    pilot: Source | None = None,
    draws: int = AuditOptions.draws,
    draw_seed: int = AuditOptions.draw_seed,
) -> Audit:
    """Compare protocols and estimators with the truth, which the runs must contain.

    The truth of a method is the accuracy of every class order, or of 30 random ones. The audit of
    an experiment is stored in its directory, as `audits/METRIC.json`; the report shows it, and the
    same call returns it as long as results, options and the version of edgecil stay the same.

    Args:
        source: experiment directories and CSV files of accuracies. Runs of several sources on the
            same dataset are audited together. In Python also experiments, DataFrames and accuracy
            tables.
        metric: metric to audit; by default the one in the experiment's configuration, or else
            `accuracy`, the paper's A(O).
        classifier: classifier of the methods to audit; by default each method's main one.
        similarity: file with the similarity of the classes, for predictors. By default that of the
            experiment's sequences or, for a CSV file, that of the dataset's class names. In Python
            also a similarity, or several by the name of their source.
        predictor: what the estimator `regression` uses: an objective, a column of the CSV file, or
            `pilot`; by default `adjacent`, the paper's S.
        pilot: cheap runs of the same methods on the same classes.
        draws: number of random draws of each protocol; if there are fewer possible draws, each is
            made once.
        draw_seed: seed of those draws.
    """
    check_draws(draws)
    if predictor == PILOT and pilot is None:
        raise UsageError(
            "The predictor 'pilot' requires the pilot's runs; give the 'pilot' parameter."
        )
    gathered = gather(source, metric=metric, classifier=classifier)
    sources, runs = gathered.sources, gathered.datasets
    options = AuditOptions(
        gathered.metric,
        classifier,
        describe_given(similarity),
        predictor,
        None if pilot is None else describe_source(pilot),
        draws,
        draw_seed,
    )
    kept = None
    if len(sources) == 1 and isinstance(sources[0], Experiment):
        kept = audit_file(sources[0].directory, options.metric, classifier)
        stored = load_audit(kept)
        digests = [runs_digest(part.table.renumbered()) for part in runs]
        if (
            stored is not None
            and stored.options == options
            and stored.version == version("edgecil")
            and [dataset.runs_digest for dataset in stored.datasets] == digests
            and similarity is None
            and pilot is None
        ):
            return replace(stored, sources=(describe_source(sources[0]),))
    pilots = {}
    if pilot is not None:
        cheap = gather(pilot, metric=options.metric, classifier=classifier).datasets
        pilots = {part.table.dataset: part.table for part in cheap}
    datasets = []
    for part in runs:
        name = part.table.dataset
        if pilots and name not in pilots:
            raise UsageError(f"The pilot has no runs on {name!r}, but on {', '.join(pilots)}.")
        similarities, _, _ = find_similarities(part, similarity)
        made = audit_table(
            part.table,
            similarities=similarities,
            predictor=predictor,
            pilot=pilots.get(name),
            draws=draws,
            seed=draw_seed,
        )
        if all(method.truth is None for method in made.methods.values()):
            raise DataError(
                f"An audit requires a truth, and no method on {name!r} has one: run every class "
                f"order (protocol 'enumerate'), or at least {LEAST_SAMPLE} random ones."
            )
        datasets.append(made)
    words = gathered.words
    finished = Audit(words, options, tuple(datasets), version("edgecil"))
    if kept is not None:
        with suppress(EdgecilError):  # the directory may be read-only
            finished.save(kept)
    return finished


def audit_file(directory: Path, metric: str, classifier: str | None = None) -> Path:
    """Return where the audit of an experiment is stored."""
    name = metric if classifier is None else f"{metric}-{classifier}"
    return directory / _FOLDER / f"{name}.json"


def load_audit(path: Path) -> Audit | None:
    """Return a stored audit; None if there is none, or none that this version can read."""
    with suppress(DataError):
        return Audit.load(path)
    return None


def runs_digest(table: Runs) -> str:
    """Return a key of the runs of a table whose classes are numbered 0 … N-1."""
    texts = table.dataset, table.metric, table.methods, table.protocols, table.labels
    digest = hashlib.sha256(repr((texts, list(map(str, table.sequences)))).encode())
    columns = table.method, table.protocol, table.label, table.sequence, table.seed, table.values
    for column in columns:
        digest.update(column.tobytes())
    return digest.hexdigest()[:16]


def audit_table(
    table: Runs,
    *,
    similarities: Mapping[str, Similarity] | None = None,
    predictor: str = AuditOptions.predictor,
    pilot: Runs | None = None,
    draws: int = AuditOptions.draws,
    seed: int = AuditOptions.draw_seed,
) -> DatasetAudit:
    """Estimate each method's distribution of accuracy in every way, and evaluate the estimates.

    Without a truth there are estimates and rankings, and nothing that they are compared with.

    Args:
        table: the runs on one dataset.
        similarities: by source, as for :func:`edgecil.estimation.analysis`.
        predictor: what the estimator `regression` uses: an objective's name, a column of the
            table, or `pilot`.
        pilot: cheap runs of the same methods over the same classes.
        draws: number of random draws of each protocol.
        seed: seed of those draws.
    """
    table = table.renumbered()
    pilot = None if pilot is None else pilot.renumbered()
    shared = build_predictors(
        table, similarities or {}, AuditOptions.predictor if predictor == PILOT else predictor
    )
    predictors = {name: shared.get(predictor) for name in table.methods}
    if predictor == PILOT and pilot is not None:
        predictors = {name: pilot_predictor(pilot, name) for name in table.methods}
    methods = estimate_methods(table, predictors)
    redraws: dict[str, AllRedraws] = {name: {} for name in methods}
    for name, method in methods.items():
        if method.truth is not None:
            methods[name], redraws[name] = _redrawn(
                table, name, method, method.truth, predictors[name], draws, seed
            )
    higher = find_metric(table.metric).higher_is_better
    evaluated = {name for method in methods.values() for name in method.estimates}
    return DatasetAudit(
        table.dataset,
        table.metric,
        runs_digest(table),
        tuple(name for name in table.protocols if name in evaluated),
        methods,
        rank_truth(methods, methods, higher_is_better=higher),
        rank_protocols(methods, redraws, higher_is_better=higher),
        _compare_protocols(table, methods, seed),
    )


def estimate_methods(
    table: Runs, predictors: Mapping[str, Predictor | None]
) -> dict[str, MethodAudit]:
    """Return what the runs of each protocol say about each method, as they are.

    Args:
        table: the runs on one dataset.
        predictors: by method; None for none.
    """
    methods = {}
    for method in table.methods:
        every = table.orders(method).accuracies
        if not len(every):
            continue
        truth = find_truth(table, method)
        ran = {
            name: count
            for name in table.protocols
            if not find_protocol(name).repeats and (count := len(table.orders(method, name)))
        }
        true = None if truth is None else truth.accuracies
        members = () if truth is None else truth.protocols
        all_run = truth is not None and truth.kind == "enumerated"
        estimates = {
            name: _estimate(
                table, method, name, predictors[method], None if name in members else true
            )
            for name in ran
            if not all_run or name not in members
        }
        ends = float(every.min()), float(every.max())
        methods[method] = MethodAudit(truth, ran, *ends, estimates, {}, {}, {}, {})
    return methods


def _redrawn(
    table: Runs,
    name: str,
    method: MethodAudit,
    truth: Truth,
    predictor: Predictor | None,
    draws: int,
    seed: int,
) -> tuple[MethodAudit, AllRedraws]:
    """Return a method's audit with what other draws of each protocol give, and these draws."""
    evaluated = {protocol: table.orders(name, protocol) for protocol in method.estimates}
    candidates = find_candidates(truth, evaluated, predictor, partial(table.class_accuracies, name))
    redraws = redraw_estimates(candidates, evaluated, table.space, draws=draws, seed=seed)
    audited = replace(
        method,
        redraws={
            protocol: {estimator: drawn.summary() for estimator, drawn in by_estimator.items()}
            for protocol, by_estimator in redraws.items()
        },
        averages=average_protocols(truth, redraws),
        by_budget=budget_curves(candidates, draws=draws, seed=seed),
        outside_range={
            protocol: count_outside(candidates.accuracies[places], truth.accuracies)
            for protocol, places in candidates.extremes.items()
        },
    )
    return audited, redraws


def _compare_protocols(
    table: Runs, methods: Mapping[str, MethodAudit], seed: int
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
    table: Runs,
    method: str,
    protocol: str,
    predictor: Predictor | None,
    truth: Floats | None,
) -> dict[str, ProtocolEstimate]:
    """Return every estimator's answer, or why it has none."""
    orders, space, bounds = (
        table.orders(method, protocol),
        table.space,
        find_metric(table.metric).bounds,
    )
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
