"""LUCIR: a cosine classifier, features that keep their direction, and a margin for old classes.

Hou et al. (CVPR 2019), "Learning a Unified Classifier Incrementally via Rebalancing". Weights of
old classes are fixed; new ones begin as the mean directions of their class's features.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, cross_entropy, linear, normalize

from edgecil.backbones import Backbone
from edgecil.backbones.heads import CosineHead
from edgecil.hints import Count
from edgecil.methods.entry import register_method
from edgecil.methods.network import Network, ReplayConfig, TeacherMethod
from edgecil.methods.task import Task


@dataclass(frozen=True)
class LUCIRConfig(ReplayConfig):
    """Hyper-parameters of LUCIR; the defaults are the authors' for CIFAR-100."""

    strength: float = 5.0  # weight of old features' directions, times √(old classes / new classes)
    ranking: float = 1.0  # weight of the margin between an exemplar's class and new classes
    margin: float = 0.5  # least difference of the two cosines
    rivals: Count = 2  # number of new classes, the most similar ones, that the margin applies to


@register_method("lucir", LUCIRConfig, "cosine classifier, fixed directions, margins (2019)")
class LUCIR(TeacherMethod):
    """Replay with a cosine head and the two losses."""

    config: LUCIRConfig
    classifiers = ("head", "nme")

    def assemble(self, backbone: Backbone) -> Network:
        """Return a network with a cosine head."""
        return Network(backbone, CosineHead(backbone.feature_size))

    def grow(self, task: Task) -> None:
        """Add outputs; from the second task on, they begin as mean directions of features."""
        super().grow(task)
        if not task.old_count:
            return
        directions = normalize(self.features(task.inputs), dim=1)
        labels, weight = task.alone().labels, self.network.head.weight.detach()
        length = weight[: task.old_count].norm(dim=1).mean()
        for label in range(len(task.classes)):
            mean = directions[labels == label].mean(dim=0)
            weight[task.old_count + label] = length * normalize(mean, dim=0)

    def loss(self, images: Tensor, labels: Tensor, task: Task) -> Tensor:
        """Cross-entropy of scaled cosines, kept directions, and margins of exemplars."""
        features, head = self.network.backbone(images), self.network.head
        old = task.old_count
        weight = torch.cat([head.weight[:old].detach(), head.weight[old:]])
        cosines = linear(normalize(features, dim=1), normalize(weight, dim=1))
        value = cross_entropy(head.scale * cosines, labels)
        if self.teacher is None:
            return value
        with torch.no_grad():
            before = self.teacher.backbone(images)
        moved = (1.0 - cosine_similarity(features, before, dim=1)).mean()
        strength = self.config.strength * sqrt(old / len(task.classes))
        margins = margin_loss(cosines, labels, old, self.config.rivals, self.config.margin)
        return value + strength * moved + self.config.ranking * margins

    def end(self, task: Task) -> None:
        """Release the teacher, and undo the weight decay of fixed weights."""
        if self.teacher is not None:
            before = self.teacher.head.weight
            with torch.no_grad():
                self.network.head.weight[: task.old_count] = before
        super().end(task)


def margin_loss(cosines: Tensor, labels: Tensor, old: int, rivals: int, margin: float) -> Tensor:
    """Return how far images of old classes miss a margin over their most similar new classes.

    The mean over images of the `old` classes, given cosines (n, classes); 0 without such images.
    """
    true_class = cosines.gather(1, labels[:, None])
    rival_classes = cosines[:, old:].topk(min(rivals, cosines.shape[1] - old), dim=1).values
    misses = (margin - true_class + rival_classes).clamp(min=0.0).mean(dim=1)
    hard = labels < old
    return (misses * hard).sum() / hard.sum().clamp(min=1)
