"""Networks on vectors: features that another model has computed, or inputs of any modality."""

from __future__ import annotations

import torch
from torch import nn

from edgecil.backbones.resnet import Backbone

_WIDTH = 256


class Linear(Backbone):
    """The vectors themselves as features: a learner trains a linear head alone."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        (self.feature_size,) = shape

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return the vectors (n, d)."""
        return vectors


class MLP(Backbone):
    """Two hidden layers of 256 units and layer norms, which make the vectors' scale irrelevant."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        (width,) = shape
        self.feature_size = _WIDTH
        self.layers = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, _WIDTH),
            nn.LayerNorm(_WIDTH),
            nn.ReLU(),
            nn.Linear(_WIDTH, _WIDTH),
            nn.LayerNorm(_WIDTH),
            nn.ReLU(),
        )

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return features (n, 256) of vectors (n, d)."""
        features: torch.Tensor = self.layers(vectors)
        return features
