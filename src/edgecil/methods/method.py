"""What every learner is: something that learns tasks, predicts, and can be put away and resumed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch

from edgecil.backbones.pretrained import is_pretrained, statistics_of
from edgecil.methods.task import Task


@dataclass(frozen=True)
class Environment:
    """What a learner is told about the world besides its own configuration.

    Attributes:
        shape: channels, height and width of the images.
        mean: per channel, of the training images in [0, 1].
        std: per channel.
        backbone: name in `edgecil.backbones`, of learners that train one.
        pretrained: name in `edgecil.backbones.pretrained`, of learners on a frozen one.
        seed: of the run; initial weights depend on it.
        device: where to compute.
        half: mixed precision; used on CUDA only.
        compile: pass the backbone of the network that is trained through torch.compile: its
            forward pass, not parts of it that a method calls by themselves (TagFex).
        shared: directory of what sequences share and need not compute twice; None shares nothing,
            and gives the same results.
    """

    shape: tuple[int, int, int]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    backbone: str
    seed: int = 0
    device: str = "cpu"
    half: bool = False
    compile: bool = False
    pretrained: str = "vit-quickdraw"
    shared: str | None = None


def suited_to(backbone: str, environment: Environment) -> Environment:
    """The environment with the image statistics that a pre-trained backbone was trained with."""
    if not is_pretrained(backbone):
        return environment
    statistics = statistics_of(backbone)
    return replace(environment, mean=statistics.mean, std=statistics.std)


class Method(ABC):
    """A class-incremental learner.

    Nothing here supposes a network, gradients, a memory or a head: closed-form learners are
    methods too.

    Attributes:
        classifiers: names of the ways to read a prediction off the learner, the main one first
            (a head's output, nearest class mean, …).
        sees_everything: whether its tasks bring all classes seen so far; upper bounds only.
        seen: original ids of the classes learnt, in order of arrival.
    """

    classifiers: ClassVar[tuple[str, ...]] = ("head",)
    sees_everything: ClassVar[bool] = False

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.seen: tuple[int, ...] = ()

    @abstractmethod
    def learn(self, task: Task) -> None:
        """Learn one task; the task is closed when this returns. Sets `seen`."""

    @abstractmethod
    def classify(self, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        """New labels (n,) predicted for images (n, c, h, w), by each of the classifiers."""

    def predict(self, pixels: torch.Tensor, classifier: str | None = None) -> torch.Tensor:
        """Original class ids, shape (n,), for uint8 images (n, c, h, w); only seen classes."""
        seen = torch.tensor(self.seen, device=pixels.device)
        return seen[self.classify(pixels)[classifier or self.classifiers[0]]]

    def state(self) -> dict[str, Any]:
        """All that is needed to go on: tensors on the CPU and plain values."""
        return {"seen": list(self.seen)}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`state` gave; predictions are then bit-identical."""
        self.seen = tuple(state["seen"])
