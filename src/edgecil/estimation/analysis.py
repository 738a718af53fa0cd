"""`analyze`: what runs say about each method over class orders and trainings, as plain data."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import Unpack

from edgecil.engine.experiment import Experiment
from edgecil.engine.metrics import find_metric
from edgecil.engine.record import ExperimentRecord, Identity
from edgecil.engine.runs import Runs
from edgecil.errors import DataError, UsageError, shown, unknown
from edgecil.estimation.claims import Answer, answer
from edgecil.estimation.comparison import (
    Comparison,
    Overall,
    Profile,
    compare_over_datasets,
    compare_pairs,
    holm,
    profile_methods,
)
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
from edgecil.estimation.details import ClassPositions, Confusion, TaskCurve, describe_runs
from edgecil.estimation.next_runs import NextStep, advise, run_seconds
from edgecil.estimation.plausibility import warn_of_failures, warn_of_truth
from edgecil.estimation.samples import representative_orders, unbiased_sequences
from edgecil.estimation.sentences import (
    count,
    describe_answer,
    describe_overall,
    describe_pair,
    describe_step,
)
from edgecil.estimation.similarities import (
    Similarities,
    describe_given,
    describe_similarity,
    find_similarities,
)
from edgecil.estimation.sources import (
    DatasetRuns,
    Reading,
    Source,
    class_names,
    gather,
    is_saved_analysis,
)
from edgecil.estimation.truth import Truth, find_truth
from edgecil.estimation.variance import OrderEffect, split_variance
from edgecil.io.arrays import Floats
from edgecil.io.files import replace_file
from edgecil.io.json import checked_json, read_json, to_plain
from edgecil.io.notebook import html_figure, html_table, new_axes, show_printed
from edgecil.options import checked
from edgecil.sequences.objective import OBJECTIVES, applicable_objectives
from edgecil.sequences.protocols import find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.similarity.matrix import Similarity

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

# Name and version of the JSON form of an analysis; a changed field is a new version.
SCHEMA = "edgecil.analysis/5"

MOST_NAMED = 4
"""Methods that a sentence names."""
_COLOUR = "#0072B2"


@dataclass(frozen=True, repr=False)
class MethodAnalysis:
    """Everything about one method.

    Attributes:
        name: of the method.
        metric: what is claimed about: `accuracy`, `last`, ...
        answer: what may be claimed about it, with or without a truth.
        order_effect: how far orders differ by more than training noise.
        next_step: what to run next.
        truth: None if the table does not contain it.
        runs: how many orders each protocol ran.
        predictor: name of the predictor used; None without one.
        correlations: of accuracy with every predictor, by name.
        warnings: sentences.
    """

    name: str
    metric: str
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

    def __repr__(self) -> str:
        return f"<MethodAnalysis: {describe_answer(self.answer, self.name, self.metric)}>"

    def __str__(self) -> str:
        """Return what may be claimed, what to run next, and warnings, a line each."""
        said = describe_answer(self.answer, self.name, self.metric)
        return "\n".join([said, f"Next: {describe_step(self.next_step)}", *self.warnings])

    _repr_pretty_ = show_printed


@dataclass(frozen=True)
class PredictorSummary:
    """A predictor of accuracy, and its value for every sequence that was run.

    Attributes:
        name: an objective's name, or a column of the table.
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
    def provenance(self) -> dict[str, dict[str, Any]]:
        """By protocol with constructed orders, what these come from, as of an experiment."""
        return {
            name: source
            for record in self.experiments
            for name, source in record.identity.protocols.items()
        }


