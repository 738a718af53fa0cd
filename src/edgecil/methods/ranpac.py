"""RanPAC: adapt to the first task, then regress on random projections of frozen features.

McDonnell et al. (NeurIPS 2023), "RanPAC: Random Projections and Pre-trained Models for Continual
Learning". After the first task nothing is trained: a Gram matrix and one sum per class
summarise all tasks so far, independent of their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from edgecil.errors import UsageError
from edgecil.methods.adapters import adapt, adapters_state, blank_adapters, load_adapters
from edgecil.methods.method import Environment
from edgecil.methods.pretrained import PretrainedMethod
from edgecil.methods.recipe import Recipe
from edgecil.methods.registry import register_method
from edgecil.methods.seeds import derive_generator
from edgecil.methods.task import Task

PUBLISHED = Recipe(epochs=20, learning_rate=0.01, schedule="cosine", batch_size=48)
RIDGES = tuple(10.0**exponent for exponent in range(-8, 9))

_EQUAL = 1e-6  # errors with a smaller relative difference count as equal
_LEAST = 1e3 * 2.0**-52  # least ridge as a share of the trace: a thousand rounding errors


@dataclass(frozen=True)
class RanPACConfig:
    """Hyper-parameters of RanPAC.

    Attributes:
        recipe: training recipe of the adaptation to the first task.
        bottleneck: width of the adapters.
        projection: number M of random features; the Gram matrix holds M² numbers.
    """

    recipe: Recipe = PUBLISHED
    bottleneck: int = 64
    projection: int = 10_000

    def __post_init__(self) -> None:
        if self.bottleneck < 1 or self.projection < 1:
            raise UsageError(
                "RanPAC requires bottleneck >= 1 and projection >= 1. Got "
                f"{self.bottleneck} and {self.projection}."
            )


@register_method(
    "ranpac",
    RanPACConfig,
    "ridge regression on random projections of adapted features (2023)",
    fast=Recipe(
        epochs=1,
        learning_rate=0.01,
        schedule="cosine",
        optimizer="adam",
        weight_decay=0.0,
        batch_size=24,
        augment=(),
    ),
    fast_settings={"projection": 500},
)
class RanPAC(PretrainedMethod):
    """Ridge regression from additive statistics of projected features, in double precision.

    Attributes:
        adapters: adapters trained on the first task.
        projection: random projection (d, M); it depends on the run's seed only.
        gram: sum of outer products of all projected features, (M, M).
        class_sums: sums of projected features by class, (classes seen, M).
        errors: squared error on held-out images for each ridge, summed over the tasks.
    """

    def __init__(self, config: RanPACConfig, environment: Environment) -> None:
        super().__init__(config.recipe, environment)
        self.config = config
        self.adapters = blank_adapters(self.vit, config.bottleneck)
        size = config.projection
        generator = derive_generator("cpu", environment.seed, "random projection")
        self.projection = torch.randn(self.vit.feature_size, size, generator=generator)
        self.gram = torch.zeros(size, size, dtype=torch.float64)
        self.class_sums = torch.zeros(0, size, dtype=torch.float64)
        self.errors = torch.zeros(len(RIDGES), dtype=torch.float64)

    def learn(self, task: Task) -> None:
        """Train adapters on the first task; then update the statistics of projected features."""
        if not task.old_count:
            self.adapters = adapt(
                self.vit, self.config.bottleneck, task, self.recipe, self.environment
            )
        alone = task.alone()
        projected = self.project(alone.pixels)
        targets = functional.one_hot(alone.labels.cpu(), len(task.classes)).double()
        self.gram = self.gram + projected.T @ projected
        self.class_sums = torch.cat([self.class_sums, targets.T @ projected])
        self.errors = self.errors + held_out_errors(projected, targets)
        self.seen = task.seen

    def project(self, pixels: torch.Tensor) -> torch.Tensor:
        """Random features (n, M) of images (n, c, h, w), on the CPU."""
        features = self.adapted_features(pixels, self.adapters).cpu()
        return functional.relu(features @ self.projection).double()

    @property
    def ridge(self) -> float:
        """The penalty with the least error on held-out images; the largest among equal errors.

        A lower limit keeps the result independent of rounding errors, which depend on the order of
        summation.
        """
        equal = self.errors <= self.errors.min() * (1.0 + _EQUAL)
        best = RIDGES[int(equal.nonzero().max())]
        return max(best, _LEAST * float(self.gram.trace()))

    def weights(self) -> torch.Tensor:
        """The ridge regression (M, classes) from projected features to classes, on all tasks."""
        penalty = self.ridge * torch.eye(len(self.gram), dtype=torch.float64)
        return torch.linalg.solve(self.gram + penalty, self.class_sums.T)

    def classify(self, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        """The class with the largest regression value."""
        values = self.project(pixels) @ self.weights()
        return {"head": values.argmax(dim=1).to(pixels.device)}

    def state(self) -> dict[str, Any]:
        """The adapters and the statistics."""
        return {
            **super().state(),
            "adapters": adapters_state(self.adapters),
            "gram": self.gram,
            "class_sums": self.class_sums,
            "errors": self.errors,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Load a state from :meth:`state`."""
        super().restore(state)
        self.adapters = load_adapters(self.vit, self.config.bottleneck, state["adapters"])
        self.gram, self.class_sums = state["gram"], state["class_sums"]
        self.errors = state["errors"]


def held_out_errors(features: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Leave-one-out squared error of ridge regression for each of `RIDGES`.

    One singular value decomposition suffices: the leave-one-out residual of an image is its
    residual divided by one minus its leverage.

    Args:
        features: (n, M).
        targets: one-hot, (n, classes).
    """
    left, lengths, _ = torch.linalg.svd(features, full_matrices=False)
    slopes = left.T @ targets
    beyond = targets - left @ slopes
    free = (1.0 - left.square().sum(dim=1)).clamp(min=0.0)
    if len(features) <= features.shape[1]:  # the targets are reached exactly; the rest is rounding
        beyond, free = torch.zeros_like(beyond), torch.zeros_like(free)
    errors = []
    for ridge in RIDGES:
        shrinkage = ridge / (lengths**2 + ridge)
        residuals = beyond + (left * shrinkage) @ slopes
        others = free + left.square() @ shrinkage
        errors.append((residuals / others[:, None]).square().sum())
    return torch.stack(errors)
