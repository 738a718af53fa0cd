"""What to run next for one method, and what it would buy."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np

from edgecil.engine.config import ExperimentConfig
from edgecil.engine.runs import Runs
from edgecil.errors import DataError, UsageError, warn
from edgecil.estimation.claims import Answer, answer, representative_orders
from edgecil.estimation.comparison import differences
from edgecil.estimation.population import LEAST_ORDERS, Posterior, orders_for, orders_to_decide
from edgecil.estimation.samples import know_method
from edgecil.estimation.sentences import MOST_ORDERS, count, describe_next
from edgecil.estimation.sources import (
    DatasetRuns,
    Source,
    default_metric,
    gather_runs,
    list_sources,
)
from edgecil.estimation.truth import find_truth
from edgecil.estimation.variance import OrderEffect, split_variance
from edgecil.io.files import check_new, replace_file
from edgecil.io.json import to_plain
from edgecil.io.notebook import show_printed
from edgecil.options import Options
from edgecil.sequences.given import NAME as OWN_ORDERS
from edgecil.sequences.protocols import CONTINUED
from edgecil.sequences.sequence import ClassSequence

REPEATED_ORDERS = 2
ASSURANCES = (0.8, 0.95)
_FURTHER = (1, 2, 3, 4, 6, 8, 12, 20, 40, 80, 160)
_NARROWER = 0.5
_MOST_ORDERS = 100_000

Step = Literal["orders", "repeats", "nothing"]


@dataclass(frozen=True)
class Gain:
    """What further orders would buy.

    Attributes:
        order_count: how many more.
        half_width: usual half-width of the 90 % interval of the mean after them, points.
    """

    order_count: int
    half_width: float


@dataclass(frozen=True)
class NextStep:
    """What to run next.

    Attributes:
        step: `orders`: run `order_count` more class orders; `repeats`: train `repeats` of the
            orders once more, to separate order from training; `nothing`: the mean is known as
            precisely as asked, or all orders were run and repeated.
        order_count: how many more orders; with a target, as many as reach it with probability 80 %.
        sure_count: how many reach it with probability 95 %; None without a target.
        repeats: how many trainings of orders that were run before.
        half_width: of the mean's 90 % interval now; None if there is none.
        target: the half-width aimed at; None if there is none.
        gains: what several numbers of further orders would buy.
        seconds: expected duration of the step, one training after the other; None if the durations
            of the runs are not recorded.
        replaces: whether the orders that were run were not chosen at random, so that claims will
            rest on the further orders alone.
    """

    step: Step
    order_count: int = 0
    sure_count: int | None = None
    repeats: int = 0
    half_width: float | None = None
    target: float | None = None
    gains: tuple[Gain, ...] = ()
    seconds: float | None = None
    replaces: bool = False


def advise(
    answer: Answer,
    effect: OrderEffect,
    known: Posterior | None,
    space_size: int,
    *,
    target: float | None = None,
    seconds: float | None = None,
    replaces: bool = False,
) -> NextStep:
    """Return what to run next for a method.

    At least 3 orders come first; then one more training of 2 orders, if no order was repeated and
    no target is given; then more orders, until the interval of the mean has the wanted half-width.

    Args:
        answer: what is known about the method.
        effect: order and training.
        known: what its orders say about the population; None with fewer than three.
        space_size: |Ω|.
        target: wanted half-width of the mean's 90 % interval, in points; by default half of what it
            is now.
        seconds: mean duration of one run.
        replaces: whether the orders that were run will not count beside further ones.
    """
    if answer.mean.validity == "measured":
        if effect.repeats:
            return NextStep("nothing")
        return timed(NextStep("repeats", repeats=min(REPEATED_ORDERS, answer.order_count)), seconds)
    left = space_size - answer.order_count
    if replaces or known is None:
        more = LEAST_ORDERS - (0 if replaces else answer.order_count)
        return timed(NextStep("orders", min(max(more, 1), left), replaces=replaces), seconds)
    width = float(known.half_width())
    goal = _NARROWER * width if target is None else target
    gains = tuple(
        Gain(more, float(known.after(more, more * float(known.std) ** 2).half_width()))
        for more in _FURTHER
        if more <= left
    )
    nothing = NextStep("nothing", half_width=width, target=goal, gains=gains)
    if not effect.repeats and target is None:
        return timed(replace(nothing, step="repeats", repeats=REPEATED_ORDERS), seconds)
    if width <= goal or not left:
        return nothing
    most = min(left, _MOST_ORDERS)
    likely, sure = (orders_for(known, goal, assurance, most=most) for assurance in ASSURANCES)
    step = replace(nothing, step="orders", order_count=likely or most, sure_count=sure)
    return timed(step, seconds)


def timed(step: NextStep, seconds: float | None) -> NextStep:
    """Return the step with its duration, from the mean duration of a run; None if unknown."""
    if seconds is None:
        return step
    return replace(step, seconds=seconds * (step.order_count + step.repeats))


CHOOSING = ("protocol", "sequences", "budget", "order_seed", "objective")  # class orders
ONCE = ("repeats", "repeats_on")  # a further order is trained once, as its duration says


@dataclass(frozen=True, repr=False)
class NextRuns:
    """What to run next on one dataset.

    Attributes:
        dataset: its name.
        steps: by method, what to run next and what it would buy.
        orders: class orders that continue the design, as many as the method that needs most, at
            most 100; after these, more is known about how many it needs. They are random draws
            that were not run yet.
        repeat: orders to train once more, as many as some method needs.
        decisions: by first and second method, after how many more orders it is decided with
            probability 80 % which is better, by the confidence sequence of `run --until`, so that
            one may look after every order; None if 100 more, or all, do not suffice. A pair
            without an interval is left out.
        target: the wanted half-width; None if none was given.
        directory: of the experiment; None for files and several experiments.
        options: of the experiment's latest run that are not the default; empty without an
            experiment.
    """

    dataset: str
    steps: dict[str, NextStep]
    orders: tuple[ClassSequence, ...]
    repeat: tuple[ClassSequence, ...]
    decisions: dict[str, dict[str, int | None]] = field(default_factory=dict)
    target: float | None = None
    directory: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        more, again = count(len(self.orders), "more order"), len(self.repeat)
        return f"<NextRuns on {self.dataset}: {more}, {again} to train once more>"

    def __str__(self) -> str:
        """Return the advice in sentences, and the orders."""
        return "\n".join(describe_next(self))

    _repr_pretty_ = show_printed

    def save(self, path: str | Path) -> None:
        """Write the orders as a JSON file that `run` takes as `sequences`.

        Without orders there is nothing to write, which is an error.
        """
        if not self.orders:
            raise UsageError(f"There are no further orders to write for {self.dataset}.")
        text = json.dumps({CONTINUED: [str(order) for order in self.orders]}, indent=1)
        with replace_file(Path(path)) as file:
            file.write(text.encode())


def next_runs(
    source: Source | Sequence[Source],
    *,
    target: float | None = None,
    metric: str | None = None,
    classifier: str | None = None,
    order_seed: int = 0,
    out: str | Path | None = None,
    overwrite: bool = False,
) -> list[NextRuns]:
    """Return which class orders to run next, for each dataset.

    Args:
        source: experiment directories and CSV files. In Python also experiments, DataFrames and
            accuracy tables.
        target: wanted half-width of the mean's 90 % interval, in points; by default half of the
            current one.
        metric: metric to which the interval refers; by default the experiment's.
        classifier: the classifier of the methods, such as `nme`; each method's main one by
            default.
        order_seed: seed for choosing class orders.
        out: JSON file to write the orders to, which `run` accepts as `sequences`; requires runs on
            one dataset. Nothing is written if no further orders are suggested. A file of an
            earlier call is replaced.
        overwrite: replace the file if it exists, whatever it contains.
    """
    if out is not None:
        check_new(out, overwrite=overwrite, is_ours=_is_saved)
    if order_seed < 0:
        raise UsageError(
            f"'order_seed' must be an integer of at least 0. Got {order_seed} instead."
        )
    if target is not None and not 0.0 < target < math.inf:
        raise UsageError(f"'target' must be a positive number of points. Got {target:g} instead.")
    sources = list_sources(source)
    metric = default_metric(sources) if metric is None else metric
    runs = gather_runs(sources, metric, classifier)
    if out is not None and len(runs) > 1:
        names = ", ".join(part.table.dataset for part in runs)
        raise UsageError(f"The 'out' parameter requires runs on one dataset. Got {names}.")
    advice = [_next(part, target, order_seed) for part in runs]
    if out is not None:
        if advice[0].orders:
            advice[0].save(out)
        else:
            warn(f"{out} was not written: no further class orders are suggested.")
    return advice


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


def _next(runs: DatasetRuns, target: float | None, order_seed: int) -> NextRuns:
    table = runs.table
    if table.missing == len(table):
        raise DataError(f"No run on {table.dataset!r} has an accuracy to continue from.")
    # In a file without protocols, rows of further orders are like those before them.
    unnamed = not runs.experiments and set(table.protocols) == {OWN_ORDERS}
    steps = {}
    for method in table.methods:
        if len(table.orders(method)):
            said = answer(table, method, find_truth(table, method))
            sample = representative_orders(table, method)
            step = advise(
                said,
                split_variance(table.repeats(method)),
                know_method(table, method, sample.sequences, sample.choice),
                table.space.size,
                target=target,
                seconds=run_seconds(runs, method),
                replaces=not said.blind and not unnamed,
            )
            steps[method] = step
    more = max((step.order_count for step in steps.values()), default=0)
    more = min(more, MOST_ORDERS)
    again = max((step.repeats for step in steps.values()), default=0)
    orders = continue_design(table, more, order_seed=order_seed)
    decisions: dict[str, dict[str, int | None]] = {}
    for first, second in combinations(steps, 2):
        both = differences(table, first, second)
        if both is not None and both.known is not None:
            left = max(table.space.size - len(both.gains), 0)
            needed = orders_to_decide(
                both.known, both.gains, ASSURANCES[0], most=min(left, MOST_ORDERS)
            )
            decisions.setdefault(first, {})[second] = needed
    only = runs.experiments[0] if len(runs.experiments) == 1 else None
    return NextRuns(
        table.dataset,
        steps,
        orders,
        table.sequences[:again],
        decisions,
        target,
        None if only is None else str(only.directory),
        {} if only is None or only.config is None else _options(only.config),
    )


def _options(config: ExperimentConfig) -> dict[str, Any]:
    """Return the options that are not the default."""
    return {
        name: to_plain(value.changed() if isinstance(value, Options) else value)
        for name, value in config.changed().items()
    }


def continue_design(table: Runs, count: int, *, order_seed: int = 0) -> tuple[ClassSequence, ...]:
    """Return further random orders, none of which was run.

    Args:
        table: the runs; classes are numbered 0 … N-1.
        count: how many; fewer if the space has no more.
        order_seed: seed for choosing class orders.
    """
    space = table.space
    rng, seen = np.random.default_rng([order_seed, len(table.sequences)]), set(table.sequences)
    chosen: list[ClassSequence] = []
    for _ in range(min(count, space.size - len(seen))):
        while True:
            order = [table.classes[place] for place in space.sample_orders(1, rng)[0].tolist()]
            sequence = ClassSequence.from_order(order, space.sizes)
            if sequence not in seen:
                break
        seen.add(sequence)
        chosen.append(sequence)
    return tuple(chosen)
