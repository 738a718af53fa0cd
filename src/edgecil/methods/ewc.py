"""EWC: penalise changes of weights in proportion to their importance for earlier tasks.

Kirkpatrick et al. (2017), "Overcoming catastrophic forgetting in neural networks", in the
class-incremental form of PyCIL: a quadratic penalty around the weights after the last task, scaled
by a running diagonal Fisher information.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from edgecil.methods.entry import register_method
from edgecil.methods.finetune import Finetune
from edgecil.methods.method import Environment
from edgecil.methods.network import NetworkConfig
from edgecil.methods.task import Task
from edgecil.methods.training_loop import Feed, shuffle


@dataclass(frozen=True)
class EWCConfig(NetworkConfig):
    """Hyper-parameters of EWC."""

    strength: float = 1000.0  # λ, the weight of the penalty
    fisher_cap: float = 1e-4  # upper limit of the Fisher information of a weight
    # The Fisher information is computed in evaluation mode from images without augmentation, or in
    # training mode from augmented ones, as in PyCIL, which updates batch statistics once more.
    fisher_images: Literal["plain", "training"] = "plain"


@register_method(
    "ewc",
    EWCConfig,
    "elastic weight consolidation (Kirkpatrick et al. 2017)",
    published_settings={"fisher_images": "training"},
)
class EWC(Finetune):
    """Fine-tuning with a quadratic penalty on every weight."""

    config: EWCConfig
    kept = (*Finetune.kept, "fisher")

    def __init__(self, config: EWCConfig, environment: Environment) -> None:
        super().__init__(config, environment)
        self.anchor: dict[str, Tensor] = {}
        self.fisher: dict[str, Tensor] = {}

    def begin(self, task: Task) -> None:
        """Keep the weights after the last task as the anchor."""
        if self.fisher:
            weights = self.network.named_parameters()
            self.anchor = {name: value.detach().clone() for name, value in weights}

    def loss(self, images: Tensor, labels: Tensor, task: Task) -> Tensor:
        """Cross-entropy over the new classes plus the penalty."""
        value = super().loss(images, labels, task)
        return value + self.config.strength * self.penalty() if self.anchor else value

    def penalty(self) -> Tensor:
        """Return half the Fisher-weighted squared distance from the anchor, without new rows."""
        terms = [
            (self.fisher[name] * (value[: len(self.anchor[name])] - self.anchor[name]) ** 2).sum()
            for name, value in self.network.named_parameters()
        ]
        return torch.stack(terms).sum() / 2

    def end(self, task: Task) -> None:
        """Update the running Fisher information."""
        old_share = task.old_count / len(task.seen)
        latest = self.estimate_fisher(task)
        for name, old in self.fisher.items():
            latest[name][: len(old)] *= 1.0 - old_share
            latest[name][: len(old)] += old_share * old
        self.fisher = latest

    def estimate_fisher(self, task: Task) -> dict[str, Tensor]:
        """Return the mean squared gradient of the batch loss over all classes seen, capped.

        Batches are shuffled because the images are sorted by class, and batches of a single class
        have much larger gradients.
        """
        schedule = self.schedule.at(task.index)
        augmented = self.config.fisher_images == "training"
        prepare = self.environment.pipeline(schedule.augment if augmented else ())
        self.network.train(augmented)
        total = {name: torch.zeros_like(value) for name, value in self.network.named_parameters()}
        order, generator = shuffle(len(task.labels), task, "fisher")
        batches = order.to(task.device).split(schedule.batch_size)
        with Feed(task.inputs, task.device) as source:
            source.begin(order.split(schedule.batch_size))
            for batch in batches:
                self.network.zero_grad()
                inputs = source.take(batch)
                images = prepare(inputs, generator) if augmented else prepare.plain(inputs)
                logits = self.network(images)
                torch.nn.functional.cross_entropy(logits, task.labels[batch]).backward()
                for name, value in self.network.named_parameters():
                    if value.grad is not None:
                        total[name] += value.grad.detach() ** 2 / len(batches)
        self.network.zero_grad()
        self.network.eval()
        return {name: value.clamp(max=self.config.fisher_cap) for name, value in total.items()}
