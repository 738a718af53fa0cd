"""MEMO: each task gets a new last stage of the backbone; all tasks share the earlier stages.

Zhou et al. (ICLR 2023), "A Model or 603 Exemplars: Towards Memory-Efficient Class-Incremental
Learning": shallow layers change little between tasks, so the memory that DER spends on copies
of them is better used for exemplars.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgecil.backbones import Backbone, ResNet
from edgecil.methods.der import DER, ExpandingBackbone, ExpandingConfig, ExpandingNetwork
from edgecil.methods.entry import register_method


@dataclass(frozen=True)
class MEMOConfig(ExpandingConfig):
    """Hyper-parameters of MEMO, beside the ones of every expanding method."""

    train_shared: bool = True  # whether the shared stages are trained after the first task


@register_method(
    "memo",
    MEMOConfig,
    "a shared stem and a new last stage per task (2023)",
    fast_settings={"balancing": 30},
)
class MEMO(DER):
    """Generalised blocks shared by all tasks, and one specialised block per task."""

    config: MEMOConfig
    need = "residual"

    def assemble(self, backbone: Backbone) -> ExpandingNetwork:
        """Return a network with a shared shallow part and last stages as extractors."""
        assert isinstance(backbone, ResNet)  # it needs the stages of one
        split = ExpandingBackbone(
            backbone.shallow,
            backbone.last_stage,
            backbone.feature_size,
            train_shared=self.config.train_shared,
        )
        return ExpandingNetwork(split)
