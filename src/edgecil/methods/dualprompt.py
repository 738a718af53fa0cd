"""DualPrompt: general prompts for all tasks, and expert prompts for each, chosen by keys.

Wang et al. (ECCV 2022), "DualPrompt: Complementary Prompting for Rehearsal-free Continual
Learning". The first blocks get general prompts, which every task trains; the next ones get the
prompts of one task: in training the image's own task, in testing the one with the nearest key.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, normalize

from edgecil.hints import Count
from edgecil.methods.entry import register_method
from edgecil.methods.method import Environment
from edgecil.methods.network import new_classes_only
from edgecil.methods.prompts import PromptMethod
from edgecil.methods.settings import Schedule, Settings
from edgecil.methods.setups import PUBLISHED
from edgecil.methods.task import Task, derive_generator


@dataclass(frozen=True)
class DualPromptConfig(Settings):
    """Hyper-parameters of DualPrompt; the defaults are PILOT's."""

    schedule: Schedule = PUBLISHED["dualprompt"]["cifar100"].schedule
    length: Count = 5  # tokens that a prompt adds to the keys and to the values of a block
    general: Count = 2  # number of first blocks with general prompts; at most all but one
    expert: Count = 3  # number of blocks after them with expert prompts
    pull: float = 0.1  # λ, weight of the term that pulls a task's key towards the queries
    # All images of a test batch get the prompts that most of them choose, as in PILOT. Predictions
    # then depend on which images are tested together.
    batchwise: bool = False
    # The first half of a batch gets an expert prompt's key tokens as keys and as values, the other
    # half its value tokens, as PILOT's code arranges them.
    mixed: bool = False


@register_method(
    "dualprompt",
    DualPromptConfig,
    "general prompts, and expert prompts by task (2022)",
    published_settings={"batchwise": True, "mixed": True},
)
class DualPrompt(PromptMethod):
    """Each task has expert prompts and a key; the last set holds the general prompts too."""

    config: DualPromptConfig

    def __init__(self, config: DualPromptConfig, environment: Environment) -> None:
        super().__init__(config, environment)
        depth = self.vit.layout.depth
        self.general = min(config.general, depth - 1)
        self.expert = min(config.expert, depth - self.general)

    def grow(self, task: Task) -> None:
        """Add a key and a copy of the last expert prompts; the first are uniform in ±1."""
        generator = derive_generator("cpu", task.seed, "prompts")
        length, width = self.config.length, self.vit.feature_size

        def draw(*shape: int) -> Tensor:
            return torch.empty(*shape).uniform_(-1, 1, generator=generator)

        key = draw(width)
        if self.prompts:
            last = self.prompts[-1]
            general, expert = last.pop("general").detach(), last["expert"].detach()
        else:
            general = draw(self.general, 2, length, width)
            expert = draw(self.expert, 2, length, width)
        self.add_prompts(general=general, expert=expert, key=key)

    def prompted(self, images: Tensor, tasks: Tensor) -> Tensor:
        """Return the class token (n, d) with the general and the experts' prompts of tasks (n,)."""
        expert = torch.stack([prompts["expert"] for prompts in self.prompts], dim=2)
        chosen = expert[:, :, tasks]  # (blocks, 2, n, length, d)
        if self.config.mixed:
            chosen = chosen.flatten(1, 2).unflatten(1, (-1, 2)).transpose(1, 2)
        return self.prefixed(images, [*self.prompts[-1]["general"], *chosen])

    def choose(self, queries: Tensor) -> Tensor:
        """Return the task (n,) whose key has the largest cosine with each query (n, d)."""
        keys = torch.stack([prompts["key"] for prompts in self.prompts])
        nearest = (normalize(queries, dim=1) @ normalize(keys, dim=1).T).argmax(dim=1)
        if self.config.batchwise:
            votes = torch.bincount(nearest, minlength=len(keys))
            nearest = votes.argmax().expand(len(nearest))
        return nearest

    @property
    def test_batch(self) -> int:
        """The schedule's batch size if predictions depend on the batch."""
        together = self.config.batchwise or self.config.mixed
        return self.schedule.batch_size if together else super().test_batch

    def features(self, images: Tensor, queries: Tensor) -> Tensor:
        """Input of the head, (n, d)."""
        return self.prompted(images, self.choose(queries))

    def loss(self, images: Tensor, labels: Tensor, queries: Tensor, task: Task) -> Tensor:
        """Cross-entropy over the new classes minus the weighted cosine of the task's key."""
        features = self.prompted(images, torch.full_like(labels, task.index))
        value = new_classes_only(self.head(features), labels, task.old_count)
        pulled = cosine_similarity(queries, self.prompts[-1]["key"][None], dim=1)
        return value - self.config.pull * pulled.mean()
