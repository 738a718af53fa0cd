"""Learners that train one network, backbone and head, task after task."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch.nn.functional import cross_entropy, normalize

from edgecil.backbones import Backbone, GrowingLinear, build_backbone
from edgecil.methods.memory import ExemplarMemory, MemoryBudget, herd
from edgecil.methods.method import Environment, Method, suited_to
from edgecil.methods.recipe import Recipe
from edgecil.methods.seeds import derive_generator
from edgecil.methods.task import Task
from edgecil.methods.training import Loss, fit, in_batches


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

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Make room for more classes, with weights from a CPU generator."""
        self.head.grow(classes, generator)


class NetworkMethod(Method):
    """Trains a network on each task; what a method adds is its loss and what surrounds it.

    Attributes:
        recipe: how each task is trained.
        network: what is trained, and what predicts.
        memory: exemplars to be trained on with every task and to classify by; None for methods
            that keep none.
        views: how often each image of a batch is augmented; see :func:`fit`.
    """

    views = 1

    def __init__(
        self, recipe: Recipe, environment: Environment, budget: MemoryBudget | None = None
    ) -> None:
        super().__init__(suited_to(environment.backbone, environment))
        self.recipe = recipe
        self.memory = None if budget is None else ExemplarMemory(budget)
        self.reset_network()

    def reset_network(self) -> None:
        """A fresh network; its weights depend on the run's seed alone."""
        self.network = self.assemble(self.fresh_backbone("weights")).to(self.environment.device)

    def fresh_backbone(self, purpose: str) -> Backbone:
        """A backbone with first weights of its own for each purpose, on the CPU."""
        generator = derive_generator("cpu", self.environment.seed, purpose)
        return build_backbone(self.environment.backbone, self.environment.shape, generator)

    def assemble(self, backbone: Backbone) -> Network:
        """The network around a fresh backbone; it knows no class yet."""
        return Network(backbone, GrowingLinear(backbone.feature_size))

    def learn(self, task: Task) -> None:
        """Grow the network, train on what the task and the memory hold, then settle."""
        self.begin(task)
        if self.memory is not None:
            self.memory.check(len(task.seen))
        self.seen = task.seen
        self.grow(task)
        self.train(self.network, lambda images, labels: self.loss(images, labels, task), task)
        self.end(task)
        if self.memory is not None:
            self.remember(self.memory, task)

    def begin(self, task: Task) -> None:
        """Before the network grows."""

    def grow(self, task: Task) -> None:
        """Make room for the task's classes."""
        generator = derive_generator("cpu", task.seed, "head")
        self.network.grow(len(task.seen) - self.network.head.classes, generator)

    def train(
        self,
        network: Network,
        loss: Loss,
        task: Task,
        *,
        recipe: Recipe | None = None,
        stage: str = "learn",
    ) -> None:
        """Fit a network on the training data, by the method's recipe unless another is given."""
        network.train()
        if self.environment.compile:
            network.backbone.compile()
        fit(
            network.parameters(),
            self.training_data(task),
            loss,
            recipe or self.recipe,
            task,
            self.environment,
            stage=stage,
            views=self.views,
        )
        network.eval()

    def training_data(self, task: Task) -> tuple[torch.Tensor, torch.Tensor]:
        """Pixels and new labels to train on: the task's, and those of the exemplars if any."""
        return (task.pixels, task.labels) if self.memory is None else self.memory.beside(task)

    @abstractmethod
    def loss(self, images: torch.Tensor, labels: torch.Tensor, task: Task) -> torch.Tensor:
        """The loss of one batch: normalised images (b, c, h, w), new labels (b,)."""

    def end(self, task: Task) -> None:
        """After training, while the task's images can still be had."""

    def remember(self, memory: ExemplarMemory, task: Task) -> None:
        """Choose exemplars of the new classes by herding in the feature space of now."""
        memory.update(
            task, lambda pixels, count: herd(normalize(self.features(pixels), dim=1), count)
        )

    def classify(self, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        """The class with the largest logit; with a memory also that of the nearest class mean."""
        features = self.features(pixels)
        found = {"head": self.largest_logit(features)}
        if self.memory is not None:
            means = self.memory.class_means(self.features)
            found["nme"] = torch.cdist(normalize(features, dim=1), means).argmin(dim=1)
        return {classifier: found[classifier] for classifier in self.classifiers}

    def features(self, pixels: torch.Tensor) -> torch.Tensor:
        """Features (n, d) of uint8 images (n, c, h, w)."""
        return in_batches(self.network.backbone, pixels, self.environment)

    def largest_logit(self, features: torch.Tensor) -> torch.Tensor:
        """The head's choice, new labels (n,), for features (n, d)."""
        with torch.no_grad():
            logits: torch.Tensor = self.network.head(features)
        return logits.argmax(dim=1)

    def state(self) -> dict[str, Any]:
        """The network's weights, the exemplars if any, and what was seen."""
        weights = self.network.state_dict()
        copies = {name: value.to("cpu", copy=True) for name, value in weights.items()}
        state = {**super().state(), "network": copies}
        return state if self.memory is None else {**state, "memory": self.memory.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`state` gave."""
        super().restore(state)
        self.network.load_state_dict(state["network"])
        self.network.eval()
        if self.memory is not None:
            self.memory.restore(state["memory"], self.environment.device)


def new_classes_only(logits: torch.Tensor, labels: torch.Tensor, known: int) -> torch.Tensor:
    """Cross-entropy among the classes of the current task; older outputs are left alone."""
    return cross_entropy(logits[:, known:], labels - known)
