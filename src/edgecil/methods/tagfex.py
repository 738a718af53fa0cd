"""TagFex: a task-agnostic extractor guides the extractors of an expanding network.

Zheng et al. (CVPR 2025), "Task-Agnostic Guided Feature Expansion for Class-Incremental Learning".
Beside the expansion of DER, one extractor is trained on two views of every image without labels.
Attention merges its features with the newest extractor's, and the merged features' predictions of
new classes are distilled into the newest extractor.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from math import sqrt

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize, scaled_dot_product_attention

from edgecil.backbones import Backbone, GrowingLinear
from edgecil.errors import UsageError
from edgecil.methods.der import DER, ExpandingBackbone, ExpandingConfig, ExpandingNetwork
from edgecil.methods.entry import register_method
from edgecil.methods.method import Environment
from edgecil.methods.network import distil
from edgecil.methods.task import Task, derive_generator


@dataclass(frozen=True)
class TagFexConfig(ExpandingConfig):
    """Hyper-parameters of TagFex, beside the ones of every expanding method."""

    auxiliary: float = 2.0
    duration: float = 1.0  # share of the schedule's epochs; an epoch has two views per image
    contrast: float = 1.0  # weight of the task-agnostic extractor's loss
    contrast_distillation: float = 2.0  # weight of the distillation within that loss
    contrast_temperature: float = 0.2  # of the cosines between views
    transfer: float = 1.0  # weight of the distillation of merged features' logits
    transfer_temperature: float = 2.0  # of that distillation
    attention_heads: int = 8  # of the merging attention
    projector: tuple[int, int] = (4, 2)  # hidden and output size, in multiples of the feature size
    # share of the last extractor in the initial weights of a new one; the rest comes from the
    # task-agnostic extractor
    inherited: float = 0.95


class MergeAttention(nn.Module):  # type: ignore[misc]
    """Attention with queries from the newest extractor and keys and values from both."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        if size % heads:
            raise UsageError(
                f"The number of attention heads must divide the feature size {size}. Got {heads}."
            )
        self.heads = heads
        self.agnostic_norm = nn.LayerNorm(size)
        self.newest_norm = nn.LayerNorm(size)
        self.weights = nn.Parameter(torch.zeros(5, size, size))

    def reset(self, generator: torch.Generator) -> None:
        """Reinitialise, with weights of variance 1 / size from a CPU generator."""
        self.agnostic_norm.reset_parameters()
        self.newest_norm.reset_parameters()
        drawn = torch.randn(self.weights.shape, generator=generator) / sqrt(self.weights.shape[-1])
        with torch.no_grad():
            self.weights.copy_(drawn)

    def forward(self, agnostic: Tensor, newest: Tensor) -> Tensor:
        """Return merged features (n, d) of two extractors' maps (n, d, h, w)."""
        agnostic = self.agnostic_norm(agnostic.flatten(2).transpose(1, 2))
        newest = self.newest_norm(newest.flatten(2).transpose(1, 2))
        query, agnostic_key, newest_key, agnostic_value, newest_value = self.weights
        merged = scaled_dot_product_attention(
            self._split(newest @ query),
            self._split(torch.cat([agnostic @ agnostic_key, newest @ newest_key], dim=1)),
            self._split(torch.cat([agnostic @ agnostic_value, newest @ newest_value], dim=1)),
        )
        return merged.transpose(1, 2).flatten(2).mean(dim=1)

    def _split(self, tokens: Tensor) -> Tensor:
        """Return tokens (n, positions, d) by attention head: (n, heads, positions, d / heads)."""
        return tokens.unflatten(2, (self.heads, -1)).transpose(1, 2)


