"""Settings of learners: dataclasses whose types say which values they accept, and schedules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, cos, pi
from typing import Literal

from edgecil.data.augment import parse_steps
from edgecil.errors import UsageError, unknown_name_error, wrong_value_error
from edgecil.hints import Count, MismatchError, Positive, check_limits, class_types


@dataclass(frozen=True)
class Settings:
    """Base of frozen dataclasses that refuse values outside the ranges and choices of their types.

    >>> @dataclass(frozen=True)
    ... class MineConfig(Settings):
    ...     width: Count = 16
    >>> MineConfig(width=0)
    Traceback (most recent call last):
    edgecil.errors.UsageError: Setting 'width' of Mine must be at least 1. Got 0.
    """

    def __post_init__(self) -> None:
        for name, hint in class_types(type(self)).items():
            value = getattr(self, name)
            try:
                check_limits(value, hint)
            except MismatchError as error:
                if error.choices:
                    raise unknown_name_error(name, value, error.choices) from error
                method = type(self).__name__.removesuffix("Config")
                raise UsageError(
                    f"Setting {name!r} of {method} must be {error.allowed}. Got {value}."
                ) from error


@dataclass(frozen=True)
class Schedule(Settings):
    """Gradient descent on one task; the defaults are the paper's.

    The budget of a task is a number of `epochs` or, if given, of `steps` of the optimiser, however
    many inputs the task has; the learning rate then changes with the steps, and milestones are
    steps. The rate of the schedule `steps` is multiplied by `decay` at each milestone; `cosine`
    decays to zero along half a cosine; `quarter-cosine` is CODA-Prompt's: a quarter of a cosine,
    one epoch late, so that the first two epochs have the full rate.
    """

    epochs: Count = 170
    steps: Count | None = None  # optimiser steps per task, in place of epochs
    learning_rate: Positive = 0.1
    schedule: Literal["steps", "cosine", "quarter-cosine"] = "steps"
    milestones: tuple[int, ...] = (60, 120, 170)
    decay: float = 0.1
    optimizer: Literal["sgd", "adam", "adamw"] = "sgd"
    momentum: float = 0.9  # of SGD; Adam uses 0.9 and 0.999
    weight_decay: float = 5e-4  # L2 penalty; decoupled with AdamW
    batch_size: Count = 128
    augment: tuple[str, ...] = ("crop", "flip")  # steps of `edgecil.data.augment`
    head_factor: Positive = 1.0  # rate of heads beside prompts or adapters, relative to the others
    clip: Positive | None = None  # largest norm of the gradient of all weights
    drop_last: bool = False  # leave out the last batch of an epoch if it is smaller
    # Number of parts into which a batch is split to save memory; their gradients are added before
    # the step. Batch normalisation then uses the statistics of a part, and losses that compare the
    # images of a batch compare the images of a part.
    accumulate: Count = 1
    first: Schedule | None = None  # schedule of the first task, if it has its own

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.accumulate > self.batch_size:
            allowed = f"from 1 to the batch size {self.batch_size}"
            raise wrong_value_error("accumulate", allowed, self.accumulate)
        if self.first is not None and self.first.first is not None:
            raise UsageError("The schedule of the first task must not have its own 'first'.")
        parse_steps(",".join(self.augment))

    @property
    def duration(self) -> int:
        """The budget of a task, in steps if it is given in steps, otherwise in epochs."""
        return self.epochs if self.steps is None else self.steps

    def count_steps(self, inputs: int) -> int:
        """Return the number of optimiser steps on a task with so many inputs."""
        return self.steps or self.epochs * ceil(inputs / self.batch_size)

    def rate(self, moment: int) -> float:
        """Return the learning rate in an epoch, or in a step of a budget in steps, from 0."""
        if self.schedule == "cosine":
            return self.learning_rate * 0.5 * (1.0 + cos(pi * moment / self.duration))
        if self.schedule == "quarter-cosine":
            late = max(0, moment - 1)
            return self.learning_rate * cos(0.495 * pi * late / max(1, self.duration - 1))
        passed = sum(moment >= milestone for milestone in self.milestones)
        return self.learning_rate * self.decay**passed

    def lasting(self, share: float) -> Schedule:
        """Return the schedule with a share of its budget, at least 1; milestones are scaled too."""
        return replace(
            self,
            epochs=max(1, round(share * self.epochs)),
            steps=None if self.steps is None else max(1, round(share * self.steps)),
            milestones=tuple(round(share * milestone) for milestone in self.milestones),
            first=None if self.first is None else self.first.lasting(share),
        )

    def lasting_epochs(self, epochs: int) -> Schedule:
        """Return the schedule with so many epochs; milestones are scaled too."""
        return replace(self.lasting(epochs / self.duration), steps=None, epochs=epochs)

    def at(self, task_index: int) -> Schedule:
        """Return the schedule of one task, counted from 0; it has no `first`."""
        if self.first is None:
            return self
        return replace(self, first=None) if task_index else self.first


PAPER = Schedule()
