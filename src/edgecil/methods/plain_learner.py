"""Plain learners: any class with `fit_task`, `predict`, `state_dict` and `load_state_dict`.

They need not know about edgecil. Images are uint8 tensors (n, c, h, w); labels and predictions (n,)
are the dataset's own class ids. A state is everything needed to resume, tensors and plain values,
and is loaded into a new object.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from edgecil.backbones.model_slot import seeded_generators
from edgecil.errors import EdgecilError, UsageError
from edgecil.methods.method import Environment, Method
from edgecil.methods.task import Task, derive_seed

_REQUIRED = ("fit_task", "predict", "state_dict", "load_state_dict")
_SUMMARY = (
    "A plain learner has fit_task(images, labels, classes) or fit_task(loader), predict(images), "
    "state_dict() and load_state_dict(state)."
)
_PLAIN = (bool, int, float, str, type(None))
_PARTS = ("images", "labels", "classes", "names", "loader")
_USUAL = ("images", "labels", "classes")
_BATCH = 64  # images per batch of a loader, unless the learner has a `batch_size`


class LearnerError(EdgecilError):
    """A plain learner broke its contract; the message says what to change."""


class PlainMethod(Method):
    """A plain learner as a :class:`Method`.

    The global generators of Python, NumPy and torch are seeded from the run seed and the tasks
    while the learner works, and restored afterwards. Results are therefore reproducible although
    the learner uses global randomness.
    """

    def __init__(self, make: Callable[[], Any], name: str, environment: Environment) -> None:
        super().__init__(environment)
        self.name = name
        with seeded_generators(derive_seed(environment.seed, "plain learner"), environment.device):
            self.learner = make()
        if missing := _missing(self.learner):
            raise LearnerError(f"{name} has no method {missing[0]!r}; add it. {_SUMMARY}")

    def learn(self, task: Task) -> None:
        """Call `fit_task` with the original class ids."""
        self.seen = task.seen
        labels = torch.tensor(task.seen, device=task.device)[task.labels]
        with seeded_generators(task.seed, self.environment.device):
            arguments: dict[str, Callable[[], Any]] = {
                "images": lambda: task.inputs.to(task.device),
                "labels": lambda: labels,
                "classes": lambda: task.classes,
                "names": lambda: task.names,
                "loader": lambda: self._loader(task, labels),
            }
            self.learner.fit_task(*(arguments[name]() for name in _wanted(self.learner)))

    def _loader(self, task: Task, labels: Tensor) -> torch.utils.data.DataLoader[Any]:
        """Return the task as a DataLoader of images and class ids, shuffled by the task's seed."""
        size = getattr(self.learner, "batch_size", _BATCH)
        generator = torch.Generator().manual_seed(derive_seed(task.seed, "loader"))
        items = torch.utils.data.TensorDataset(task.inputs, labels.cpu())
        return torch.utils.data.DataLoader(items, size, shuffle=True, generator=generator)

    def classify(self, inputs: Tensor) -> dict[str, Tensor]:
        """Call `predict` and map class ids to new labels."""
        seed = derive_seed(self.environment.seed, "predict", self.seen)
        with seeded_generators(seed, self.environment.device), torch.no_grad():
            images = inputs.to(self.environment.device)
            predicted = torch.as_tensor(self.learner.predict(images), device=images.device)
        if predicted.shape != (len(inputs),):
            raise LearnerError(
                f"{self.name}.predict returned shape {tuple(predicted.shape)} for {len(inputs)} "
                "images; return one class id per image."
            )
        position = {class_: label for label, class_ in enumerate(self.seen)}
        unseen = sorted(set(predicted.tolist()) - position.keys())
        if unseen:
            raise LearnerError(
                f"{self.name}.predict returned {unseen[0]}, which is not one of the classes seen "
                f"so far ({', '.join(map(str, self.seen))}); return the dataset's own class ids."
            )
        labels = [position[class_] for class_ in predicted.tolist()]
        return {"head": torch.tensor(labels, dtype=torch.int64, device=predicted.device)}

    def state(self) -> dict[str, Any]:
        """Return the learner's state, copied to the CPU."""
        state = self.learner.state_dict()
        return {**super().state(), "learner": _copied(state, f"{self.name}.state_dict()")}

    def restore(self, state: dict[str, Any]) -> None:
        """Load a state from :meth:`state`."""
        super().restore(state)
        try:
            self.learner.load_state_dict(_copied(state["learner"], "state"))
        except Exception as error:
            raise LearnerError(
                f"{self.name}.load_state_dict failed on a new object ({type(error).__name__}: "
                f"{str(error).splitlines()[0] if str(error) else 'no message'}); it must accept a "
                "state with any number of classes, so resize the outputs there or create them all "
                "in the constructor."
            ) from error


def check_plain(learner: Callable[..., Any], name: str) -> None:
    """Raise an error if a class lacks a method of a plain learner; functions are not checked."""
    if isinstance(learner, type) and (missing := _missing(learner)):
        raise UsageError(
            f"{name} is neither an edgecil.Method nor a plain learner: it has no method "
            f"{missing[0]!r}. {_SUMMARY}"
        )


def _wanted(learner: Any) -> tuple[str, ...]:
    """Return what `fit_task` asks for by the names of its parameters.

    Parameters with other names get images, labels and classes, in this order.
    """
    names = tuple(inspect.signature(learner.fit_task).parameters)
    if {"loader", "names"}.isdisjoint(names):
        return _USUAL
    for name in names:
        if name not in _PARTS:
            raise LearnerError(
                f"fit_task has a parameter {name!r}; beside a loader or names, it may ask for "
                f"{', '.join(_PARTS)}."
            )
    return names


def _missing(learner: object) -> list[str]:
    return [name for name in _REQUIRED if not callable(getattr(learner, name, None))]


def _copied(value: Any, path: str) -> Any:
    """Return a copy of tensors and plain values on the CPU; other values are an error."""
    if isinstance(value, Tensor):
        return value.detach().to("cpu", copy=True)
    if isinstance(value, dict):
        return {key: _copied(item, f"{path}[{key!r}]") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_copied(item, f"{path}[{i}]") for i, item in enumerate(value))
    if isinstance(value, _PLAIN) and type(value) in _PLAIN:
        return value
    raise LearnerError(
        f"{path} has a value of type {type(value).__name__}; use tensors, numbers, strings, lists "
        "and dictionaries."
    )
