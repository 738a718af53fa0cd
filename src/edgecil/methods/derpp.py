"""DER++: replay exemplars with their labels and with the logits that they had.

Buzzega et al. (NeurIPS 2020), "Dark Experience for General Continual Learning: a Strong, Simple
Baseline". Not to be confused with `der`, Dynamically Expandable Representation. The authors fill
a reservoir while they train; here the memory is that of the other learners: equally many images of
each class, chosen at random when its task ends, with the logits of that moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from edgecil.methods.entry import register_method
from edgecil.methods.memory import ExemplarMemory, draw
from edgecil.methods.method import Environment
from edgecil.methods.network import NetworkMethod, ReplayConfig
from edgecil.methods.task import Task


@dataclass(frozen=True)
class DERppConfig(ReplayConfig):
    """Hyper-parameters of DER++; the defaults are Mammoth's for CIFAR-100."""

    alpha: float = 0.3  # weight of the squared distance from the stored logits
    beta: float = 0.5  # weight of the cross-entropy on exemplars


@register_method("derpp", DERppConfig, "dark experience replay: labels and logits (2020)")
class DERpp(NetworkMethod):
    """Trains on the task's images, and in every step on two batches of exemplars."""

    config: DERppConfig
    kept = (*NetworkMethod.kept, "logits")
    classifiers = ("head", "nme")
    memory: ExemplarMemory

    def __init__(self, config: DERppConfig, environment: Environment) -> None:
        super().__init__(config, environment)
        # of each class's exemplars, (m, classes seen when they were stored)
        self.logits: list[Tensor] = []

    def begin(self, task: Task) -> None:
        """Put the exemplars and their logits on the device; NaN where a logit did not exist."""
        inputs, self._labels = self.memory.data(task)
        self._inputs = inputs.to(task.device)
        rows = [
            torch.nn.functional.pad(part, (0, task.old_count - part.shape[1]), value=torch.nan)
            for part in self.logits
        ]
        self._logits = torch.cat(rows) if rows else torch.zeros(0)
        schedule = self.schedule.at(task.index)
        self._batch = schedule.batch_size
        self._prepare = self.environment.pipeline(schedule.augment)
        self._generator = task.generator("replay")

    def training_data(self, task: Task) -> tuple[Tensor, Tensor]:
        """Return the task's images and labels."""
        return task.inputs, task.labels

    def loss(self, images: Tensor, labels: Tensor, task: Task) -> Tensor:
        """Cross-entropy on the task's images, plus both terms on exemplars."""
        value = cross_entropy(self.network(images), labels)
        if not task.old_count:
            return value
        outputs, chosen = self.replay()
        distance = logit_distance(outputs[:, : task.old_count], self._logits[chosen])
        outputs, chosen = self.replay()
        again = cross_entropy(outputs, self._labels[chosen])
        return value + self.config.alpha * distance + self.config.beta * again

    def replay(self) -> tuple[Tensor, Tensor]:
        """Return logits (b, classes) of exemplars drawn at random, and their indices (b,)."""
        chosen = draw(self._inputs, self._batch, self._generator)
        images = self._prepare(self._inputs[chosen], self._generator)
        return self.network(images), chosen

    def end(self, task: Task) -> None:
        """Release the exemplars on the device."""
        del self._inputs, self._labels, self._logits

    def remember(self, memory: ExemplarMemory, task: Task) -> None:
        """Choose exemplars of the new classes at random, and store their logits."""
        memory.update(task, partial(draw, generator=task.generator("exemplars")))
        kept = zip(self.logits, range(task.old_count), strict=True)
        self.logits = [logits[: len(memory.of_class(label))].clone() for logits, label in kept]
        with torch.no_grad():
            for label in range(task.old_count, len(task.seen)):
                features = self.features(memory.of_class(label))
                self.logits.append(self.network.head(features))


def logit_distance(outputs: Tensor, stored: Tensor) -> Tensor:
    """Return the mean squared distance of logits (n, k) from stored ones that are not NaN."""
    is_stored = ~stored.isnan()
    apart = torch.where(is_stored, outputs - stored, 0.0)
    return apart.square().sum() / is_stored.sum()
