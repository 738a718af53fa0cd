"""`next_runs`: which class orders to run next, and what they would buy."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtr
from typing_extensions import Unpack

from edgecil.analysis.claims import Claims, make_claims
from edgecil.analysis.pair_verdicts import Comparison, judge_pairs
from edgecil.analysis.pairs import Pairs, pair_methods
from edgecil.analysis.samples import (
    design_of,
    find_truth,
    posterior_of_orders,
    representative_orders,
)
from edgecil.analysis.sources import DatasetRuns, Source, collect_runs, join_sources
from edgecil.analysis.terms import DEFAULT_TERMS, IntervalKind, Terms
from edgecil.entries import Entries
from edgecil.errors import UsageError, warn
from edgecil.experiments.experiment import Experiment
from edgecil.hints import Level
from edgecil.io.files import check_new, replace_file
from edgecil.io.notebook import WithPandas, html_table, show_printed
from edgecil.io.numbers import rounded_limit
from edgecil.options import checked
from edgecil.runs.metrics import DEFAULT_METRIC
from edgecil.runs.reading.reading_options import ReadingOptions
from edgecil.runs.run_table import Runs
from edgecil.runs.training_seeds import FROM_LOGS, SEEDS
from edgecil.sequences.protocols import CONTINUED, find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.statistics.posterior import Posterior
from edgecil.statistics.sequential import excludes_zero
from edgecil.statistics.verdicts import LEAST_RUNS, LEVEL, LIKELY
from edgecil.wording.phrases import decimals_of
from edgecil.wording.populations import unit_of
from edgecil.wording.sentences import MOST_ORDERS, describe_next

if TYPE_CHECKING:
    import pandas

REPEATED_ORDERS = 2
ASSURANCES = (0.8, 0.95)
_NARROWER = 0.5
_MOST_ORDERS = 100_000
_SQUARES, _STRIDE = 41, 8
_ROUNDING = 200
_FUTURES = 400

Step = Literal["orders", "repeats", "nothing"]


@dataclass(frozen=True)
class NextStep:
    """What to run next for one method, and what it would buy.

    Attributes:
        step: `orders`: run `order_count` more class orders; `repeats`: all orders were run, train
            some once more; `nothing`: the mean is known as precisely as asked, or all orders were
            run and repeated.
        order_count: how many more orders; with a target, as many as reach it with probability 80 %.
        sure_count: how many reach it with probability 95 %; None without a target.
        repeats: how many orders to train once more, if order and training are to be separated; 0
            if that was done.
        half_width: of the mean's interval now; None if there is none.
        target: the half-width aimed at; None if there is none.
        seconds: expected duration of the step, one training after the other; None if the durations
            of the runs are not recorded.
        replaces: whether the orders that were run were constructed, so that claims will rest on
            the further orders alone.
        unit: what a further one is called: `order`, `run` or `training`.
    """

    step: Step
    order_count: int = 0
    sure_count: int | None = None
    repeats: int = 0
    half_width: float | None = None
    target: float | None = None
    seconds: float | None = None
    replaces: bool = False
    unit: str = "order"


def advise(
    table: Runs,
    method: str,
    claims: Claims,
    *,
    target: float | None = None,
    seconds: float | None = None,
    terms: Terms = DEFAULT_TERMS,
) -> NextStep:
    """Return what to run next for a method.

    At least 3 orders come first, then as many as give the interval of the mean the wanted
    half-width, by default half of the present one. If no order was trained twice, it also says how
    many repeats would separate order from training. `seconds` is the mean duration of a run.
    """
    orders = table.orders(method)
    repeated = not table.has_orders or bool((orders.counts > 1).any())
    again = 0 if repeated else min(REPEATED_ORDERS, claims.order_count)
    unit = unit_of(claims.population)
    left = table.space.size - claims.order_count if unit == "order" else _MOST_ORDERS
    # Further orders of a file whose orders were chosen in an unknown way are like those in it.
    is_unknown = all(find_protocol(name).unknown for name in claims.protocols)
    replaces = unit == "order" and not claims.blind and not is_unknown
    posterior = None
    if not replaces:
        _, chosen = representative_orders(table, method)
        posterior = posterior_of_orders(table, chosen, design_of(table, method, chosen), terms)
    if claims.mean.validity == "measured":
        step = NextStep("repeats" if again else "nothing", repeats=again)
    elif posterior is None:
        more = LEAST_RUNS - (0 if replaces else claims.run_count)
        step = NextStep("orders", min(max(more, 1), left), replaces=replaces, unit=unit)
    else:
        level = claims.level
        width = float(posterior.half_width(level))
        goal = _NARROWER * width if target is None else target
        step = NextStep("nothing", repeats=again, half_width=width, target=goal, unit=unit)
        if width > goal and left:
            most = min(left, _MOST_ORDERS)
            likely_count, sure_count = (
                orders_for(posterior, goal, assurance, most=most, level=level)
                for assurance in ASSURANCES
            )
            count = likely_count or most
            step = replace(step, step="orders", order_count=count, sure_count=sure_count)
    if seconds is None:
        return step
    return replace(step, seconds=seconds * (step.order_count or step.repeats))


def orders_for(
    posterior: Posterior,
    target: float,
    assurance: float,
    *,
    most: int = 1_000_000,
    level: float = LEVEL,
) -> int | None:
    """Return how many more orders bring the mean's interval to a half-width with an assurance.

    After m more orders the sum of squares has grown by σ² χ² with m degrees of freedom, and σ has
    its posterior; the half-width then follows from the model. One sample only, no batch. Numbers
    of 200 and more are within half a per cent of the least that suffices. None if `most` do not.
    """
    variance, weights = np.exp(2.0 * posterior.log_std), posterior.weights.sum(axis=-1)
    factors = np.geomspace(1e-3, 1e3, _SQUARES)

    def probability(more: int) -> float:
        """Half-widths grow with the sum of squares; find the largest that is allowed."""
        squares = more * float(weights @ variance) * factors
        below = posterior.after(more, squares[:-1:_STRIDE]).half_width(level) <= target
        if not below[0]:
            return 0.0
        start = _STRIDE * (int(below.sum()) - 1)
        near = squares[start : start + _STRIDE + 1]
        widths = posterior.after(more, near).half_width(level)
        largest = np.exp(np.interp(target, widths, np.log(near)))
        return float(weights @ chdtr(more, largest / variance))

    width = float(posterior.half_width(level))
    if width <= target:
        return 0
    # The half-width falls with the root of the number of orders.
    guess = posterior.evidence.order_count * ((width / target) ** 2 - 1.0)
    low, high = 0, int(np.clip(guess, 1.0, most))
    while probability(high) < assurance:
        if high >= most:
            return None
        low, high = high, min(high + high // 2 + 1, most)
    while high - low > max(1, high // _ROUNDING):
        middle = (low + high) // 2
        low, high = (low, middle) if probability(middle) >= assurance else (middle, high)
    return high


def orders_to_decide(
    posterior: Posterior,
    values: ArrayLike,
    assurance: float,
    *,
    most: int = 200,
    level: float = LEVEL,
) -> int | None:
    """Return after how many more orders a difference is decided with an assurance.

    Decided means that the confidence sequence of :mod:`edgecil.statistics.sequential` excludes 0,
    so that one may look after every order. Further differences are drawn from the posterior of
    those so far, `values`, (n,). None if `most` orders do not suffice.
    """
    seen = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(0)
    weights = posterior.weights.ravel()
    chosen = rng.choice(len(weights), _FUTURES, p=weights / weights.sum())
    row, column = np.unravel_index(chosen, posterior.weights.shape)
    std = np.exp(posterior.log_std)[row]
    width = std * np.sqrt(posterior.mean_variance[0, column])
    mean = posterior.centre[0, column] + width * rng.standard_normal(_FUTURES)
    future = mean[:, None] + std[:, None] * rng.standard_normal((_FUTURES, most))
    series = np.concatenate([np.broadcast_to(seen, (_FUTURES, len(seen))), future], axis=1)
    decided = excludes_zero(series, level)[:, len(seen) - 1 :].cumsum(axis=1) > 0
    enough = np.flatnonzero(decided.mean(axis=0) >= assurance)
    return int(enough[0]) if enough.size else None


@dataclass(frozen=True, eq=False, repr=False)
class DatasetNextRuns(Entries[NextStep]):
    """What to run next on one dataset, by method: `advice["icarl"].order_count`.

    Attributes:
        dataset: its name.
        steps: by method, what to run next and what it would buy.
        orders: class orders that continue the design, as many as the method that needs most, at
            most 100; after these, more is known about how many it needs. They are random draws
            that were not run yet. Empty if the orders of the runs are unknown.
        repeat: orders to train once more, if order and training are to be separated.
        decisions: by first and second method, after how many more orders it is decided with
            probability 80 % which is better, by the rule of `compare(…, anytime=True)`, so that one
            may look after every order; 0 if it is decided, None if `most` do not suffice. A pair
            without an interval is left out.
        most: that many more orders at a time: 100, or all that are left.
        target: the wanted half-width; None if none was given.
        directories: of the experiments; empty for files.
        tool: the verb that made the experiments: `run`, `toolbox`, `external`, `export` or
            `import-logs`; `run` if several did.
        task_names: names of the tasks that the orders arrange; empty if they arrange classes.
        metric: that the steps are about.
        notes: how the runs were read and joined, and what is odd about them.
    """

    dataset: str
    steps: dict[str, NextStep]
    orders: tuple[ClassSequence, ...]
    repeat: tuple[ClassSequence, ...]
    decisions: dict[str, dict[str, int | None]] = field(default_factory=dict)
    target: float | None = None
    notes: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    most: int = MOST_ORDERS
    tool: str = "run"
    task_names: tuple[str, ...] = ()
    metric: str = DEFAULT_METRIC

    _kind = "method"

    def _entries(self) -> Mapping[str, NextStep]:
        return self.steps

    def __repr__(self) -> str:
        first, *_ = describe_next(self)
        return f"<DatasetNextRuns of {self.dataset or 'your data'}: {first}>"

    def __str__(self) -> str:
        """Return the advice in sentences, and the orders."""
        return "\n".join(describe_next(self))

    _repr_pretty_ = show_printed

    def to_pandas(self) -> pandas.DataFrame:
        """Return one row for each method."""
        import pandas

        rows = [
            {"dataset": self.dataset, "method": method, **vars(step)}
            for method, step in self.steps.items()
        ]
        return pandas.DataFrame(rows)

    def save(self, path: str | Path) -> None:
        """Write the orders as a JSON file that `run` takes as `sequences`.

        Without orders there is nothing to write, which is an error.
        """
        if not self.orders:
            raise UsageError(f"There are no further orders to write for {self.dataset}.")
        text = json.dumps({CONTINUED: [str(order) for order in self.orders]}, indent=1)
        with replace_file(Path(path)) as file:
            file.write(text.encode())


@dataclass(frozen=True, eq=False, repr=False)
class NextRuns(WithPandas, Entries[Any]):
    """What to run next: by method, or with several datasets by dataset.

    `advice["icarl"].order_count` is how many more orders iCaRL should run.

    Attributes:
        datasets: one entry per dataset.
        reading: how the sources were understood, in one line.
    """

    datasets: tuple[DatasetNextRuns, ...]
    reading: str = ""

    _kind = "method"

    def _entries(self) -> Mapping[str, Any]:
        if len(self.datasets) == 1:
            return self.datasets[0].steps
        return {dataset.dataset: dataset for dataset in self.datasets}

    @property
    def orders(self) -> tuple[ClassSequence, ...]:
        """The class orders to run next, if there is one dataset."""
        return self._single("orders").orders

    @property
    def repeat(self) -> tuple[ClassSequence, ...]:
        """The orders to train once more, if there is one dataset."""
        return self._single("repeat").repeat

    def _single(self, attribute: str) -> DatasetNextRuns:
        if len(self.datasets) > 1:
            names = ", ".join(dataset.dataset for dataset in self.datasets)
            raise UsageError(
                f"`{attribute}` requires runs on one dataset. Got {names}; choose one first, as in "
                f"advice[{self.datasets[0].dataset!r}]."
            )
        return self.datasets[0]

    def save(self, path: str | Path) -> None:
        """Write the orders as a JSON file that `run` takes as `sequences`, of one dataset."""
        self._single("save").save(path)

    def to_pandas(self) -> pandas.DataFrame:
        """Return one row for each method of each dataset."""
        import pandas

        return pandas.concat([dataset.to_pandas() for dataset in self.datasets], ignore_index=True)

    def __repr__(self) -> str:
        first, *_ = describe_next(self.datasets[0])
        return f"<NextRuns: {first}>"

    def __str__(self) -> str:
        """Return the advice in sentences, and the orders."""
        lines = [self.reading] if self.reading else []
        for dataset in self.datasets:
            if len(self.datasets) > 1:
                lines.append(f"{dataset.dataset or 'your data'}:")
            lines.append(str(dataset))
        return "\n".join(lines)

    _repr_pretty_ = show_printed

    def _repr_html_(self) -> str:
        text = "".join(f"<p>{html.escape(line)}</p>" for line in str(self).splitlines())
        rows = [("dataset", "method", "step", "count", "target")]
        for dataset in self.datasets:
            for method, step in dataset.steps.items():
                rows.append((dataset.dataset, method, *_step_cells(step, dataset.metric)))
        return text + html_table(rows)


def _step_cells(step: NextStep, metric: str) -> tuple[str, str, str]:
    """Return what to run, how often, and the half-width aimed at, as the sentence says them."""
    what = f"{step.unit}s" if step.step == "orders" else step.step
    times = step.repeats if step.step == "repeats" else step.order_count
    if step.target is None:
        return what, str(times), ""
    target = rounded_limit(step.target, decimals_of(metric, (0.0, step.target)))
    return what, str(times), f"± {target}"


@checked
def next_runs(
    source: Source | Sequence[Source],
    *more: Source,
    target: float | None = None,
    metric: str | None = None,
    classifier: str | None = None,
    level: Level | None = None,
    interval: IntervalKind | None = None,
    order_seed: int = 0,
    out: str | Path | None = None,
    overwrite: bool = False,
    **reading: Unpack[ReadingOptions],
) -> NextRuns:
    """Return which class orders to run next, for each dataset.

    Args:
        source: experiment directories and CSV files. In Python also experiments, DataFrames and
            accuracy tables.
        more: further sources.
        target: wanted half-width of the mean's interval, in points; by default half of the
            current one.
        metric: metric to which the interval refers; by default the experiment's.
        classifier: the classifier of the methods, such as `nme`; each method's main one by
            default.
        level: probability with which the interval contains the mean; 0.95 by default.
        interval: as for :func:`edgecil.analyze`.
        order_seed: seed for choosing class orders.
        out: JSON file to write the orders to, which `run` accepts as `sequences`; requires runs on
            one dataset. Nothing is written if no further orders are suggested. A file of an
            earlier call is replaced.
        overwrite: replace the file if it exists, whatever it contains.
        reading: see :class:`~edgecil.runs.reading.reading_options.ReadingOptions`.
    """
    if out is not None:
        check_new(out, overwrite=overwrite, is_ours=_is_saved)
    if order_seed < 0:
        raise UsageError(f"`order_seed` must be at least 0. Got {order_seed} instead.")
    if target is not None and not 0.0 < target < math.inf:
        raise UsageError(f"`target` must be a positive number of points. Got {target:g} instead.")
    terms = Terms.of(level=level, interval=interval, anytime=True)
    collected = collect_runs(
        join_sources(source, more), metric=metric, classifier=classifier, **reading
    )
    runs = collected.datasets
    if out is not None and len(runs) > 1:
        names = ", ".join(part.table.dataset for part in runs)
        raise UsageError(f"`out` requires runs on one dataset. Got {names}.")
    tables = [part.table for part in runs]
    methods = tuple(dict.fromkeys(name for table in tables for name in table.methods))
    pairs_of_table = [pair_methods(table, table.methods, terms) for table in tables]
    judged = judge_pairs(tables, pairs_of_table, methods, terms)
    pair_count = sum(len(pairs) for pairs in pairs_of_table)
    advice = []
    for part, pairs, comparisons in zip(runs, pairs_of_table, judged.by_table, strict=True):
        dataset = _next(part, pairs, comparisons, target, order_seed, terms, pair_count)
        advice.append(replace(dataset, notes=part.notes))
    if out is not None:
        if advice[0].orders:
            advice[0].save(out)
        else:
            warn(f"{out} was not written: no further class orders are suggested.")
    return NextRuns(tuple(advice), collected.reading.line)


def _is_saved(start: bytes) -> bool:
    """Whether a file begins as :meth:`NextRuns.save` writes it."""
    return start.startswith(f'{{\n "{CONTINUED}": ['.encode())


def run_seconds(runs: DatasetRuns, method: str) -> float | None:
    """Return the mean duration of a method's runs; None if it is not recorded."""
    seconds = [
        result.seconds
        for experiment in runs.experiments
        for result in experiment.results()
        if result.method == method and result.seconds > 0.0
    ]
    return fmean(seconds) if seconds else None


