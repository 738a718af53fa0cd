"""Exemplar memory: the images of earlier classes that a learner may keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from edgecil.errors import UsageError
from edgecil.hints import Whole
from edgecil.methods.settings import Settings
from edgecil.methods.task import Task


@dataclass(frozen=True)
class MemoryBudget(Settings):
    """How many images a learner may keep."""

    total: Whole | None = 2000  # divided evenly among the classes seen so far
    per_class: Whole | None = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.total is None and self.per_class is None:
            raise UsageError(
                "A memory budget requires 'total', 'per_class' or both. Got None for both."
            )

    def quota(self, seen: int) -> int:
        """Return the maximum number of images per class after `seen` classes.

        >>> MemoryBudget(total=2000, per_class=None).quota(100)
        20
        """
        shares = [self.per_class, None if self.total is None else self.total // seen]
        return min(share for share in shares if share is not None)


class ExemplarMemory:
    """Images of earlier classes in order of importance, within a budget.

    When classes are added, each class keeps its first exemplars: herding sorts them so that every
    prefix approximates the class mean (iCaRL's rule).
    """

    def __init__(self, budget: MemoryBudget) -> None:
        self.budget = budget
        self._inputs: list[Tensor] = []

    def __len__(self) -> int:
        return sum(len(inputs) for inputs in self._inputs)

    def check(self, seen: int) -> None:
        """Raise an error if the budget leaves no exemplar per class after `seen` classes."""
        if self.budget.quota(seen) < 1:
            raise UsageError(
                f"Replay requires at least one exemplar per class, but a memory of "
                f"{self.budget.total} in total and {self.budget.per_class} per class leaves none "
                f"for {seen} classes; increase the memory budget."
            )

    def data(self, task: Task) -> tuple[Tensor, Tensor]:
        """Return all exemplars: inputs (m, c, h, w), and new labels (m,) on a task's device."""
        if not self._inputs:
            return task.inputs[:0], task.labels[:0]
        sizes = torch.tensor([len(inputs) for inputs in self._inputs], device=task.device)
        labels = torch.repeat_interleave(torch.arange(len(sizes), device=task.device), sizes)
        return torch.cat(self._inputs), labels

    def of_class(self, label: int) -> Tensor:
        """Return the exemplars of one class, most important first."""
        return self._inputs[label]

    def beside(self, task: Task) -> tuple[Tensor, Tensor]:
        """Return the images of a task followed by all exemplars: inputs and new labels."""
        inputs, labels = self.data(task)
        return torch.cat([task.inputs, inputs]), torch.cat([task.labels, labels])

    def class_means(self, features: Callable[[Tensor], Tensor]) -> Tensor:
        """Return normalised means (classes, d) of the exemplars' features."""
        sizes = [len(inputs) for inputs in self._inputs]
        rows = normalize(features(torch.cat(self._inputs)), dim=1)
        return normalize(torch.stack([part.mean(dim=0) for part in rows.split(sizes)]), dim=1)

    def update(self, task: Task, rank: Callable[[Tensor, int], Tensor]) -> None:
        """Shrink the exemplars of old classes and add some of the task's new classes.

        `rank` returns the indices of so many inputs of one class, most important first.
        """
        quota = self.budget.quota(len(task.seen))
        self._inputs = [inputs[:quota].clone() for inputs in self._inputs]
        for label in range(task.old_count, len(task.seen)):
            inputs = task.of_class(label)
            kept = rank(inputs, min(quota, len(inputs)))
            self._inputs.append(inputs[kept.to(inputs.device)].clone())

    def state(self) -> list[Tensor]:
        """Return the exemplars, class by class."""
        return [inputs.cpu() for inputs in self._inputs]

    def restore(self, state: list[Any], _: object) -> None:
        """Load a state from :meth:`state`; exemplars stay in host memory."""
        self._inputs = list(state)


def herd(features: Tensor, count: int) -> Tensor:
    """Choose samples of features (n, d) greedily so that their mean approximates the class mean.

    Rebuffi et al. (2017), iCaRL, Algorithm 4.
    """
    mean = features.mean(dim=0)
    total = torch.zeros_like(mean)
    free = torch.zeros(len(features), device=features.device)
    chosen: list[int] = []
    for size in range(1, count + 1):
        distance = (mean - (total + features) / size).square().sum(dim=1) + free
        best = int(distance.argmin())
        chosen.append(best)
        free[best] = torch.inf
        total = total + features[best]
    return torch.tensor(chosen, dtype=torch.int64, device=features.device)


def draw(inputs: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Return indices of `count` samples chosen at random, on the generator's device."""
    return torch.randperm(len(inputs), generator=generator, device=generator.device)[:count]