@dataclass(frozen=True)
class AnalysisOptions:
    """The options that an analysis was made with; see :func:`edgecil.analyze`.

    Attributes:
        metric: the metric.
        predictor: name of the predictor.
        similarity: where the given similarity comes from; None if none was given.
        classifier: the classifier whose metric it is; None for each method's main one.
        pool: see :class:`~edgecil.estimation.sources.Reading`, like the following.
        seeds_are: what seeds vary.
        orders_from: the protocol that drew orders from seeds.
        tasks: of these orders.
    """

    metric: str = "accuracy"
    predictor: str = "adjacent"
    similarity: str | None = None
    classifier: str | None = None
    pool: str | None = None
    seeds_are: str | None = None
    orders_from: str | None = None
    tasks: int | tuple[int, ...] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """What accuracies say about class orders and trainings, dataset by dataset.

    Attributes:
        sources: the experiment directories and files, as they were given.
        options: what it was made with.
        datasets: one entry per dataset.
        version: of edgecil.
        over_datasets: pairs of methods over all datasets; empty with one dataset.
        profiles: performance profiles by method; empty with one dataset.
    """

    sources: tuple[str, ...]
    options: AnalysisOptions
    datasets: tuple[DatasetAnalysis, ...]
    version: str = ""
    over_datasets: tuple[Overall, ...] = ()
    profiles: dict[str, Profile] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The sources in words."""
        return ", ".join(self.sources)

    def save(self, path: str | Path) -> None:
        """Write the analysis as a JSON file that :meth:`load` and :func:`analyze` read."""
        with replace_file(Path(path)) as file:
            file.write(self.to_json())

    def to_json(self) -> bytes:
        """Return the content of the file that :meth:`save` writes."""
        return bytes(checked_json(self, SCHEMA))

    @classmethod
    def load(cls, path: str | Path) -> Analysis:
        """Return the analysis in a JSON file that :meth:`save` wrote."""
        return read_json(path, cls, SCHEMA)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a row for each dataset and method."""
        import pandas

        frame: pandas.DataFrame = pandas.DataFrame(
            _row(dataset, name) for dataset in self.datasets for name in dataset.methods
        )
        return frame

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw each method's accuracies and the distribution of runs.

        A grey dot is the accuracy of one class order. A coloured line is the central 90 % of the
        distribution of runs, estimated or measured, with a dot at its mean.

        Args:
            ax: the axes to draw on; new ones by default.
        """
        entries = [(dataset, name) for dataset in self.datasets for name in dataset.methods]
        ax = new_axes((6.0, 0.8 + 0.7 * len(entries))) if ax is None else ax
        labels = []
        for row, (dataset, name) in enumerate(entries):
            values = dataset.table.orders(name).accuracies
            ax.scatter(values, [row] * len(values), s=10, color="0.6", linewidths=0, alpha=0.5)
            said = dataset.methods[name].answer.distribution
            ax.plot(said.interval(0.9), (row + 0.35,) * 2, color=_COLOUR, linewidth=2)
            ax.plot([said.mean], [row + 0.35], "o", color=_COLOUR, markersize=4)
            labels.append(f"{name}\n{dataset.dataset}" if len(self.datasets) > 1 else name)
        ax.set_yticks(range(len(labels)), labels)
        ax.set_ylim(len(entries), -0.5)
        ax.set_xlabel(f"{self.options.metric} (%): class orders, and 90 % of runs")
        return ax

    def __repr__(self) -> str:
        parts = (
            f"{it.dataset or 'dataset'}: {', '.join(it.methods)} on "
            f"{count(len(it.table.sequences), 'order' if it.table.has_orders else 'run')}"
            for it in self.datasets
        )
        return f"<Analysis of {self.source}: {'; '.join(parts)}>"

    def __str__(self) -> str:
        """Return the claims, the comparisons and all warnings; over all datasets first."""
        lines = list(describe_analysis(self))
        for dataset in self.datasets:
            lines += [f"{dataset.dataset}:"] if len(self.datasets) > 1 else []
            lines += describe_dataset(dataset)
        return "\n".join([*lines, *describe_warnings(self)])

    _repr_pretty_ = show_printed

    def _repr_html_(self) -> str:
        titles = ("dataset", "method", "orders", "mean", "std", "lowest", "highest")
        rows: list[tuple[str, ...]] = [titles]
        for dataset in self.datasets:
            for name in dataset.methods:
                row = _row(dataset, name)
                numbers = (row[key] for key in titles[3:])
                cells = ("–" if number is None else f"{number:.2f}" for number in numbers)
                rows.append((*(str(row[key]) for key in titles[:3]), *cells))
        text = "".join(f"<p>{html.escape(line)}</p>" for line in str(self).splitlines())
        size = (6.0, 0.8 + 0.7 * (len(rows) - 1))
        figure = html_figure(lambda axes: self.plot(ax=axes), "accuracies of each method", size)
        return text + html_table(rows) + figure

    def __getitem__(self, method: str) -> MethodAnalysis:
        """Return a method's analysis, if there is one dataset."""
        if len(self.datasets) != 1:
            names = ", ".join(dataset.dataset for dataset in self.datasets)
            raise KeyError(f"There are several datasets ({names}); choose one from 'datasets'.")
        methods = self.datasets[0].methods
        if method not in methods:
            raise unknown("method", method, methods)
        return methods[method]


