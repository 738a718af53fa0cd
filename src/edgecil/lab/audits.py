"""The results of an audit: how close each protocol and estimator comes to the truth, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from edgecil.errors import unknown
from edgecil.estimation.population import LEAST_ORDERS
from edgecil.estimation.truth import Truth
from edgecil.io.files import replace_file
from edgecil.io.json import checked_json, read_json
from edgecil.lab.budgets import BudgetPoint, OutsideRange
from edgecil.lab.closeness import AverageCloseness, Closeness
from edgecil.lab.estimators import Estimate
from edgecil.lab.placebo import ProtocolComparison
from edgecil.lab.ranking import AverageRanking, Ranking
from edgecil.lab.redraws import RANDOM_RUNS, RedrawnEstimates
from edgecil.sequences.protocols import RANDOM

if TYPE_CHECKING:
    import pandas

# Name and version of the JSON form of an audit; a changed field is a new version.
SCHEMA = "edgecil.lab-audit/1"
PAPER_ESTIMATOR = "gaussian"  # its worst and best accuracies are those of the runs

_T = TypeVar("_T")


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


@dataclass(frozen=True, eq=False)
class MethodAudit:
    """What each protocol and estimator says about one method, beside the truth.

    Attributes:
        truth: None if the table does not contain it.
        runs: how many orders each protocol ran.
        lowest: the lowest accuracy of all orders that were run.
        highest: the highest accuracy.
        estimates: by protocol and estimator.
        redraws: by protocol and estimator, what other draws of the protocol's random part give.
        averages: by protocol and estimator, the mean closeness to the truth over these draws.
        by_budget: closeness of the Gaussian as the budget grows, for `random` and each protocol
            with extreme sequences.
        outside_range: by protocol with extreme sequences, how many orders have accuracies outside
            the range of these sequences.
    """

    truth: Truth | None
    runs: dict[str, int]
    lowest: float
    highest: float
    estimates: dict[str, dict[str, ProtocolEstimate]]
    redraws: dict[str, dict[str, RedrawnEstimates]]
    averages: dict[str, dict[str, AverageCloseness]]
    by_budget: dict[str, tuple[BudgetPoint, ...]]
    outside_range: dict[str, OutsideRange]

    def budget_of(self, protocol: str) -> int:
        """Return the number of runs behind a protocol's numbers; three if `random` was not run."""
        is_truth = self.truth is not None and protocol in self.truth.protocols
        return RANDOM_RUNS if is_truth else self.runs.get(protocol, RANDOM_RUNS)

    def range_of(self, protocol: str) -> tuple[float, float] | None:
        """Return the worst and best accuracy of a protocol: means over draws, or of its runs."""
        average = self.averages.get(protocol, {}).get(PAPER_ESTIMATOR)
        if average is not None:
            return average.min, average.max
        result = self.estimates.get(protocol, {}).get(PAPER_ESTIMATOR)
        if result is None or result.estimate is None:
            return None
        return result.estimate.min, result.estimate.max

    def of_default_estimator(
        self, values: Mapping[str, Mapping[str, _T]], protocol: str
    ) -> _T | None:
        """Return, of values by protocol and estimator, the one of the default estimator."""
        name = "smoothed" if self.budget_of(protocol) >= LEAST_ORDERS else "gaussian"
        return values.get(protocol, {}).get(name)


@dataclass(frozen=True, eq=False)
class DatasetAudit:
    """The audit of the runs on one dataset.

    Attributes:
        dataset: its name.
        metric: what the accuracies are.
        runs_digest: of the runs, so that an audit is not shown beside other runs.
        protocols: of the runs, in their order, without those that ran every order.
        methods: by name.
        true_ranking: of the methods; None unless the truth of every one is available.
        rankings: by protocol and estimator.
        protocol_comparisons: by protocol, its distance from the truth beside that of as many random
            orders and of a placebo.
    """

    dataset: str
    metric: str
    runs_digest: str
    protocols: tuple[str, ...]
    methods: dict[str, MethodAudit]
    true_ranking: Ranking | None
    rankings: dict[str, dict[str, ProtocolRanking]]
    protocol_comparisons: dict[str, ProtocolComparison]

    @property
    def compared_protocols(self) -> tuple[str, ...]:
        """The protocols, `random` first; it has averages over draws even if it was not run."""
        reference = RANDOM.name
        redrawn = any(reference in method.averages for method in self.methods.values())
        others = tuple(name for name in self.protocols if name != reference)
        return (reference, *others) if redrawn or reference in self.protocols else others


