"""The results of an analysis: everything that accuracies say about class orders, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from edgecil.engine.accuracies import AccuracyTable
from edgecil.engine.record import ExperimentRecord
from edgecil.errors import unknown
from edgecil.estimation.budgets import BudgetPoint, OutsideRange
from edgecil.estimation.claims import Answer
from edgecil.estimation.closeness import AverageCloseness, Closeness
from edgecil.estimation.comparison import Comparison
from edgecil.estimation.correlation import Correlation
from edgecil.estimation.details import ClassPositions, Confusion, TaskCurve
from edgecil.estimation.estimators import Estimate
from edgecil.estimation.next_step import NextStep
from edgecil.estimation.normality import Normality
from edgecil.estimation.placebo import ProtocolComparison
from edgecil.estimation.ranking import AverageRanking, Ranking
from edgecil.estimation.redraws import RedrawnEstimates
from edgecil.estimation.truth import Truth
from edgecil.estimation.variance import OrderEffect
from edgecil.io.arrays import Floats
from edgecil.io.files import replace_file
from edgecil.io.json import checked_json, read_json
from edgecil.io.notebook import show_printed
from edgecil.sequences.sequence import ClassSequence

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class ProtocolEstimate:
    """An estimate and, if the truth is available, its distance from the truth.

    Attributes:
        estimate: None if there is none; `reason` says why.
        runs: how many runs it uses; an order that was run under two labels may count once.
        closeness: None without a truth.
        reason: why there is no estimate.
        quantiles: of the estimated distribution, by probability (`0.05` to `0.95`).
    """

    estimate: Estimate | None
    runs: int
    closeness: Closeness | None = None
    reason: str | None = None
    quantiles: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class MethodAnalysis:
    """Everything about one method.

    Attributes:
        answer: what may be claimed about it, with or without a truth.
        order_effect: how far orders differ by more than training noise.
        next_step: what to run next.
        truth: None if the table does not contain it.
        estimates: by protocol and estimator.
        runs: how many orders each protocol ran.
        redraws: by protocol and estimator, what other draws of the protocol's random part give.
        averages: by protocol and estimator, the mean closeness to the truth over these draws.
        predictor: name of the predictor used; None without one.
        correlations: of accuracy with every predictor, by name.
        normality: of the truth, or of the orders not chosen by similarity.
        by_budget: closeness of the Gaussian as the budget grows, for `random` and each protocol
            with extreme sequences.
        outside_range: by protocol with extreme sequences, how many orders have accuracies outside
            the range of these sequences.
        warnings: sentences.
    """

    answer: Answer
    order_effect: OrderEffect
    next_step: NextStep
    truth: Truth | None
    estimates: dict[str, dict[str, ProtocolEstimate]]
    runs: dict[str, int]
    redraws: dict[str, dict[str, RedrawnEstimates]]
    averages: dict[str, dict[str, AverageCloseness]]
    predictor: str | None
    correlations: dict[str, Correlation]
    normality: Normality
    by_budget: dict[str, tuple[BudgetPoint, ...]]
    outside_range: dict[str, OutsideRange]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class ProtocolRanking:
    """A ranking of methods and its distance from the true one.

    Attributes:
        ranking: by worst order, best order and stability; None for a protocol that was not run.
        error: footrule to the true ranking of the same methods; None without a truth.
        average: over other draws of the protocol's random part; None without a truth.
    """

    ranking: Ranking | None
    error: float | None
    average: AverageRanking | None


@dataclass(frozen=True)
class PredictorSummary:
    """The predictor that estimates use, and its value for every sequence that was run.

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
SCHEMA = "edgecil.analysis/3"

# Protocols with a hard, a median and an easy sequence; figures show the first that was run.
_EXTREME = (
    *("edge", "optimal", "optimal-generalization", "adversarial", "maxcover"),
    "edge-released",
)


@dataclass(frozen=True, eq=False)
class DatasetAnalysis:
    """Everything about the runs on one dataset.

    Attributes:
        dataset: its name.
        metric: what `accuracies` hold: `accuracy` (the paper's A(O)), `last`, ...
        table: the runs, with the classes numbered 0 ... N-1.
        methods: by name.
        true_ranking: of the methods; None unless the truth of every one is available.
        rankings: by protocol and estimator.
        comparisons: by first and second method, on the orders that both ran.
        predictor: the one that estimates use, if it is the same for every method.
        protocol_comparisons: by protocol, its distance from the truth beside that of as many random
            orders and of a placebo; empty without a truth.
        notes: what was left out, and why.
        experiments: those that the runs come from, each with its directory, its configurations and
            what determines its results; empty for a file.
        accuracy_matrices: by method and label (`hard`, `median`, `easy`) of the extreme protocol,
            the accuracy on task s after task t, shape (K, K), NaN above the diagonal.
        repeats: the training seeds.
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
    table: AccuracyTable
    methods: dict[str, MethodAnalysis]
    true_ranking: Ranking | None
    rankings: dict[str, dict[str, ProtocolRanking]]
    comparisons: dict[str, dict[str, Comparison]]
    predictor: PredictorSummary | None = None
    protocol_comparisons: dict[str, ProtocolComparison] = field(default_factory=dict)
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
        """Protocols that are evaluated: all but those whose runs are the truth."""
        evaluated = {name for method in self.methods.values() for name in method.estimates}
        return tuple(name for name in self.table.protocols if name in evaluated)

    @property
    def compared_protocols(self) -> tuple[str, ...]:
        """The protocols, `random` first; it has averages over draws even if it was not run."""
        redrawn = any("random" in method.averages for method in self.methods.values())
        others = tuple(name for name in self.protocols if name != "random")
        return ("random", *others) if redrawn or "random" in self.protocols else others

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
        draws: how often random parts of protocols are drawn.
        draw_seed: seed of those draws.
        similarity: where the given similarity comes from; None if none was given.
        pilot: where the pilot's runs come from; None without a pilot.
    """

    metric: str = "accuracy"
    predictor: str = "adjacent"
    draws: int = 2_000
    draw_seed: int = 0
    similarity: str | None = None
    pilot: str | None = None
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
        """Return a row for each dataset, method, protocol and estimator, and for each truth."""
        from edgecil.estimation.display import analysis_frame

        return analysis_frame(self)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw each method's accuracies and the central 90 % of what each protocol estimates.

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
    """Return the first of some protocols that has a hard, a median and an easy sequence."""
    return next((name for name in _EXTREME if name in protocols), None)
