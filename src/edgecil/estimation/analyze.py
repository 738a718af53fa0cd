"""`analyze`: from experiments or tables of accuracies to an :class:`Analysis`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from edgecil.engine.experiment import Experiment
from edgecil.engine.record import ExperimentRecord, Identity
from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.estimation.analysis import (
    SCHEMA,
    Analysis,
    AnalysisOptions,
    DatasetAnalysis,
    extreme_protocol,
)
from edgecil.estimation.analyze_table import analyze_table
from edgecil.estimation.details import RunDetails
from edgecil.estimation.given_similarity import (
    Similarities,
    describe_given,
    find_similarities,
    similarity_key,
)
from edgecil.estimation.next_runs import run_seconds
from edgecil.estimation.next_step import timed
from edgecil.estimation.sources import (
    DatasetRuns,
    Source,
    class_names,
    default_metric,
    describe_source,
    gather_runs,
    is_saved_analysis,
    list_sources,
)
from edgecil.io.json import to_json, to_plain

_FOLDER = "analyses"
_MOST_SAVED = 10


def analyze(
    source: Source | Sequence[Source],
    *,
    metric: str | None = None,
    classifier: str | None = None,
    similarity: Similarities | None = None,
    predictor: str | None = None,
) -> Analysis:
    """Say how accuracy depends on the class order: what may be claimed, and what to run next.

    The analysis of an experiment is saved in its directory, as `analyses/<digest>.json`, and
    reused as long as results, options and the version of edgecil stay the same.

    Args:
        source: experiment directories and CSV files of accuracies, or the JSON file of a saved
            analysis. Runs of several sources on the same dataset are analysed together. In Python
            also experiments, DataFrames and accuracy tables.
        metric: metric to analyse: `accuracy`, `last`, `average`, `forgetting`, `bwt`, or a column
            of the CSV file. By default the one in the experiment's configuration, or else
            `accuracy`, the paper's A(O).
        classifier: classifier of the methods to analyse, such as `nme` (nearest mean of
            exemplars); methods without it are left out. By default each method's main one.
        similarity: file with the similarity of the classes, for predictors. By default that of the
            experiment's sequences or, for a CSV file, that of the dataset's class names. In Python
            also a similarity, or several by the name of their source.
        predictor: predictor of accuracy to show beside the orders: an objective, or a column of
            the CSV file; by default `adjacent`, the paper's S.
    """
    options = _Options(metric, classifier, similarity, predictor)
    if is_saved_analysis(source):
        return _load(source, options)
    request = _Request.of(source, options)
    return request.load() or request.analyze()


def as_analysis(source: Analysis | Source | Sequence[Source], **options: Any) -> Analysis:
    """An analysis as it is, or the analysis of a source.

    Args:
        source: an analysis, or what :func:`analyze` accepts.
        options: keyword arguments of :func:`analyze`; None means not given. An analysis accepts
            none, because it already has its own.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if not isinstance(source, Analysis):
        return analyze(source, **given)
    if given:
        raise UsageError(
            f"An Analysis already has its options; {', '.join(map(repr, given))} cannot be "
            "changed. Give the experiment instead."
        )
    return source


@dataclass(frozen=True)
class _Options:
    """The options of :func:`analyze` as they are given; None means not given."""

    metric: str | None = None
    classifier: str | None = None
    similarity: Similarities | None = None
    predictor: str | None = None

    def plain(self) -> dict[str, Any]:
        """Return the options that are given, as an analysis records them."""
        given = {**vars(self), "similarity": describe_given(self.similarity)}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class _Request:
    """The runs to analyse, and where their analysis is saved.

    Attributes:
        sources: what the runs come from, in words.
        options: as the analysis records them.
        similarity: as it is given.
        runs: by dataset.
        saved: the file of the analysis; None if it is not of a single experiment.
    """

    sources: tuple[str, ...]
    options: AnalysisOptions
    similarity: Similarities | None
    runs: list[DatasetRuns]
    saved: Path | None

    @classmethod
    def of(cls, source: Source | Sequence[Source], given: _Options) -> _Request:
        sources = list_sources(source)
        metric = default_metric(sources) if given.metric is None else given.metric
        options = AnalysisOptions(**{**given.plain(), "metric": metric})
        runs = gather_runs(sources, options.metric, options.classifier)
        saved = None
        if len(sources) == 1 and isinstance(sources[0], Experiment):
            digest = _digest(sources[0], options, runs, given.similarity)
            saved = sources[0].directory / _FOLDER / f"{digest}.json"
        words = tuple(map(describe_source, sources))
        return cls(words, options, given.similarity, runs, saved)

    def load(self) -> Analysis | None:
        """Return the saved analysis; None if there is none."""
        if self.saved is not None:
            with suppress(DataError):
                return _moved(Analysis.load(self.saved), *self.sources)
        return None

    def analyze(self) -> Analysis:
        """Analyse the runs, and save the result if it is of a single experiment."""
        datasets = tuple(
            _analyze_dataset(part, self.options, self.similarity) for part in self.runs
        )
        analysis = Analysis(self.sources, self.options, datasets, version("edgecil"))
        if self.saved is not None:
            with suppress(EdgecilError):  # the directory may be read-only
                analysis.save(self.saved)
                _remove_old(self.saved.parent)
        return analysis


