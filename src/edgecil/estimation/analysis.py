"""What is said of a table of accuracies: the answers that :func:`judge` puts together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgecil.estimation.closeness import AverageCloseness, Closeness
from edgecil.estimation.comparison import Comparison
from edgecil.estimation.correlation import Correlation
from edgecil.estimation.estimators import Estimate
from edgecil.estimation.normality import Normality
from edgecil.estimation.ranking import CRITERIA, AverageRanking, Ranking
from edgecil.estimation.redraws import Redrawn
from edgecil.estimation.samples import Capture, SamplePoint
from edgecil.estimation.truth import Truth
from edgecil.estimation.variance import VarianceShares

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
        redrawn: by protocol and estimator, an estimate for each draw of what is random in it.
        averages: by protocol and estimator, the mean closeness over these draws.
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
    redrawn: Redrawn
    averages: dict[str, dict[str, AverageCloseness]]
    predictor: str | None
    correlations: dict[str, Correlation]
    normality: Normality
    variance: VarianceShares | None
    samples: dict[str, list[SamplePoint]]
    captures: dict[str, Capture]
    warnings: list[str]

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
            "warnings": self.warnings,
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
class Analysis:
    """Everything about a table.

    Attributes:
        dataset: its name.
        methods: by name.
        true_ranking: of the methods whose truth is known; None if there is none.
        rankings: by protocol and estimator.
        comparisons: of pairs of methods on the orders that both ran.
        notes: what was left out, and why.
    """

    dataset: str
    methods: dict[str, MethodAnalysis]
    true_ranking: Ranking | None
    rankings: dict[str, dict[str, ProtocolRanking]]
    comparisons: dict[tuple[str, str], Comparison]
    notes: list[str]

    def as_dict(self) -> dict[str, Any]:
        """The judgement as plain JSON values: a key per method, then what is about all of them."""
        return {
            **{name: method.as_dict() for name, method in self.methods.items()},
            "ranking": {
                "truth": None if self.true_ranking is None else self.true_ranking.as_dict(),
                **_plain(self.rankings),
            },
            "comparison": [
                {"first": first, "second": second, **found.as_dict()}
                for (first, second), found in self.comparisons.items()
            ],
            "notes": self.notes,
        }


def _plain(value: Any) -> Any:
    """Nested mappings and lists of answers as plain JSON values."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.as_dict()
