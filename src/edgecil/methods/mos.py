"""MOS: adapters merged with earlier ones, and retrieved for each image.

Sun et al. (AAAI 2025), "MOS: Model Surgery for Pre-Trained Model-Based Class-Incremental
Learning". Merging reduces forgetting in the parameters; refining the choice of adapters by the
learner's own predictions reduces mistakes in retrieving them.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, softmax

from edgecil.backbones import GrowingLinear
from edgecil.backbones.heads import SmallLinear
from edgecil.backbones.vit import Sockets
from edgecil.hints import Count, Positive, Share
from edgecil.methods.adapters import dropout, fresh_adapters, load_adapters, mean_features
from edgecil.methods.class_statistics import ClassGaussians, align_classifier, separation_loss
from edgecil.methods.entry import register_method
from edgecil.methods.frozen_features import PretrainedMethod
from edgecil.methods.method import Environment
from edgecil.methods.network import new_classes_only
from edgecil.methods.settings import Schedule, Settings
from edgecil.methods.setups import PUBLISHED
from edgecil.methods.task import Task, derive_generator
from edgecil.methods.training_loop import fit

ALIGNMENT = Schedule(epochs=30, learning_rate=0.005, schedule="cosine", batch_size=240, augment=())


@dataclass(frozen=True)
class MOSConfig(Settings):
    """Hyper-parameters of MOS."""

    schedule: Schedule = PUBLISHED["mos"]["cifar100"].schedule
    alignment: Schedule = ALIGNMENT  # one batch per class in an epoch
    bottleneck: Count = 16  # width of the adapters
    merging: Share = 0.1  # α, the share of the mean of all earlier adapters
    # When adapters are merged: once per training step, or whenever a block uses them, as in the
    # authors' code, which also merges when it computes class statistics and in testing; after a few
    # batches, the adapters in use are the mean of the earlier ones, which `use` computes with.
    merging_rule: Literal["step", "use"] = "step"
    contrast: float = 0.1  # weight of the contrastive regularisation
    temperature: Positive = 0.8  # of the contrastive regularisation
    refinements: Count = 4  # maximum number of times that an image's adapters are chosen
    # of the classes' Gaussians; `diagonal` keeps variances alone, as the authors do on ImageNet-A
    covariance: Literal["full", "diagonal"] = "full"
    # New weights of the head are uniform in ± √(1 / d), as the authors', in place of ± √(3 / d).
    small_head: bool = False


@register_method(
    "mos",
    MOSConfig,
    "merged adapters, retrieved for each image and corrected (2025)",
    published_settings={"merging_rule": "use", "small_head": True},
)
class MOS(PretrainedMethod):
    """Prototypes with the first task's adapters, combined with a head on the retrieved adapters.

    The head and the Gaussians are for features with each class's own adapters.
    """

    config: MOSConfig
    kept = ("adapters", "head", "gaussians", "prototypes", "task_of_class")

    def __init__(self, config: MOSConfig, environment: Environment) -> None:
        super().__init__(config, environment)
        width, device = self.vit.feature_size, environment.device
        self.adapters: list[nn.ModuleList] = []  # by task
        head = SmallLinear(width) if config.small_head else GrowingLinear(width)
        self.head = head.to(device)
        self.gaussians = ClassGaussians(width, device)
        self.prototypes = torch.zeros(0, width, device=device)  # with the first task's adapters
        self.task_of_class: list[int] = []  # by new label

    def learn(self, task: Task) -> None:
        """Train adapters for the task, store class statistics, and align the head."""
        self.head.grow(len(task.classes), derive_generator("cpu", task.seed, "head"))
        self.adapters.append(self.train_adapters(task))
        labels = task.alone().labels
        newest, first = (self.features(task.inputs, self.in_use(i)) for i in (task.index, 0))
        classes = [newest[labels == label] for label in range(len(task.classes))]
        self.gaussians.add(*classes, diagonal=self.config.covariance == "diagonal")
        self.prototypes = torch.cat([self.prototypes, mean_features(first, labels)])
        self.task_of_class += [task.index] * len(task.classes)
        if task.old_count:
            schedule, batches = self.config.alignment, len(task.seen)
            align_classifier(
                self.head, self.gaussians, schedule, task, batches=batches, stage="alignment"
            )
        self.seen = task.seen

    def in_use(self, task: int) -> nn.ModuleList:
        """Return the adapters of a task as they are used after its training."""
        if task and self.config.merging_rule == "use" and self.config.merging:
            return mean_of(self.adapters[:task])
        return self.adapters[task]

    def features(self, inputs: Tensor, adapters: nn.ModuleList) -> Tensor:
        """Compute features (n, d) with adapters; specific to a sequence, they are not cached."""
        return self.adapted_features(inputs, adapters, share=False)

    def train_adapters(self, task: Task) -> nn.ModuleList:
        """Train a copy of the last task's adapters, merged with earlier ones at every step."""
        if self.adapters:
            last = self.in_use(len(self.adapters) - 1)
            adapters = copy.deepcopy(last).requires_grad_(True)
        else:
            generator = derive_generator("cpu", self.environment.seed, "adapters")
            adapters = fresh_adapters(self.vit, self.config.bottleneck, generator)

        used: Sequence[nn.Module] = adapters
        if self.config.merging_rule == "use":
            share, earlier = self.config.merging, self.adapters
            used = [MergedOnUse(adapters, index, earlier, share) for index in range(len(adapters))]

        def loss(images: Tensor, labels: Tensor) -> Tensor:
            merge_adapters(adapters, self.adapters, self.config.merging)
            features = self.vit(images, Sockets(adapters=used))
            value = new_classes_only(self.head(features), labels, task.old_count)
            vectors = torch.cat([self.gaussians.means, features])
            return value + self.config.contrast * separation_loss(vectors, self.config.temperature)

        parameters, head = adapters.parameters(), self.head.parameters()
        data = task.inputs, task.labels
        with dropout(adapters, task.generator("dropout")):
            fit(parameters, data, loss, self.schedule, task, self.environment, head=head)
        merge_adapters(adapters, self.adapters, self.config.merging)
        return adapters.requires_grad_(False)

    def classify(self, inputs: Tensor) -> dict[str, Tensor]:
        """Return the class with the largest sum of both stages' probabilities."""
        tasks = range(len(self.adapters))
        features = torch.stack([self.features(inputs, self.in_use(task)) for task in tasks])
        first = normalize(features[0], dim=1) @ normalize(self.prototypes, dim=1).T
        with torch.no_grad():
            refined = self.refine(first, self.head(features))
        both = softmax(refined, dim=1) + softmax(len(self.adapters) * first, dim=1)
        return {"head": both.argmax(dim=1)}

    def refine(self, first: Tensor, logits: Tensor) -> Tensor:
        """Return logits (n, classes) with the adapters retrieved for each image.

        The adapters belong to the predicted class's task. Prediction (at first by logits (n,
        classes)) and retrieval among the logits of all tasks (tasks, n, classes) alternate.
        """
        task_of_class = torch.tensor(self.task_of_class, device=first.device)
        images = torch.arange(len(first), device=first.device)
        refined = first
        for _ in range(self.config.refinements):
            refined = logits[task_of_class[refined.argmax(dim=1)], images]
        return refined

    def restore(self, state: dict[str, Any]) -> None:
        """Load a state from :meth:`state`."""
        super().restore(state)
        self.adapters = load_adapters(self.vit, self.config.bottleneck, *state["adapters"])


