"""Tasks: the training images of one step of a class sequence, available while it is learnt."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from edgecil.backbones.features import take_named
from edgecil.data.dataset import Dataset, Examples
from edgecil.data.stored_pixels import StoredPixels, stored_tensor
from edgecil.errors import EdgecilError, UsageError, warn
from edgecil.io.arrays import Inputs, Ints
from edgecil.sequences.sequence import ClassSequence


def derive_seed(*parts: object) -> int:
    """Derive a 63-bit seed from plain values; the same values give the same seed everywhere.

    >>> derive_seed(0, "epoch", 3) == derive_seed(0, "epoch", 3) != derive_seed(0, "epoch", 4)
    True
    """
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def derive_generator(device: torch.device | str, *parts: object) -> torch.Generator:
    """Return a torch generator on `device`, seeded by :func:`derive_seed`."""
    return torch.Generator(device=device).manual_seed(derive_seed(*parts))


class PastDataError(EdgecilError):
    """A learner accessed the training images of a task that has ended."""


class Task:
    """The training images of one task.

    Labels are *new* labels: the class at position i of the class order has label i, so the outputs
    of a head are in order of arrival.

    Attributes:
        index: 0 for the first task.
        classes: original ids of the new classes.
        names: their names.
        seen: original ids of all classes so far, in order of arrival; `seen[label]` is the
            original id of a new label.
        run_seed: seed of the run.
        seed: seed for all randomness within this task; it depends only on the run seed, this task
            and all earlier tasks.
        device: device of the labels and of all computations; the images stay in host memory, and
            learners move them batch by batch.
    """

    def __init__(
        self,
        tasks: tuple[tuple[int, ...], ...],
        inputs: Tensor,
        labels: Tensor,
        run_seed: int,
        names: tuple[str, ...] = (),
    ) -> None:
        self.index = len(tasks) - 1
        self.classes = tasks[-1]
        self.seen = tuple(class_ for task in tasks for class_ in task)
        self.run_seed = run_seed
        self.seed = derive_seed(run_seed, tasks)
        self.device = labels.device
        self.names = names
        self._alone: Task | None = None
        self._data: tuple[Tensor, Tensor] | None = (inputs, labels)

    @property
    def old_count(self) -> int:
        """Number of classes in earlier tasks."""
        return len(self.seen) - len(self.classes)

    @property
    def inputs(self) -> Tensor:
        """Training images, uint8, shape (n, channels, height, width)."""
        return self._open()[0]

    @property
    def labels(self) -> Tensor:
        """New labels of the images, int64, shape (n,)."""
        return self._open()[1]

    def of_class(self, label: int) -> Tensor:
        """Return the images of one new label."""
        return self.inputs[(self.labels == label).to(self.inputs.device)]

    def generator(self, *purpose: object) -> torch.Generator:
        """Return a generator for one purpose within this task, such as one epoch."""
        return derive_generator(self.device, self.seed, *purpose)

    def alone(self) -> Task:
        """Return this task as the first: labels start at 0, and the seed ignores earlier tasks.

        A result computed from it depends on the task's own classes only, so sequences can share it.
        """
        if self._alone is None:
            inputs, labels = self._open()
            self._alone = Task((self.classes,), inputs, labels - self.old_count, self.run_seed)
        return self._alone

    def close(self) -> None:
        """End the task and release its images."""
        self._data = None
        if self._alone is not None:
            self._alone.close()

    def _open(self) -> tuple[Tensor, Tensor]:
        if self._data is None:
            raise PastDataError(
                f"Task {self.index + 1} has ended and its training images are no longer available; "
                "keep exemplars in the learner's memory, within its budget."
            )
        return self._data


@dataclass(frozen=True, eq=False)
class Split:
    """Images of a dataset: pixels uint8 (n, c, h, w) in host memory, labels int64 (n,)."""

    inputs: Tensor
    labels: Tensor

    def only(self, classes: tuple[int, ...], generator: torch.Generator | None = None) -> Split:
        """Return the images of some classes, class by class in the order given.

        With a generator on the CPU, they are in a random order instead.
        """
        where = [torch.nonzero(self.labels == class_).squeeze(1) for class_ in classes]
        chosen = torch.cat(where)
        if generator is not None:
            chosen = chosen[torch.randperm(len(chosen), generator=generator).to(chosen.device)]
        return self.take(chosen)

    def take(self, chosen: Tensor) -> Split:
        """Return the images at some places."""
        inputs = take_named(self.inputs, chosen.to(self.inputs.device))
        return Split(inputs, self.labels[chosen])


class Scenario:
    """A dataset that arrives task by task, for any sequence of its classes."""

    def __init__(self, dataset: Dataset, device: torch.device | str = "cpu") -> None:
        self.name = dataset.name
        self.names = dataset.names
        self.classes = len(dataset)
        self._is_copied = False  # by each process that this one starts
        self.train = _split_on(dataset.train, device)
        self.test = _split_on(dataset.test, device)

    def share_memory(self) -> None:
        """Let processes that this one starts share the inputs; elsewhere each gets a copy."""
        splits = (self.train, self.test)
        tensors = [tensor for split in splits for tensor in (split.inputs, split.labels)]
        try:
            for tensor in tensors:
                tensor.share_memory_()
        except RuntimeError as error:
            self._is_copied = True
            size = sum(tensor.nbytes for tensor in tensors)
            reason = str(error).rpartition(": ")[2]
            warn(
                f"Processes on this machine cannot share memory ({reason}): each worker copies "
                f"the inputs, {size / 1e6:,.1f} MB. `workers` set to 1 needs no copy; in a "
                "container, a larger /dev/shm (--shm-size) shares them."
            )

    def __getstate__(self) -> dict[str, Any]:
        """Give tensors that other processes copy as arrays, which torch does not try to share."""
        state = dict(self.__dict__)
        if self._is_copied:
            for name in ("train", "test"):
                split = state[name]
                is_stored = isinstance(split.inputs, StoredPixels)
                inputs = split.inputs if is_stored else split.inputs.numpy()
                state[name] = (inputs, split.labels.numpy())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._is_copied:
            self.train = _split_of(*state["train"])
            self.test = _split_of(*state["test"])

    def on(self, device: torch.device | str) -> Scenario:
        """Return the same scenario with its labels on a device."""
        moved = copy(self)
        moved.train, moved.test = (
            Split(split.inputs, split.labels.to(device)) for split in (self.train, self.test)
        )
        return moved

    def with_test_order(self, order: Tensor) -> Scenario:
        """Return the same scenario with its test images in another order."""
        changed = copy(self)
        changed.test = self.test.take(order.to(self.test.labels.device))
        return changed

    def without_test_labels(self) -> Scenario:
        """Return the same scenario with 0 in place of every test label."""
        hidden = copy(self)
        hidden.test = Split(self.test.inputs, torch.zeros_like(self.test.labels))
        return hidden

    @contextmanager
    def task(
        self, tasks: tuple[tuple[int, ...], ...], run_seed: int, *, everything: bool = False
    ) -> Iterator[Task]:
        """Return the last of these tasks, for as long as the `with` block lasts."""
        sequence = ClassSequence(tasks)
        tasks, order = sequence.tasks, sequence.sorted_order
        if max(order) >= self.classes:
            raise UsageError(
                f"The sequence names class {max(order)} but dataset {self.name!r} has "
                f"{self.classes} classes."
            )
        part = self.train.only(order if everything else tasks[-1])
        names = tuple(self.names[class_] for class_ in tasks[-1])
        task = Task(tasks, part.inputs, relabel(part.labels, order), run_seed, names)
        try:
            yield task
        finally:
            task.close()


def _split_on(examples: Examples, device: torch.device | str) -> Split:
    """Return inputs as a tensor, and labels on a device."""
    return Split(stored_tensor(examples.inputs), torch.from_numpy(examples.labels).to(device))


def _split_of(inputs: Inputs | StoredPixels, labels: Ints) -> Split:
    """Return the split of arrays, and of images in a file."""
    is_stored = isinstance(inputs, StoredPixels)
    return Split(inputs if is_stored else torch.from_numpy(inputs), torch.from_numpy(labels))


def relabel(labels: Tensor, order: tuple[int, ...]) -> Tensor:
    """Map original labels to new ones: class `order[i]` gets label i."""
    table = np.full(max(order) + 1, -1)
    table[list(order)] = np.arange(len(order))
    return torch.from_numpy(table).to(labels.device)[labels]
