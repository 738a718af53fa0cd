"""Learners on a frozen pre-trained vision transformer: what they share."""

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
from edgecil.methods.method import Method, Setting, suited_to
from edgecil.methods.recipe import Recipe
from edgecil.scenario.augment import Pipeline


class PretrainedMethod(Method):
    """Has a frozen vision transformer, one for all methods, and plugs into it.

    Attributes:
        recipe: how what is plugged in is trained.
        vit: in evaluation mode, without gradients; never part of the state.
        network: a name for the transformer, by content.
    """

    def __init__(self, recipe: Recipe, setting: Setting) -> None:
        super().__init__(suited_to(setting.pretrained, setting))
        self.recipe = recipe
        self.vit = frozen_vit(setting.pretrained, setting.shape, setting.device)
        self._prepare = Pipeline((), self.setting.mean, self.setting.std)
        self.network = network_name(setting.pretrained, setting.shape, setting.device)

    def frozen_features(self, pixels: torch.Tensor) -> torch.Tensor:
        """Features (n, d) of the untouched transformer: also the queries of prompt methods.

        Args:
            pixels: uint8 (n, c, h, w).
        """
        keep = self.setting.shared is not None
        return frozen_features(self.setting.pretrained, pixels, self.setting.device, keep=keep)

    def adapted_features(
        self, pixels: torch.Tensor, adapters: torch.nn.ModuleList, *, share: bool = True
    ) -> torch.Tensor:
        """Features (n, d) with adapters plugged in that no longer change.

        Args:
            pixels: uint8 (n, c, h, w).
            adapters: one per block; rows are kept by their content.
            share: whether enough sequences have these adapters for their rows to be worth a file.
        """
        shared = self.setting.shared if share else None
        directory = None if shared is None else Path(shared) / "features"
        bank = feature_bank(directory, content_name(self.network, adapters.state_dict()))
        sockets = Sockets(adapters=adapters)
        return bank.rows(pixels, lambda part: self.vit(self._prepare.plain(part), sockets))
