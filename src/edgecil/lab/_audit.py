"""`audit`: the distance of protocols and estimators from the truth of an enumerated experiment.

The random orders of one experiment, or one Latin design, may be atypical, so protocols are judged
by their average over many draws of their random part from the truth. A protocol with constructed
orders is also compared with a placebo: random orders that are kept in all draws, too. They may come
out closer than others by chance, so a protocol must exceed the range of such placebos.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from edgecil.analysis.samples import LEAST_SAMPLE, Truth, find_truth
from edgecil.analysis.sources import Source, collect_runs
from edgecil.errors import DataError, EdgecilError
from edgecil.io.arrays import Floats, Ints
from edgecil.io.files import replace_file
from edgecil.io.json import checked_json, read_typed_json
from edgecil.lab.draws import (
    Closeness,
    average_closeness,
    check_draws,
    draw_protocol,
    draw_runs,
    measure_distances,
)
from edgecil.lab.estimators import ESTIMATORS, Observations
from edgecil.options import checked
from edgecil.runs.run_table import Runs
from edgecil.sequences.protocols import RANDOM, Protocol, find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.statistics.distributions import SAME
from edgecil.statistics.posterior import Interval
from edgecil.statistics.verdicts import LEVEL

# Name and version of the JSON form of an audit; a changed field is a new version.
AUDIT_SCHEMA = "edgecil.lab-audit/1"
MEASURES = {"wasserstein": "W₁", "jsd": "JSD", "missed_range": "range"}
SIZES = (3, 4, 5, 6, 8, 10, 15, 20, 30)
_FOLDER = "audits"
_PAPER = "gaussian"  # the paper's estimator, by which its protocols are judged
_TINY = 1e-9
_PLACEBOS, _DRAWS_OF_PLACEBO = 60, 10
_BAND = (0.05, 0.95)

RatioOutcome = Literal["better", "similar", "worse"]


@dataclass(frozen=True)
class BudgetPoint:
    """The distance of the paper's estimate from the truth with one budget, over many draws.

    Attributes:
        budget: number of class orders.
        jsd: mean divergence from the truth, nats.
        wasserstein: mean W₁, points.
    """

    budget: int
    jsd: float
    wasserstein: float


@dataclass(frozen=True)
class Ratio:
    """A protocol's mean distance from the truth, divided by the distance of random orders.

    Attributes:
        ratio: geometric mean over methods; below 1 the protocol is closer than random orders.
        interval: 90 %, by Student's t of the logarithms over methods; None with one method.
        placebo: 90 % range of the same ratio if random orders take the place of constructed ones;
            (1, 1) for a protocol without such orders.
        methods: the ratio of each method.
    """

    ratio: float
    interval: Interval | None
    placebo: Interval
    methods: dict[str, float]

    @property
    def outcome(self) -> RatioOutcome:
        """`better` or `worse` than random if neither interval nor placebo explains the ratio."""
        if self.interval is None:
            return "similar"
        if self.interval[1] < 1.0 and self.ratio < self.placebo[0]:
            return "better"
        if self.interval[0] > 1.0 and self.ratio > self.placebo[1]:
            return "worse"
        return "similar"


@dataclass(frozen=True, eq=False)
class MethodAudit:
    """The estimates of each protocol and estimator for one method, beside the truth.

    Attributes:
        truth: all orders, or a large sample.
        runs: how many orders each protocol ran.
        averages: by protocol and estimator, means over draws of the protocol's random part.
        by_budget: closeness of the Gaussian as the budget grows, for `random` and each protocol
            with constructed orders.
    """

    truth: Truth
    runs: dict[str, int]
    averages: dict[str, dict[str, Closeness]]
    by_budget: dict[str, tuple[BudgetPoint, ...]]

    def budget_of(self, protocol: str) -> int:
        """Return the number of runs behind a protocol's numbers; three if it has no own runs."""
        default = RANDOM.default_budget
        if protocol in self.truth.protocols:
            return default
        return self.runs.get(protocol, default)


