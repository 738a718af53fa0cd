"""The results of an analysis: everything that accuracies say about class orders, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from edgecil.engine.record import ExperimentRecord
from edgecil.engine.runs import Runs
from edgecil.errors import unknown
from edgecil.estimation.claims import Answer
from edgecil.estimation.comparison import Comparison
from edgecil.estimation.correlation import Correlation
from edgecil.estimation.details import ClassPositions, Confusion, TaskCurve
from edgecil.estimation.next_step import NextStep
from edgecil.estimation.truth import Truth
from edgecil.estimation.variance import OrderEffect
from edgecil.io.arrays import Floats
from edgecil.io.files import replace_file
from edgecil.io.json import checked_json, read_json
from edgecil.io.notebook import show_printed
from edgecil.sequences.protocols import GOALS, PROTOCOLS
from edgecil.sequences.sequence import ClassSequence

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
    """The options that an analysis was made with; see :func:`edgecil.estimation.analyze`.

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
        from edgecil.estimation.display import analysis_frame

        return analysis_frame(self)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw each method's accuracies and the central 90 % of the distribution over all orders.

        Args:
            ax: the axes to draw on; new ones by default.
        """
        from edgecil.estimation.display import plot_analysis

        return plot_analysis(self, ax)

    def __repr__(self) -> str:
        from edgecil.estimation.display import describe_analysis

        return f"<{describe_analysis(self)}>"

    def __str__(self) -> str:
        """Return what may be claimed about each method, a line each, and all warnings."""
        from edgecil.estimation.display import describe_analysis, describe_warnings

        lines = [
            f"{name}: {method.answer}"
            for dataset in self.datasets
            for name, method in dataset.methods.items()
        ]
        return "\n".join([describe_analysis(self), *lines, *describe_warnings(self)])

    _repr_pretty_ = show_printed

    def _repr_html_(self) -> str:
        from edgecil.estimation.display import analysis_html

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
