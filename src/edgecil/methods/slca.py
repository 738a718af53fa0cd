"""SLCA: a slow learning rate for the pre-trained backbone, and a classifier aligned afterwards.

Zhang et al. (ICCV 2023), "SLCA: Slow Learner with Classifier Alignment for Continual Learning on a
Pre-trained Model". The whole network is trained, the backbone a hundred times slower than the head.
After each task a copy of the head is trained on features sampled from class statistics; it
predicts, and the next task continues from the head before.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from edgecil.backbones import Backbone, GrowingLinear
from edgecil.backbones.pretrained import is_pretrained
from edgecil.backbones.vectors import InputScale
from edgecil.hints import Positive
from edgecil.methods.class_statistics import ClassGaussians, align_classifier
from edgecil.methods.entry import register_method
from edgecil.methods.finetune import Finetune
from edgecil.methods.method import Environment
from edgecil.methods.network import Network, NetworkConfig, Parameters
from edgecil.methods.prompts import PromptHead
from edgecil.methods.settings import Schedule
from edgecil.methods.task import Task

ALIGNMENT = Schedule(epochs=3, learning_rate=0.01, schedule="cosine", batch_size=256, augment=())
_SHRINKAGE = 0.1  # of the oldest means: features have moved since they were stored


@dataclass(frozen=True)
class SLCAConfig(NetworkConfig):
    """Hyper-parameters of SLCA; the defaults are PILOT's. The schedule's rate is the head's."""

    # learning rate of the backbone relative to the head's; a backbone that is not pre-trained
    # learns its first task at the full rate
    slow: Positive = 0.01
    alignment: Schedule = ALIGNMENT  # one batch per class in an epoch
    # While the head is aligned, logits are divided by this and by their norm, the mean over the
    # tasks; None leaves them as they are.
    temperature: Positive | None = 0.1
    # Whether features are divided by the root mean square of those that the initial network gives
    # the first task, so that their scale does not matter.
    scaled: bool = True


@register_method(
    "slca",
    SLCAConfig,
    "slow backbone, head aligned by class statistics (2023)",
    published_settings={"scaled": False},
)
class SLCA(Finetune):
    """Fine-tunes slowly, and predicts with an aligned copy of the head."""

    config: SLCAConfig
    kept = (*Finetune.kept, "aligned", "gaussians", "sizes")
    only_for_predictions = ("aligned",)

    def __init__(self, config: SLCAConfig, environment: Environment) -> None:
        super().__init__(config, environment)
        self.aligned = copy.deepcopy(self.network.head)
        self.gaussians = ClassGaussians(self.network.head.feature_size, environment.device)
        self.sizes: list[int] = []  # number of classes by task

    def assemble(self, backbone: Backbone) -> Network:
        """Return a network whose new outputs begin small."""
        return Network(ScaledBackbone(backbone), PromptHead(backbone.feature_size))

    def begin(self, task: Task) -> None:
        """Keep the outputs of old classes."""
        self.before = [value.detach().clone() for value in self.network.head.parameters()]

    def grow(self, task: Task) -> None:
        """Fit the scale of features to the first task, and add outputs."""
        on_vectors = len(self.environment.shape) == 1
        has_features = on_vectors or is_pretrained(self.environment.backbone)
        if self.config.scaled and has_features and not task.old_count:
            self.network.eval()
            self.network.backbone.scale.fit(self.features(task.inputs))
        super().grow(task)

    def schedule_of(self, task: Task) -> Schedule:
        """Return the rates: slow for the backbone, fast for the head."""
        schedule, slow = self.schedule.at(task.index), self.config.slow
        if not task.old_count and not is_pretrained(self.environment.backbone):
            return schedule
        rate = slow * schedule.learning_rate
        return replace(schedule, learning_rate=rate, head_factor=1.0 / slow)

    def optimised(self, network: Network) -> tuple[Parameters, Parameters]:
        """Return the backbone's parameters, and the head's."""
        return network.backbone.parameters(), network.head.parameters()

    def end(self, task: Task) -> None:
        """Restore old outputs, store class statistics, and align a copy of the head."""
        with torch.no_grad():
            for value, before in zip(self.network.head.parameters(), self.before, strict=True):
                value[: task.old_count] = before  # weight decay has reduced them
        features, labels = self.features(task.inputs), task.alone().labels
        self.gaussians.add(*(features[labels == label] for label in range(len(task.classes))))
        self.sizes.append(len(task.classes))
        self.aligned = copy.deepcopy(self.network.head)
        if task.old_count:
            self.align(task)

    def align(self, task: Task) -> None:
        """Train the copy on sampled features; the means of older classes are shrunk more."""
        ages = torch.arange(1, len(self.sizes) + 1) / len(self.sizes)
        factors = (1.0 - _SHRINKAGE + _SHRINKAGE * ages).repeat_interleave(torch.tensor(self.sizes))
        statistics = copy.copy(self.gaussians)
        statistics.means = self.gaussians.means * factors.to(task.device)[:, None]
        classifier: nn.Module = self.aligned
        if self.config.temperature is not None:
            classifier = NormalisedLogits(self.aligned, self.sizes, self.config.temperature)
        schedule, batches = self.config.alignment, len(task.seen)
        align_classifier(classifier, statistics, schedule, task, batches=batches, stage="alignment")

    def largest_logit(self, features: Tensor) -> Tensor:
        """New labels (n,) with the largest logit of the aligned head for features (n, d)."""
        with torch.no_grad():
            return self.aligned(features).argmax(dim=1)


class ScaledBackbone(Backbone):
    """A backbone whose features are divided by one number."""

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.backbone = backbone
        self.feature_size = backbone.feature_size
        self.scale = InputScale()

    def forward(self, images: Tensor) -> Tensor:
        """Return scaled features (n, d) of normalised images (n, c, h, w)."""
        features: Tensor = self.scale(self.backbone(images))
        return features


class NormalisedLogits(nn.Module):  # type: ignore[misc]
    """Logits of a head, divided by the mean over tasks of their norms and by a temperature."""

    def __init__(self, head: GrowingLinear, sizes: list[int], temperature: float) -> None:
        super().__init__()
        self.head, self.sizes, self.temperature = head, sizes, temperature

    def forward(self, features: Tensor) -> Tensor:
        """Return scaled logits (n, classes) of features (n, d)."""
        logits = self.head(features)
        norms = torch.stack([part.norm(dim=1) + 1e-7 for part in logits.split(self.sizes, dim=1)])
        return logits / norms.mean(dim=0)[:, None] / self.temperature
