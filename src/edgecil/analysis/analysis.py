"""`analyze`: what runs say about each method over class orders and trainings, as plain data."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from edgecil.analysis.claims import Claims, make_claims
from edgecil.analysis.comparison import (
    Comparison,
    Overall,
    PerformanceProfile,
    compare_over_datasets,
    compare_pairs,
    holm,
    profile_methods,
)
from edgecil.analysis.correlation import (
    Correlation,
    Predictor,
    correlate,
    objective_predictor,
    relabelled_values,
    warn_of_predictor,
)
from edgecil.analysis.details import RunDetails, describe_runs, note_undertrained
from edgecil.analysis.next_runs import NextStep, advise, run_seconds
from edgecil.analysis.plausibility import warn_of_failures, warn_of_truth
from edgecil.analysis.samples import Truth, find_truth, representative_orders, unbiased_orders
from edgecil.analysis.similarities import (
    SimilarityLike,
    describe_given,
    describe_similarity,
    find_similarity,
)
from edgecil.analysis.sources import (
    POOLED,
    DatasetRuns,
    Source,
    class_names,
    gather,
    is_saved_analysis,
)
from edgecil.analysis.terms import Terms
from edgecil.errors import UsageError, format_value, unknown_name_error
from edgecil.hints import Level
from edgecil.io.arrays import Floats
from edgecil.io.files import replace_file
from edgecil.io.json import checked_json, read_typed_json
from edgecil.io.notebook import html_figure, html_table, new_axes, show_printed
from edgecil.options import checked
from edgecil.runs.identity import ExperimentRecord
from edgecil.runs.reading.reading_options import ReadingOptions
from edgecil.runs.run_table import Runs
from edgecil.sequences.objective import OBJECTIVES, applicable_objectives
from edgecil.sequences.protocols import find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.statistics.variance import OrderEffect, split_variance
from edgecil.statistics.verdicts import LEVEL
from edgecil.wording.sentences import (
    count,
    describe_claims,
    describe_overall,
    describe_pair,
    describe_step,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

# Name and version of the JSON form of an analysis; a changed field is a new version.
SCHEMA = "edgecil.analysis/7"

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
        correlation: of accuracy with the predictor; None without one.
        warnings: sentences.
    """

    name: str
    metric: str
    claims: Claims
    order_effect: OrderEffect
    next_step: NextStep
    truth: Truth | None
    runs: dict[str, int]
    correlation: Correlation | None
    warnings: tuple[str, ...]

    @property
    def chosen_by(self) -> tuple[str, ...]:
        """The protocols that chose some of its orders; none of them ran every order."""
        truth = self.truth
        every = truth.protocols if truth is not None and truth.kind == "enumerated" else ()
        return tuple(name for name in self.runs if name not in every)

    def __repr__(self) -> str:
        return f"<MethodAnalysis: {describe_claims(self.claims, self.name, self.metric)}>"

    def __str__(self) -> str:
        """Return what may be claimed, what to run next, and warnings, a line each."""
        sentence = describe_claims(self.claims, self.name, self.metric)
        return "\n".join([sentence, f"Next: {describe_step(self.next_step)}", *self.warnings])

    _repr_pretty_ = show_printed


