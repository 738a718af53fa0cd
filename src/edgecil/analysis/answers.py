"""What `analyze` answers, as objects: an analysis of datasets, each with its methods."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from edgecil.analysis.claims import Claim, Claims
from edgecil.analysis.correlation import Correlation
from edgecil.analysis.details import RunDetails
from edgecil.analysis.estimate import Estimate
from edgecil.analysis.next_runs import NextStep
from edgecil.analysis.pair_verdicts import Comparison, OverallComparison
from edgecil.analysis.plots import CLAIM_HEIGHT, draw_claims
from edgecil.analysis.profiles import PerformanceProfile
from edgecil.analysis.samples import Truth, representative_orders
from edgecil.analysis.standings import ComparedGroup, group_comparisons
from edgecil.analysis.terms import IntervalKind, Terms
from edgecil.entries import Entries
from edgecil.errors import UnknownNameError, unknown_name_error
from edgecil.io.arrays import Floats
from edgecil.io.json import checked_json, read_typed_json, save_json
from edgecil.io.notebook import (
    WithPandas,
    html_figure,
    html_table,
    new_axes,
    save_figure,
    show_printed,
)
from edgecil.runs.identity import ExperimentRecord
from edgecil.runs.run_table import Orders, Runs
from edgecil.statistics.posterior import Interval
from edgecil.statistics.variance import OrderEffect
from edgecil.statistics.verdicts import LEVEL
from edgecil.wording.analysis_sentences import describe_analysis, describe_dataset
from edgecil.wording.populations import unit_of
from edgecil.wording.sentences import describe_claims, describe_step

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from edgecil.analysis.comparison import MethodComparison
    from edgecil.report.write import Report

WRITE_REPORT = "edgecil.report.write:write_report"
LATEX_ROWS = "edgecil.report.analysis_tables:latex_rows"
LATEX_ROW = "edgecil.report.analysis_tables:latex_row_of"
"""Functions that print an analysis, of a station that builds on this one."""

# Name and version of the JSON form of an analysis; a changed field is a new version.
SCHEMA = "edgecil.analysis/8"


@dataclass(frozen=True, repr=False)
class MethodAnalysis:
    """Everything about one method.

    Attributes:
        name: of the method.
        metric: what is claimed about: `accuracy`, `last`, ...
        claims: what may be claimed about it, with or without a truth.
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

    @property
    def mean(self) -> Estimate | None:
        """The mean over orders and trainings, with its interval."""
        return _estimate(self.claims.mean)

    @property
    def low(self) -> float | None:
        """The lower end of the mean's interval; None if there is none."""
        return self.claims.mean.low

    @property
    def high(self) -> float | None:
        """The upper end of the mean's interval."""
        return self.claims.mean.high

    @property
    def interval(self) -> Interval | None:
        """Both ends of the mean's interval."""
        return self.claims.mean.interval

    @property
    def n(self) -> int:
        """How many runs its claims rest on."""
        return self.claims.run_count

    @property
    def std(self) -> Estimate | None:
        """The standard deviation of a run, with its interval."""
        return _estimate(self.claims.std)

    @property
    def next_run(self) -> Estimate | None:
        """What a new run is expected to reach, with the interval that holds it."""
        return _estimate(self.claims.next_run)

    @property
    def tail(self) -> Estimate | None:
        """The accuracy that 95 % of runs exceed, with its interval."""
        return _estimate(self.claims.tail)

    @property
    def population(self) -> str:
        """What the claims are about: `uniformly random class orders and trainings`, or less."""
        return self.claims.population

    def to_latex(self) -> str:
        """Return its row of the table in LaTeX that :meth:`Analysis.to_latex` returns."""
        row: str = resolve_name(LATEX_ROW)(self)
        return row

    def __repr__(self) -> str:
        return f"<MethodAnalysis: {describe_claims(self.claims, self.name, self.metric)}>"

    def __str__(self) -> str:
        """Return what may be claimed, what to run next, and warnings, a line each."""
        sentence = describe_claims(self.claims, self.name, self.metric)
        return "\n".join(
            [sentence, f"Next: {describe_step(self.next_step, self.metric)}", *self.warnings]
        )

    _repr_pretty_ = show_printed


def _estimate(claim: Claim) -> Estimate | None:
    if claim.value is None:
        return None
    return Estimate(claim.value, claim.low, claim.high, claim.level)


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


