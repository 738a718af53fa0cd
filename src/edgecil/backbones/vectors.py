"""Networks on vectors: the vectors themselves, and a perceptron."""

from __future__ import annotations

import torch
from torch import nn

from edgecil.backbones.resnet import Backbone

_WIDTH = 256


class InputScale(nn.Module):  # type: ignore[misc]
    """Divides vectors by one number, which is 1 until it is fitted.

    Learning rates and initial weights suit values of about 1, while features of pre-trained
    networks are hundreds of times larger or smaller. The number is part of the network's state.
    """

    divisor: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("divisor", torch.ones(()))

    def fit(self, vectors: torch.Tensor) -> None:
        """Set the number to the root mean square of vectors (n, d)."""
        size = vectors.double().square().mean().sqrt()
        if size > 0.0:
            self.divisor.copy_(size)

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return scaled vectors (n, d)."""
        return vectors / self.divisor

    def reset_parameters(self) -> None:
        """Set the number to 1."""
        nn.init.ones_(self.divisor)


class Linear(Backbone):
    """The vectors themselves as features: a learner trains a linear head alone."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        (self.feature_size,) = shape
        self.scale = InputScale()

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return the scaled vectors (n, d)."""
        features: torch.Tensor = self.scale(vectors)
        return features


class MLP(Backbone):
    """Two hidden layers of 256 units, each with a layer norm."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        (width,) = shape
        self.feature_size = _WIDTH
        self.scale = InputScale()
        self.layers = nn.Sequential(
            nn.Linear(width, _WIDTH),
            nn.LayerNorm(_WIDTH),
            nn.ReLU(),
            nn.Linear(_WIDTH, _WIDTH),
            nn.LayerNorm(_WIDTH),
            nn.ReLU(),
        )

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return features (n, 256) of vectors (n, d)."""
        features: torch.Tensor = self.layers(self.scale(vectors))
        return features


def fit_input_scale(network: nn.Module, vectors: torch.Tensor) -> None:
    """Fit the scale of a network's input to vectors (n, d), if the network has one."""
    for module in network.modules():
        if isinstance(module, (Linear, MLP)):
            module.scale.fit(vectors)
