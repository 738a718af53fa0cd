"""ACIL: recursive least squares on random projections of frozen features.

Zhuang et al. (NeurIPS 2022), "ACIL: Analytic Class-Incremental Learning with Absolute Memorization
and Privacy Protection". The recursion gives the ridge regression on the images of all tasks, which
is solved here directly, so the order of classes has no effect. The authors train the backbone on
the first half of the classes; here it is frozen from the start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from edgecil.hints import Count, Positive
from edgecil.methods.class_statistics import pack_triangle, unpack_triangle
from edgecil.methods.entry import register_method
from edgecil.methods.frozen_features import PretrainedMethod
from edgecil.methods.method import Environment, Need
from edgecil.methods.settings import Settings
from edgecil.methods.task import Task, derive_generator

_AT_ONCE = 4096  # images whose projections are in memory at once


@dataclass(frozen=True)
class ACILConfig(Settings):
    """Hyper-parameters of ACIL; the defaults are the authors' for CIFAR-100."""

    projection: Count = 8192  # random features, the authors' buffer size; the square is stored
    ridge: Positive = 0.1  # γ, the penalty
    # Whether γ is a multiple of the mean diagonal of the Gram matrix, so that the scale of the
    # features does not matter, or the penalty itself, as published.
    relative: bool = True


@register_method(
    "acil",
    ACILConfig,
    "recursive least squares on random features, nothing trained (2022)",
    fast_settings={"projection": 1000},
    published_settings={"relative": False},
)
class ACIL(PretrainedMethod):
    """Ridge regression from additive statistics of projected features, in double precision.

    Statistics are on the device if it supports double precision: the sum of outer products of all
    projected features (M, M), symmetric to the last bit because a state holds its lower triangle
    alone, and the sums of projected features by class. RanPAC has other features and penalties.
    """

    need: ClassVar[Need] = "features"
    trains = False

    def __init__(self, config: Any, environment: Environment) -> None:
        super().__init__(config, environment)
        size = config.projection
        device = torch.device(environment.device)
        self._device = torch.device("cpu") if device.type == "mps" else device
        self.projection = self.draw_projection(size).to(self._device)
        self.gram = torch.zeros(size, size, dtype=torch.float64).to(self._device)
        self.class_sums = self.gram[:0]  # (classes seen, M)

    def draw_projection(self, size: int) -> Tensor:
        """Return weights (d, M) as of a linear layer: uniform in ± 1 / √d."""
        generator = derive_generator("cpu", self.environment.seed, "random projection")
        drawn = torch.empty(self.feature_size, size).uniform_(-1.0, 1.0, generator=generator)
        return drawn / math.sqrt(self.feature_size)

    def features(self, inputs: Tensor) -> Tensor:
        """Return the features (n, d) to project, of images (n, c, h, w) or vectors."""
        return self.frozen_features(inputs).to(self._device)

    @property
    def ridge(self) -> float:
        """The penalty of the regression."""
        ridge: float = self.config.ridge
        return ridge * self.mean_diagonal if self.config.relative else ridge

    @property
    def mean_diagonal(self) -> float:
        """The mean diagonal of the Gram matrix, the scale of penalties."""
        return float(self.gram.trace()) / len(self.gram)

    def learn(self, task: Task) -> None:
        """Add the task's images to the regression."""
        self.add(self.features(task.inputs), self.targets(task))
        self.seen = task.seen

    def add(self, features: Tensor, targets: Tensor) -> None:
        """Add a task's features (n, d) with one-hot targets (n, new classes) to the statistics."""
        sums = torch.zeros(targets.shape[1], len(self.gram), dtype=torch.float64).to(self._device)
        for part, hits in zip(features.split(_AT_ONCE), targets.split(_AT_ONCE), strict=True):
            projected = self.project(part)
            self.gram = self.gram + projected.T @ projected
            sums = sums + hits.T @ projected
        self.gram = self.gram.tril() + self.gram.tril(-1).T
        self.class_sums = torch.cat([self.class_sums, sums])

    def targets(self, task: Task) -> Tensor:
        """Return one-hot rows (n, new classes) for the images of a task."""
        labels = task.alone().labels.to(self._device)
        return functional.one_hot(labels, len(task.classes)).double()

    def project(self, features: Tensor) -> Tensor:
        """Return random features (n, M) of features (n, d), in double precision."""
        return functional.relu(features @ self.projection).double()

    def weights(self) -> Tensor:
        """Fit a ridge regression (M, classes) from projected features to classes, on all tasks."""
        penalised = self.gram.clone()
        penalised.diagonal().add_(self.ridge)
        root = torch.linalg.cholesky(penalised)
        solution: Tensor = torch.cholesky_solve(self.class_sums.T, root)
        return solution

    def classify(self, inputs: Tensor) -> dict[str, Tensor]:
        """Return the class with the largest regression value."""
        weights = self.weights()
        parts = self.features(inputs).split(_AT_ONCE)
        return {"head": torch.cat([(self.project(part) @ weights).argmax(dim=1) for part in parts])}

    def state(self) -> dict[str, Any]:
        """Return the statistics."""
        gram = pack_triangle(self.gram.cpu())
        return {**super().state(), "gram": gram, "class_sums": self.class_sums.cpu()}

    def restore(self, state: dict[str, Any]) -> None:
        """Load a state from :meth:`state`."""
        super().restore(state)
        gram = unpack_triangle(state["gram"], self.projection.shape[1], symmetric=True)
        self.gram, self.class_sums = gram.to(self._device), state["class_sums"].to(self._device)