@dataclass(frozen=True, eq=False, repr=False)
class DatasetAnalysis(Entries[MethodAnalysis]):
    """Everything about the runs on one dataset, by method: `dataset["icarl"].mean`.

    Attributes:
        dataset: its name.
        metric: what `accuracies` hold: `accuracy` (the paper's A(O)), `last`, ...
        table: the runs, with the classes numbered 0 ... N-1.
        methods: by name.
        comparisons: of all pairs of methods, on the orders that both ran.
        predictor: whose values are shown beside the orders; None without one.
        notes: what was left out, and why.
        experiments: those that the runs come from, each with its directory, its configurations and
            what determines its results; empty for a file.
        details: by method, what its runs show by task and by class; empty for a file.
        training_seconds: by method, the duration of all its trainings and tests; empty where it is
            not recorded.
        baseline: the method that the others are compared with first; None for the leader.
    """

    dataset: str
    metric: str
    table: Runs
    methods: dict[str, MethodAnalysis]
    comparisons: tuple[Comparison, ...]
    predictor: PredictorSummary | None = None
    notes: tuple[str, ...] = ()
    experiments: tuple[ExperimentRecord, ...] = ()
    details: dict[str, RunDetails] = field(default_factory=dict)
    training_seconds: dict[str, float] = field(default_factory=dict)
    baseline: str | None = None

    _kind = "method"

    def _entries(self) -> Mapping[str, MethodAnalysis]:
        return self.methods

    @cached_property
    def _comparison_of(self) -> dict[frozenset[str], Comparison]:
        return {pair.methods: pair for pair in self.comparisons}

    @property
    def compared_groups(self) -> tuple[ComparedGroup, ...]:
        """The pairs of methods, and how the leader or the baseline stands among them."""
        return group_comparisons({self.dataset: self.comparisons}, baseline=self.baseline)

    def compare(self, first: str, second: str) -> Comparison | None:
        """Return the comparison of two methods; None without an order that both ran."""
        return self._comparison_of.get(frozenset((first, second)))

    def claimed_orders(self, method: str) -> Orders:
        """Return the orders of a method that its claims rest on."""
        claims = self.methods[method].claims
        if claims.mean.validity == "measured":
            return self.table.orders(method)
        return representative_orders(self.table, method)[1]

    def __repr__(self) -> str:
        first, *_ = describe_dataset(self)
        return f"<DatasetAnalysis of {self.dataset or 'your data'}: {first}>"

    def __str__(self) -> str:
        """Return who is better, and what may be claimed about each method."""
        return "\n".join(describe_dataset(self))

    _repr_pretty_ = show_printed

    def plot(self, path: str | Path | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw what may be claimed about each method; see :meth:`Analysis.plot`."""
        return _plot((self,), path, ax)

    @property
    def unit(self) -> str:
        """What the claims count: `order`, `run` or `training`; `run` if the methods differ."""
        units = {unit_of(method.claims.population) for method in self.methods.values()}
        return units.pop() if len(units) == 1 else "run"

    @property
    def level(self) -> float:
        """Probability with which each interval contains what it is about."""
        return next((method.claims.level for method in self.methods.values()), LEVEL)

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
    interval: IntervalKind | None = None

    @property
    def terms(self) -> Terms:
        """How intervals are made and verdicts are given."""
        return Terms.of(level=self.level, interval=self.interval)


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(WithPandas, Entries[Any]):
    """What accuracies say about class orders and trainings, dataset by dataset.

    It holds its methods by name, `analysis["icarl"].mean`, or with several datasets these:
    `analysis["cub"]["icarl"].mean`.

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
    over_datasets: tuple[OverallComparison, ...] = ()
    profiles: dict[str, PerformanceProfile] = field(default_factory=dict)
    reading: str = ""

    @property
    def source(self) -> str:
        """The sources in words."""
        return ", ".join(self.sources)

    def save(self, path: str | Path) -> None:
        """Write the analysis as a JSON file that :meth:`load` and :func:`analyze` read."""
        save_json(path, self.to_json())

    def to_json(self) -> bytes:
        """Return the content of the file that :meth:`save` writes."""
        return checked_json(self, SCHEMA)

    @classmethod
    def load(cls, path: str | Path) -> Analysis:
        """Return the analysis in a JSON file that :meth:`save` wrote."""
        return read_typed_json(path, cls, SCHEMA)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a row for each dataset and method; low and high are the ends of the mean."""
        import pandas

        frame: pandas.DataFrame = pandas.DataFrame(
            _row(dataset, name) for dataset in self.datasets for name in dataset.methods
        )
        return frame

    def plot(self, path: str | Path | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw what may be claimed about each method.

        The thick line is the interval of the mean, the diamond the mean, the thin line the
        interval of a new run; the dots below are the runs behind them.

        Args:
            path: the file to save the figure to, such as `figure.png` or `figure.pdf`.
            ax: the axes to draw on; new ones by default.
        """
        return _plot(self.datasets, path, ax)

    _kind = "method"

    def _entries(self) -> Mapping[str, Any]:
        if len(self.datasets) == 1:
            return self.datasets[0].methods
        return {dataset.dataset: dataset for dataset in self.datasets}

    def __getitem__(self, name: str) -> Any:
        """Return a method's analysis, or with several datasets a dataset's."""
        entries = self._entries()
        if name in entries:
            return entries[name]
        if len(self.datasets) == 1:
            raise UnknownNameError(*unknown_name_error("method", name, entries).args)
        if name in self.methods:
            raise UnknownNameError(
                f"There are several datasets ({', '.join(entries)}); choose one first, as in "
                f"analysis[{next(iter(entries))!r}][{name!r}]."
            )
        raise UnknownNameError(*unknown_name_error("dataset", name, entries).args)

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods, on any dataset."""
        return tuple(dict.fromkeys(name for dataset in self.datasets for name in dataset.methods))

    @property
    def compared_groups(self) -> tuple[ComparedGroup, ...]:
        """The pairs over all datasets and on each, and how the leader or the baseline stands."""
        by_dataset = {dataset.dataset: dataset.comparisons for dataset in self.datasets}
        return group_comparisons(by_dataset, self.over_datasets, self.options.baseline)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All pairs of methods on every dataset."""
        return tuple(pair for dataset in self.datasets for pair in dataset.comparisons)

    def compare(self, *methods: str) -> MethodComparison:
        """Return the comparisons of methods, all by default, as this analysis has them.

        They are adjusted for all pairs of the analysis.
        """
        from edgecil.analysis.comparison import MethodComparison

        for name in methods:
            if name not in self.methods:
                raise UnknownNameError(*unknown_name_error("method", name, self.methods).args)
        chosen = set(methods or self.methods)
        return MethodComparison(
            self.source,
            self.options.metric,
            tuple(pair for pair in self.comparisons if pair.methods <= chosen),
            tuple(pair for pair in self.over_datasets if pair.methods <= chosen),
            {name: profile for name, profile in self.profiles.items() if name in chosen},
            baseline=self.options.baseline if self.options.baseline in chosen else None,
            reading=self.reading,
        )

    def to_latex(self) -> str:
        """Return a header and the row of each method in LaTeX, for each dataset."""
        lines: list[str] = []
        for dataset in self.datasets:
            lines += resolve_name(LATEX_ROWS)(dataset)
        return "\n".join(lines)

    def write_report(self, out: str | Path | None = None, **options: Any) -> Report:
        """Write the page of this analysis, as :func:`edgecil.write_report` does."""
        report: Report = resolve_name(WRITE_REPORT)(self, out=out, **options)
        return report

    def __repr__(self) -> str:
        first = next(iter(describe_analysis(self)), "no method has a result")
        return f"<Analysis of {self.source}: {first}>"

    def __str__(self) -> str:
        """Return the reading, who is better, the claims about each method, and all warnings."""
        reading = [self.reading] if self.reading else []
        return "\n".join([*reading, *describe_analysis(self)])

    _repr_pretty_ = show_printed

    def _repr_html_(self) -> str:
        titles = ("dataset", "method", "orders", "mean", "low", "high", "std", "lowest", "highest")
        rows: list[tuple[str, ...]] = [
            tuple(self._unit_title() if title == "orders" else title for title in titles)
        ]
        for dataset in self.datasets:
            for name in dataset.methods:
                row = _row(dataset, name)
                numbers = [row[title] for title in titles[3:]]
                cells = ["–" if number is None else f"{number:.2f}" for number in numbers]
                rows.append((*(str(row[title]) for title in titles[:3]), *cells))
        text = "".join(f"<p>{html.escape(line)}</p>" for line in str(self).splitlines())
        size = _figure_size(self.datasets)
        figure = html_figure(lambda axes: self.plot(ax=axes), "claims about each method", size)
        return text + html_table(rows) + figure

    def _unit_title(self) -> str:
        """What the claims count, as the title of a column, such as `task orders`."""
        units = {dataset.unit for dataset in self.datasets}
        if units != {"order"}:
            return f"{units.pop()}s" if len(units) == 1 else "runs"
        names = {dataset.table.order_name for dataset in self.datasets}
        return "task orders" if names == {"task order"} else "orders"


def _figure_size(datasets: Sequence[DatasetAnalysis]) -> tuple[float, float]:
    return 7.0, 1.2 + CLAIM_HEIGHT * sum(len(dataset.methods) for dataset in datasets)


def _plot(datasets: Sequence[DatasetAnalysis], path: str | Path | None, ax: Axes | None) -> Axes:
    axes = draw_claims(datasets, new_axes(_figure_size(datasets)) if ax is None else ax)
    if path is not None:
        save_figure(axes, path)
    return axes


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
        prefix = "" if title == "mean" else f"{title}_"
        row |= {f"{prefix}low": claim.low, f"{prefix}high": claim.high}
    return {**row, "lowest": claims.lowest, "highest": claims.highest}