@dataclass(frozen=True, eq=False)
class PredictorSummary:
    """A predictor of accuracy, and its value for every sequence that was run.

    Attributes:
        name: an objective's name.
        label: what figures and tables call it: `S` for the paper's objective, `adjacent`.
        origin: what it is computed from, in a few words; None if that is not recorded.
        sign: of the correlation with accuracy that its construction claims, +1 or -1.
        z: its value for each of the table's `sequences`, in standard deviations from the mean over
            all sequences.
    """

    name: str
    label: str
    origin: str | None
    sign: int
    z: Floats


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
        details: by method, what its runs show by task and by class; empty for a file.
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
    details: dict[str, RunDetails] = field(default_factory=dict)
    training_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def level(self) -> float:
        """Probability with which each interval contains what it is about."""
        return next((one.claims.level for one in self.methods.values()), LEVEL)

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

    `similarity` says where a given one comes from; `level` is None for the default.
    """

    metric: str = "accuracy"
    predictor: str = "adjacent"
    similarity: str | None = None
    classifier: str | None = None
    pool: str | None = None
    seeds_are: str | None = None
    orders_from: str | None = None
    tasks: int | tuple[int, ...] | None = None
    columns: Any = None
    higher_is_better: bool | None = None
    lower_is_better: bool | None = None
    at: str | int | None = None
    by: Any = None
    only: Any = None
    baseline: str | None = None
    n: int | None = None
    std_ddof: int | None = None
    reading: str | None = None
    given_tasks: Any = None
    level: float | None = None

    @property
    def terms(self) -> Terms:
        """How intervals are made and verdicts are given."""
        return Terms.of(level=self.level)


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
        reading: how the sources were understood, in one line.
    """

    sources: tuple[str, ...]
    options: AnalysisOptions
    datasets: tuple[DatasetAnalysis, ...]
    version: str = ""
    over_datasets: tuple[Overall, ...] = ()
    profiles: dict[str, PerformanceProfile] = field(default_factory=dict)
    reading: str = ""

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
        return checked_json(self, SCHEMA)

    @classmethod
    def load(cls, path: str | Path) -> Analysis:
        """Return the analysis in a JSON file that :meth:`save` wrote."""
        return read_typed_json(path, cls, SCHEMA)

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
            distribution = dataset.methods[name].claims.distribution
            ax.plot(distribution.interval(0.9), (row + 0.35,) * 2, color=_COLOUR, linewidth=2)
            ax.plot([distribution.mean], [row + 0.35], "o", color=_COLOUR, markersize=4)
            labels.append(f"{name}\n{dataset.dataset}" if len(self.datasets) > 1 else name)
        ax.set_yticks(range(len(labels)), labels)
        ax.set_ylim(len(entries), -0.5)
        names = {f"{dataset.table.order_name}s" for dataset in self.datasets}
        orders = names.pop() if len(names) == 1 else "orders"
        ax.set_xlabel(f"{self.options.metric} (%): {orders}, and 90 % of runs")
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
        lines = [self.reading] if self.reading else []
        lines += describe_overall(self.over_datasets, self.options.metric)
        warnings: list[str] = []
        for dataset in self.datasets:
            lines += [f"{dataset.dataset or 'your data'}:"] if len(self.datasets) > 1 else []
            lines += describe_dataset(dataset)
            warnings += (f"Warning: {warning}" for warning in method_warnings(dataset))
            warnings += (f"Note: {note}" for note in dataset.notes)
        return "\n".join([*lines, *dict.fromkeys(warnings)])

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
            raise unknown_name_error("method", method, methods)
        return methods[method]


def _row(dataset: DatasetAnalysis, name: str) -> dict[str, Any]:
    claims = dataset.methods[name].claims
    row: dict[str, Any] = {
        "dataset": dataset.dataset,
        "method": name,
        "orders": claims.order_count,
        "trainings": claims.trainings,
        "chosen by": " + ".join(claims.protocols),
    }
    of_title = {
        "mean": claims.mean,
        "std": claims.std,
        "next": claims.next_run,
        "tail": claims.tail,
    }
    for title, claim in of_title.items():
        row |= {} if title == "next" else {title: claim.value}
        row |= {f"{title}_low": claim.low, f"{title}_high": claim.high}
    return {**row, "lowest": claims.lowest, "highest": claims.highest}


def describe_dataset(dataset: DatasetAnalysis) -> Iterator[str]:
    """Yield what may be claimed about each method, and which of two methods is better."""
    for name, method in dataset.methods.items():
        yield describe_claims(method.claims, name, dataset.metric)
    if len(dataset.methods) == 2:
        for first, others in dataset.comparisons.items():
            for second, one in others.items():
                yield describe_pair(first, second, one, dataset.metric)
    yield from pooled_notes(dataset)


def pooled_notes(dataset: DatasetAnalysis) -> list[str]:
    """Return why runs are averaged whose settings differ, a sentence for each method."""
    return [note for note in dataset.notes if POOLED in note]


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


