"""Results: what was counted at each node, and what a whole run makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edgecil.engine.plan import Node
from edgecil.sequences.sequence import ClassSequence


@dataclass(frozen=True)
class NodeResult:
    """What a learner knew after one task.

    Attributes:
        correct: by classifier, the number of test images of each task so far classified rightly.
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
        correct = {classifier: tuple(counts) for classifier, counts in data["correct"].items()}
        return cls(correct, tuple(data["totals"]), data["seconds"], data["peak_memory"])


@dataclass(frozen=True)
class RunResult:
    """One method on one sequence with one seed: its accuracy matrix and what follows from it.

    Accuracies are in per cent. Properties are of the main classifier; :meth:`classifier` gives the
    others.

    Attributes:
        method: its name.
        seed: of the run.
        sequence: the classes, task by task.
        nodes: results after each task, first task first.
        versions: of edgecil and torch.
        reported: by classifier, what another tool said of the run where it gave no counts; the one
            node there is then says only what the run cost.
    """

    method: str
    seed: int
    sequence: ClassSequence
    nodes: tuple[NodeResult, ...]
    versions: Mapping[str, str] = field(default_factory=dict)
    reported: Mapping[str, Reported] = field(default_factory=dict)

    @property
    def classifiers(self) -> tuple[str, ...]:
        """Names of the classifiers, the main one first."""
        return WholeRun(self.nodes, self.reported).classifiers

    def classifier(self, name: str | None = None) -> Accuracies | Reported:
        """The accuracies by one classifier (the main one by default)."""
        chosen = name or self.classifiers[0]
        if self.reported:
            return self.reported[chosen]
        correct = [node.correct[chosen] for node in self.nodes]
        return Accuracies(tuple(correct), self.nodes[-1].totals)

    @property
    def accuracy(self) -> float:
        """A(O), the paper's metric: mean over tasks of the final accuracy."""
        return self.classifier().accuracy

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
        rows = [100.0 * np.array(row) / self.totals[: len(row)] for row in self.correct]
        return _triangle(rows, len(self.totals))

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
        return _forgetting(self.matrix)


@dataclass(frozen=True)
class Reported:
    """Accuracies that another tool computed, in per cent; what it did not say is None.

    Attributes:
        tasks: K, how many there are.
        accuracy: A(O), the mean over tasks of the final accuracy.
        last: over all test images after the last task.
        average: average incremental accuracy.
        rows: `rows[t][s]` on task s after task t, s <= t; empty if not known.
    """

    tasks: int
    accuracy: float
    last: float | None = None
    average: float | None = None
    rows: tuple[tuple[float, ...], ...] = ()

    @property
    def matrix(self) -> NDArray[np.float64]:
        """A[t, s], shape (K, K); NaN above the diagonal, or everywhere if it is not known."""
        return _triangle(self.rows, self.tasks)

    @property
    def forgetting(self) -> float | None:
        """As that of :class:`Accuracies`; None where the matrix is not known."""
        return _forgetting(self.matrix) if self.rows else None

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Reported:
        """What `asdict` gave."""
        return cls(**{**data, "rows": tuple(tuple(row) for row in data["rows"])})


@dataclass(frozen=True)
class WholeRun:
    """A sequence that another tool trained from end to end, sharing nothing with others.

    Attributes:
        nodes: counts after each task, the cost of all standing with the last; where the tool gave
            no counts, a single node with the cost alone.
        reported: by classifier, what it said instead.
    """

    nodes: tuple[NodeResult, ...]
    reported: Mapping[str, Reported] = field(default_factory=dict)

    @property
    def classifiers(self) -> tuple[str, ...]:
        """Names of the classifiers, the main one first."""
        return tuple(self.reported or self.nodes[-1].correct)

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> WholeRun:
        """What :meth:`as_dict` gave."""
        nodes = tuple(NodeResult.from_dict(node) for node in data["nodes"])
        reported = {name: Reported.from_dict(said) for name, said in data["reported"].items()}
        return cls(nodes, reported)


@dataclass(frozen=True)
class Summary:
    """What a run did.

    Attributes:
        trained: nodes trained now; whole sequences where another tool trains.
        reused: nodes that an earlier call had finished.
        failed: nodes that raised; those below them were not tried.
    """

    trained: int
    reused: int
    failed: tuple[Node, ...]


def _triangle(rows: Sequence[ArrayLike], tasks: int) -> NDArray[np.float64]:
    """Rows of growing length as a square matrix with NaN in the rest."""
    filled = np.full((tasks, tasks), np.nan)
    for place, row in enumerate(rows):
        filled[place, : place + 1] = row
    return filled


def _forgetting(matrix: NDArray[np.float64]) -> float | None:
    """Mean over old tasks of best earlier minus final accuracy; None with a single task."""
    if len(matrix) < 2:
        return None
    return float(np.mean(np.nanmax(matrix[:-1, :-1], axis=0) - matrix[-1, :-1]))
