"""`audit`: how close protocols and estimators come to the truth of an enumerated experiment.

The random orders of one experiment, or one Latin design, may be atypical, so protocols are judged
by their average over many draws of their random part from the truth. A protocol with constructed
orders is also compared with a placebo: as many orders chosen by a die may come out closer than
random ones, and what they reach by luck is the range beyond which a choice means something.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from edgecil.analysis.samples import LEAST_SAMPLE, Truth, find_truth
from edgecil.analysis.sources import Source, gather
from edgecil.errors import DataError, EdgecilError
from edgecil.io.arrays import Floats, Ints
from edgecil.io.files import replace_file
from edgecil.io.json import checked_json, read_typed_json
from edgecil.lab.draws import Closeness, average, check_draws, draw_protocol, draw_runs, measure
from edgecil.lab.estimators import ESTIMATORS, Observations
from edgecil.options import checked
from edgecil.runs.run_table import Runs
from edgecil.sequences.protocols import RANDOM, find_protocol
from edgecil.statistics.distributions import SAME
from edgecil.statistics.posterior import Interval
from edgecil.statistics.verdicts import LEVEL

# Name and version of the JSON form of an audit; a changed field is a new version.
SCHEMA = "edgecil.lab-audit/1"
MEASURES = {"wasserstein": "W₁", "jsd": "JSD", "missed_range": "range"}
SIZES = (3, 4, 5, 6, 8, 10, 15, 20, 30)
_FOLDER = "audits"
_PAPER = "gaussian"  # the paper's estimator, by which its protocols are judged
_TINY = 1e-9
_PAIRS, _MIDDLES = 60, 10
_BAND = (0.05, 0.95)

Outcome = Literal["better", "similar", "worse"]


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
    """A protocol's mean distance from the truth, divided by that of random orders.

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
    def outcome(self) -> Outcome:
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
    """What each protocol and estimator says about one method, beside the truth.

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
        """Return the number of runs behind a protocol's numbers; three if `random` was not run."""
        three = RANDOM.default_budget
        return three if protocol in self.truth.protocols else self.runs.get(protocol, three)


@dataclass(frozen=True, eq=False)
class DatasetAudit:
    """The audit of the runs on one dataset.

    Attributes:
        dataset: its name.
        metric: what the accuracies are.
        runs_digest: of the runs, so that an audit is not shown beside other runs.
        protocols: that were judged, `random` first.
        methods: by name.
        beside_random: by protocol and measure, its distance from the truth beside that of as many
            random orders and of a placebo.
    """

    dataset: str
    metric: str
    runs_digest: str
    protocols: tuple[str, ...]
    methods: dict[str, MethodAudit]
    beside_random: dict[str, dict[str, Ratio]]


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """How close each protocol and each estimator comes to the truth, dataset by dataset.

    Attributes:
        sources: the experiment directories and files, as they were given.
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
        return read_typed_json(path, cls, SCHEMA)

    def __repr__(self) -> str:
        methods = {name: None for dataset in self.datasets for name in dataset.methods}
        return f"<Audit of {', '.join(self.sources)}: {', '.join(methods)}>"


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
    gathered = gather(source, metric=metric, classifier=classifier)
    sources, metric, datasets = gathered.sources, gathered.metric, []
    for part in gathered.datasets:
        made = audit_table(part.table, draws=draws, seed=draw_seed)
        if not made.methods:
            raise DataError(
                f"An audit requires a truth, and no method on {part.table.dataset!r} has one: run "
                f"every class order (protocol 'enumerate'), or at least {LEAST_SAMPLE} random ones."
            )
        datasets.append(made)
    own = version("edgecil")
    finished = Audit(gathered.words, classifier, draws, draw_seed, tuple(datasets), own)
    if len(gathered.words) == len(sources.experiments) == 1:
        path = audit_file(sources.experiments[0].directory, metric, classifier)
        with suppress(EdgecilError), replace_file(path) as file:  # it may be read-only
            file.write(checked_json(finished, SCHEMA))
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
    methods, ratios = {}, dict[str, dict[str, Floats]]()
    for name in table.methods:
        truth = find_truth(table, name) if len(table.orders(name)) else None
        if truth is None or np.ptp(truth.accuracies) <= SAME:
            continue
        methods[name], own = _audit_method(table, name, truth, draws, seed)
        for protocol, rows in own.items():
            ratios.setdefault(protocol, {})[name] = rows
    protocols = dict.fromkeys(name for method in methods.values() for name in method.averages)
    return DatasetAudit(
        table.dataset,
        table.metric,
        runs_digest(table),
        tuple(sorted(protocols, key=lambda name: name != RANDOM.name)),
        methods,
        {
            protocol: {
                measure: _summarize({name: rows[place] for name, rows in own.items()})
                for place, measure in enumerate(MEASURES)
            }
            for protocol, own in ratios.items()
            if protocol != RANDOM.name
        },
    )


@dataclass(frozen=True, eq=False)
class _Pool:
    """Accuracies of the n orders that draws choose from: the truth's, then constructed ones."""

    truth: Floats
    accuracies: Floats
    fixed: tuple[int, ...]

    def distances(self, rows: Sequence[Ints]) -> Floats:
        """Return how far the paper's estimate from each draw is from the truth, (B, 3)."""
        values = self.accuracies[np.array(rows)]
        return measure(self.truth, values, ESTIMATORS[_PAPER](Observations(values)))