@dataclass(frozen=True, eq=False)
class DatasetAudit:
    """The audit of the runs on one dataset.

    Attributes:
        dataset: its name.
        metric: what the accuracies are.
        runs_digest: of the runs, so that an audit is not shown beside other runs.
        protocols: that were judged, `random` first.
        methods: by name.
        beside_random: by protocol and measure, its distance from the truth relative to as many
            random orders, and to a placebo.
    """

    dataset: str
    metric: str
    runs_digest: str
    protocols: tuple[str, ...]
    methods: dict[str, MethodAudit]
    beside_random: dict[str, dict[str, Ratio]]


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """The distance of each protocol and each estimator from the truth, dataset by dataset.

    Attributes:
        sources: the experiment directories and files, in the words of the call.
        classifier: the classifier whose metric it is; None for each method's main one.
        draws: how often random parts of protocols were drawn.
        draw_seed: seed of those draws.
        datasets: one entry per dataset.
        version: of edgecil.
    """

    sources: tuple[str, ...]
    classifier: str | None
    draws: int
    draw_seed: int
    datasets: tuple[DatasetAudit, ...]
    version: str = ""

    @classmethod
    def load(cls, path: str | Path) -> Audit:
        """Return the audit that :func:`audit` stored, or that its verb printed with --json."""
        return read_typed_json(path, cls, AUDIT_SCHEMA)

    def __repr__(self) -> str:
        methods = chain.from_iterable(dataset.methods for dataset in self.datasets)
        return f"<Audit of {', '.join(self.sources)}: {', '.join(dict.fromkeys(methods))}>"


@checked
def audit(
    source: Source | Sequence[Source],
    *,
    metric: str | None = None,
    classifier: str | None = None,
    draws: int = 200,
    draw_seed: int = 0,
) -> Audit:
    """Compare protocols and estimators with the truth, which the runs must contain.

    The truth of a method is the accuracy of every class order, or of 30 random ones. The audit of
    an experiment is stored in its directory, as `audits/METRIC.json`; the report shows it.

    Args:
        source: experiment directories and CSV files of accuracies. Runs of several sources on the
            same dataset are audited together. In Python also experiments, DataFrames and accuracy
            tables.
        metric: metric to audit; by default the one in the experiment's configuration, or else
            `accuracy`, the paper's A(O).
        classifier: classifier of the methods to audit; by default each method's main one.
        draws: number of random draws of each protocol.
        draw_seed: seed of those draws.
    """
    check_draws(draws)
    collected = collect_runs(source, metric=metric, classifier=classifier)
    sources, metric = collected.sources, collected.metric
    datasets = []
    for part in collected.datasets:
        dataset_audit = audit_table(part.table, draws=draws, seed=draw_seed)
        if not dataset_audit.methods:
            raise DataError(
                f"An audit requires a truth, and no method on {part.table.dataset!r} has one: run "
                f"every class order (protocol 'enumerate'), or at least {LEAST_SAMPLE} random ones."
            )
        datasets.append(dataset_audit)
    finished = Audit(
        collected.source_names, classifier, draws, draw_seed, tuple(datasets), version("edgecil")
    )
    if len(collected.source_names) == len(sources.experiments) == 1:
        path = audit_file(sources.experiments[0].directory, metric, classifier)
        with suppress(EdgecilError), replace_file(path) as file:  # it may be read-only
            file.write(checked_json(finished, AUDIT_SCHEMA))
    return finished


def audit_file(directory: Path, metric: str, classifier: str | None = None) -> Path:
    """Return where the audit of an experiment is stored."""
    name = metric if classifier is None else f"{metric}-{classifier}"
    return directory / _FOLDER / f"{name}.json"


