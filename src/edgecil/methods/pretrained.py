"""Learners on a frozen pre-trained vision transformer: what they share."""

from __future__ import annotations

from pathlib import Path

import torch

from edgecil.backbones.features import content_name, feature_bank
from edgecil.backbones.pretrained import fingerprint, frozen_vit
from edgecil.backbones.vit import Sockets
from edgecil.methods.method import Method, Setting, suited_to
from edgecil.methods.recipe import Recipe
from edgecil.scenario.augment import Pipeline
from edgecil.storage import cache_directory


class PretrainedMethod(Method):
    """Has a frozen vision transformer, one for all methods, and plugs into it.

    Attributes:
        recipe: how what is plugged in is trained.
        vit: in evaluation mode, without gradients; never part of the state.
    """

    def __init__(self, recipe: Recipe, setting: Setting) -> None:
        super().__init__(suited_to(setting.pretrained, setting))
        self.recipe = recipe
        self.vit = frozen_vit(setting.pretrained, setting.shape, setting.device)
        self._prepare = Pipeline((), self.setting.mean, self.setting.std)
        self._network = content_name(
            fingerprint(setting.pretrained),
            setting.shape,
            self.setting.mean,
            self.setting.std,
            setting.device,
            # sums depend on these, in their last bits
            torch.__version__,
            torch.get_num_threads(),
            torch.backends.cpu.get_cpu_capability(),
        )

    def frozen_features(self, pixels: torch.Tensor) -> torch.Tensor:
        """Features (n, d) of the untouched transformer: also the queries of prompt methods.

        Args:
            pixels: uint8 (n, c, h, w).
        """
        shared = None if self.setting.shared is None else cache_directory() / "features"
        bank = feature_bank(shared, self._network)
        return bank.rows(pixels, lambda part: self.vit(self._prepare.plain(part)))

    def adapted_features(self, pixels: torch.Tensor, adapters: torch.nn.ModuleList) -> torch.Tensor:
        """Features (n, d) with adapters plugged in that no longer change.

        Args:
            pixels: uint8 (n, c, h, w).
            adapters: one per block; rows are kept by their content.
        """
        shared = None if self.setting.shared is None else Path(self.setting.shared) / "features"
        bank = feature_bank(shared, content_name(self._network, adapters.state_dict()))
        sockets = Sockets(adapters=adapters)
        return bank.rows(pixels, lambda part: self.vit(self._prepare.plain(part), sockets))
