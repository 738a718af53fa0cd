"""The results of an analysis: everything that accuracies say about class orders, as plain data."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edgecil.engine.experiment import Experiment
from edgecil.engine.record import ExperimentRecord, Identity
from edgecil.engine.runs import Runs
from edgecil.errors import DataError, EdgecilError, UsageError, unknown
from edgecil.estimation.claims import Answer, answer, representative_orders
from edgecil.estimation.comparison import Comparison, compare_pairs, holm
from edgecil.estimation.correlation import (
    Correlation,
    Predictor,
    Relabelled,
    column_predictor,
    correlate,
    objective_predictor,
    predictor_label,
    relabel,
    warn_of_predictor,
)
from edgecil.estimation.details import ClassPositions, Confusion, RunDetails, TaskCurve
from edgecil.estimation.next_runs import NextStep, advise, run_seconds, timed
from edgecil.estimation.oddities import note_oddities, warn_of_failures, warn_of_truth
from edgecil.estimation.samples import know_method, unbiased_sequences
from edgecil.estimation.similarities import (
    Similarities,
    describe_given,
    describe_similarity,
    find_similarities,
    similarity_key,
)
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
from edgecil.estimation.truth import Truth, find_truth
from edgecil.estimation.variance import OrderEffect, split_variance
from edgecil.io.arrays import Floats
from edgecil.io.files import replace_file
from edgecil.io.json import checked_json, read_json, to_json, to_plain
from edgecil.io.notebook import html_figure, html_table, new_axes, show_printed
from edgecil.sequences.given import NAME as OWN_ORDERS
from edgecil.sequences.objective import OBJECTIVES, applicable_objectives
from edgecil.sequences.protocols import GOALS, PROTOCOLS, find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.similarity.matrix import Similarity

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class MethodAnalysis:
    """Everything about one method.

    Attributes:
        answer: what may be claimed about it, with or without a truth.
        order_effect: how far orders differ by more than training noise.
        next_step: what to run next.
        truth: None if the table does not contain it.
        runs: how many orders each protocol ran.
        predictor: name of the predictor used; None without one.
        correlations: of accuracy with every predictor, by name.
        warnings: sentences.
    """

    answer: Answer
    order_effect: OrderEffect
    next_step: NextStep
    truth: Truth | None
    runs: dict[str, int]
    predictor: str | None
    correlations: dict[str, Correlation]
    warnings: tuple[str, ...]

    @property
    def chosen_by(self) -> tuple[str, ...]:
        """The protocols that chose some of its orders; none of them ran every order."""
        truth = self.truth
        every = truth.protocols if truth is not None and truth.kind == "enumerated" else ()
        return tuple(name for name in self.runs if name not in every)


@dataclass(frozen=True)
class PredictorSummary:
    """A predictor of accuracy, and its value for every sequence that was run.

    Attributes:
        name: an objective's name, a column of the table, or `pilot`.
        label: what figures and tables call it: `S` for the paper's objective, `adjacent`.
        origin: what it is computed from, in a few words; None if that is not recorded.
        sign: of the correlation with accuracy that its construction claims, +1 or -1; None if none.
        z: by sequence as text (`0 1|2 3`), its value in standard deviations from the mean over all
            sequences; sequences for which it has no value are absent.
    """

    name: str
    label: str
    origin: str | None
    sign: int | None
    z: dict[str, float]

    def value(self, sequence: ClassSequence) -> float | None:
        """Return the predictor's z for a sequence; None if it has none."""
        return self.z.get(str(sequence))


# Name and version of the JSON form of an analysis; a changed field is a new version.
SCHEMA = "edgecil.analysis/4"


