"""Learners that train one network, backbone and head, task after task."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch

from edgecil.backbones import Backbone, GrowingLinear, build_backbone
from edgecil.methods.method import Method, Setting
from edgecil.methods.recipe import Recipe
from edgecil.methods.training import fit, in_batches
from edgecil.scenario.seeds import derive_generator
from edgecil.scenario.task import Task


class Network(torch.nn.Module):  # type: ignore[misc]
    """A backbone and a head over the classes seen so far."""

    def __init__(self, backbone: Backbone, head: GrowingLinear) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = head

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits (n, classes seen) of normalised images (n, c, h, w)."""
        logits: torch.Tensor = self.head(self.backbone(images))
        return logits


class NetworkMethod(Method):
    """Trains a network on each task; what a method adds is its loss and what surrounds it."""

    def __init__(self, recipe: Recipe, setting: Setting) -> None:
        super().__init__(setting)
        self.recipe = recipe
        self.reset_network()

    def reset_network(self) -> None:
        """A fresh network; its weights depend on the run's seed alone."""
        generator = derive_generator("cpu", self.setting.seed, "weights")
        backbone = build_backbone(self.setting.backbone, self.setting.shape, generator)
        self.network = Network(backbone, GrowingLinear(backbone.feature_size))
        self.network.to(self.setting.device)

    def learn(self, task: Task) -> None:
        """Grow the head, train on what the task and the method's memory hold, then settle."""
        self.begin(task)
        self.seen = task.seen
        self.network.head.grow(
            len(task.seen) - self.network.head.classes, derive_generator("cpu", task.seed, "head")
        )
        self.network.train()
        forward = torch.compile(self.network) if self.setting.compile else self.network
        fit(
            self.network.parameters(),
            self.training_data(task),
            lambda images, labels: self.loss(forward(images), labels, images, task),
            self.recipe,
            task,
            self.setting,
        )
        self.network.eval()
        self.end(task)

    def begin(self, task: Task) -> None:
        """Before the head grows."""

    def training_data(self, task: Task) -> tuple[torch.Tensor, torch.Tensor]:
        """Pixels and new labels to train on."""
        return task.pixels, task.labels

    @abstractmethod
    def loss(
        self, logits: torch.Tensor, labels: torch.Tensor, images: torch.Tensor, task: Task
    ) -> torch.Tensor:
        """The loss of one batch: logits (b, classes seen), new labels (b,), images (b, c, h, w)."""

    def end(self, task: Task) -> None:
        """After training, while the task's images can still be had."""

    def read(self, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        """The class with the largest logit."""
        return {"head": self.largest_logit(self.features(pixels))}

    def features(self, pixels: torch.Tensor) -> torch.Tensor:
        """Features (n, d) of uint8 images (n, c, h, w)."""
        return in_batches(self.network.backbone, pixels, self.setting)

    def largest_logit(self, features: torch.Tensor) -> torch.Tensor:
        """The head's choice, new labels (n,), for features (n, d)."""
        with torch.no_grad():
            logits: torch.Tensor = self.network.head(features)
        return logits.argmax(dim=1)

    def state(self) -> dict[str, Any]:
        """The network's weights and what was seen."""
        weights = self.network.state_dict()
        copies = {name: value.to("cpu", copy=True) for name, value in weights.items()}
        return {**super().state(), "network": copies}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`state` gave."""
        super().restore(state)
        self.network.load_state_dict(state["network"])
        self.network.eval()


def new_classes_only(logits: torch.Tensor, labels: torch.Tensor, known: int) -> torch.Tensor:
    """Cross-entropy among the classes of the current task; older outputs are left alone."""
    return torch.nn.functional.cross_entropy(logits[:, known:], labels - known)
