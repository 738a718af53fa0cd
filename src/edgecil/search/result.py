"""The answer of a search: an order, confirmed by new trainings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from edgecil.experiments.experiment import Experiment
from edgecil.io.notebook import show_printed
from edgecil.io.numbers import per_cent
from edgecil.runs.metrics import METRICS
from edgecil.search.strategy import SearchGoal
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.statistics.distributions import SAME
from edgecil.statistics.posterior import clip_interval
from edgecil.statistics.verdicts import LEVEL

_OBJECTS = ("sequence", "experiment")


@dataclass(frozen=True)
class Trial:
    """One sequence that the search trained.

    Attributes:
        sequence: the classes, task by task.
        value: the metric of its training, in per cent.
    """

    sequence: ClassSequence
    value: float


@dataclass(frozen=True, repr=False)
class SearchResult:
    """The most extreme order that a search trained.

    Attributes:
        method: the method's name.
        goal: `worst` or `best`.
        metric: the metric that was searched.
        sequence: the order.
        value: its value in the search, which is partly luck.
        confirmations: its values in new trainings, with other training seeds.
        share: the expected share of random orders that are better (goal `worst`) or worse (goal
            `best`) in a single training than this order is on average. If all orders were trained,
            the share of them that was better (or worse) than this order in the search.
        trials: every sequence that was trained, in order.
        trainings: number of task trainings, including the confirmation.
        predictors: what entered the surrogate beside the learner's own results: `similarity`.
        experiment: with all results.
        budget: full runs that the search was allowed.
        level: probability with which the interval of the mean contains it.
    """

    method: str
    goal: SearchGoal
    metric: str
    sequence: ClassSequence
    value: float
    confirmations: tuple[float, ...]
    share: float
    trials: tuple[Trial, ...]
    trainings: int
    predictors: tuple[str, ...]
    experiment: Experiment
    budget: int
    level: float = LEVEL

    @property
    def complete(self) -> bool:
        """Whether all orders were trained."""
        return len({trial.sequence for trial in self.trials}) == self.order_count

    @property
    def order_count(self) -> int:
        """How many orders there are."""
        return SequenceSpace(self.sequence.sizes).size

    @property
    def tied(self) -> int:
        """How many orders have this order's value in the search, itself included."""
        return sum(abs(trial.value - self.value) <= SAME for trial in self.trials)

    @property
    def confirmed(self) -> bool | None:
        """Whether the new trainings are worse (or better) than an average order.

        If all orders were trained, most of them must be better (or worse) than the mean of the new
        trainings; else `share` must exceed one half. None without new trainings.
        """
        if not self.confirmations:
            return None
        if not self.complete:
            return self.share > 0.5
        seeks_low = (self.goal == "worst") == METRICS[self.metric].higher_is_better
        differences = np.array([trial.value for trial in self.trials]) - self.mean
        above = int((differences > SAME).sum())
        below = int((differences < -SAME).sum())
        return above > below if seeks_low else below > above

    @property
    def mean(self) -> float:
        """Mean over the new trainings; the search's own value without a confirmation."""
        return float(np.mean(self.confirmations)) if self.confirmations else self.value

    @property
    def half_width(self) -> float | None:
        """Half of Student's interval of the mean; None with fewer than two new trainings."""
        count = len(self.confirmations)
        if count < 2:
            return None
        error = float(np.std(self.confirmations, ddof=1)) / np.sqrt(count)
        return float(stdtrit(count - 1, (1.0 + self.level) / 2.0) * error)

    def summary(self) -> dict[str, Any]:
        """Return the answer as plain data."""
        derived = ("mean", "half_width", "complete", "tied", "confirmed")
        plain = {name: value for name, value in vars(self).items() if name not in _OBJECTS}
        return {
            **plain,
            **{name: getattr(self, name) for name in derived},
            "tasks": self.sequence.tasks,
            "trials": [
                {"tasks": trial.sequence.tasks, "value": trial.value} for trial in self.trials
            ],
            "directory": str(self.experiment.directory),
            "sentence": str(self),
        }

    def __repr__(self) -> str:
        return f"<SearchResult: {self}>"

    _repr_pretty_ = show_printed

    def __str__(self) -> str:
        count = len(self.confirmations)
        source = "in the search itself, not confirmed by new trainings"
        interval = ""
        if self.half_width is not None:
            ends = self.mean - self.half_width, self.mean + self.half_width
            low, high = clip_interval(ends, METRICS[self.metric].bounds)
            interval = f"{per_cent(self.level)} interval {low:.1f} to {high:.1f}, "
        if count:
            source = f"on average over trainings ({interval}{count} new)"
        side, other = ("better", "worse") if self.goal == "worst" else ("worse", "better")
        start = f"{self.method}, {self.goal} order {self.sequence}: {self.mean:.1f} {source}"
        share = f"{100.0 * self.share:.0f} %"
        is_doubtful = self.confirmed is False
        if not self.complete:
            if is_doubtful:
                start = (
                    f"{self.method}: no order was found that is {other} than average; the one that "
                    f"seemed {self.goal}, {self.sequence}, has {self.mean:.1f} {source}"
                )
            return f"{start}; about {share} of random orders are {side}"
        size = self.order_count
        budget = f", fewer than the budget of {self.budget} runs" if self.budget > size else ""
        is_extreme = round(self.share * size) + self.tied == size
        value = f"{self.metric} {self.value:.1f}"
        if is_extreme:
            value = f"{self.goal} {value}"
        tied = f"{self.tied} share the {value}, " if self.tied > 1 else ""
        doubt = ""
        if is_doubtful:
            doubt = f" in the search; the new trainings do not confirm it as {other} than average"
        return f"{start}; all {size} orders were trained{budget}; {tied}{share} are {side}{doubt}"
