"""iCaRL: replay a few herded exemplars, distil from the old network, classify by nearest mean.

Rebuffi et al. (2017), "iCaRL: Incremental Classifier and Representation Learning", with the
softmax losses of PyCIL: cross-entropy over all classes plus distillation of the old outputs.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.nn.functional import normalize

from edgecil.errors import UsageError, unknown
from edgecil.methods.distillation import distil
from edgecil.methods.method import Setting
from edgecil.methods.network import NetworkMethod
from edgecil.methods.recipe import PAPER, PAPER_MEMORY, Recipe
from edgecil.methods.registry import register_method
from edgecil.scenario.memory import ExemplarMemory, MemoryBudget, draw, herd
from edgecil.scenario.task import Task


@dataclass(frozen=True)
class ICaRLConfig:
    """Hyper-parameters of iCaRL.

    Attributes:
        recipe: of each task.
        memory: budget for exemplars.
        selection: of exemplars, `herding` or `random`.
        temperature: of the distillation.
    """

    recipe: Recipe = PAPER
    memory: MemoryBudget = PAPER_MEMORY
    selection: str = "herding"
    temperature: float = 2.0

    def __post_init__(self) -> None:
        if self.selection not in ("herding", "random"):
            raise unknown("selection of exemplars", self.selection, ("herding", "random"))


@register_method("icarl", ICaRLConfig, "exemplar replay, distillation, nearest mean (2017)")
class ICaRL(NetworkMethod):
    """Exemplars are trained on with each task, and their means classify."""

    readings = ("nme", "head")

    def __init__(self, config: ICaRLConfig, setting: Setting) -> None:
        super().__init__(config.recipe, setting)
        self.config = config
        self.memory = ExemplarMemory(config.memory)
        self.teacher: torch.nn.Module | None = None

    def begin(self, task: Task) -> None:
        """Freeze a copy of the network, if it has learnt anything yet."""
        if self.config.memory.quota(len(task.seen)) < 1:
            raise UsageError(
                f"iCaRL classifies by exemplars and needs one per class; its memory of "
                f"{self.config.memory.total} in total leaves none with {len(task.seen)} classes."
            )
        if task.known:
            self.teacher = copy.deepcopy(self.network).eval().requires_grad_(False)

    def training_data(self, task: Task) -> tuple[torch.Tensor, torch.Tensor]:
        """The task's images and all exemplars."""
        pixels, labels = self.memory.data(task.pixels)
        return torch.cat([task.pixels, pixels]), torch.cat([task.labels, labels])

    def loss(
        self, logits: torch.Tensor, labels: torch.Tensor, images: torch.Tensor, task: Task
    ) -> torch.Tensor:
        """Cross-entropy over all classes, and distillation of the old ones."""
        value = torch.nn.functional.cross_entropy(logits, labels)
        if self.teacher is None:
            return value
        with torch.no_grad():
            old = self.teacher(images)
        return value + distil(logits[:, : task.known], old, self.config.temperature)

    def end(self, task: Task) -> None:
        """Choose exemplars by herding in the new feature space."""
        self.teacher = None
        self.memory.update(task, partial(self.rank, task.generator("exemplars")))

    def rank(self, generator: torch.Generator, pixels: torch.Tensor, count: int) -> torch.Tensor:
        """Indices of the exemplars to keep of one class's images, most important first."""
        if self.config.selection == "random":
            return draw(pixels, count, generator)
        return herd(normalize(self.features(pixels), dim=1), count)

    def read(self, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        """The nearest mean of exemplars, and the head's largest logit."""
        features = self.features(pixels)
        nearest = torch.cdist(normalize(features, dim=1), self.class_means()).argmin(dim=1)
        return {"nme": nearest, "head": self.largest_logit(features)}

    def class_means(self) -> torch.Tensor:
        """Means of the exemplars' features, of unit length: (classes seen, d)."""
        exemplars = [self.memory.of_class(label) for label in range(len(self.seen))]
        features = normalize(self.features(torch.cat(exemplars)), dim=1)
        means = [part.mean(dim=0) for part in features.split([len(part) for part in exemplars])]
        return normalize(torch.stack(means), dim=1)

    def state(self) -> dict[str, Any]:
        """The network and the exemplars."""
        return {**super().state(), "memory": self.memory.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`state` gave."""
        super().restore(state)
        self.memory.restore(state["memory"], self.setting.device)
