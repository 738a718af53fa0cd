"""A space of class sequences in numbers: its size, every bound, and the reach of a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edgecil.errors import UsageError, format_value
from edgecil.paper.bounds import BOUNDS, SampleBound
from edgecil.paper.greedy import GreedyBound, greedy_bound
from edgecil.paper.similarity_error import Theorem3, check_theorem_3
from edgecil.sequences.space import SequenceSpace, decimal_text
from edgecil.sequences.task_orders import read_given_tasks
from edgecil.similarity.matrix import Similarity
from edgecil.similarity.similarity_files import read_similarity
from edgecil.statistics.arguments import whole_number
from edgecil.statistics.coverage import (
    expected_share_inside,
    gaussian_tail,
    miss_probability,
    runs_to_hit,
    tolerance_runs,
    tolerance_share,
    worse_probability,
)

# All digits of |Ω| are written; that takes seconds for as many classes and minutes for more.
_MOST_CLASSES = 100_000
_CONFIDENCE = 0.95
_TOLERATED_SHARE = 0.95


@dataclass(frozen=True)
class BoundSummary:
    """A sample-size bound in a space.

    Attributes:
        name: its key in :data:`edgecil.paper.BOUNDS`.
        title: its usual name.
        accuracy_range: R, the range of accuracies to which it is applied, in [0, 1] units.
        extreme_runs: extreme sequences to run beside the random ones.
        runs: least number of random runs for ε and δ; None if only all of Ω are enough.
        epsilon: ε after as many runs as the budget; None if the budget exceeds the space.
    """

    name: str
    title: str
    accuracy_range: float
    extreme_runs: int
    runs: int | None
    epsilon: float | None


@dataclass(frozen=True)
class TailSummary:
    """The orders beyond a number of standard deviations, if accuracies are normal.

    Attributes:
        deviations: distance from the mean in standard deviations, both sides.
        share: share of all orders beyond it.
        miss_probability: probability that a random budget has none of them.
        runs_to_hit: random orders that hit them with probability 0.95; None if there are none.
    """

    deviations: float
    share: float
    miss_probability: float
    runs_to_hit: int | None


@dataclass(frozen=True)
class SeenRange:
    """Exact statements about the range of a random budget; they assume no distribution.

    Attributes:
        share_inside: expected share of all orders between the worst and the best one seen.
        worse_probability: probability that a further random order, none of those seen, is worse
            than all of them; 0 if there is no other.
        share_not_worse: share of all orders that is no worse than the worst seen, with
            confidence 0.95.
        runs_one_sided: random orders to say with confidence 0.95 that 95 % of all orders are no
            worse than the worst seen.
        runs_two_sided: random orders to say with confidence 0.95 that 95 % of all orders lie
            between the worst and the best seen.
    """

    share_inside: float
    worse_probability: float
    share_not_worse: float
    runs_one_sided: int
    runs_two_sided: int


@dataclass(frozen=True)
class SpaceSummary:
    """A space of class sequences in numbers.

    Attributes:
        classes: N.
        tasks: K.
        sizes: the task sizes.
        given_tasks: names of the tasks whose orders are counted; empty where classes are arranged.
        size: |Ω| in decimal digits; it exceeds the numbers of most JSON readers.
        log10_size: decimal logarithm of |Ω|.
        epsilon: error of the mean in the bounds.
        delta: probability of a larger error.
        budget: number of runs in `bounds`, `tails` and `seen`.
        bounds: sample-size bounds, the paper's first.
        tails: beyond 1, 2 and 3 standard deviations.
        seen: statements about the range of a random budget.
        greedy: Theorem 4; None without a similarity or its mean.
        theorem_3: Theorem 3; None without a similarity.
    """

    classes: int
    tasks: int
    sizes: tuple[int, ...]
    size: str
    log10_size: float
    epsilon: float
    delta: float
    budget: int
    bounds: tuple[BoundSummary, ...]
    tails: tuple[TailSummary, ...]
    seen: SeenRange
    greedy: GreedyBound | None = None
    theorem_3: Theorem3 | None = None
    given_tasks: tuple[str, ...] = ()


def space(
    classes: int | None = None,
    *,
    tasks: int | None = None,
    base: int | None = None,
    increment: int | None = None,
    sizes: Sequence[int] | None = None,
    given_tasks: str | Path | Mapping[str, Sequence[str | int]] | Sequence[str] | None = None,
    epsilon: float = 0.1,
    delta: float = 0.05,
    accuracy_range: float = 1.0,
    budget: int = 3,
    mean_similarity: float | None = None,
    max_similarity: float = 1.0,
    similarity: str | Path | Similarity | None = None,
) -> SpaceSummary:
    """Return the number of sequences, the runs that bounds require, and the reach of a few runs.

    Args:
        classes: number of classes, N; by default as many as the similarity has.
        tasks: see :class:`edgecil.sequences.space.TaskSizes`.
        base: see :class:`edgecil.sequences.space.TaskSizes`.
        increment: see :class:`edgecil.sequences.space.TaskSizes`.
        sizes: see :class:`edgecil.sequences.space.TaskSizes`.
        given_tasks: see :class:`edgecil.sequences.space.TaskSizes`; their T! orders are counted.
        epsilon: error of the mean accuracy, with accuracies in [0, 1].
        delta: probability of a larger error.
        accuracy_range: largest minus smallest accuracy over all sequences (R), in (0, 1].
        budget: number of random runs.
        mean_similarity: S̄ of Theorem 4, which requires tasks of equal size.
        max_similarity: U of Theorem 4.
        similarity: file with a similarity matrix (.npz, .npy or .csv), for which Theorem 3 is
            checked and S̄ and U of Theorem 4 are computed; requires tasks of equal size. In Python
            also a similarity.

    >>> summary = space(6, tasks=3)
    >>> summary.size, round(summary.seen.share_inside, 3)
    ('90', 0.517)
    """
    if isinstance(similarity, (str, Path)):
        similarity = read_similarity(similarity)
    task_names: tuple[str, ...] = ()
    if given_tasks is not None:
        about_classes = (classes, tasks, base, increment, sizes, similarity, mean_similarity)
        task_names = _name_given_tasks(given_tasks, about_classes)
        classes = tasks = len(task_names)  # an order of T tasks is one of T tasks of one class
    if classes is None:
        if similarity is None:
            raise UsageError(
                "The classes are not specified; give `classes`, `similarity` or `given_tasks`."
            )
        classes = len(similarity)
    whole_number("classes", classes, least=1, most=_MOST_CLASSES)
    whole_number("budget", budget, least=1)
    if not 0.0 < accuracy_range <= 1.0:
        raise UsageError(
            "`accuracy_range` must be in (0, 1], 0.1 for ten accuracy points. "
            f"Got {format_value(accuracy_range)} instead."
        )
    chosen = SequenceSpace.choose(classes, tasks=tasks, base=base, increment=increment, sizes=sizes)
    greedy = theorem_3 = None
    if similarity is not None:
        if mean_similarity is not None:
            raise UsageError("Give either `similarity` or `mean_similarity`, not both.")
        chosen.require_similarity(similarity)
        theorem_3 = check_theorem_3(similarity, chosen)
        pairs = similarity.submatrix(np.arange(classes))[~np.eye(classes, dtype=np.bool_)]
        mean_similarity, max_similarity = float(pairs.mean()), float(pairs.max())
        if mean_similarity < 0.0:  # Theorem 4 is about similarities of at least 0
            mean_similarity = None
    if mean_similarity is not None:
        if len(set(chosen.sizes)) > 1:
            raise UsageError(
                "`mean_similarity` belongs to Theorem 4, which requires tasks of one "
                f"size. Got sizes {list(chosen.sizes)}."
            )
        greedy = greedy_bound(classes, chosen.tasks, mean_similarity, max_similarity)
    bounds: list[BoundSummary] = []
    for bound in BOUNDS.values():
        bounds += _summarize_bound(bound, chosen.size, epsilon, delta, accuracy_range, budget)
    return SpaceSummary(
        classes=classes,
        tasks=chosen.tasks,
        sizes=chosen.sizes,
        size=decimal_text(chosen.size),
        log10_size=chosen.log10_size,
        epsilon=epsilon,
        delta=delta,
        budget=budget,
        bounds=tuple(bounds),
        tails=_tails(chosen.size, budget),
        seen=_seen_range(chosen.size, budget),
        greedy=greedy,
        theorem_3=theorem_3,
        given_tasks=task_names,
    )


def _name_given_tasks(
    given_tasks: str | Path | Mapping[str, Sequence[str | int]] | Sequence[str],
    about_classes: Sequence[object],
) -> tuple[str, ...]:
    """Return the names of given tasks, beside which options about classes are refused."""
    if any(value is not None for value in about_classes):
        raise UsageError(
            "The orders of `given_tasks` do not depend on classes; leave out `classes`, `tasks`, "
            "`base`, `increment`, `sizes` and similarities."
        )
    return tuple(task.name for task in read_given_tasks(given_tasks))


def _summarize_bound(
    bound: SampleBound,
    size: int,
    epsilon: float,
    delta: float,
    accuracy_range: float,
    budget: int,
) -> list[BoundSummary]:
    """Return a bound for each range of accuracies to which it applies.

    Theorem 1 holds for accuracies in [0, 1], Theorem 2 for the range in the call, and
    Hoeffding–Serfling for both.
    """
    if size <= bound.extreme_runs + 1:
        return []
    ranges = [] if bound.extreme_runs else [1.0]
    if bound.states_range and (bound.extreme_runs or accuracy_range < 1.0):
        ranges.append(accuracy_range)
    summaries = []
    for spread in ranges:
        epsilon_of_budget = None
        if budget <= size - bound.extreme_runs:
            epsilon_of_budget = bound.epsilon(size, budget, delta, spread)
        summaries.append(
            BoundSummary(
                bound.name,
                bound.title,
                spread,
                bound.extreme_runs,
                bound.runs(size, epsilon, delta, spread),
                epsilon_of_budget,
            )
        )
    return summaries


def _tails(size: int, budget: int) -> tuple[TailSummary, ...]:
    drawn = min(budget, size)
    tails = []
    for deviations in (1.0, 2.0, 3.0):
        share = gaussian_tail(deviations)
        missed = miss_probability(share, drawn, size)
        tails.append(TailSummary(deviations, share, missed, runs_to_hit(share, _CONFIDENCE, size)))
    return tuple(tails)


def _seen_range(size: int, budget: int) -> SeenRange:
    drawn = min(budget, size)
    return SeenRange(
        share_inside=expected_share_inside(drawn, size),
        worse_probability=worse_probability(drawn) if drawn < size else 0.0,
        share_not_worse=tolerance_share(drawn, _CONFIDENCE, size=size),
        runs_one_sided=tolerance_runs(_TOLERATED_SHARE, _CONFIDENCE, size=size),
        runs_two_sided=tolerance_runs(_TOLERATED_SHARE, _CONFIDENCE, sides=2, size=size),
    )