@dataclass(frozen=True, eq=False)
class DatasetAnalysis:
    """Everything about the runs on one dataset.

    Attributes:
        dataset: its name.
        metric: what `accuracies` hold: `accuracy` (the paper's A(O)), `last`, ...
        table: the runs, with the classes numbered 0 ... N-1.
        methods: by name.
        comparisons: by first and second method, on the orders that both ran.
        predictor: whose values are shown beside the orders; None without one.
        notes: what was left out, and why.
        experiments: those that the runs come from, each with its directory, its configurations and
            what determines its results; empty for a file.
        accuracy_matrices: by method and label (`hard`, `median`, `easy`) of the extreme protocol,
            the accuracy on task s after task t, shape (K, K), NaN above the diagonal.
        repeats: numbers of the trainings of an order: 0, 1, …
        curves: by method and protocol, the metric after each task, and its spread over orders; also
            for the protocols of a method's answer together, joined by " + "; empty for a file.
        class_positions: by method, the metric of each class by the task in which it comes; empty
            where counts per class are unknown.
        confusion: by method, for earlier, the same or later tasks the images of each task are taken
            after the last task; empty where the runs did not store it.
        training_seconds: by method, the duration of all its trainings and tests; empty where it is
            not recorded.
    """

    dataset: str
    metric: str
    table: Runs
    methods: dict[str, MethodAnalysis]
    comparisons: dict[str, dict[str, Comparison]]
    predictor: PredictorSummary | None = None
    notes: tuple[str, ...] = ()
    experiments: tuple[ExperimentRecord, ...] = ()
    accuracy_matrices: dict[str, dict[str, Floats]] = field(default_factory=dict)
    repeats: tuple[int, ...] = ()
    curves: dict[str, dict[str, TaskCurve]] = field(default_factory=dict)
    class_positions: dict[str, ClassPositions] = field(default_factory=dict)
    confusion: dict[str, Confusion] = field(default_factory=dict)
    training_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def protocols(self) -> tuple[str, ...]:
        """The protocols that chose some orders: all but those that ran every order."""
        chosen = {name for method in self.methods.values() for name in method.chosen_by}
        return tuple(name for name in self.table.protocols if name in chosen)

    @property
    def extreme_protocol(self) -> str | None:
        """The protocol whose hard, median and easy sequences are shown one by one."""
        return extreme_protocol(self.protocols)

    def accuracy_range(self, method: str) -> tuple[float, float]:
        """Return the lowest and the highest accuracy of all orders that a method ran."""
        accuracies = self.table.orders(method).accuracies
        return float(accuracies.min()), float(accuracies.max())


@dataclass(frozen=True)
class AnalysisOptions:
    """The options that an analysis was made with; see :func:`edgecil.estimation.analysis`.

    Attributes:
        metric: the metric.
        classifier: the classifier whose metric it is; None for each method's main one.
        predictor: name of the predictor.
        similarity: where the given similarity comes from; None if none was given.
    """

    metric: str = "accuracy"
    predictor: str = "adjacent"
    similarity: str | None = None
    classifier: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """What accuracies say about class orders, dataset by dataset.

    Attributes:
        sources: the experiment directories and files, as they were given.
        options: what it was made with.
        datasets: one entry per dataset.
        version: of edgecil.
    """

    sources: tuple[str, ...]
    options: AnalysisOptions
    datasets: tuple[DatasetAnalysis, ...]
    version: str = ""

    @property
    def source(self) -> str:
        """The sources in words."""
        return ", ".join(self.sources)

    def save(self, path: str | Path) -> None:
        """Write the analysis as a JSON file that :meth:`load` and :func:`analyze` read."""
        with replace_file(Path(path)) as file:
            file.write(checked_json(self, SCHEMA))

    def to_json(self) -> bytes:
        """Return the content of the file that :meth:`save` writes."""
        return bytes(checked_json(self, SCHEMA))

    @classmethod
    def load(cls, path: str | Path) -> Analysis:
        """Return the analysis in a JSON file that :meth:`save` wrote."""
        return read_json(path, cls, SCHEMA)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a row for each dataset and method."""
        from edgecil.estimation.analysis import analysis_frame

        return analysis_frame(self)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw each method's accuracies and the central 90 % of the distribution over all orders.

        Args:
            ax: the axes to draw on; new ones by default.
        """
        from edgecil.estimation.analysis import plot_analysis

        return plot_analysis(self, ax)

    def __repr__(self) -> str:
        from edgecil.estimation.analysis import describe_analysis

        return f"<{describe_analysis(self)}>"

    def __str__(self) -> str:
        """Return what may be claimed about each method, a line each, and all warnings."""
        from edgecil.estimation.analysis import describe_analysis, describe_warnings

        lines = [
            f"{name}: {method.answer}"
            for dataset in self.datasets
            for name, method in dataset.methods.items()
        ]
        return "\n".join([describe_analysis(self), *lines, *describe_warnings(self)])

    _repr_pretty_ = show_printed

    def _repr_html_(self) -> str:
        from edgecil.estimation.analysis import analysis_html

        return analysis_html(self)

    def __getitem__(self, method: str) -> MethodAnalysis:
        """Return a method's analysis, if there is one dataset."""
        if len(self.datasets) != 1:
            names = ", ".join(dataset.dataset for dataset in self.datasets)
            raise KeyError(f"There are several datasets ({names}); choose one from 'datasets'.")
        methods = self.datasets[0].methods
        if method not in methods:
            raise unknown("method", method, methods)
        return methods[method]