class MergedOnUse(nn.Module):  # type: ignore[misc]
    """A block's adapter that merges the adapters of all blocks before it is used."""

    def __init__(
        self, adapters: nn.ModuleList, index: int, earlier: list[nn.ModuleList], share: float
    ) -> None:
        super().__init__()
        self.merged = adapters
        self.index, self.earlier, self.share = index, earlier, share

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the term to add to the MLP's output, (…, d)."""
        merge_adapters(self.merged, self.earlier, self.share)
        return self.merged[self.index](tokens)


def mean_of(adapters: Sequence[nn.ModuleList]) -> nn.ModuleList:
    """Return frozen adapters whose weights are the means of several."""
    mean = copy.deepcopy(adapters[0]).requires_grad_(False)
    parameters_of_adapters = [part.parameters() for part in adapters]
    for mean_parameter, *parameters in zip(mean.parameters(), *parameters_of_adapters, strict=True):
        mean_parameter.copy_(torch.stack(parameters).mean(dim=0))
    return mean


def merge_adapters(adapters: nn.ModuleList, earlier: list[nn.ModuleList], share: float) -> None:
    """Interpolate adapters towards the mean of all earlier ones.

    Weights are replaced, not modified: a gradient requires the weights that its block used.
    """
    if earlier:
        for ours, mean in zip(adapters.parameters(), mean_of(earlier).parameters(), strict=True):
            ours.data = torch.lerp(ours.data, mean.data, share)