def _moved(analysis: Analysis, directory: str) -> Analysis:
    """The analysis of one experiment, whose directory may have another name now."""
    datasets = (
        replace(
            dataset,
            experiments=tuple(replace(one, directory=directory) for one in dataset.experiments),
        )
        for dataset in analysis.datasets
    )
    return replace(analysis, sources=(directory,), datasets=tuple(datasets))


def _load(source: Any, given: _Options) -> Analysis:
    """Return a saved analysis; options other than its own are refused."""
    path = source[0] if isinstance(source, (list, tuple)) else source
    analysis = Analysis.load(path)
    for name, asked in given.plain().items():
        own = getattr(analysis.options, name)
        if asked != own:
            raise UsageError(
                f"The analysis in {path} has {name} {own!r}. Got {asked!r}; analyse "
                f"{analysis.source} again instead."
            )
    return analysis


def _analyze_dataset(
    runs: DatasetRuns,
    options: AnalysisOptions,
    similarity: Similarities | None,
) -> DatasetAnalysis:
    table = runs.table
    similarities, notes, why_none = find_similarities(runs, similarity)
    analysis = analyze_table(
        table,
        similarities=similarities,
        predictor=options.predictor,
        why_none=why_none,
    )
    experiments = runs.experiments
    details = RunDetails.of(analysis.table, experiments, options.classifier, options.metric)
    methods = {
        name: replace(method, next_step=timed(method.next_step, run_seconds(runs, name)))
        for name, method in analysis.methods.items()
    }
    return replace(
        analysis,
        methods=methods,
        table=replace(analysis.table, names=class_names(table), by_class=None),
        notes=(*notes, *analysis.notes),
        experiments=tuple(map(_record, experiments)),
        accuracy_matrices=details.accuracy_matrices(extreme_protocol(analysis.protocols)),
        curves=details.curves({name: own.answer.protocols for name, own in methods.items()}),
        class_positions=details.class_positions(),
        confusion=details.confusion(),
        training_seconds=_training_seconds(runs, tuple(methods)),
    )


def _record(experiment: Experiment) -> ExperimentRecord:
    return ExperimentRecord(
        str(experiment.directory),
        tuple(to_plain(config) for config in experiment.configs),
        Identity.of(experiment.identity),
    )


def _training_seconds(runs: DatasetRuns, methods: Sequence[str]) -> dict[str, float]:
    """Duration of all trainings of each method; methods without one are left out."""
    spent = [experiment.training_seconds() for experiment in runs.experiments]
    totals = {name: sum(one.get(name, 0.0) for one in spent) for name in methods}
    return {name: seconds for name, seconds in totals.items() if seconds > 0.0}


def _digest(
    experiment: Experiment,
    options: AnalysisOptions,
    runs: Sequence[DatasetRuns],
    similarity: Similarities | None,
) -> str:
    """A key of everything that an experiment's analysis depends on."""
    parts = {
        "version": version("edgecil"),
        "fields": [own.name for own in fields(DatasetAnalysis)],  # a new one is not in old files
        "options": options,
        "configs": experiment.configs,
        "identity": experiment.identity,
        "runs": [part.table for part in runs],
        "similarity": similarity_key(experiment, similarity),
    }
    return hashlib.sha256(to_json(parts, SCHEMA)).hexdigest()[:16]


def _remove_old(folder: Path) -> None:
    """Keep the latest saved analyses of an experiment."""
    with suppress(OSError):
        files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in files[:-_MOST_SAVED]:
            path.unlink(missing_ok=True)
