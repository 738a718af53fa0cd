"""Base classes of learners that train one network (backbone and head) on each task."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from edgecil.backbones import Backbone, GrowingLinear, ZeroLinear, build_backbone
from edgecil.backbones.vectors import fit_input_scale
from edgecil.methods.memory import ExemplarMemory, MemoryBudget, herd
from edgecil.methods.method import Environment, Method, suited_to
from edgecil.methods.settings import PAPER, Schedule, Settings
from edgecil.methods.setups import PAPER_MEMORY
from edgecil.methods.task import Task, derive_generator
from edgecil.methods.training_loop import Loss, fit, in_batches

Parameters = Iterable[torch.nn.Parameter]


@dataclass(frozen=True)
class NetworkConfig(Settings):
    """Hyper-parameters of every learner that trains a network."""

    schedule: Schedule = PAPER


@dataclass(frozen=True)
class ReplayConfig(NetworkConfig):
    """Hyper-parameters of every learner that keeps exemplars."""

    memory: MemoryBudget = PAPER_MEMORY


class Network(torch.nn.Module):  # type: ignore[misc]
    """A backbone and a head over the classes seen so far."""

    def __init__(self, backbone: Backbone, head: GrowingLinear) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = head

    def forward(self, images: Tensor) -> Tensor:
        """Return logits (n, classes seen) of normalised images (n, c, h, w)."""
        logits: Tensor = self.head(self.backbone(images))
        return logits

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Add outputs for more classes, initialised from a CPU generator."""
        self.head.grow(classes, generator)


class NetworkMethod(Method):
    """Trains a network on each task; subclasses have other losses and hooks.

    With a budget in its config it keeps exemplars, for training and the nearest-mean classifier.
    """

    kept: ClassVar[tuple[str, ...]] = ("network", "memory")
    views = 1  # augmented views per image; see :func:`fit`

    def __init__(self, config: Any, environment: Environment) -> None:
        super().__init__(suited_to(environment.backbone, environment))
        self.config = config
        self.schedule: Schedule = config.schedule
        budget: MemoryBudget | None = getattr(config, "memory", None)
        self.memory = None if budget is None else ExemplarMemory(budget)
        self.network = self.fresh_network()

    def fresh_network(self) -> Network:
        """Return a new network on the device; its weights depend on the run's seed only."""
        network = self.assemble(self.fresh_backbone("weights"))
        network.to(self.environment.device)
        return network

    def fresh_backbone(self, purpose: str) -> Backbone:
        """Return a new backbone on the CPU; each purpose has its own initial weights."""
        generator = derive_generator("cpu", self.environment.seed, purpose)
        return build_backbone(self.environment.backbone, self.environment.shape, generator)

    def assemble(self, backbone: Backbone) -> Network:
        """Return the network around a new backbone, without any class outputs."""
        return Network(backbone, linear_head(backbone))

    def learn(self, task: Task) -> None:
        """Grow the network, train it on the task and the memory, then update the memory."""
        self.begin(task)
        if self.memory is not None:
            self.memory.check(len(task.seen))
        self.seen = task.seen
        if self.environment.scale == "first-task" and self.network.head.classes == 0:
            fit_input_scale(self.network.backbone, task.inputs)
        self.grow(task)
        self.train(self.network, lambda images, labels: self.loss(images, labels, task), task)
        self.end(task)
        if self.memory is not None:
            self.remember(self.memory, task)

    def begin(self, task: Task) -> None:
        """Hook that runs before the network grows."""

    def grow(self, task: Task) -> None:
        """Add outputs for the task's classes."""
        generator = derive_generator("cpu", task.seed, "head")
        self.network.grow(len(task.seen) - self.network.head.classes, generator)

    def train(
        self,
        network: Network,
        loss: Loss,
        task: Task,
        *,
        schedule: Schedule | None = None,
        stage: str = "learn",
    ) -> None:
        """Fit a network on the training data with the given schedule or the method's own."""
        network.train()
        if self.environment.compile:
            network.backbone.compile()
        parameters, head = self.optimised(network)
        fit(
            parameters,
            self.training_data(task),
            loss,
            schedule or self.schedule_of(task),
            task,
            self.environment,
            stage=stage,
            views=self.views,
            head=head,
        )
        network.eval()

    def schedule_of(self, task: Task) -> Schedule:
        """Return the schedule of a task."""
        return self.schedule

    def optimised(self, network: Network) -> tuple[Parameters, Parameters]:
        """Return the parameters to fit, and those at the schedule's `head_factor`; see `fit`."""
        return network.parameters(), ()

    def training_data(self, task: Task) -> tuple[Tensor, Tensor]:
        """Return inputs and new labels of the task and, if there is a memory, of the exemplars."""
        return (task.inputs, task.labels) if self.memory is None else self.memory.beside(task)

    def loss(self, images: Tensor, labels: Tensor, task: Task) -> Tensor:
        """Return the loss of one batch of normalised images (b, c, h, w) with new labels (b,).

        Cross-entropy over all classes.
        """
        return cross_entropy(self.network(images), labels)

    def end(self, task: Task) -> None:
        """Hook that runs after training, while the task's images are still available."""

    def remember(self, memory: ExemplarMemory, task: Task) -> None:
        """Choose exemplars of the new classes by herding in the current feature space."""
        memory.update(
            task, lambda inputs, count: herd(normalize(self.features(inputs), dim=1), count)
        )

    def classify(self, inputs: Tensor) -> dict[str, Tensor]:
        """Classify by the largest logit and, with a memory, also by the nearest mean."""
        features = self.features(inputs)
        labels = {"head": self.largest_logit(features)}
        if self.memory is not None:
            means = self.memory.class_means(self.features)
            labels["nme"] = torch.cdist(normalize(features, dim=1), means).argmin(dim=1)
        return {name: labels[name] for name in self.classifiers if name in labels}

    def features(self, inputs: Tensor) -> Tensor:
        """Return features (n, d) of uint8 images (n, c, h, w)."""
        return in_batches(self.network.backbone, inputs, self.environment)

    def initial_features(self, inputs: Tensor) -> Tensor:
        """Return features (n, d) of the network as it is built."""
        return self.features(inputs)

    def largest_logit(self, features: Tensor) -> Tensor:
        """New labels (n,) with the largest logit for features (n, d)."""
        with torch.no_grad():
            logits: Tensor = self.network.head(features)
        return logits.argmax(dim=1)


