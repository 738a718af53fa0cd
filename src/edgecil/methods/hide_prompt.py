"""HiDe-Prompt: one prompt per task, inference of the task, and a head over all tasks.

Wang et al. (NeurIPS 2023), "Hierarchical Decomposition of Prompt-Based Continual Learning:
Rethinking Obscured Sub-optimality". Class-incremental learning is decomposed into within-task
prediction (the prompt), task-identity inference (from features without prompts) and task-adaptive
prediction (the head). The last two are trained on features sampled from class statistics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn

from edgecil.backbones import GrowingLinear
from edgecil.backbones.initialise import build
from edgecil.backbones.vit import FeedForward, ViTLayout
from edgecil.hints import Count, Positive, Share
from edgecil.methods.class_statistics import ClassMixtures, align_classifier, separation_loss
from edgecil.methods.entry import register_method
from edgecil.methods.method import Environment
from edgecil.methods.network import new_classes_only
from edgecil.methods.prompts import PromptHead, PromptMethod
from edgecil.methods.settings import Schedule, Settings
from edgecil.methods.setups import PUBLISHED
from edgecil.methods.task import Task, derive_generator
from edgecil.methods.training_loop import in_batches

ALIGNMENT = Schedule(
    epochs=30, learning_rate=0.005, schedule="cosine", weight_decay=0.0, batch_size=120, augment=()
)


@dataclass(frozen=True)
class HiDePromptConfig(Settings):
    """Hyper-parameters of HiDe-Prompt; the defaults are for Split CIFAR-100."""

    schedule: Schedule = PUBLISHED["hide-prompt"]["cifar100"].schedule
    alignment: Schedule = ALIGNMENT  # one batch per old class in an epoch
    inference_batch: Count = 24  # batch size of the task-identity inference
    # learning rate of the task-identity inference; the authors' is 0.005 · 24 / 256 (they scale it
    # by the batch size there, but not for the head)
    inference_rate: float = 0.005
    # New weights of the task-identity inference are normal with std 0.02, as the authors', in
    # place of uniform in ± √(3 / d).
    small_inference: bool = False
    length: Count = 5  # tokens that a prompt adds to the keys and to the values
    layers: Count = 5  # number of blocks with prompts, counted from the first; at most the depth
    ensemble: Share = 0.01  # share of the mean of all earlier prompts in a new prompt
    contrast: float = 0.1  # weight of the contrastive regularisation
    temperature: Positive = 0.8  # of the contrastive regularisation
    centroids: Count = 10  # Gaussians per class
    # Features are drawn equally from a class's Gaussians, as in the authors' code, instead of by
    # their shares of the class's images.
    equal_centroids: bool = False


@register_method(
    "hide-prompt",
    HiDePromptConfig,
    "a prompt per task, inferred; heads aligned by statistics (2023)",
    published_settings={
        "inference_rate": 0.00046875,
        "small_inference": True,
        "equal_centroids": True,
    },
)
class HiDePrompt(PromptMethod):
    """Trains a prompt per task, then the inference of the task and the head."""

    config: HiDePromptConfig
    kept = (*PromptMethod.kept, "inference", "plain", "instructed", "task_of_class")

    def __init__(self, config: HiDePromptConfig, environment: Environment) -> None:
        super().__init__(config, environment)
        self.layers = min(config.layers, self.vit.layout.depth)
        width, device = self.vit.feature_size, environment.device
        generator = derive_generator("cpu", environment.seed, "inference")
        head = PromptHead(width) if config.small_inference else GrowingLinear(width)
        self.inference = TaskInference(width, head, generator).to(device)
        self.plain, self.instructed = (
            ClassMixtures(config.centroids, width, device, equal=config.equal_centroids)
            for _ in range(2)
        )
        self.task_of_class: list[int] = []

    def learn(self, task: Task) -> None:
        """Train the task's prompt, then align the task inference and the head over all tasks."""
        super().learn(task)
        with torch.no_grad():
            self.prompts[-1]["prefixes"].copy_(self.ensembled())
        self.task_of_class += [task.index] * len(task.classes)
        self.remember(task)
        self.inference.head.grow(len(task.classes), derive_generator("cpu", task.seed, "inference"))
        if task.old_count:
            old, schedule = task.old_count, self.config.alignment
            smaller = replace(
                schedule,
                batch_size=self.config.inference_batch,
                learning_rate=self.config.inference_rate,
            )
            align_classifier(
                self.inference, self.plain, smaller, task, batches=old, stage="inference"
            )
            align_classifier(
                self.head, self.instructed, schedule, task, batches=old, stage="prediction"
            )

    def grow(self, task: Task) -> None:
        """Add a copy of the last prompt; the first prompt is uniform in ±1."""
        if self.prompts:
            start = self.prompts[-1]["prefixes"].detach()
        else:
            generator = derive_generator("cpu", self.environment.seed, "prompts")
            start = torch.empty(self.layers, 2, self.config.length, self.vit.feature_size)
            start.uniform_(-1, 1, generator=generator)
        self.add_prompts(prefixes=start)

    def ensembled(self) -> Tensor:
        """Return the newest prompt, averaged with the mean of all earlier ones."""
        *earlier, newest = (prompts["prefixes"] for prompts in self.prompts)
        if not earlier:
            return newest
        return torch.lerp(newest, torch.stack(earlier).mean(dim=0), self.config.ensemble)

    def loss(self, images: Tensor, labels: Tensor, queries: Tensor, task: Task) -> Tensor:
        """Cross-entropy over the new classes plus the contrastive regularisation."""
        features = self.prefixed(images, self.ensembled())
        value = new_classes_only(self.head(features), labels, task.old_count)
        vectors = torch.cat([self.instructed.centroids(), features])
        return value + self.config.contrast * separation_loss(vectors, self.config.temperature)

    def features(self, images: Tensor, queries: Tensor) -> Tensor:
        """Input of the head, (n, d): the class token with the inferred task's prompt."""
        of_class = torch.tensor(self.task_of_class, device=queries.device)
        tasks = of_class[self.inference(queries).argmax(dim=1)]
        prefixes = torch.stack([prompts["prefixes"] for prompts in self.prompts], dim=2)
        return self.prefixed(images, prefixes[:, :, tasks])

    def remember(self, task: Task) -> None:
        """Store feature statistics of the new classes, without and with the task's prompt."""
        prompted = partial(self.prefixed, prefixes=self.prompts[-1]["prefixes"])
        plain = self.frozen_features(task.inputs)
        instructed = in_batches(prompted, task.inputs, self.environment)
        for label in range(task.old_count, len(task.seen)):
            ours = task.labels == label
            self.plain.add(plain[ours], task.generator("plain", label))
            self.instructed.add(instructed[ours], task.generator("instructed", label))


class TaskInference(nn.Module):  # type: ignore[misc]
    """Class logits from features without prompts: a residual MLP, a layer norm and a head."""

    def __init__(self, width: int, head: GrowingLinear, generator: torch.Generator) -> None:
        super().__init__()
        self.mlp = build(lambda: FeedForward(ViTLayout(width=width, hidden=2 * width)), generator)
        self.norm = nn.LayerNorm(width)
        self.head = head

    def forward(self, features: Tensor) -> Tensor:
        """Return logits (n, classes) of features (n, d)."""
        return self.head(self.norm(features + self.mlp(features)))
