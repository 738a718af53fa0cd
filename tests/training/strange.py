"""Learners for the engine's tests: instant ones, and ones that misbehave.

Their configs live here, so that a worker that unpickles one imports this file and knows them all.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from edgecil.methods import Environment, Method, register_method
from edgecil.methods.task import Task


@dataclass(frozen=True)
class StrangeConfig:
    """When to misbehave: at a task of these classes, as long as the file exists."""

    classes: tuple[int, ...] = (0,)
    file: str = ""

    def strikes(self, task: Task) -> bool:
        return set(self.classes) == set(task.classes) and Path(self.file).is_file()


@register_method("instant", StrangeConfig, "nearest mean of noisy pixels, in closed form")
class Instant(Method):
    """Has no network, no gradient and no head; what it draws depends on the whole prefix."""

    classifiers = ("nearest", "farthest")

    def __init__(self, config: StrangeConfig, environment: Environment) -> None:
        super().__init__(environment)
        self.config = config
        self.means: list[torch.Tensor] = []

    def learn(self, task: Task) -> None:
        for label in range(task.old_count, len(task.seen)):
            mean = task.inputs[task.labels == label].float().mean(dim=0)
            noise = torch.randn(mean.shape, generator=task.generator("noise", label))
            self.means.append(mean + 40.0 * noise)
        self.seen = task.seen

    def classify(self, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        means = torch.stack(self.means).flatten(1)
        distances = torch.cdist(pixels.float().flatten(1), means)
        return {"farthest": distances.argmax(dim=1), "nearest": distances.argmin(dim=1)}

    def state(self) -> dict[str, Any]:
        return {**super().state(), "means": self.means}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.means = list(state["means"])


@register_method("raising", StrangeConfig, "raises")
class Raising(Instant):
    def learn(self, task: Task) -> None:
        if self.config.strikes(task):
            raise ValueError(f"cannot learn {task.classes}\nbecause it will not")
        super().learn(task)


@register_method("deadly", StrangeConfig, "takes its process with it, and leaves a note")
class Deadly(Instant):
    def learn(self, task: Task) -> None:
        if self.config.strikes(task):
            Path(self.config.file).with_suffix(".struck").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        super().learn(task)


@register_method("crowded", StrangeConfig, "has no memory beside another of its kind")
class Crowded(Instant):
    def learn(self, task: Task) -> None:
        try:
            Path(self.config.file).touch(exist_ok=False)
        except FileExistsError:
            raise torch.OutOfMemoryError("CUDA out of memory") from None
        time.sleep(0.5)
        super().learn(task)
        Path(self.config.file).unlink()


@register_method("patient", StrangeConfig, "is still learning when the deadly one strikes")
class Patient(Instant):
    def learn(self, task: Task) -> None:
        struck = Path(self.config.file).with_suffix(".struck")
        deadline = time.monotonic() + 300.0
        while self.config.strikes(task) and not struck.exists():
            assert time.monotonic() < deadline, "the deadly one never came"
            time.sleep(0.01)
        super().learn(task)


@register_method("sleepy", StrangeConfig, "sleeps for ten minutes")
class Sleepy(Instant):
    def learn(self, task: Task) -> None:
        if self.config.strikes(task):
            time.sleep(600.0)
        super().learn(task)


@register_method("diverging", StrangeConfig, "has a parameter that is not a number")
class Diverging(Instant):
    def learn(self, task: Task) -> None:
        super().learn(task)
        value = float("nan") if self.config.strikes(task) else 1.0
        self.scale = torch.nn.Linear(1, 1)
        torch.nn.init.constant_(self.scale.weight, value)


@register_method("hungry", StrangeConfig, "asks for more memory than there is")
class Hungry(Instant):
    def learn(self, task: Task) -> None:
        if self.config.strikes(task):
            import resource

            used = (
                int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
                * resource.getpagesize()
            )
            _, most = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (used + 50_000_000, most))
            try:
                self.means += [torch.ones(1_000_000) for _ in range(1000)]
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (most, most))
        super().learn(task)
