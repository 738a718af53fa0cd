"""The interface of every learner: learn a task, predict, save and restore the state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from edgecil.backbones.pretrained import is_pretrained, statistics_of
from edgecil.data.augment import Pipeline
from edgecil.io.device import autocast
from edgecil.methods.task import Scenario, Task

# `features`: any network; `residual`: one of the residual networks, whose stages it takes apart;
# `sockets`: a vision transformer with places for prompts and adapters.
Need = Literal["features", "residual", "sockets"]


@dataclass(frozen=True)
class Environment:
    """What a learner needs to know besides its own configuration.

    Attributes:
        shape: channels, height and width of the images that a network sees; larger stored images
            are cropped at the centre. (d,) for vectors.
        mean: per channel, subtracted from images in [0, 1]; none for vectors.
        std: per channel; images are divided by it.
        backbone: name of the network in `edgecil.backbones`, trained or frozen as the learner does.
        seed: seed of the run; initial weights depend on it.
        device: device to compute on.
        precision: `float32`; `tf32`; or mixed precision, `bfloat16` or `float16`.
        compile: whether to compile the forward pass of a trained backbone with torch.compile.
            Methods that call parts of the backbone directly (TagFex) do not benefit.
        shared: directory where sequences share intermediate results; None disables sharing.
            Results are identical either way.
        normalisation: where mean and std come from: `model` uses a pre-trained network's statistics
            for learners on one, `dataset` the training images' own, `none` 0 and 1.
        scale: `first-task` divides vectors, before a network that is trained on them, by the root
            mean square of the first task's training vectors; `none` leaves them as they are.
    """

    shape: tuple[int, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    backbone: str
    seed: int = 0
    device: str = "cpu"
    precision: Literal["float32", "tf32", "bfloat16", "float16"] = "float32"
    compile: bool = False
    shared: str | None = None
    normalisation: Literal["model", "dataset", "none"] = "model"
    scale: Literal["first-task", "none"] = "first-task"

    def pipeline(self, steps: tuple[str, ...] = ()) -> Pipeline:
        """Return the preparation of images with these augmentation steps; vectors have none."""
        if len(self.shape) == 1:
            return Pipeline((), (), ())
        height, width = self.shape[1:]
        return Pipeline(steps, self.mean, self.std, (height, width))

    @property
    def is_mixed(self) -> bool:
        """Whether the precision is mixed."""
        return self.precision in ("bfloat16", "float16")

    def autocast(self) -> torch.autocast:
        """Return mixed precision for a `with` block, if it is on."""
        return autocast(self.precision, self.device)


def suited_to(backbone: str, environment: Environment) -> Environment:
    """Return the environment with the image statistics that suit a backbone.

    They are the pre-trained model's if the backbone is one and `normalisation` is `model`.
    """
    on_vectors = len(environment.shape) == 1
    if on_vectors or environment.normalisation != "model" or not is_pretrained(backbone):
        return environment
    statistics = statistics_of(backbone)
    if statistics is None:
        return environment
    return replace(environment, mean=statistics.mean, std=statistics.std)


class Method(ABC):
    """A class-incremental learner.

    The interface assumes no network, gradients, memory or head, so closed-form learners fit too.

    Attributes:
        classifiers: names of the classifiers, the main one first (`head`, `nme`, …).
        kept: names of the attributes that are the state: tensors, modules, plain values, lists and
            dictionaries of them, and objects with a state of their own.
        sees_everything: whether each task includes the images of all earlier classes. Set this for
            upper bounds only.
        only_for_predictions: entries of the state that no later task reads; they are not stored.
        need: what it needs of its network.
        alternative: what to use where a network lacks that.
        frozen: whether it learns on a frozen pre-trained network.
        order_free: whether its scores of an image do not depend on the order of the classes, on
            what else was learnt, nor on the seed; it then has :meth:`scores`.
        adapts: whether predictions are meant to depend on the other test inputs of a call, as those
            of test-time adaptation do.
        trains: whether it trains on the current task; one that computes closed forms or class means
            does not, and is never said to be trained too little.
        seen: original ids of the classes learnt so far, in order of arrival.
    """

    classifiers: ClassVar[tuple[str, ...]] = ("head",)
    kept: ClassVar[tuple[str, ...]] = ()
    sees_everything: ClassVar[bool] = False
    only_for_predictions: ClassVar[tuple[str, ...]] = ()
    need: ClassVar[Need] = "features"
    alternative: ClassVar[str] = "another learner, such as 'simplecil' or 'er'"
    frozen: ClassVar[bool] = False
    order_free: ClassVar[bool] = False
    adapts: ClassVar[bool] = False
    trains: bool = True

    @classmethod
    def needs(cls, config: Any) -> Need:
        """Return what a learner with these settings needs of its network."""
        return cls.need

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.seen: tuple[int, ...] = ()

    @abstractmethod
    def learn(self, task: Task) -> None:
        """Learn one task and set `seen`; the task's images are not available afterwards."""

    @abstractmethod
    def classify(self, inputs: Tensor) -> dict[str, Tensor]:
        """New labels (n,) of images (n, c, h, w) uint8 or vectors (n, d), by the classifier's name.

        The inputs are in host memory; the labels may be on any device.
        """

    def initial_features(self, inputs: Tensor) -> Tensor | None:
        """Return features (n, d) of inputs by a new learner, before any training; None without any.

        Class means of them are what a trained learner should not fall below on its first task.
        """
        return None

    def scores(self, scenario: Scenario) -> Tensor:
        """Return a score (n_test, classes) of each test image for each class of the dataset.

        Required of learners that are `order_free`, and called on a new one: after any tasks, the
        prediction must be the class with the largest score among those seen, the first one among
        equal scores. All class orders are then evaluated from these scores. Test labels are
        hidden from learners that are not part of edgecil.
        """
        raise NotImplementedError(f"{type(self).__name__} is order-free but has no scores().")

    def predict(self, inputs: Tensor, classifier: str | None = None) -> Tensor:
        """Predict original class ids (n,) of uint8 images (n, c, h, w), among the seen classes."""
        labels = self.classify(inputs)[classifier or self.classifiers[0]]
        return torch.tensor(self.seen, device=labels.device)[labels]

    def state(self) -> dict[str, Any]:
        """Return everything needed to resume: CPU tensors and plain values; None is left out."""
        kept = {name: getattr(self, name) for name in self.kept}
        values = {name: saved(value) for name, value in kept.items() if value is not None}
        return {"seen": list(self.seen), **values}

    def restore(self, state: dict[str, Any]) -> None:
        """Load a state from :meth:`state`; predictions are then bit-identical."""
        self.seen = tuple(state["seen"])
        for name in self.kept:
            if name in state:  # what no later task reads may be left out
                value = restored(getattr(self, name), state[name], self.environment.device)
                setattr(self, name, value)


def saved(value: Any) -> Any:
    """Return what a state stores of a value: CPU tensors, which are copies where they may change.

    Tensors that are attributes of a learner are replaced and never modified in place.
    """
    if isinstance(value, torch.nn.Module):
        return {name: tensor.to("cpu", copy=True) for name, tensor in value.state_dict().items()}
    if isinstance(value, torch.nn.Parameter):
        return value.detach().to("cpu", copy=True)
    if isinstance(value, Tensor):
        return value.cpu()
    if isinstance(value, list):
        return [saved(item) for item in value]
    if isinstance(value, dict):
        return {name: saved(item) for name, item in value.items()}
    return value.state() if hasattr(value, "state") else value


def restored(current: Any, value: Any, device: str | torch.device) -> Any:
    """Return a value from what :func:`saved` returned, given the attribute of a new learner."""
    if isinstance(current, torch.nn.Module):
        current.load_state_dict(value)
        return current.eval()
    if hasattr(current, "restore"):
        current.restore(value, device)
        return current
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, list):
        return [restored(None, item, device) for item in value]
    if isinstance(value, dict):
        return {name: restored(None, item, device) for name, item in value.items()}
    return value
