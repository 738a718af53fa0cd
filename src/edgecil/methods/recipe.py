"""Training recipes: how long and how fast a network learns a task."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import cos, pi
from typing import Literal

from edgecil.backbones.pretrained import is_pretrained
from edgecil.data.augment import parse_steps
from edgecil.errors import UsageError, unknown
from edgecil.methods.memory import MemoryBudget

SCHEDULES = ("steps", "cosine")
OPTIMIZERS = ("sgd", "adam", "adamw")


@dataclass(frozen=True)
class Recipe:
    """Gradient descent on one task; the defaults are the paper's.

    Attributes:
        epochs: passes over the task's images.
        learning_rate: at the start.
        schedule: `steps` multiplies by `decay` at each milestone; `cosine` falls to zero.
        milestones: epochs.
        decay: see schedule.
        optimizer: `sgd`, `adam` or `adamw`.
        momentum: of SGD; Adam has its own, 0.9 and 0.999.
        weight_decay: added to the gradient; decoupled from it with AdamW.
        batch_size: images per step.
        augment: steps of `edgecil.data.augment`, by name.
    """

    epochs: int = 170
    learning_rate: float = 0.1
    schedule: Literal["steps", "cosine"] = "steps"
    milestones: tuple[int, ...] = (60, 120, 170)
    decay: float = 0.1
    optimizer: Literal["sgd", "adam", "adamw"] = "sgd"
    momentum: float = 0.9
    weight_decay: float = 5e-4
    batch_size: int = 128
    augment: tuple[str, ...] = ("crop", "flip")

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch_size < 1 or not self.learning_rate > 0.0:
            raise UsageError(
                "A recipe needs epochs >= 1, batch_size >= 1 and learning_rate > 0. Got "
                f"{self.epochs}, {self.batch_size} and {self.learning_rate}."
            )
        parse_steps(",".join(self.augment))
        for name, known in (("schedule", SCHEDULES), ("optimizer", OPTIMIZERS)):
            if getattr(self, name) not in known:
                raise unknown(name, getattr(self, name), known)

    def rate(self, epoch: int) -> float:
        """The learning rate in an epoch, counted from 0."""
        if self.schedule == "cosine":
            return self.learning_rate * 0.5 * (1.0 + cos(pi * epoch / self.epochs))
        passed = sum(epoch >= milestone for milestone in self.milestones)
        return self.learning_rate * self.decay**passed

    def lasting(self, share: float) -> Recipe:
        """The same recipe for a share of its epochs, 1 at least; milestones move along."""
        return replace(
            self,
            epochs=max(1, round(share * self.epochs)),
            milestones=tuple(round(share * milestone) for milestone in self.milestones),
        )


PAPER = Recipe()
PAPER_MEMORY = MemoryBudget(total=2000, per_class=20)

# The bundled drawings are 60 per class where CIFAR-100 has 500 images; 5 of them are still twice
# the share that 20 of 500 are.
_FAST_MEMORY = MemoryBudget(total=2000, per_class=5)

_FAST = {
    "resnet-tiny": Recipe(
        epochs=12, learning_rate=0.05, schedule="cosine", batch_size=32, augment=("crop:2", "flip")
    ),
    "resnet32": Recipe(epochs=30, learning_rate=0.1, schedule="cosine", batch_size=64),
    "resnet18": Recipe(epochs=20, learning_rate=0.05, schedule="cosine", batch_size=64),
}

_FAST_PRETRAINED = Recipe(
    epochs=10,
    learning_rate=5e-4,
    schedule="cosine",
    optimizer="adamw",
    weight_decay=0.05,
    batch_size=32,
    augment=("crop:2", "flip"),
)


def get_recipe(name: str, backbone: str) -> tuple[Recipe, MemoryBudget]:
    """How to train and how much to remember.

    Args:
        name: `paper`, as published, or `fast`, made for a CPU and the bundled data.
        backbone: the network it is for.
    """
    if name == "paper":
        return PAPER, PAPER_MEMORY
    if name != "fast":
        raise unknown("recipe", name, ("paper", "fast"))
    if is_pretrained(backbone):
        return _FAST_PRETRAINED, _FAST_MEMORY
    if backbone not in _FAST:
        raise UsageError(
            f"There is no fast recipe for backbone {backbone!r}; use one of "
            f"{', '.join(_FAST)}, or the recipe 'paper'."
        )
    return _FAST[backbone], _FAST_MEMORY