def _row(dataset: DatasetAnalysis, name: str) -> dict[str, Any]:
    said = dataset.methods[name].answer
    row: dict[str, Any] = {
        "dataset": dataset.dataset,
        "method": name,
        "orders": said.order_count,
        "trainings": said.trainings,
        "chosen by": " + ".join(said.protocols),
    }
    claims = {"mean": said.mean, "std": said.std, "next": said.next_run, "tail": said.tail}
    for title, claim in claims.items():
        low, high = claim.interval or (None, None)
        row |= {} if title == "next" else {title: claim.value}
        row |= {f"{title}_low": low, f"{title}_high": high}
    return {**row, "lowest": said.lowest, "highest": said.highest}


def describe_analysis(analysis: Analysis) -> Iterator[str]:
    """Yield which of two methods is better over several datasets."""
    higher_is_better = find_metric(analysis.options.metric).higher_is_better
    return describe_overall(analysis.over_datasets, higher_is_better=higher_is_better)


def describe_dataset(dataset: DatasetAnalysis) -> Iterator[str]:
    """Yield what may be claimed about each method, and which of two methods is better."""
    for name, method in dataset.methods.items():
        yield describe_answer(method.answer, name, dataset.metric)
    higher_is_better = find_metric(dataset.metric).higher_is_better
    if len(dataset.methods) == 2:
        for first, others in dataset.comparisons.items():
            for second, one in others.items():
                if (one.difference < 0.0) == higher_is_better:
                    first, second, one = second, first, one.swapped()
                yield describe_pair(first, second, one, higher_is_better=higher_is_better)


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