def linear_head(backbone: Backbone) -> GrowingLinear:
    """Return a linear head without classes for the features of a backbone."""
    trained = any(parameter.requires_grad for parameter in backbone.parameters())
    kind = GrowingLinear if trained else ZeroLinear
    return kind(backbone.feature_size)


def new_classes_only(logits: Tensor, labels: Tensor, old_count: int) -> Tensor:
    """Cross-entropy over the current task's classes; outputs of old classes get no gradient."""
    return cross_entropy(logits[:, old_count:], labels - old_count)


@dataclass(frozen=True)
class DistillationConfig(ReplayConfig):
    """Hyper-parameters of replay with distillation."""

    temperature: float = 2.0  # of the distillation


class TeacherMethod(NetworkMethod):
    """Keeps a frozen copy of the old network while a task is trained."""

    teacher: torch.nn.Module | None = None  # for the first task and between tasks

    def begin(self, task: Task) -> None:
        """Keep a frozen copy of the network as teacher, from the second task on."""
        if task.old_count:
            self.teacher = copy.deepcopy(self.network).eval().requires_grad_(False)

    def end(self, task: Task) -> None:
        """Release the teacher."""
        self.teacher = None

    def distillation(self, images: Tensor, logits: Tensor, task: Task) -> Tensor:
        """Return the distillation loss of logits (b, classes) on the old classes."""
        assert self.teacher is not None
        with torch.no_grad():
            old = self.teacher(images)
        return distil(logits[:, : task.old_count], old, self.config.temperature)

    def loss(self, images: Tensor, labels: Tensor, task: Task) -> Tensor:
        """Cross-entropy over all classes and distillation, weighted by the share of old classes."""
        logits = self.network(images)
        value = cross_entropy(logits, labels)
        if self.teacher is None:
            return value
        share = task.old_count / len(task.seen)
        return (1.0 - share) * value + share * self.distillation(images, logits, task)


def distil(
    logits: Tensor, teacher: Tensor, temperature: float, weights: Tensor | None = None
) -> Tensor:
    """Mean cross-entropy from a teacher's softened probabilities to the softmax of logits (n, k).

    The teacher's probabilities may be multiplied by class weights (k,) and normalised to sum 1.
    """
    target = torch.softmax(teacher / temperature, dim=1)
    if weights is not None:
        target = target * weights
        target = target / target.sum(dim=1, keepdim=True)
    return -(target * torch.log_softmax(logits / temperature, dim=1)).sum(dim=1).mean()