def extreme_protocol(protocols: tuple[str, ...]) -> str | None:
    """Return the first of some protocols, as they are registered, with a hard and an easy order."""
    has_both = (
        name
        for name, protocol in PROTOCOLS.items()
        if name in protocols and set(GOALS) <= set(protocol.constructed or ())
    )
    return next(has_both, None)


MOST_NAMED = 4
"""Methods that a sentence names."""
_COLOUR = "#0072B2"


def analysis_frame(analysis: Analysis) -> pandas.DataFrame:
    """Return a row for each dataset and method."""
    import pandas

    frame: pandas.DataFrame = pandas.DataFrame(
        _row(dataset, name) for dataset in analysis.datasets for name in dataset.methods
    )
    return frame


def _row(dataset: DatasetAnalysis, name: str) -> dict[str, Any]:
    said = dataset.methods[name].answer
    row: dict[str, Any] = {
        "dataset": dataset.dataset,
        "method": name,
        "orders": said.order_count,
        "trainings": said.trainings,
        "chosen by": " + ".join(said.protocols),
    }
    for title, claim in (("mean", said.mean), ("std", said.std), ("next", said.next_run)):
        low, high = claim.interval or (None, None)
        row |= {} if title == "next" else {title: claim.value}
        row |= {f"{title}_low": low, f"{title}_high": high}
    return {**row, "lowest": said.lowest, "highest": said.highest}


def plot_analysis(analysis: Analysis, axes: Axes | None = None) -> Axes:
    """Draw each method's accuracies and the distribution over all orders.

    A grey dot is the accuracy of one class order. A coloured line is the central 90 % of the
    distribution over all orders, estimated or measured, with a dot at its mean.

    Args:
        analysis: what to draw.
        axes: the axes to draw on; new ones by default.
    """
    entries = [(dataset, name) for dataset in analysis.datasets for name in dataset.methods]
    axes = new_axes(_figure_size(analysis)) if axes is None else axes
    labels = []
    for row, (dataset, name) in enumerate(entries):
        accuracies = dataset.table.orders(name).accuracies
        axes.scatter(
            accuracies,
            [row] * len(accuracies),
            s=10,
            color="0.6",
            linewidths=0,
            alpha=0.5,
            label="class orders" if row == 0 else None,
        )
        distribution = dataset.methods[name].answer.distribution
        y = row + 0.35
        axes.plot(distribution.interval(0.9), (y, y), color=_COLOUR, linewidth=2)
        label = "90 % of all orders" if row == 0 else None
        axes.plot([distribution.mean], [y], "o", color=_COLOUR, markersize=4, label=label)
        several = len(analysis.datasets) > 1
        labels.append(f"{name}\n{dataset.dataset}" if several else name)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(entries), -0.5)
    axes.set_xlabel(f"{analysis.options.metric} (%)")
    axes.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return axes


