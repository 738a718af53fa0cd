"""`analyze`: from experiments or tables of accuracies to an :class:`Analysis`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from edgecil.classes import ClassList, get_classes
from edgecil.engine.accuracies import AccuracyTable
from edgecil.engine.experiment import SIMILARITY_FILE, Experiment
from edgecil.errors import DataError, EdgecilError, UsageError, unknown
from edgecil.estimation.analysis import (
    SCHEMA,
    Analysis,
    AnalysisOptions,
    DatasetAnalysis,
    extreme_protocol,
)
from edgecil.estimation.analyze_table import DRAWS, analyze_table, describe_similarity
from edgecil.estimation.details import RunDetails
from edgecil.estimation.next_runs import run_seconds
from edgecil.estimation.next_step import timed
from edgecil.estimation.sources import (
    DatasetRuns,
    Source,
    class_names,
    default_metric,
    describe_source,
    list_sources,
    read_runs,
)
from edgecil.io.json import to_json, to_plain
from edgecil.similarity import read_similarity, text_similarity
from edgecil.similarity.matrix import Similarity

Similarities: TypeAlias = "Similarity | str | Path | Mapping[str, Similarity]"

_FOLDER = "analyses"
_MOST_SAVED = 10


def analyze(
    source: Source | Sequence[Source],
    *,
    metric: str | None = None,
    classifier: str | None = None,
    similarity: Similarities | None = None,
    predictor: str = "adjacent",
    pilot: Source | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Analysis:
    """Estimate how accuracy is distributed over class orders, and how far to trust the estimates.

    The analysis of an experiment is saved in its directory, as `analyses/<digest>.json`, and
    reused as long as results, options and the version of edgecil stay the same.

    Args:
        source: an experiment or its directory, a CSV file of accuracies, a DataFrame, an accuracy
            table, or several of these; or the JSON file of a saved analysis. Runs of several
            sources on the same dataset are analysed together.
        metric: which number of each run to analyse: `accuracy`, `last`, `average`, `forgetting`,
            `bwt`, or a column of the CSV file. By default the one that the experiment's
            configuration names, else `accuracy`, the paper's A(O).
        classifier: which classifier of the learners to analyse, such as `nme` (nearest mean of
            exemplars); methods without it are left out. By default each method's main one.
        similarity: similarity of the classes, for predictors: a file, a similarity, or several
            similarities by the name of their source. By default the one that the experiment's
            sequences were chosen by; for a CSV file, that of the dataset's class names.
        predictor: what the estimators `regression` and `stratified` use: an objective's name, a
            column of the CSV file, or `pilot`.
        pilot: cheap runs of the same methods on the same classes.
        draws: how often random parts of protocols are drawn; if there are no more possible draws
            than that, each is made once.
        seed: seed of those draws.
    """
    if predictor == "pilot" and pilot is None:
        raise UsageError("The predictor 'pilot' requires the pilot's runs; give 'pilot'.")
    is_saved = isinstance(source, (str, Path)) and Path(source).suffix == ".json"
    sources = [] if is_saved else list_sources(source)
    metric = metric or default_metric(sources)
    options = AnalysisOptions(
        metric,
        predictor,
        draws,
        seed,
        _describe_given(similarity),
        None if pilot is None else describe_source(pilot),
        classifier,
    )
    if is_saved:
        return _load(str(source), options)
    runs = read_runs(sources, metric, classifier)
    pilots = [] if pilot is None else read_runs(list_sources(pilot), metric, classifier)
    name = ", ".join(map(describe_source, sources))
    saved = None
    if len(sources) == 1 and isinstance(sources[0], Experiment):
        digest = _digest(sources[0], options, runs, similarity, pilots)
        saved = sources[0].directory / _FOLDER / f"{digest}.json"
        with suppress(DataError):
            return replace(Analysis.load(saved), source=name)
    cheap = {part.table.dataset: part.table for part in pilots}
    datasets = tuple(_analyze_dataset(part, options, similarity, cheap) for part in runs)
    analysis = Analysis(name, options, datasets, version("edgecil"))
    if saved is not None:
        with suppress(EdgecilError):  # the directory may be read-only
            analysis.save(saved)
            _remove_old(saved.parent)
    return analysis


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse options that :func:`analyze` does not have, and name the nearest that it has."""
    names = [name for name in signature(analyze).parameters if name != "source"]
    for name in options:
        if name not in names:
            raise unknown("option", name, names)


def _load(path: str | Path, options: AnalysisOptions) -> Analysis:
    """A saved analysis; options other than its own are refused."""
    analysis = Analysis.load(path)
    for name, default in vars(AnalysisOptions()).items():
        given, own = getattr(options, name), getattr(analysis.options, name)
        if given not in (default, own):
            raise UsageError(
                f"The analysis in {path} has {name} {own!r}. Got {given!r}; analyse "
                f"{analysis.source} again instead."
            )
    return analysis


