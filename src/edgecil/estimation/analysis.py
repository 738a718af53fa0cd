"""The results of an analysis: everything that accuracies say about class orders, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from edgecil.engine.accuracies import AccuracyTable
from edgecil.errors import unknown
from edgecil.estimation.closeness import AverageCloseness, Closeness
from edgecil.estimation.comparison import Comparison
from edgecil.estimation.correlation import Correlation
from edgecil.estimation.estimators import Estimate
from edgecil.estimation.normality import Normality
from edgecil.estimation.ranking import CRITERIA, AverageRanking, Ranking
from edgecil.estimation.redraws import RedrawnEstimates
from edgecil.estimation.samples import Capture, SamplePoint
from edgecil.estimation.truth import Truth
from edgecil.estimation.variance import VarianceShares
from edgecil.io.arrays import Floats
from edgecil.sequences.sequence import ClassSequence

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class ProtocolEstimate:
    """An estimate and, where the truth is known, its distance from it.

    Attributes:
        estimate: None if it could not be made, with the reason.
        runs: how many it counts; an order that was run under two labels may count once.
        closeness: None without a truth.
        reason: why there is no estimate.
    """

    estimate: Estimate | None
    runs: int
    closeness: Closeness | None = None
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The numbers as plain JSON values; None where there is none."""
        if self.estimate is None:
            names = ("mean", "std", "min", "max", "jsd", "wasserstein")
            return {**dict.fromkeys(names), "runs": self.runs, "reason": self.reason}
        distribution, near = self.estimate.distribution, self.closeness
        return {
            "mean": distribution.mean,
            "std": distribution.std,
            "min": self.estimate.min,
            "max": self.estimate.max,
            "runs": self.runs,
            "jsd": None if near is None else near.jsd,
            "wasserstein": None if near is None else near.wasserstein,
            "errors": None
            if near is None
            else {name: getattr(near, f"{name}_error") for name in ("mean", "std", "min", "max")},
            "quantiles": {
                f"{level:g}": float(value)
                for level, value in zip(
                    QUANTILES, distribution.quantile(np.array(QUANTILES)), strict=True
                )
            },
            "mean_interval": self.estimate.mean_interval,
            "std_interval": self.estimate.std_interval,
        }


@dataclass(frozen=True)
class MethodAnalysis:
    """Everything about one method.

    Attributes:
        truth: None if the table does not hold it.
        estimates: by protocol and estimator.
        runs: how many orders each protocol ran.
        redraws: by protocol and estimator, what other draws of the protocol's random part give.
        averages: by protocol and estimator, the mean closeness to the truth over these draws.
        predictor: name of the predictor used; None without one.
        correlations: of accuracy with every predictor, by name.
        normality: of the truth, or of the orders drawn without a look at the classes.
        variance: due to order and seed; None if no seed repeats.
        samples: closeness of the Gaussian as the budget grows, for `random` and each extreme one.
        captures: by protocol, how many true accuracies its runs' ends leave outside.
        warnings: sentences.
    """

    truth: Truth | None
    estimates: dict[str, dict[str, ProtocolEstimate]]
    runs: dict[str, int]
    redraws: dict[str, dict[str, RedrawnEstimates]]
    averages: dict[str, dict[str, AverageCloseness]]
    predictor: str | None
    correlations: dict[str, Correlation]
    normality: Normality
    variance: VarianceShares | None
    samples: dict[str, list[SamplePoint]]
    captures: dict[str, Capture]
    warnings: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The judgement as plain JSON values."""
        main = None if self.predictor is None else self.correlations[self.predictor].as_dict()
        return {
            "truth": None if self.truth is None else self.truth.as_dict(),
            "estimates": _plain(self.estimates),
            "runs": self.runs,
            "averages": _plain(self.averages),
            "correlation": {
                "predictor": self.predictor,
                **(main or {}),
                "predictors": _plain(self.correlations),
            },
            "normality": self.normality.as_dict(),
            "variance": None if self.variance is None else self.variance.as_dict(),
            "samples": _plain(self.samples),
            "captures": _plain(self.captures),
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True)
class ProtocolRanking:
    """A ranking of methods and its distance from the true one.

    Attributes:
        ranking: by lower bound, upper bound and stability; None for a protocol that was not run
            and whose draws alone are known.
        error: footrule to the true ranking of the same methods; None without a truth.
        average: of rankings that the protocol's draws give; None where they cannot be compared.
    """

    ranking: Ranking | None
    error: float | None
    average: AverageRanking | None

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        ranks = dict.fromkeys(CRITERIA) if self.ranking is None else self.ranking.as_dict()
        average = None if self.average is None else self.average.as_dict()
        return {**ranks, "error": self.error, "average": average}


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
        """The predictor's z for a sequence; None if it has none."""
        return self.z.get(str(sequence))