class TagFexNetwork(ExpandingNetwork):
    """The expanding network with a task-agnostic extractor and its heads.

    The projector gives the input of the contrastive loss, the predictor the agnostic features
    before the task; attention and transfer (a head on merged features) are new in every task.
    """

    def __init__(
        self, backbone: Backbone, agnostic: Backbone, config: TagFexConfig, seed: int
    ) -> None:
        super().__init__(ExpandingBackbone.whole(backbone))
        size = backbone.feature_size
        hidden, last = (size * multiple for multiple in config.projector)
        generator = derive_generator("cpu", seed, "projector")
        self.inherited = config.inherited
        self.agnostic = agnostic
        self.projector = nn.Sequential(
            GrowingLinear.of(size, hidden, generator),
            nn.ReLU(inplace=True),
            GrowingLinear.of(hidden, last, generator),
        )
        self.predictor = GrowingLinear.of(size, size, generator)
        self.attention = MergeAttention(size, config.attention_heads)
        self.transfer = GrowingLinear(size)

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Add outputs and an extractor that interpolates the last and the task-agnostic one."""
        old_count = self.head.classes
        super().grow(classes, generator)
        if not old_count:
            return
        size, device = self.backbone.extractor_size, self.head.weight.device
        with torch.no_grad():
            self.head.weight[:old_count, -size:] = 0.0
            both = self.backbone.newest.parameters(), self.agnostic.parameters()
            for new, agnostic in zip(*both, strict=True):
                new.lerp_(agnostic, 1.0 - self.inherited)
        self.attention.reset(generator)
        self.transfer = GrowingLinear.of(size, classes, generator).to(device)


@register_method(
    "tagfex",
    TagFexConfig,
    "expansion guided by task-agnostic features (2025)",
    fast_settings={"duration": 0.5, "balancing": 30},
)
class TagFex(DER):
    """An expanding network guided by a self-supervised extractor."""

    views = 2
    need = "residual"
    config: TagFexConfig
    network: TagFexNetwork
    old: nn.ModuleList

    def __init__(self, config: TagFexConfig, environment: Environment) -> None:
        super().__init__(config, environment)
        self.schedule = config.schedule.lasting(config.duration)

    def assemble(self, backbone: Backbone) -> TagFexNetwork:
        """Whole backbones as extractors, and a task-agnostic one."""
        agnostic = self.fresh_backbone("agnostic")
        return TagFexNetwork(backbone, agnostic, self.config, self.environment.seed)

    def begin(self, task: Task) -> None:
        """Keep frozen copies of the task-agnostic extractor and its projector."""
        if task.old_count:
            parts = nn.ModuleList([self.network.agnostic, self.network.projector])
            self.old = copy.deepcopy(parts).eval().requires_grad_(False)

    def loss(self, images: Tensor, labels: Tensor, task: Task) -> Tensor:
        """Return the loss of DER plus the contrastive loss and the transfer."""
        backbone, config = self.network.backbone, self.config
        agnostic, newest = self.network.agnostic.maps(images), backbone.newest.maps(images)
        past = [extractor(images) for extractor in backbone.extractors[:-1]]
        features = torch.cat([*past, newest.mean(dim=(2, 3))], dim=1)
        value, auxiliary = self.network.losses(features, labels, task.old_count)
        contrast = self.contrast(agnostic.mean(dim=(2, 3)), images, task)
        total = value + config.auxiliary * auxiliary + config.contrast * contrast
        new = labels >= task.old_count
        if not task.old_count or not new.any():
            return total
        merged = self.network.transfer(self.network.attention(agnostic.detach(), newest)[new])
        merged_value = cross_entropy(merged, labels[new] - task.old_count)
        total = total + merged_value
        if merged_value < value:
            logits = self.network.head(features[new])[:, task.old_count :]
            transfer = distil(logits, merged.detach(), config.transfer_temperature)
            total = total + config.transfer * transfer
        return total

    def contrast(self, agnostic: Tensor, images: Tensor, task: Task) -> Tensor:
        """Return the contrastive loss of features (n, d), with distillation of the old ones."""
        temperature = self.config.contrast_temperature
        embedded = self.network.projector(agnostic)
        value = info_nce(embedded, embedded, temperature)
        if not task.old_count:
            return value
        old_agnostic, old_projector = self.old
        with torch.no_grad():
            before = old_projector(old_agnostic(images))
        predicted = old_projector(self.network.predictor(agnostic))
        kept = info_nce(predicted, before, temperature)
        share = task.old_count / len(task.seen)
        return (1.0 - share) * value + share * self.config.contrast_distillation * kept

    def end(self, task: Task) -> None:
        """Release the frozen copies."""
        if task.old_count:
            del self.old


def info_nce(anchors: Tensor, candidates: Tensor, temperature: float) -> Tensor:
    """InfoNCE (van den Oord et al. 2018) of two views of each image, with cosine similarities.

    Both inputs are (n, d): all images in one view, then all in the other. The candidates are the
    anchors themselves or come from another network. A view is not a candidate for itself.
    """
    cosines = normalize(anchors, dim=1) @ normalize(candidates, dim=1).T
    itself = torch.eye(len(cosines), dtype=torch.bool, device=cosines.device)
    other_view = torch.arange(len(cosines), device=cosines.device).roll(len(cosines) // 2)
    return cross_entropy((cosines / temperature).masked_fill(itself, -torch.inf), other_view)
