"""`analyze`: from an experiment or a table of accuracies to an :class:`Analysis`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import edgecil
from edgecil.classes import ClassList, get_classes
from edgecil.engine.accuracies import AccuracyTable, read_accuracies
from edgecil.engine.config import build_config, run_similarity
from edgecil.engine.results import RunResult
from edgecil.engine.store import Store
from edgecil.errors import EdgecilError, UsageError
from edgecil.estimation.analysis import (
    Analysis,
    AnalysisOptions,
    DatasetAnalysis,
    extreme_protocol,
)
from edgecil.estimation.analyze_table import DRAWS, analyze_table, describe_similarity
from edgecil.estimation.predictors import draws_blindly
from edgecil.io.arrays import Floats
from edgecil.similarity import read_similarity, text_similarity
from edgecil.similarity.matrix import Similarity

_LABELS = ("hard", "median", "easy")


def analyze(
    source: str | Path,
    *,
    metric: str = "accuracy",
    similarity: Similarity | str | Path | Mapping[str, Similarity] | None = None,
    predictor: str = "adjacent",
    pilot: str | Path | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Analysis:
    """Estimate how accuracy is distributed over class orders, and how far to trust the estimates.

    Args:
        source: an experiment directory, or a CSV file of accuracies.
        metric: which number of each run to analyse.
        similarity: of the classes, by which predictors are computed: a similarity, a file, or
            several similarities by the name of their source. By default the one that the
            experiment's sequences came from; for a CSV file that of the dataset's class names.
        predictor: what the estimators `regression` and `stratified` use: an objective's name, a
            column of the CSV file, or `pilot`.
        pilot: cheap runs of the same methods, as a directory or a CSV file.
        draws: how often random parts of protocols are drawn; if there are no more possible draws
            than that, each is made once.
        seed: of those draws.
    """
    if predictor == "pilot" and pilot is None:
        raise UsageError("The predictor 'pilot' requires the pilot's runs; give 'pilot'.")
    cheap = [] if pilot is None else read_accuracies(pilot, metric=metric)
    pilots = {table.dataset: table for table in cheap}
    datasets = []
    for table in read_accuracies(source, metric=metric):
        if pilot is not None and table.dataset not in pilots:
            raise UsageError(f"The pilot {pilot} has no runs on {table.dataset!r}.")
        notes: list[str] = []
        analysis = analyze_table(
            table,
            similarities=_similarities(table, similarity, source, notes),
            predictor=predictor,
            pilot=pilots.get(table.dataset),
            draws=draws,
            seed=seed,
        )
        analysis = replace(analysis, notes=(*notes, *analysis.notes))
        datasets.append(_add_records(analysis, source) if Path(source).is_dir() else analysis)
    options = AnalysisOptions(
        metric,
        predictor,
        draws,
        seed,
        _describe_given(similarity),
        None if pilot is None else str(pilot),
    )
    return Analysis(str(source), options, tuple(datasets), edgecil.__version__)


def _describe_given(
    similarity: Similarity | str | Path | Mapping[str, Similarity] | None,
) -> str | None:
    """Where the given similarity comes from; None if none was given."""
    if similarity is None:
        return None
    if isinstance(similarity, (str, Path)):
        return str(similarity)
    if isinstance(similarity, Mapping):
        return ", ".join(similarity)
    return describe_similarity(similarity) or "given"


def _similarities(
    table: AccuracyTable,
    given: Similarity | str | Path | Mapping[str, Similarity] | None,
    source: str | Path,
    notes: list[str],
) -> dict[str, Similarity]:
    """Similarities of the table's classes by source; without one, the notes say why."""
    if isinstance(given, (str, Path)):
        return {"file": _cut(read_similarity(given), table, str(given))}
    if isinstance(given, Mapping):
        return {name: _cut(matrix, table, repr(name)) for name, matrix in given.items()}
    if given is not None:
        return {"given": _cut(given, table, "The similarity")}
    try:
        return {"text": _own_similarity(table, source)}
    except EdgecilError as error:
        notes.append(f"No similarity of the classes of {table.dataset!r} is available: {error}")
        return {}


def _cut(matrix: Similarity, table: AccuracyTable, what: str) -> Similarity:
    """A given similarity, reduced to the table's classes."""
    ids = np.array(table.classes)
    if len(matrix) == len(ids):
        return matrix
    if table.names is not None or len(matrix) <= ids.max():
        raise UsageError(
            f"{what} covers {len(matrix)} classes but the runs have {len(ids)}, numbered up to "
            f"{ids.max()}; give a row for each."
        )
    return matrix.take(ids)


def _own_similarity(table: AccuracyTable, source: str | Path) -> Similarity:
    """The similarity that an experiment's sequences came from, or that of the class names."""
    if table.names is None:
        labels = get_classes(table.dataset).labels
        if table.classes[-1] >= len(labels):
            raise UsageError(
                f"{table.dataset!r} has {len(labels)} classes but a sequence has class "
                f"{table.classes[-1]}."
            )
        names = tuple(labels[id_] for id_ in table.classes)
        return text_similarity(ClassList(table.dataset, names))
    classes = ClassList(table.dataset, table.names)
    configs = [build_config(values) for values in _read_store(source)[0]]
    choosing = [config for config in configs if not all(map(draws_blindly, config.protocols))]
    edge = [config for config in choosing if "edge" in config.protocols]
    config = next(iter([*edge, *choosing, *configs]), None)
    return text_similarity(classes) if config is None else run_similarity(config, classes)


def _read_store(
    directory: str | Path,
) -> tuple[list[dict[str, Any]], dict[str, Any], list[RunResult]]:
    """An experiment's configurations, identity and results."""
    with closing(Store(directory)) as store:
        return store.configs(), store.identity(), list(store.runs().values())


def _add_records(analysis: DatasetAnalysis, directory: str | Path) -> DatasetAnalysis:
    """The analysis with what an experiment directory holds beside accuracies."""
    configs, identity, results = _read_store(directory)
    matrices: dict[str, dict[str, Floats]] = {}
    protocol = extreme_protocol(analysis.protocols)
    for method in analysis.methods:
        orders = analysis.table.orders(method, protocol)
        for label, sequence in zip(orders.labels, orders.sequences, strict=True):
            of_run = (
                result
                for result in results
                if (result.method, result.sequence) == (method, sequence)
            )
            result = next(of_run, None)
            if result is None or label not in _LABELS:
                continue
            matrix = result.classifier().matrix
            if not np.isnan(matrix[-1]).any():
                matrices.setdefault(method, {})[label] = matrix
    return replace(analysis, configs=tuple(configs), identity=identity, accuracy_matrices=matrices)
