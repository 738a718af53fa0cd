"""ACIL: recursive least squares on random projections of frozen features.

Zhuang et al. (NeurIPS 2022), "ACIL: Analytic Class-Incremental Learning with Absolute Memorization
and Privacy Protection". The recursion gives the ridge regression on the images of all tasks, which
is solved here directly, so the order of classes has no effect. The authors train the backbone on
the first half of the classes; here it is frozen from the start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from edgecil.methods.entry import register_method
from edgecil.methods.random_regression import RandomRegression
from edgecil.methods.settings import Count, Positive, Settings
from edgecil.methods.task import Task, derive_generator


@dataclass(frozen=True)
class ACILConfig(Settings):
    """Hyper-parameters of ACIL; the defaults are the authors' for CIFAR-100."""

    projection: Count = 8192  # random features, the authors' buffer size; the square is stored
    ridge: Positive = 0.1  # γ, the penalty


@register_method(
    "acil",
    ACILConfig,
    "recursive least squares on random features, nothing trained (2022)",
    fast_settings={"projection": 500, "ridge": 100.0},  # few images: a larger penalty
)
class ACIL(RandomRegression):
    """Ridge regression with a fixed penalty on projected frozen features."""

    config: ACILConfig
    need = "features"

    def draw_projection(self, size: int) -> torch.Tensor:
        """Return weights (d, M) as of a linear layer: uniform in ± 1 / √d."""
        generator = derive_generator("cpu", self.environment.seed, "random projection")
        width = self.feature_size
        drawn = torch.empty(width, size).uniform_(-1.0, 1.0, generator=generator)
        return drawn / math.sqrt(width)

    def features(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return frozen features (n, d)."""
        return self.frozen_features(inputs).to(self._device)

    @property
    def ridge(self) -> float:
        """The penalty γ."""
        return self.config.ridge

    def learn(self, task: Task) -> None:
        """Add the task's images to the regression."""
        self.add(self.features(task.inputs), self.targets(task))
        self.seen = task.seen
