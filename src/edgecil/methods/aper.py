"""APER: class means of a frozen model's features beside those adapted to the first task.

Zhou et al. (IJCV 2024), "Revisiting Class-Incremental Learning with Pre-Trained Models:
Generalizability and Adaptivity are All You Need", with adapters. The features of both models are
concatenated; after the first task nothing is trained.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from edgecil.hints import Count
from edgecil.methods.adapters import adapt, blank_adapters
from edgecil.methods.entry import register_method
from edgecil.methods.method import Environment
from edgecil.methods.settings import Schedule, Settings
from edgecil.methods.setups import PUBLISHED
from edgecil.methods.simplecil import SimpleCIL
from edgecil.methods.task import Task


@dataclass(frozen=True)
class APERConfig(Settings):
    """Hyper-parameters of APER with adapters; the defaults are PILOT's."""

    schedule: Schedule = PUBLISHED["aper"]["cifar100"].schedule  # for the first task
    bottleneck: Count = 64  # width of the adapters


@register_method("aper", APERConfig, "class means of frozen and first-task features (2024)")
class APER(SimpleCIL):
    """Prototypes of concatenated features."""

    config: APERConfig
    kept = (*SimpleCIL.kept, "adapters")
    need = "sockets"
    order_free = False  # the first task adapts the features
    trains = True

    def __init__(self, config: APERConfig, environment: Environment) -> None:
        super().__init__(config, environment)
        self.adapters = blank_adapters(self.vit, config.bottleneck)

    def learn(self, task: Task) -> None:
        """Train adapters on the first task; then add the means of the task's classes."""
        if not task.old_count:
            self.adapters = adapt(
                self.vit, self.config.bottleneck, task, self.schedule, self.environment
            )
        super().learn(task)

    def features(self, inputs: Tensor) -> Tensor:
        """Return features (n, 2 d) of both models for uint8 images (n, c, h, w)."""
        adapted = self.adapted_features(inputs, self.adapters)
        return torch.cat([self.frozen_features(inputs), adapted], dim=1)