def _next(
    runs: DatasetRuns,
    pairs: Pairs,
    comparisons: Sequence[Comparison],
    target: float | None,
    order_seed: int,
    terms: Terms,
    pair_count: int,
) -> DatasetNextRuns:
    table = runs.table
    steps = {}
    for name in table.methods:
        if len(table.orders(name)):
            claims = make_claims(table, name, find_truth(table, name), terms)
            seconds = run_seconds(runs, name)
            steps[name] = advise(table, name, claims, target=target, seconds=seconds, terms=terms)
    most = min(table.space.size - len(table.sequences), MOST_ORDERS)
    comparison_of = {comparison.methods: comparison for comparison in comparisons}
    decisions: dict[str, dict[str, int | None]] = {}
    for (first, second), pair in pairs.items():
        if isinstance(pair.posterior, Posterior):
            comparison = comparison_of[frozenset((first, second))]
            decisions.setdefault(comparison.ahead, {})[comparison.behind] = _runs_to_decide(
                comparison, pair.posterior, pair.values, most, pair_count
            )
    further = [step.order_count for step in steps.values() if step.unit == "order"]
    more = min(max(further, default=0), MOST_ORDERS)
    again = max((step.repeats for step in steps.values()), default=0)
    tools = {_tool(experiment) for experiment in runs.experiments}
    repeat = table.sequences[:again]
    if len(runs.experiments) == 1 and runs.experiments[0].configs:
        repeat = runs.experiments[0].first_orders(again)  # those that `repeats_on` trains
    return DatasetNextRuns(
        table.dataset,
        steps,
        continue_design(table, more, order_seed=order_seed) if table.has_orders else (),
        repeat,
        decisions,
        target,
        directories=tuple(str(experiment.directory) for experiment in runs.experiments),
        most=most,
        tool=tools.pop() if len(tools) == 1 else "run",
        task_names=table.names or () if table.arranges == "tasks" else (),
        metric=table.metric,
    )


