"""`analyze`: from experiments or tables of accuracies to an :class:`Analysis`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from edgecil.engine.accuracies import DEFAULT_METRIC, AccuracyTable
from edgecil.engine.experiment import Experiment
from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.estimation.analysis import (
    SCHEMA,
    Analysis,
    AnalysisOptions,
    DatasetAnalysis,
    extreme_protocol,
)
from edgecil.estimation.analyze_table import DRAWS, analyze_table
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
    is_experiment,
    is_saved_analysis,
    list_sources,
    read_runs,
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
    predictor: str = "adjacent",
    pilot: Source | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Analysis:
    """Estimate how accuracy is distributed over class orders, and how far to trust the estimates.

    The analysis of an experiment is saved in its directory, as `analyses/<digest>.json`, and
    reused as long as results, options and the version of edgecil stay the same.

    Args:
        source: experiment directories and CSV files of accuracies, or the JSON file of a saved
            analysis. Runs of several sources on the same dataset are analysed together. In Python
            also experiments, DataFrames and accuracy tables.
        metric: metric to analyse: `accuracy`, `last`, `average`, `forgetting`, `bwt`, or a column
            of the CSV file. By default the one in the experiment's configuration, or else
            `accuracy`, the paper's A(O).
        classifier: classifier of the learners to analyse, such as `nme` (nearest mean of
            exemplars); methods without it are left out. By default each method's main one.
        similarity: file with the similarity of the classes, for predictors. By default that of the
            experiment's sequences or, for a CSV file, that of the dataset's class names. In Python
            also a similarity, or several by the name of their source.
        predictor: what the estimators `regression` and `stratified` use: an objective, a column of
            the CSV file, or `pilot`.
        pilot: cheap runs of the same methods on the same classes.
        draws: number of random draws of each protocol; if there are fewer possible draws, each is
            made once.
        seed: seed of those draws.
    """
    options = _Options(metric, classifier, similarity, predictor, pilot, draws, seed)
    if is_saved_analysis(source):
        return _load(source, options)
    request = _Request.of(source, options)
    return request.load() or request.analyze()


def saved_analysis(source: Source | Sequence[Source], **options: Any) -> Analysis | None:
    """Return what :func:`analyze` with the same arguments has saved earlier; None without it."""
    if not is_experiment(source):  # only their analyses are saved
        return None
    given = {name: value for name, value in options.items() if value is not None}
    return _Request.of(source, _Options(**given)).load()


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
    """The options of :func:`analyze` as they are given."""

    metric: str | None = None
    classifier: str | None = None
    similarity: Similarities | None = None
    predictor: str = "adjacent"
    pilot: Source | None = None
    draws: int = DRAWS
    seed: int = 0

    def described(self, metric: str) -> AnalysisOptions:
        """Return the options as plain values, for an analysis of this metric."""
        if self.predictor == "pilot" and self.pilot is None:
            raise UsageError("The predictor 'pilot' requires the pilot's runs; give 'pilot'.")
        return AnalysisOptions(
            metric,
            self.predictor,
            self.draws,
            self.seed,
            describe_given(self.similarity),
            None if self.pilot is None else describe_source(self.pilot),
            self.classifier,
        )


@dataclass(frozen=True)
class _Request:
    """The runs to analyse, and where their analysis is saved.

    Attributes:
        source: what the runs come from, in words.
        options: as the analysis records them.
        similarity: as it is given.
        runs: by dataset.
        pilots: cheap runs by dataset.
        saved: the file of the analysis; None if it is not of a single experiment.
    """

    source: str
    options: AnalysisOptions
    similarity: Similarities | None
    runs: list[DatasetRuns]
    pilots: list[DatasetRuns]
    saved: Path | None

    @classmethod
    def of(cls, source: Source | Sequence[Source], given: _Options) -> _Request:
        sources = list_sources(source)
        options = given.described(given.metric or default_metric(sources))
        runs = read_runs(sources, options.metric, options.classifier)
        pilots = []
        if given.pilot is not None:
            pilots = read_runs(list_sources(given.pilot), options.metric, options.classifier)
        saved = None
        if len(sources) == 1 and isinstance(sources[0], Experiment):
            digest = _digest(sources[0], options, runs, given.similarity, pilots)
            saved = sources[0].directory / _FOLDER / f"{digest}.json"
        name = ", ".join(map(describe_source, sources))
        return cls(name, options, given.similarity, runs, pilots, saved)

    def load(self) -> Analysis | None:
        """Return the saved analysis; None if there is none."""
        if self.saved is not None:
            with suppress(DataError):
                return replace(Analysis.load(self.saved), source=self.source)
        return None

    def analyze(self) -> Analysis:
        """Analyse the runs, and save the result if it is of a single experiment."""
        cheap = {part.table.dataset: part.table for part in self.pilots}
        datasets = tuple(
            _analyze_dataset(part, self.options, self.similarity, cheap) for part in self.runs
        )
        analysis = Analysis(self.source, self.options, datasets, version("edgecil"))
        if self.saved is not None:
            with suppress(EdgecilError):  # the directory may be read-only
                analysis.save(self.saved)
                _remove_old(self.saved.parent)
        return analysis


def _load(source: Any, given: _Options) -> Analysis:
    """A saved analysis; options other than its own are refused."""
    path = source[0] if isinstance(source, (list, tuple)) else source
    analysis, options = Analysis.load(path), given.described(given.metric or DEFAULT_METRIC)
    for name, default in vars(AnalysisOptions()).items():
        asked, own = getattr(options, name), getattr(analysis.options, name)
        if asked not in (default, own):
            raise UsageError(
                f"The analysis in {path} has {name} {own!r}. Got {asked!r}; analyse "
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
    similarities, notes, why_none = find_similarities(runs, similarity)
    analysis = analyze_table(
        table,
        similarities=similarities,
        predictor=options.predictor,
        pilot=pilots.get(table.dataset),
        draws=options.draws,
        seed=options.seed,
        why_none=why_none,
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
        table=analysis.table.named(class_names(table)),
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
        "similarity": similarity_key(experiment, similarity),
    }
    return hashlib.sha256(to_json(parts, SCHEMA)).hexdigest()[:16]


def _remove_old(folder: Path) -> None:
    """Keep the latest saved analyses of an experiment."""
    with suppress(OSError):
        files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in files[:-_MOST_SAVED]:
            path.unlink(missing_ok=True)