def _analyze_dataset(
    runs: DatasetRuns,
    options: AnalysisOptions,
    similarity: Similarities | None,
    pilots: Mapping[str, AccuracyTable],
) -> DatasetAnalysis:
    table = runs.table
    if pilots and table.dataset not in pilots:
        raise UsageError(f"The pilot has no runs on {table.dataset!r}, but on {', '.join(pilots)}.")
    similarities, notes = _find_similarities(runs, similarity)
    analysis = analyze_table(
        table,
        similarities=similarities,
        predictor=options.predictor,
        pilot=pilots.get(table.dataset),
        draws=options.draws,
        seed=options.seed,
    )
    experiments = runs.experiments
    details = RunDetails.of(analysis.table, experiments, options.classifier, options.metric)
    identities = {str(experiment.directory): experiment.identity for experiment in experiments}
    methods = {
        name: replace(method, next_step=timed(method.next_step, run_seconds(runs, name)))
        for name, method in analysis.methods.items()
    }
    return replace(
        analysis,
        methods=methods,
        table=replace(analysis.table, names=class_names(table)),
        notes=(*notes, *analysis.notes),
        configs=tuple(
            to_plain(config) for experiment in experiments for config in experiment.configs
        ),
        identity=next(iter(identities.values())) if len(identities) == 1 else identities,
        accuracy_matrices=details.accuracy_matrices(extreme_protocol(analysis.protocols)),
        curves=details.curves({name: own.answer.protocols for name, own in methods.items()}),
        class_positions=details.class_positions(),
        confusion=details.confusion(),
        training_seconds=_training_seconds(runs, tuple(methods)),
    )


def _training_seconds(runs: DatasetRuns, methods: Sequence[str]) -> dict[str, float]:
    """Duration of all trainings of each method; methods without one are left out."""
    spent = [experiment.training_seconds() for experiment in runs.experiments]
    totals = {name: sum(one.get(name, 0.0) for one in spent) for name in methods}
    return {name: seconds for name, seconds in totals.items() if seconds > 0.0}


def _describe_given(similarity: Similarities | None) -> str | None:
    """Where the given similarity comes from; None if none was given."""
    if similarity is None:
        return None
    if isinstance(similarity, (str, Path)):
        return str(similarity)
    if isinstance(similarity, Mapping):
        return ", ".join(similarity)
    return describe_similarity(similarity) or "given"


def _find_similarities(
    runs: DatasetRuns, given: Similarities | None
) -> tuple[dict[str, Similarity], list[str]]:
    """Similarities between the table's classes by source, and notes on them."""
    table = runs.table
    if isinstance(given, (str, Path)):
        return {"file": _select(read_similarity(given), table, str(given))}, []
    if isinstance(given, Mapping):
        return {name: _select(matrix, table, repr(name)) for name, matrix in given.items()}, []
    if given is not None:
        return {"given": _select(given, table, "The similarity")}, []
    try:
        if runs.experiments:
            experiment = runs.experiments[0]
            return {"text": experiment.similarity()}, experiment.notes()
        return {"text": _text_similarity(table)}, []
    except EdgecilError as error:
        return {}, [f"No similarity of the classes of {table.dataset!r} is available: {error}"]


def _select(matrix: Similarity, table: AccuracyTable, what: str) -> Similarity:
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


def _text_similarity(table: AccuracyTable) -> Similarity:
    """The similarity of the names that a file's class ids have in its dataset."""
    names = class_names(table)
    if names is None:
        labels = get_classes(table.dataset).labels
        raise UsageError(
            f"{table.dataset!r} has {len(labels)} classes but a sequence has class "
            f"{table.classes[-1]}."
        )
    return text_similarity(ClassList(table.dataset, names))


def _digest(
    experiment: Experiment,
    options: AnalysisOptions,
    runs: Sequence[DatasetRuns],
    similarity: Similarities | None,
    pilots: Sequence[DatasetRuns],
) -> str:
    """A key of everything that an experiment's analysis depends on."""
    parts = {
        "version": version("edgecil"),
        "fields": [own.name for own in fields(DatasetAnalysis)],  # a new one is not in old files
        "options": options,
        "configs": experiment.configs,
        "identity": experiment.identity,
        "runs": [part.table for part in runs],
        "pilots": [part.table for part in pilots],
        "similarity": _similarity_key(experiment, similarity),
    }
    return hashlib.sha256(to_json(parts, SCHEMA)).hexdigest()[:16]


def _similarity_key(experiment: Experiment, given: Similarities | None) -> Any:
    """What tells a similarity from another: a file's content, or names and values."""
    if given is None:
        files = [config.similarity for config in experiment.configs if config.similarity]
        paths = [experiment.directory / SIMILARITY_FILE, *map(Path, files)]
        return [_file_key(path) for path in paths]
    if isinstance(given, (str, Path)):
        return _file_key(given)
    if isinstance(given, Mapping):
        return {name: _similarity_key(experiment, matrix) for name, matrix in given.items()}
    values = given.submatrix(np.arange(len(given), dtype=np.int64))
    return [given.names, hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()]


def _file_key(path: str | Path) -> str | None:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return None


def _remove_old(folder: Path) -> None:
    """Keep the latest saved analyses of an experiment."""
    with suppress(OSError):
        files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in files[:-_MOST_SAVED]:
            path.unlink(missing_ok=True)
