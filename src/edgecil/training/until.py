"""Goals of a run: add class orders until a question is answered."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from edgecil.errors import UsageError, format_value
from edgecil.experiments.goal_status import GoalStatus
from edgecil.sequences.sequence import ClassSequence
from edgecil.statistics import confidence_interval
from edgecil.statistics.verdicts import LEVEL

FIRST_LOOK = 5
_FORM = re.compile(
    r"^\s*(?P<first>\S+)(?:\s+[-−]\s+(?P<second>\S+))?\s*(?P<relation>>|<|±|\+-|\+/-)\s*"
    r"(?P<value>[-−]?\d+(?:\.\d*)?|[-−]?\.\d+)\s*$"
)

Relation = Literal[">", "<", "±"]
_RELATIONS: dict[str, Relation] = {">": ">", "<": "<", "±": "±", "+-": "±", "+/-": "±"}


@dataclass(frozen=True)
class Goal:
    """What a run shall find out: whether a mean, or a difference, is beyond or within a value.

    `first` is None for the mean of every method, `second` where nothing is subtracted.
    """

    first: str | None
    second: str | None
    relation: Relation
    value: float

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that it names."""
        return tuple(name for name in (self.first, self.second) if name is not None)


def next_look(orders: int) -> int:
    """Return after how many orders a goal is checked next: one more, or a tenth more from 20 on.

    The intervals are valid after every order, so that looking less often is, too. Each look is a
    call of the engine, whose start would cost more than the orders it adds.

    >>> next_look(5), next_look(20), next_look(1_000)
    (6, 22, 1100)
    """
    return orders + max(1, orders // 10)


def parse_goal(text: str) -> Goal:
    """Return a goal from its text: `icarl - ewc > 0`, `icarl > 60`, `icarl ± 0.5` or `mean ± 0.5`.

    >>> parse_goal("icarl - coda-prompt > 0").second
    'coda-prompt'
    >>> parse_goal("mean +- 0.5").relation
    '±'
    """
    match = _FORM.match(text)
    if match is None:
        raise UsageError(
            "`until` must be a goal such as 'icarl - ewc > 0', 'icarl > 60' or "
            f"'mean ± 0.5', with blanks around a minus. Got {format_value(text)} instead."
        )
    relation = _RELATIONS[match["relation"]]
    value = float(match["value"].replace("−", "-"))
    if relation == "±" and value <= 0.0:
        raise UsageError(
            f"The half-width in `until` must be above 0. Got {format_value(text)} instead."
        )
    if match["first"] == match["second"]:
        raise UsageError(
            f"`until` must compare two different methods. Got {format_value(text)} instead."
        )
    every = match["first"] == "mean" and match["second"] is None
    return Goal(None if every else match["first"], match["second"], relation, value)


def check_goal(
    goal: Goal,
    accuracies: Mapping[str, Mapping[ClassSequence, float]],
    *,
    one_seed: bool = False,
    level: float = LEVEL,
) -> GoalStatus:
    """Return whether accuracies, in the order in which orders were run, decide a goal."""
    series: dict[str, Sequence[float]]
    if goal.second is not None:
        assert goal.first is not None
        first, second = accuracies[goal.first], accuracies[goal.second]
        differences = [first[order] - second[order] for order in first if order in second]
        series = {f"{goal.first} - {goal.second}": differences}
    else:
        names = accuracies if goal.first is None else (goal.first,)
        series = {name: list(accuracies[name].values()) for name in names}
    intervals = {
        name: confidence_interval(values, level, least=FIRST_LOOK)
        for name, values in series.items()
    }
    orders = min((len(values) for values in series.values()), default=0)
    means = {name: fmean(values) for name, values in series.items() if values}
    finite = [interval for interval in intervals.values() if interval is not None]
    answer: bool | None = None
    if intervals and len(finite) == len(intervals):
        if goal.relation == "±":
            answer = all((high - low) / 2.0 <= goal.value for low, high in finite) or None
        elif all(low > goal.value for low, _ in finite):
            answer = goal.relation == ">"
        elif all(high < goal.value for _, high in finite):
            answer = goal.relation == "<"
    return GoalStatus(orders, intervals, answer, means, one_seed, level)