def _figure_size(analysis: Analysis) -> tuple[float, float]:
    """Return width and height of the figure in inches."""
    return 6.0, 0.8 + 0.7 * sum(len(dataset.methods) for dataset in analysis.datasets)


def describe_analysis(analysis: Analysis) -> str:
    """Return an analysis in one line."""
    parts = []
    for dataset in analysis.datasets:
        methods, orders = (
            ", ".join(dataset.methods),
            len(dataset.table.sequences),
        )
        parts.append(f"{dataset.dataset or 'dataset'}: {methods} on {orders} class orders")
    return f"Analysis of {analysis.source}: {'; '.join(parts)}"


def list_methods(names: Sequence[str]) -> str:
    """Return names of methods for a sentence; many are counted."""
    return f"{len(names)} methods" if len(names) > MOST_NAMED else ", ".join(names)


def method_warnings(dataset: DatasetAnalysis) -> list[str]:
    """Return the warnings about methods, each once, after the methods that it is about."""
    methods: dict[str, list[str]] = {}
    for name, method in dataset.methods.items():
        for warning in method.warnings:
            methods.setdefault(warning, []).append(name)
    if len(dataset.methods) == 1:
        return list(methods)
    return [f"{list_methods(names)}: {warning}" for warning, names in methods.items()]


def describe_warnings(analysis: Analysis) -> list[str]:
    """Return a line for each distinct warning and note of an analysis."""
    lines = []
    for dataset in analysis.datasets:
        lines += [f"Warning: {warning}" for warning in method_warnings(dataset)]
        lines += [f"Note: {note}" for note in dataset.notes]
    return list(dict.fromkeys(lines))


def analysis_html(analysis: Analysis) -> str:
    """Return an analysis as a table and a figure."""
    titles = ("dataset", "method", "orders", "mean", "std", "lowest", "highest")
    rows: list[tuple[str, ...]] = [titles]
    for dataset in analysis.datasets:
        for name in dataset.methods:
            row = _row(dataset, name)
            numbers = (row[key] for key in titles[3:])
            cells = ("–" if number is None else f"{number:.2f}" for number in numbers)
            rows.append((*(str(row[key]) for key in titles[:3]), *cells))
    title = f"<p>{html.escape(describe_analysis(analysis))}</p>"
    figure = html_figure(
        lambda axes: plot_analysis(analysis, axes),
        "accuracies of each method",
        _figure_size(analysis),
    )
    warnings = "".join(f"<p>{html.escape(line)}</p>" for line in describe_warnings(analysis))
    return title + html_table(rows) + warnings + figure


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


def adjust_correlations(
    methods: Mapping[str, MethodAnalysis], predictor: str, sign: int | None
) -> dict[str, MethodAnalysis]:
    """Adjust the p-values over all methods, and add a warning of a weak predictor.

    Args:
        methods: by name.
        predictor: the one that estimates use.
        sign: of the correlation that it claims; None if none.
    """
    names = dict.fromkeys(name for method in methods.values() for name in method.correlations)
    adjusted = {
        name: holm(
            {
                key: method.correlations[name].p_value
                for key, method in methods.items()
                if name in method.correlations
            }
        )
        for name in names
    }
    made = {}
    for key, method in methods.items():
        correlations = {
            name: replace(one, adjusted_p=adjusted[name][key])
            for name, one in method.correlations.items()
        }
        warnings = method.warnings
        own = correlations.get(predictor)
        if method.predictor is not None and own is not None and _is_relevant(method, own):
            warning = warn_of_predictor(predictor_label(predictor), sign, own)
            warnings += () if warning is None else (warning,)
        made[key] = replace(method, correlations=correlations, warnings=warnings)
    return made


def _is_relevant(method: MethodAnalysis, correlation: Correlation) -> bool:
    """Return whether a predictor chose orders, and enough others remain to test it."""
    enough = correlation.pearson is not None and correlation.stable
    return enough and any(find_protocol(name).needs_similarity for name in method.runs)


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