@checked
def analyze(
    source: Source | Sequence[Source],
    *,
    metric: str | None = None,
    classifier: str | None = None,
    similarity: SimilarityLike | None = None,
    predictor: str | None = None,
    level: Level | None = None,
    **reading: Unpack[ReadingOptions],
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
            also a similarity.
        predictor: objective to show beside the orders as a predictor of accuracy; by default
            `adjacent`, the paper's S.
        level: probability with which an interval contains what it is about; 0.95 by default.
        reading: see :class:`~edgecil.runs.reading.reading_options.ReadingOptions`.
    """
    asked: dict[str, Any] = {
        **reading,
        "metric": metric,
        "classifier": classifier,
        "similarity": describe_given(similarity),
        "predictor": predictor,
        "level": None if level == LEVEL else level,
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
        compare_over_datasets(tables, methods, options.terms),
        profile_methods(tables, methods, options.terms),
        gathered.reading.line,
    )


def as_analysis(source: Analysis | Source | Sequence[Source], **options: Any) -> Analysis:
    """An analysis as it is, or that of a source with these options; None means not given."""
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
                f"The analysis in {path} has {name} {own!r}. Got {format_value(asked)}; analyse "
                f"{analysis.source} again instead."
            )
    return analysis


def _analyze_dataset(
    runs: DatasetRuns, options: AnalysisOptions, given: SimilarityLike | None
) -> DatasetAnalysis:
    similarity, notes, why_none = find_similarity(runs, given)
    table, predictor, summary = runs.table.renumbered(), None, None
    if options.predictor not in OBJECTIVES:
        raise unknown_name_error("predictor", options.predictor, OBJECTIVES)
    if similarity is not None and options.predictor in applicable_objectives(table.space):
        predictor = objective_predictor(similarity, table.space, options.predictor)
        z, origin = predictor.z(table.sequences), describe_similarity(similarity)
        summary = PredictorSummary(options.predictor, predictor.label, origin, predictor.sign, z)
    truths = {it: find_truth(table, it) for it in table.methods if len(table.orders(it))}
    correlations = {} if predictor is None else _correlate_methods(table, truths, predictor)
    methods = {
        name: _analyze_method(
            table,
            name,
            truth,
            predictor,
            correlations.get(name),
            run_seconds(runs, name),
            options.terms,
        )
        for name, truth in truths.items()
    }
    answered = {name: own.claims.protocols for name, own in methods.items()}
    details = describe_runs(table, runs.experiments, answered, options.classifier)
    notes += note_undertrained(table, details)
    lost = [name for name in table.methods if name not in truths]
    notes += [f"{name} is left out: none of its runs has an accuracy." for name in lost]
    if predictor is None and table.has_orders and table.arranges == "classes":
        notes.append(
            f"{why_none} Therefore the correlation of accuracy with the similarity of tasks (S) "
            "is unknown."
        )
    spent = [experiment.training_seconds() for experiment in runs.experiments]
    totals = {name: sum(one.get(name, 0.0) for one in spent) for name in methods}
    return DatasetAnalysis(
        table.dataset,
        table.metric,
        replace(table, names=class_names(runs.table), by_class=None),
        methods,
        compare_pairs(table, tuple(methods), options.terms),
        summary,
        (*runs.notes, *notes),
        tuple(experiment.record() for experiment in runs.experiments),
        details,
        {name: total for name, total in totals.items() if total > 0.0},
    )


def _correlate_methods(
    table: Runs, truths: Mapping[str, Truth | None], predictor: Predictor
) -> dict[str, Correlation]:
    """Return each method's correlation with a predictor; p is adjusted over the methods."""
    made: dict[str, Correlation] = {}
    last: tuple[ClassSequence, ...] | None = None
    relabelled: Floats | None = None
    for method, truth in truths.items():
        sequences, accuracies = unbiased_orders(table, method, truth)
        if sequences != last:  # methods that ran the same orders share the relabellings
            last, relabelled = sequences, relabelled_values(predictor, sequences)
        made[method] = correlate(predictor.z(sequences), accuracies, relabelled)
    adjusted = holm({method: one.p_value for method, one in made.items()})
    return {method: replace(one, adjusted_p=adjusted[method]) for method, one in made.items()}


def _analyze_method(
    table: Runs,
    method: str,
    truth: Truth | None,
    predictor: Predictor | None,
    correlation: Correlation | None,
    seconds: float | None,
    terms: Terms,
) -> MethodAnalysis:
    named = (name for name in table.protocols if not find_protocol(name).repeats)
    ran = {name: len(table.orders(method, name)) for name in named}
    warnings = warn_of_truth(truth) + warn_of_failures(table, method, truth)
    chose = any(orders and find_protocol(name).needs_similarity for name, orders in ran.items())
    if chose and predictor is not None and correlation is not None and correlation.stable:
        weak = warn_of_predictor(predictor.label, predictor.sign, correlation)
        warnings += [] if weak is None else [weak]
    claims = make_claims(table, method, truth, terms)
    _, orders = representative_orders(table, method)
    effect = split_variance(orders.repeats(), terms.level)
    if len(set(table.identity[orders.rows[orders.rows >= 0]].tolist())) > 1:  # pooled
        own = effect.order_count, effect.repeated_orders, effect.repeats, effect.range
        effect = OrderEffect(*own, reason="the settings of trainings differ")
    return MethodAnalysis(
        name=method,
        metric=table.metric,
        claims=claims,
        order_effect=effect,
        next_step=advise(table, method, claims, seconds=seconds, terms=terms),
        truth=None if truth is None else replace(truth, sequences=()),
        runs={name: orders for name, orders in ran.items() if orders},
        correlation=correlation,
        warnings=tuple(warnings),
    )
