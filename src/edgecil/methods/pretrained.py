"""Base class of learners on a frozen pre-trained vision transformer."""

from __future__ import annotations

from pathlib import Path

import torch

from edgecil.backbones.features import (
    content_name,
    feature_bank,
    frozen_features,
    network_name,
)
from edgecil.backbones.pretrained import frozen_vit
from edgecil.backbones.vit import Sockets
from edgecil.methods.method import Environment, Method, suited_to
from edgecil.methods.recipe import Recipe


class PretrainedMethod(Method):
    """Holds a frozen vision transformer, which all methods in a process share.

    Attributes:
        recipe: training recipe of prompts, adapters and heads.
        vit: the transformer in evaluation mode, without gradients; not part of the state.
        network: name of the transformer, derived from its content.
    """

    def __init__(self, recipe: Recipe, environment: Environment) -> None:
        super().__init__(suited_to(environment.pretrained, environment))
        self.recipe = recipe
        self.vit = frozen_vit(environment.pretrained, environment.shape, environment.device)
        self._prepare = self.environment.pipeline()
        self.network = network_name(
            environment.pretrained, self._prepare, environment.device, amp=environment.amp
        )

    def frozen_features(self, pixels: torch.Tensor) -> torch.Tensor:
        """Return features (n, d) of the unmodified transformer; prompt methods use them as queries.

        Args:
            pixels: uint8 (n, c, h, w).
        """
        keep = self.environment.shared is not None
        return frozen_features(
            self.environment.pretrained,
            pixels,
            self.environment.device,
            keep=keep,
            prepare=self._prepare,
            amp=self.environment.amp,
        )

    def adapted_features(
        self, pixels: torch.Tensor, adapters: torch.nn.ModuleList, *, share: bool = True
    ) -> torch.Tensor:
        """Return features (n, d) of the transformer with fixed adapters.

        Args:
            pixels: uint8 (n, c, h, w).
            adapters: one per block; rows are cached by the adapters' content.
            share: whether to cache rows on disk, which pays if several sequences have the same
                adapters.
        """
        shared = self.environment.shared if share else None
        directory = None if shared is None else Path(shared) / "features"
        bank = feature_bank(directory, content_name(self.network, adapters.state_dict()))
        sockets = Sockets(adapters=adapters)

        def compute(part: torch.Tensor) -> torch.Tensor:
            with self.environment.autocast():
                return self.vit(self._prepare.plain(part), sockets).float()

        return bank.rows(pixels, compute, self.environment.device)