def runs_digest(table: Runs) -> str:
    """Return a key of the runs of a table whose classes are numbered 0 … N-1."""
    texts = table.dataset, table.metric, table.methods, table.protocols, table.labels
    digest = hashlib.sha256(repr((texts, list(map(str, table.sequences)))).encode())
    columns = table.method, table.protocol, table.label, table.sequence, table.seed, table.values
    for column in columns:
        digest.update(column.tobytes())
    return digest.hexdigest()[:16]


def audit_table(table: Runs, *, draws: int = 200, seed: int = 0) -> DatasetAudit:
    """Judge the protocols of one table by the truths of its methods."""
    table = table.renumbered()
    methods: dict[str, MethodAudit] = {}
    ratios: dict[str, dict[str, Floats]] = {}  # by protocol and method
    for name in table.methods:
        truth = find_truth(table, name) if len(table.orders(name)) else None
        if truth is None or np.ptp(truth.accuracies) <= SAME:
            continue
        methods[name], ratios_of_method = _audit_method(table, name, truth, draws, seed)
        for protocol, rows in ratios_of_method.items():
            ratios.setdefault(protocol, {})[name] = rows
    protocols = dict.fromkeys(chain.from_iterable(method.averages for method in methods.values()))
    return DatasetAudit(
        table.dataset,
        table.metric,
        runs_digest(table),
        tuple(sorted(protocols, key=lambda name: name != RANDOM.name)),
        methods,
        {
            protocol: _summarize_measures(ratios_of_protocol)
            for protocol, ratios_of_protocol in ratios.items()
            if protocol != RANDOM.name
        },
    )


@dataclass(frozen=True, eq=False)
class _Pool:
    """The orders from which draws choose.

    Attributes:
        truth: accuracies of the true orders.
        accuracies: the same, followed by accuracies of other constructed orders.
        fixed: positions of constructed orders, which every draw has.
    """

    truth: Floats
    accuracies: Floats
    fixed: tuple[int, ...]

    def distances(self, rows: Sequence[Ints]) -> Floats:
        """Return the distances of the paper's estimate from the truth for each draw, (B, 3)."""
        values = self.accuracies[np.array(rows)]
        return measure_distances(self.truth, values, ESTIMATORS[_PAPER](Observations(values)))


def _audit_method(
    table: Runs, name: str, truth: Truth, draws: int, seed: int
) -> tuple[MethodAudit, dict[str, Floats]]:
    """Return a method's audit and, by protocol, its ratios."""
    order_counts = {protocol: len(table.orders(name, protocol)) for protocol in table.protocols}
    runs = {protocol: count for protocol, count in order_counts.items() if count}
    method_audit = MethodAudit(truth, runs, {}, {})
    ratios = {}
    for protocol in map(find_protocol, dict.fromkeys([RANDOM.name, *runs])):
        if protocol.exhaustive or protocol.repeats:
            continue
        place_of = {sequence: place for place, sequence in enumerate(truth.sequences)}
        pool = _pool(table, name, truth, protocol, place_of)
        budget = method_audit.budget_of(protocol.name)
        places = draw_protocol(
            protocol,
            table.space,
            place_of,
            len(truth),
            budget,
            draws=draws,
            seed=seed,
            fixed=pool.fixed,
        )
        if places is not None and budget > 1:
            values = pool.accuracies[places]
            observations = Observations(values)
            method_audit.averages[protocol.name] = {
                estimator: average_closeness(truth.accuracies, values, make(observations))
                for estimator, make in ESTIMATORS.items()
            }
            rows = _ratios(pool, places, seed)
            if rows is not None:
                ratios[protocol.name] = rows
        if pool.fixed or protocol.name == RANDOM.name:
            curve = _budget_curve(pool, min(draws, 100), seed)
            method_audit.by_budget[protocol.name] = curve
    return method_audit, ratios


