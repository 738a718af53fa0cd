"""Results: what was counted at each node, and what a whole run makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecil.sequences.sequence import ClassSequence


@dataclass(frozen=True)
class NodeResult:
    """What a learner knew after one task.

    Attributes:
        correct: by reading, the number of test images of each task so far classified rightly.
        totals: the number of test images of each task so far.
        seconds: learning and testing.
        peak_memory: most memory the process had used by then, in bytes.
    """

    correct: dict[str, tuple[int, ...]]
    totals: tuple[int, ...]
    seconds: float
    peak_memory: int

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> NodeResult:
        """What :meth:`as_dict` gave."""
        correct = {reading: tuple(counts) for reading, counts in data["correct"].items()}
        return cls(correct, tuple(data["totals"]), data["seconds"], data["peak_memory"])


@dataclass(frozen=True)
class RunResult:
    """One method on one sequence with one seed: its accuracy matrix and what follows from it.

    Accuracies are in per cent. Properties are of the main reading; :meth:`reading` gives the
    others.

    Attributes:
        method: its name.
        seed: of the run.
        sequence: the classes, task by task.
        nodes: results after each task, first task first.
        versions: of edgecil and torch.
    """

    method: str
    seed: int
    sequence: ClassSequence
    nodes: tuple[NodeResult, ...]
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def readings(self) -> tuple[str, ...]:
        """Names of the readings, the main one first."""
        return tuple(self.nodes[-1].correct)

    def reading(self, name: str | None = None) -> Accuracies:
        """The accuracies by one reading (the main one by default)."""
        chosen = name or self.readings[0]
        correct = [node.correct[chosen] for node in self.nodes]
        return Accuracies(tuple(correct), self.nodes[-1].totals)

    @property
    def accuracy(self) -> float:
        """A(O), the paper's metric: mean over tasks of the final accuracy."""
        return self.reading().accuracy

    @property
    def seconds(self) -> float:
        """Training and testing of all its tasks, shared or not."""
        return sum(node.seconds for node in self.nodes)

    @property
    def peak_memory(self) -> int:
        """Most memory used, in bytes."""
        return max(node.peak_memory for node in self.nodes)


@dataclass(frozen=True)
class Accuracies:
    """Counts of right answers after each task, and the usual metrics, in per cent.

    Attributes:
        correct: `correct[t][s]` test images of task s right after task t, s <= t.
        totals: test images of each task.
    """

    correct: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]

    @property
    def matrix(self) -> NDArray[np.float64]:
        """A[t, s], shape (K, K); NaN above the diagonal."""
        filled = np.full((len(self.totals), len(self.totals)), np.nan)
        for row, counts in enumerate(self.correct):
            filled[row, : len(counts)] = 100.0 * np.array(counts) / self.totals[: len(counts)]
        return filled

    @property
    def accuracy(self) -> float:
        """A(O): mean of the matrix's last row."""
        return float(self.matrix[-1].mean())

    @property
    def last(self) -> float:
        """Accuracy over all test images after the last task."""
        return 100.0 * sum(self.correct[-1]) / sum(self.totals)

    @property
    def average(self) -> float:
        """Average incremental accuracy: mean over t of the accuracy on all images seen by then."""
        steps = [sum(counts) / sum(self.totals[: len(counts)]) for counts in self.correct]
        return 100.0 * float(np.mean(steps))

    @property
    def forgetting(self) -> float | None:
        """Mean over old tasks of best earlier minus final accuracy; None with a single task."""
        if len(self.totals) < 2:
            return None
        before, final = self.matrix[:-1, :-1], self.matrix[-1, :-1]
        return float(np.mean(np.nanmax(before, axis=0) - final))