@dataclass(frozen=True)
class AuditOptions:
    """The options that an audit was made with; see :func:`edgecil.lab.audit`.

    Attributes:
        metric: the metric.
        classifier: the classifier whose metric it is; None for each method's main one.
        similarity: where the given similarity comes from; None if none was given.
        predictor: name of the predictor that the estimator `regression` uses.
        pilot: where the pilot's runs come from; None without a pilot.
        draws: how often random parts of protocols are drawn.
        draw_seed: seed of those draws.
    """

    metric: str = "accuracy"
    classifier: str | None = None
    similarity: str | None = None
    predictor: str = "adjacent"
    pilot: str | None = None
    draws: int = 2_000
    draw_seed: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """How close each protocol and each estimator comes to the truth, dataset by dataset.

    Attributes:
        sources: the experiment directories and files, as they were given.
        options: what it was made with.
        datasets: one entry per dataset.
        version: of edgecil.
    """

    sources: tuple[str, ...]
    options: AuditOptions
    datasets: tuple[DatasetAudit, ...]
    version: str = ""

    def save(self, path: str | Path) -> None:
        """Write the audit as a JSON file that :meth:`load` reads."""
        with replace_file(Path(path)) as file:
            file.write(checked_json(self, SCHEMA))

    @classmethod
    def load(cls, path: str | Path) -> Audit:
        """Return the audit in a JSON file that :meth:`save` wrote."""
        return read_json(path, cls, SCHEMA)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a row for each dataset, method, protocol and estimator, and for each truth."""
        import pandas

        frame: pandas.DataFrame = pandas.DataFrame(
            row
            for dataset in self.datasets
            for name, method in dataset.methods.items()
            for row in _rows({"dataset": dataset.dataset, "method": name}, method)
        )
        return frame

    def __repr__(self) -> str:
        methods = {name: None for dataset in self.datasets for name in dataset.methods}
        return f"<Audit of {', '.join(self.sources)}: {', '.join(methods)}>"

    def __getitem__(self, method: str) -> MethodAudit:
        """Return a method's audit, if there is one dataset."""
        if len(self.datasets) != 1:
            names = ", ".join(dataset.dataset for dataset in self.datasets)
            raise KeyError(f"There are several datasets ({names}); choose one from 'datasets'.")
        methods = self.datasets[0].methods
        if method not in methods:
            raise unknown("method", method, methods)
        return methods[method]


def _rows(about: dict[str, Any], method: MethodAudit) -> list[dict[str, Any]]:
    rows = []
    if (truth := method.truth) is not None:
        measured = {"mean": truth.mean, "std": truth.std, "min": truth.min, "max": truth.max}
        runs = len(truth.sequences)
        kind = {"protocol": "truth", "estimator": truth.kind, "runs": runs}
        rows.append({**about, **kind, **measured})
    for protocol, answers in method.estimates.items():
        for estimator, answer in answers.items():
            if answer.estimate is None:
                continue
            near = answer.closeness
            average = method.averages.get(protocol, {}).get(estimator)
            rows.append(
                {
                    **about,
                    "protocol": protocol,
                    "estimator": estimator,
                    "runs": answer.runs,
                    **_numbers(answer.estimate),
                    "jsd": None if near is None else near.jsd,
                    "wasserstein": None if near is None else near.wasserstein,
                    "average_jsd": None if average is None else average.jsd,
                    "average_wasserstein": None if average is None else average.wasserstein,
                }
            )
    return rows


def _numbers(estimate: Estimate) -> dict[str, float | None]:
    low, high = estimate.mean_interval or (None, None)
    least, most = estimate.std_interval or (None, None)
    return {
        "mean": estimate.distribution.mean,
        "mean_low": low,
        "mean_high": high,
        "std": estimate.distribution.std,
        "std_low": least,
        "std_high": most,
        "min": estimate.min,
        "max": estimate.max,
    }