def _runs_to_decide(
    comparison: Comparison, posterior: Posterior, values: ArrayLike, most: int, pair_count: int
) -> int | None:
    """Return after how many more runs it is decided with probability 80 % which is better.

    That is what `compare(…, anytime=True)` says, whose verdicts are adjusted for all pairs.
    """
    if comparison.better is not None:
        return 0
    level = 1.0 - LIKELY / pair_count
    needed = orders_to_decide(posterior, values, ASSURANCES[0], most=most, level=level)
    return None if needed is None else max(needed, 1)


def _tool(experiment: Experiment) -> str:
    """Return the verb that made an experiment, from what it stores about its methods."""
    identity = experiment.identity
    if identity.get(SEEDS) == FROM_LOGS:
        return "import-logs"
    stored_keys: set[str] = set()
    for name, settings in identity.items():
        if name.startswith("method "):
            stored_keys.update(settings)
    if experiment.config is not None or stored_keys.isdisjoint(("toolbox", "command")):
        return "run"
    if "toolbox" in stored_keys:
        return "toolbox"
    return "export" if "tool" in stored_keys else "external"


def continue_design(table: Runs, count: int, *, order_seed: int = 0) -> tuple[ClassSequence, ...]:
    """Return further random orders, none of which was run; fewer if the space has no more."""
    space = table.space
    rng, seen = np.random.default_rng([order_seed, len(table.sequences)]), set(table.sequences)
    chosen: list[ClassSequence] = []
    while len(chosen) < min(count, space.size - len(table.sequences)):
        order = [table.classes[place] for place in space.sample_orders(1, rng)[0].tolist()]
        sequence = ClassSequence.from_order(order, space.sizes)
        if sequence not in seen:
            seen.add(sequence)
            chosen.append(sequence)
    return tuple(chosen)
