"""The finished runs of one method of an experiment: `experiment["icarl"]`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

from edgecil.experiments.results import RunResult
from edgecil.io.arrays import Floats
from edgecil.io.notebook import show_printed
from edgecil.runs.metrics import DEFAULT_METRIC

if TYPE_CHECKING:
    from edgecil.analysis.answers import Analysis
    from edgecil.analysis.estimate import Estimate


@dataclass(frozen=True, eq=False, repr=False)
class MethodRuns(Sequence[RunResult]):
    """A sequence of runs.

    Attributes:
        method: its name.
        runs: what each run gave.
        analyze: returns the analysis of the experiment.
    """

    method: str
    runs: tuple[RunResult, ...]
    analyze: Callable[[], Analysis]

    @property
    def mean(self) -> Estimate | None:
        """The mean that is claimed over class orders and trainings, with its interval."""
        mean: Estimate | None = self.analyze()[self.method].mean
        return mean

    @property
    def accuracies(self) -> Floats:
        """(n,) the paper's A(O) of each run, in per cent; NaN where it is undefined."""
        values = [run.metric(DEFAULT_METRIC) for run in self.runs]
        return np.array([np.nan if value is None else value for value in values])

    @overload
    def __getitem__(self, index: int) -> RunResult: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[RunResult, ...]: ...

    def __getitem__(self, index: int | slice) -> RunResult | tuple[RunResult, ...]:
        return self.runs[index]

    def __iter__(self) -> Iterator[RunResult]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __str__(self) -> str:
        """Return how many runs there are and how accurate they are."""
        runs = f"{len(self)} run{'' if len(self) == 1 else 's'}"
        reached = describe_range(self.accuracies)
        return f"{self.method}: {runs}{reached and f', accuracy {reached}'}"

    def __repr__(self) -> str:
        return f"<{self}>"

    _repr_pretty_ = show_printed


def describe_range(accuracies: Floats) -> str:
    """Return the lowest and the highest accuracy; empty without any.

    >>> describe_range(np.array([61.25, 58.9, np.nan])), describe_range(np.array([60.0]))
    ('58.9 to 61.2 %', '60.0 %')
    """
    defined = accuracies[~np.isnan(accuracies)]
    if not defined.size:
        return ""
    low, high = f"{defined.min():.1f}", f"{defined.max():.1f}"
    return f"{low} %" if low == high else f"{low} to {high} %"
