"""Base class of learners that regress on random projections of features, in closed form."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch.nn import functional

from edgecil.methods.class_statistics import pack_triangle, unpack_triangle
from edgecil.methods.method import Environment
from edgecil.methods.pretrained import PretrainedMethod
from edgecil.methods.task import Task

_AT_ONCE = 4096  # images whose projections are in memory at once


class RandomRegression(PretrainedMethod):
    """Ridge regression from additive statistics of projected features, in double precision.

    Statistics are on the device if it supports double precision: the sum of outer products of all
    projected features (M, M), symmetric to the last bit because a state holds its lower triangle
    alone, and the sums of projected features by class.
    """

    def __init__(self, config: Any, environment: Environment) -> None:
        super().__init__(config, environment)
        size = config.projection
        device = torch.device(environment.device)
        self._device = torch.device("cpu") if device.type == "mps" else device
        self.projection = self.draw_projection(size).to(self._device)
        self.gram = torch.zeros(size, size, dtype=torch.float64).to(self._device)
        self.class_sums = self.gram[:0]  # (classes seen, M)

    @abstractmethod
    def draw_projection(self, size: int) -> torch.Tensor:
        """Return random weights (d, M) from the run's seed, on the CPU."""

    @abstractmethod
    def features(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the features (n, d) to project, of images (n, c, h, w) or vectors."""

    @property
    @abstractmethod
    def ridge(self) -> float:
        """The penalty of the regression."""

    def add(self, features: torch.Tensor, targets: torch.Tensor) -> None:
        """Add a task's features (n, d) with one-hot targets (n, new classes) to the statistics."""
        sums = torch.zeros(targets.shape[1], len(self.gram), dtype=torch.float64).to(self._device)
        for part, hits in zip(features.split(_AT_ONCE), targets.split(_AT_ONCE), strict=True):
            projected = self.project(part)
            self.gram = self.gram + projected.T @ projected
            sums = sums + hits.T @ projected
        self.gram = self.gram.tril() + self.gram.tril(-1).T
        self.class_sums = torch.cat([self.class_sums, sums])

    def targets(self, task: Task) -> torch.Tensor:
        """Return one-hot rows (n, new classes) for the images of a task."""
        labels = task.alone().labels.to(self._device)
        return functional.one_hot(labels, len(task.classes)).double()

    def project(self, features: torch.Tensor) -> torch.Tensor:
        """Return random features (n, M) of features (n, d), in double precision."""
        return functional.relu(features @ self.projection).double()

    def weights(self) -> torch.Tensor:
        """Fit a ridge regression (M, classes) from projected features to classes, on all tasks."""
        penalised = self.gram.clone()
        penalised.diagonal().add_(self.ridge)
        solution: torch.Tensor = torch.linalg.solve(penalised, self.class_sums.T)
        return solution

    def classify(self, inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the class with the largest regression value."""
        weights = self.weights()
        parts = self.features(inputs).split(_AT_ONCE)
        return {"head": torch.cat([(self.project(part) @ weights).argmax(dim=1) for part in parts])}

    def state(self) -> dict[str, Any]:
        """Return the statistics."""
        return {
            **super().state(),
            "gram": pack_triangle(self.gram.cpu()),
            "class_sums": self.class_sums.cpu(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Load a state from :meth:`state`."""
        super().restore(state)
        gram = unpack_triangle(state["gram"], self.projection.shape[1], symmetric=True)
        self.gram, self.class_sums = gram.to(self._device), state["class_sums"].to(self._device)