def _audit_method(
    table: Runs, name: str, truth: Truth, draws: int, seed: int
) -> tuple[MethodAudit, dict[str, Floats]]:
    """Return a method's audit and, by protocol, its ratios."""
    ran = {protocol: len(table.orders(name, protocol)) for protocol in table.protocols}
    made = MethodAudit(truth, {key: count for key, count in ran.items() if count}, {}, {})
    ratios = {}
    for protocol in map(find_protocol, dict.fromkeys([RANDOM.name, *made.runs])):
        if protocol.exhaustive or protocol.repeats:
            continue
        place_of = {sequence: place for place, sequence in enumerate(truth.sequences)}
        known, fixed = truth.accuracies.tolist(), dict[int, None]()
        if not protocol.random:
            own = table.orders(name, protocol.name)
            for label, sequence, value in zip(
                own.labels, own.sequences, own.accuracies.tolist(), strict=True
            ):
                if protocol.role(label) == "constructed":
                    if place_of.setdefault(sequence, len(known)) == len(known):
                        known.append(value)
                    fixed[place_of[sequence]] = None
        pool = _Pool(truth.accuracies, np.array(known), tuple(fixed))
        size, budget = len(truth), made.budget_of(protocol.name)
        places = draw_protocol(
            protocol, table.space, place_of, size, budget, draws=draws, seed=seed, fixed=pool.fixed
        )
        if places is not None and budget > 1:
            values = pool.accuracies[places]
            runs = Observations(values)
            made.averages[protocol.name] = {
                estimator: average(truth.accuracies, values, make(runs))
                for estimator, make in ESTIMATORS.items()
            }
            if (rows := _ratios(pool, places, seed)) is not None:
                ratios[protocol.name] = rows
        if fixed or protocol.name == RANDOM.name:
            made.by_budget[protocol.name] = _budget_curve(pool, min(draws, 100), seed)
    return made, ratios


def _budget_curve(pool: _Pool, draws: int, seed: int) -> tuple[BudgetPoint, ...]:
    """Return the mean distance of the paper's estimate for growing budgets, over many draws."""
    rng, size, points = np.random.default_rng(seed), len(pool.truth), []
    for budget in (n for n in SIZES if len(pool.fixed) <= n <= size):
        drawn = [draw_runs(size, budget, rng, fixed=pool.fixed) for _ in range(draws)]
        w1, jsd = pool.distances(drawn)[:, :2].mean(axis=0).tolist()
        points.append(BudgetPoint(budget, jsd, w1))
    return tuple(points)


def _ratios(pool: _Pool, drawn: Ints, seed: int) -> Floats | None:
    """By measure, the ratio of the protocol and of each placebo: (3, 1 + placebos)."""
    draws, budget = drawn.shape
    size, rng = len(pool.truth), np.random.default_rng(seed)
    rows = [*drawn, *(draw_runs(size, budget, rng) for _ in range(draws))]
    pairs = _PAIRS if pool.fixed else 0
    for _ in range(pairs):
        instead = rng.choice(size, min(len(pool.fixed), budget), replace=False).tolist()
        rows += [draw_runs(size, budget, rng, fixed=instead) for _ in range(_MIDDLES)]
    distances = pool.distances(rows)
    own, random = distances[:draws].mean(axis=0), distances[draws : 2 * draws].mean(axis=0)
    placebo = distances[2 * draws :].reshape(pairs, _MIDDLES, len(MEASURES)).mean(axis=1)
    if (random <= _TINY).any():
        return None
    return np.asarray(np.maximum(np.vstack([own, placebo]) / random, _TINY).T)


def _summarize(ratios: Mapping[str, Floats]) -> Ratio:
    """Over methods: the protocol's ratio first, then those of the placebo."""
    logs = np.log(np.array(list(ratios.values())))
    own, count = logs[:, 0], len(logs)
    interval = None
    if count > 1:
        reach = stdtrit(count - 1, (1.0 + LEVEL) / 2.0) * own.std(ddof=1) / np.sqrt(count)
        interval = (float(np.exp(own.mean() - reach)), float(np.exp(own.mean() + reach)))
    placebo = (1.0, 1.0)
    if logs.shape[1] > 1:
        low, high = np.exp(np.quantile(logs[:, 1:].mean(axis=0), _BAND))
        placebo = (float(low), float(high))
    shown = {name: float(values[0]) for name, values in ratios.items()}
    return Ratio(float(np.exp(own.mean())), interval, placebo, shown)
