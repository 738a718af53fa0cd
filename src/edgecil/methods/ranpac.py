"""RanPAC: adapt to the first task, then regress on random projections of frozen features.

McDonnell et al. (NeurIPS 2023), "RanPAC: Random Projections and Pre-trained Models for Continual
Learning". After the first task nothing is trained: a Gram matrix and one sum per class
summarise all tasks so far. They do not depend on the order of tasks, and neither does the penalty,
except with the published rule (`ridge = "last-task"`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional

from edgecil.hints import Count, Whole
from edgecil.methods.acil import ACIL
from edgecil.methods.adapters import adapt, blank_adapters
from edgecil.methods.entry import register_method
from edgecil.methods.method import Environment, Need
from edgecil.methods.settings import Schedule, Settings
from edgecil.methods.setups import PUBLISHED
from edgecil.methods.task import Task, derive_generator

_ROUNDING = 1e3 * 2.0**-52  # a thousand rounding errors
_EQUAL = 1e-6  # errors with a smaller relative difference count as equal
# Least ridge as a share of the Gram matrix's mean diagonal. Leaving one out of the few images of a
# task says little about all tasks together, and with about as many images as random features the
# regression needs a penalty.
_LEAST = 0.1


@dataclass(frozen=True)
class RanPACConfig(Settings):
    """Hyper-parameters of RanPAC."""

    schedule: Schedule = PUBLISHED["ranpac"]["cifar100"].schedule  # for the first task
    bottleneck: Whole = 64  # width of the adapters; 0 for none, so that any features will do
    projection: Count = 10_000  # number M of random features; the Gram matrix holds M² numbers
    # How the penalty is chosen: by the leave-one-out error within each task, summed over all tasks,
    # so that the order of tasks has no effect; or by the error on a random fifth of the last task's
    # images, as published.
    ridge: Literal["leave-one-out", "last-task"] = "leave-one-out"
    cosine: bool = False  # whether the regression's weights have unit length, as in PILOT


@register_method(
    "ranpac",
    RanPACConfig,
    "ridge regression on random projections of adapted features (2023)",
    fast_settings={"projection": 1000},
    published_settings={"ridge": "last-task"},
)
class RanPAC(ACIL):
    """Ridge regression on projected features of adapters, with a penalty chosen from the data."""

    config: RanPACConfig
    kept = ("adapters",)
    alternative = "the setting 'bottleneck' 0, which leaves the adapters out"

    @classmethod
    def needs(cls, config: RanPACConfig) -> Need:
        """Without adapters, any features will do."""
        return "sockets" if config.bottleneck else "features"

    def __init__(self, config: RanPACConfig, environment: Environment) -> None:
        super().__init__(config, environment)
        self.adapters: torch.nn.ModuleList | None = None
        self.trains = bool(config.bottleneck)
        if config.bottleneck:
            self.adapters = blank_adapters(self.vit, config.bottleneck)
        # squared error on held-out images by ridge: summed over the tasks, or of the last task
        self.errors = torch.zeros(len(RIDGES), dtype=torch.float64)

    def draw_projection(self, size: int) -> Tensor:
        """Return normal weights (d, M)."""
        generator = derive_generator("cpu", self.environment.seed, "random projection")
        return torch.randn(self.feature_size, size, generator=generator)

    def learn(self, task: Task) -> None:
        """Train adapters on the first task; then update the statistics of projected features."""
        if self.adapters is not None and not task.old_count:
            self.adapters = adapt(
                self.vit, self.config.bottleneck, task, self.schedule, self.environment
            )
        features, targets = self.features(task.inputs), self.targets(task)
        self.add(features, targets)
        if self.config.ridge == "last-task":
            generator = derive_generator("cpu", task.seed, "ridge")
            order = torch.randperm(len(features), generator=generator).to(self._device)
            self.errors = last_task_errors(self.project(features[order]), targets[order])
        else:
            self.errors = self.errors + held_out_errors(self.project(features), targets).cpu()
        self.seen = task.seen

    def features(self, inputs: Tensor) -> Tensor:
        """Return adapted features (n, d) of images (n, c, h, w); without adapters, frozen ones."""
        if self.adapters is None:
            return self.frozen_features(inputs).to(self._device)
        return self.adapted_features(inputs, self.adapters).to(self._device)

    @property
    def ridge(self) -> float:
        """The penalty with the least error on held-out images; the largest among equal errors.

        The leave-one-out rule has a lower limit, the published one only what keeps the result
        independent of rounding errors, which depend on the order of summation.
        """
        equal = self.errors <= self.errors.min() * (1.0 + _EQUAL)
        best = RIDGES[int(equal.nonzero().max())]
        least = _LEAST if self.config.ridge == "leave-one-out" else _ROUNDING * len(self.gram)
        return max(best, least * self.mean_diagonal)

    def weights(self) -> Tensor:
        """Return the regression (M, classes); of unit length by class if `cosine` is set."""
        weights = super().weights()
        return functional.normalize(weights, dim=0) if self.config.cosine else weights

    def state(self) -> dict[str, Any]:
        """Return the adapters and the statistics."""
        return {**super().state(), "errors": self.errors}

    def restore(self, state: dict[str, Any]) -> None:
        """Load a state from :meth:`state`."""
        super().restore(state)
        self.errors = state["errors"]


RIDGES = tuple(10.0**exponent for exponent in range(-12, 13))

_LARGE = 10_000_000  # numbers above which an eigendecomposition replaces the slower SVD
_KEPT = 0.8  # share of a task's images that RanPAC's published rule fits on; it tests on the others


def last_task_errors(features: Tensor, targets: Tensor) -> Tensor:
    """Return the squared error on the last fifth of features (n, M) for each of `RIDGES`.

    One eigendecomposition of the smaller Gram matrix serves all ridges. Targets are (n, classes).
    """
    kept = int(_KEPT * len(features))
    (fitted, tested), (goals, expected) = (
        values.tensor_split([kept]) for values in (features, targets)
    )
    wide = kept <= features.shape[1]
    lengths, axes = torch.linalg.eigh(fitted @ fitted.T if wide else fitted.T @ fitted)
    goals = axes.T @ (goals if wide else fitted.T @ goals)
    tested = (tested @ fitted.T if wide else tested) @ axes
    errors = []
    for ridge in RIDGES:
        predicted = tested @ (goals / (lengths.clamp(min=0.0) + ridge)[:, None])
        errors.append((predicted - expected).square().sum())
    return torch.stack(errors).cpu()


def held_out_errors(features: Tensor, targets: Tensor) -> Tensor:
    """Leave-one-out squared error of regressing targets (n, classes) on features (n, M), by ridge.

    One singular value decomposition suffices: the leave-one-out residual of an image is its
    residual divided by one minus its leverage.
    """
    if len(features) <= features.shape[1] and features.numel() > _LARGE:
        squares, left = torch.linalg.eigh(features @ features.T)
        lengths = squares.clamp(min=0.0).sqrt()
    else:
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
        kept_shares = free + left.square() @ shrinkage  # one minus the leverage of each image
        errors.append((residuals / kept_shares[:, None]).square().sum())
    return torch.stack(errors)
