"""Schedules: epochs, learning rates, batches and augmentation of one task."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import cos, pi
from typing import Literal

from edgecil.data.augment import parse_steps
from edgecil.errors import UsageError, unknown

SCHEDULES = ("steps", "cosine", "quarter-cosine")
OPTIMIZERS = ("sgd", "adam", "adamw")


@dataclass(frozen=True)
class Schedule:
    """Gradient descent on one task; the defaults are the paper's.

    Attributes:
        epochs: passes over the task's images.
        learning_rate: initial learning rate.
        schedule: `steps` multiplies by `decay` at each milestone; `cosine` decays to zero along
            half a cosine; `quarter-cosine` is CODA-Prompt's: a quarter of a cosine, one epoch
            late, so that the first two epochs have the full rate.
        milestones: epochs of the steps.
        decay: factor of each step.
        optimizer: `sgd`, `adam` or `adamw`.
        momentum: momentum of SGD; Adam uses 0.9 and 0.999.
        weight_decay: L2 penalty; decoupled with AdamW.
        batch_size: images per step.
        augment: steps of `edgecil.data.augment`, by name.
        head_factor: learning rate of heads relative to `learning_rate`; learners that train
            prompts or adapters use it.
        clip: largest norm of the gradient of all weights; None to leave gradients as they are.
        drop_last: whether to leave out the last batch of an epoch if it is smaller than the others.
        accumulate: number of parts into which a batch is split to save memory; their gradients are
            added before the step. Batch normalisation then uses the statistics of a part, and
            losses that compare the images of a batch compare those of a part.
        first: schedule of the first task; None if it is this one.
    """

    epochs: int = 170
    learning_rate: float = 0.1
    schedule: Literal["steps", "cosine", "quarter-cosine"] = "steps"
    milestones: tuple[int, ...] = (60, 120, 170)
    decay: float = 0.1
    optimizer: Literal["sgd", "adam", "adamw"] = "sgd"
    momentum: float = 0.9
    weight_decay: float = 5e-4
    batch_size: int = 128
    augment: tuple[str, ...] = ("crop", "flip")
    head_factor: float = 1.0
    clip: float | None = None
    drop_last: bool = False
    accumulate: int = 1
    first: Schedule | None = None

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch_size < 1 or not self.learning_rate > 0.0:
            raise UsageError(
                "A schedule requires epochs >= 1, batch_size >= 1 and learning_rate > 0. "
                f"Got {self.epochs}, {self.batch_size} and {self.learning_rate}."
            )
        if not 1 <= self.accumulate <= self.batch_size:
            raise UsageError(
                f"'accumulate' must be from 1 to the batch size {self.batch_size}. Got "
                f"{self.accumulate} instead."
            )
        if not self.head_factor > 0.0 or (self.clip is not None and not self.clip > 0.0):
            raise UsageError(
                "A schedule requires head_factor > 0 and clip > 0. Got "
                f"{self.head_factor} and {self.clip}."
            )
        if self.first is not None and self.first.first is not None:
            raise UsageError("The schedule of the first task must not have its own 'first'.")
        parse_steps(",".join(self.augment))
        for name, allowed in (("schedule", SCHEDULES), ("optimizer", OPTIMIZERS)):
            if getattr(self, name) not in allowed:
                raise unknown(name, getattr(self, name), allowed)

    def rate(self, epoch: int) -> float:
        """Return the learning rate in an epoch, counted from 0."""
        if self.schedule == "cosine":
            return self.learning_rate * 0.5 * (1.0 + cos(pi * epoch / self.epochs))
        if self.schedule == "quarter-cosine":
            return self.learning_rate * cos(
                0.495 * pi * max(0, epoch - 1) / max(1, self.epochs - 1)
            )
        passed = sum(epoch >= milestone for milestone in self.milestones)
        return self.learning_rate * self.decay**passed

    def lasting(self, share: float) -> Schedule:
        """Return the schedule with a share of its epochs, at least 1; milestones are scaled too."""
        return replace(
            self,
            epochs=max(1, round(share * self.epochs)),
            milestones=tuple(round(share * milestone) for milestone in self.milestones),
            first=None if self.first is None else self.first.lasting(share),
        )

    def at(self, task_index: int) -> Schedule:
        """Return the schedule of one task, counted from 0; it has no `first`."""
        if self.first is None:
            return self
        return replace(self, first=None) if task_index else self.first


PAPER = Schedule()