# Protocols with a hard, a median and an easy sequence; figures show the first that was run.
_EXTREME = ("edge", "optimal", "adversarial", "maxcover")


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
        notes: what was left out, and why.
        configs: the configurations that produced the runs, as plain values; empty for a file.
        identity: what decides the results, as plain values; empty for a file.
        accuracy_matrices: by method and label (`hard`, `median`, `easy`) of the extreme protocol,
            the accuracy on task s after task t, shape (K, K), NaN above the diagonal.
        repeats: the training seeds.
    """

    dataset: str
    metric: str
    table: AccuracyTable
    methods: dict[str, MethodAnalysis]
    true_ranking: Ranking | None
    rankings: dict[str, dict[str, ProtocolRanking]]
    comparisons: dict[str, dict[str, Comparison]]
    predictor: PredictorSummary | None = None
    notes: tuple[str, ...] = ()
    configs: tuple[dict[str, Any], ...] = ()
    identity: dict[str, Any] = field(default_factory=dict)
    accuracy_matrices: dict[str, dict[str, Floats]] = field(default_factory=dict)
    repeats: tuple[int, ...] = ()

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
        """The lowest and the highest accuracy of all orders that a method ran."""
        accuracies = self.table.orders(method).accuracies
        return float(accuracies.min()), float(accuracies.max())

    def as_dict(self) -> dict[str, Any]:
        """The analysis as plain JSON values: a key per method, then what is about all of them."""
        return {
            **{name: method.as_dict() for name, method in self.methods.items()},
            "ranking": {
                "truth": None if self.true_ranking is None else self.true_ranking.as_dict(),
                **_plain(self.rankings),
            },
            "comparison": [
                {"first": first, "second": second, **comparison.as_dict()}
                for first, others in self.comparisons.items()
                for second, comparison in others.items()
            ],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class AnalysisOptions:
    """The options that an analysis was made with; see :func:`edgecil.estimation.analyze`.

    Attributes:
        metric: the metric.
        predictor: name of the predictor.
        draws: how often random parts of protocols are drawn.
        seed: of those draws.
        similarity: where the given similarity comes from; None if none was given.
        pilot: where the pilot's runs come from; None without a pilot.
    """

    metric: str = "accuracy"
    predictor: str = "adjacent"
    draws: int = 2_000
    seed: int = 0
    similarity: str | None = None
    pilot: str | None = None


@dataclass(frozen=True, eq=False)
class Analysis:
    """What accuracies say about class orders, dataset by dataset.

    Attributes:
        source: the experiment directory or file, as it was given.
        options: what it was made with.
        datasets: one entry per dataset.
    """

    source: str
    options: AnalysisOptions
    datasets: tuple[DatasetAnalysis, ...]

    def __getitem__(self, method: str) -> MethodAnalysis:
        """A method's analysis, if there is one dataset."""
        if len(self.datasets) != 1:
            names = ", ".join(dataset.dataset for dataset in self.datasets)
            raise KeyError(f"There are several datasets ({names}); choose one from 'datasets'.")
        methods = self.datasets[0].methods
        if method not in methods:
            raise unknown("method", method, methods)
        return methods[method]


def extreme_protocol(protocols: tuple[str, ...]) -> str | None:
    """The first of some protocols that has a hard, a median and an easy sequence."""
    return next((name for name in _EXTREME if name in protocols), None)


def _plain(value: Any) -> Any:
    """Nested mappings and lists of answers as plain JSON values."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.as_dict()