@checked
def analyze(
    source: Source | Sequence[Source],
    *,
    metric: str | None = None,
    classifier: str | None = None,
    similarity: Similarities | None = None,
    predictor: str | None = None,
    **reading: Unpack[Reading],
) -> Analysis:
    """Say how accuracy depends on the class order: what may be claimed, and what to run next.

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
        reading: see :class:`~edgecil.estimation.sources.Reading`.
    """
    asked: dict[str, Any] = {
        **reading,
        "metric": metric,
        "classifier": classifier,
        "similarity": describe_given(similarity),
        "predictor": predictor,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    if is_saved_analysis(source):
        return _load(source, given)
    gathered = gather(source, metric=metric, classifier=classifier, **reading)
    options = AnalysisOptions(**{**given, "metric": gathered.metric})
    datasets = tuple(_analyze_dataset(part, options, similarity) for part in gathered.datasets)
    tables = [dataset.table for dataset in datasets]
    methods = tuple(dict.fromkeys(name for it in datasets for name in it.methods))
    return Analysis(
        gathered.words,
        options,
        datasets,
        version("edgecil"),
        compare_over_datasets(tables, methods),
        profile_methods(tables, methods),
    )


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


def _load(source: Any, given: Mapping[str, str]) -> Analysis:
    """Return a saved analysis; options other than its own are refused."""
    path = source[0] if isinstance(source, (list, tuple)) else source
    analysis = Analysis.load(path)
    for name, asked in given.items():
        own = getattr(analysis.options, name)
        if asked != own:
            raise UsageError(
                f"The analysis in {path} has {name} {own!r}. Got {shown(asked)}; analyse "
                f"{analysis.source} again instead."
            )
    return analysis


def _analyze_dataset(
    runs: DatasetRuns, options: AnalysisOptions, similarity: Similarities | None
) -> DatasetAnalysis:
    similarities, notes, why_none = find_similarities(runs, similarity)
    seconds = {name: run_seconds(runs, name) for name in runs.table.methods}
    analysis = analyze_table(
        runs.table,
        similarities=similarities,
        predictor=options.predictor,
        why_none=why_none,
        seconds=seconds,
    )
    together = {name: own.answer.protocols for name, own in analysis.methods.items()}
    experiments = runs.experiments
    spent = [experiment.training_seconds() for experiment in experiments]
    totals = {name: sum(one.get(name, 0.0) for one in spent) for name in analysis.methods}
    curves, positions, confusion = describe_runs(
        analysis.table, experiments, options.classifier, options.metric, together
    )
    return replace(
        analysis,
        table=replace(analysis.table, names=class_names(runs.table), by_class=None),
        notes=(*runs.notes, *notes, *analysis.notes),
        experiments=tuple(map(_record, experiments)),
        curves=curves,
        class_positions=positions,
        confusion=confusion,
        training_seconds={name: total for name, total in totals.items() if total > 0.0},
    )


def _record(experiment: Experiment) -> ExperimentRecord:
    return ExperimentRecord(
        str(experiment.directory),
        tuple(to_plain(config) for config in experiment.configs),
        Identity.of(experiment.identity),
    )


def analyze_table(
    table: Runs,
    *,
    similarities: Mapping[str, Similarity] | None = None,
    predictor: str = "adjacent",
    why_none: str = "No similarity of the classes was given.",
    seconds: Mapping[str, float | None] | None = None,
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
        seconds: mean duration of a run, by method.
    """
    if table.missing == len(table):
        raise DataError(f"No run on {table.dataset!r} has an accuracy to analyse.")
    table = table.renumbered()
    predictors = build_predictors(table, similarities or {}, predictor)
    notes: list[str] = []
    methods: dict[str, MethodAnalysis] = {}
    relabelled: Relabelled = {}
    for method in table.methods:
        if len(table.orders(method)):
            own = (seconds or {}).get(method)
            methods[method] = _analyze_method(table, method, predictors, predictor, relabelled, own)
        else:
            notes.append(f"{method} is left out: none of its runs has an accuracy.")
    sign = predictors[predictor].sign if predictor in predictors else 1
    methods = adjust_correlations(methods, predictor, sign)
    if predictor not in predictors and table.has_orders:
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
    seconds: float | None,
) -> MethodAnalysis:
    truth = find_truth(table, method)
    named = (name for name in table.protocols if not find_protocol(name).repeats)
    ran = ((name, len(table.orders(method, name))) for name in named)
    sequences, accuracies = unbiased_orders(table, method, truth)
    said = answer(table, method, truth)
    return MethodAnalysis(
        name=method,
        metric=table.metric,
        answer=said,
        order_effect=split_variance(representative_orders(table, method).orders.repeats()),
        next_step=advise(table, method, said, seconds=seconds),
        truth=None if truth is None else truth.without_sequences(),
        runs={name: orders for name, orders in ran if orders},
        predictor=chosen if chosen in predictors else None,
        correlations={
            name: correlate(other.z(sequences), accuracies, relabel(other, sequences, relabelled))
            for name, other in predictors.items()
        },
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


def adjust_correlations(
    methods: Mapping[str, MethodAnalysis], predictor: str, sign: int | None
) -> dict[str, MethodAnalysis]:
    """Adjust the p-values over all methods, and add a warning of a weak predictor.

    Args:
        methods: by name.
        predictor: the one that is shown.
        sign: of the correlation that it claims; None if none.
    """
    names = dict.fromkeys(name for method in methods.values() for name in method.correlations)
    adjusted = {
        name: holm({key: method.correlations[name].p_value for key, method in methods.items()})
        for name in names
    }
    made = {}
    for key, method in methods.items():
        correlations = {
            name: replace(one, adjusted_p=adjusted[name][key])
            for name, one in method.correlations.items()
        }
        warnings, own = method.warnings, correlations.get(predictor)
        chose = any(find_protocol(name).needs_similarity for name in method.runs)
        if chose and own is not None and own.pearson is not None and own.stable:
            warning = warn_of_predictor(predictor_label(predictor), sign, own)
            warnings += () if warning is None else (warning,)
        made[key] = replace(method, correlations=correlations, warnings=warnings)
    return made