def _pool(
    table: Runs,
    name: str,
    truth: Truth,
    protocol: Protocol,
    place_of: dict[ClassSequence, int],
) -> _Pool:
    """Return the orders of a truth and the constructed ones of a protocol.

    Constructed orders that are not in the truth are added to `place_of`.
    """
    accuracies = truth.accuracies.tolist()
    fixed: dict[int, None] = {}
    if not protocol.random:
        orders = table.orders(name, protocol.name)
        values = orders.accuracies.tolist()
        for label, sequence, value in zip(orders.labels, orders.sequences, values, strict=True):
            if protocol.role(label) != "constructed":
                continue
            if sequence not in place_of:
                place_of[sequence] = len(accuracies)
                accuracies.append(value)
            fixed[place_of[sequence]] = None
    return _Pool(truth.accuracies, np.array(accuracies), tuple(fixed))


def _budget_curve(pool: _Pool, draws: int, seed: int) -> tuple[BudgetPoint, ...]:
    """Return the mean distance of the paper's estimate for growing budgets, over many draws."""
    rng = np.random.default_rng(seed)
    size = len(pool.truth)
    points = []
    for budget in SIZES:
        if not len(pool.fixed) <= budget <= size:
            continue
        drawn = [draw_runs(size, budget, rng, fixed=pool.fixed) for _ in range(draws)]
        w1, jsd = pool.distances(drawn)[:, :2].mean(axis=0).tolist()
        points.append(BudgetPoint(budget, jsd, w1))
    return tuple(points)


def _ratios(pool: _Pool, drawn: Ints, seed: int) -> Floats | None:
    """Return by measure the ratio of the protocol and of each placebo, (3, 1 + placebos)."""
    draws, budget = drawn.shape
    size = len(pool.truth)
    rng = np.random.default_rng(seed)
    rows = [*drawn]
    rows += [draw_runs(size, budget, rng) for _ in range(draws)]
    placebos = _PLACEBOS if pool.fixed else 0
    for _ in range(placebos):
        kept = rng.choice(size, min(len(pool.fixed), budget), replace=False).tolist()
        rows += [draw_runs(size, budget, rng, fixed=kept) for _ in range(_DRAWS_OF_PLACEBO)]
    distances = pool.distances(rows)
    of_protocol = distances[:draws].mean(axis=0)
    of_random = distances[draws : 2 * draws].mean(axis=0)
    by_placebo = distances[2 * draws :].reshape(placebos, _DRAWS_OF_PLACEBO, len(MEASURES))
    if (of_random <= _TINY).any():
        return None
    ratios = np.vstack([of_protocol, by_placebo.mean(axis=1)]) / of_random
    return np.asarray(np.maximum(ratios, _TINY).T)


def _summarize_measures(ratios: Mapping[str, Floats]) -> dict[str, Ratio]:
    """Return the summary of each measure of a protocol, from its ratios by method."""
    summaries = {}
    for place, name in enumerate(MEASURES):
        summaries[name] = _summarize({method: rows[place] for method, rows in ratios.items()})
    return summaries


def _summarize(ratios: Mapping[str, Floats]) -> Ratio:
    """Return a summary over methods; a method has the protocol's ratio first, then placebos."""
    logs = np.log(np.array(list(ratios.values())))
    of_protocol, count = logs[:, 0], len(logs)
    interval = None
    if count > 1:
        reach = stdtrit(count - 1, (1.0 + LEVEL) / 2.0) * of_protocol.std(ddof=1) / np.sqrt(count)
        interval = (
            float(np.exp(of_protocol.mean() - reach)),
            float(np.exp(of_protocol.mean() + reach)),
        )
    placebo = (1.0, 1.0)
    if logs.shape[1] > 1:
        low, high = np.exp(np.quantile(logs[:, 1:].mean(axis=0), _BAND))
        placebo = (float(low), float(high))
    by_method = {name: float(values[0]) for name, values in ratios.items()}
    return Ratio(float(np.exp(of_protocol.mean())), interval, placebo, by_method)
