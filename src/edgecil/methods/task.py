"""Tasks: what a learner is given, one after another, and only while its turn lasts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from edgecil.data.dataset import ImageDataset, Images
from edgecil.errors import EdgecilError, UsageError
from edgecil.methods.seeds import derive_generator, derive_seed
from edgecil.sequences.sequence import ClassSequence


class PastDataError(EdgecilError):
    """A learner reached for the training images of a task that is over."""


class Task:
    """The training images of one task.

    Labels are *new* labels: the class at position i of the order of arrival has label i, so a
    head's outputs are in the order in which classes came.

    Attributes:
        index: 0 for the first task.
        classes: original ids of the classes that are new.
        seen: original ids of all classes so far, in order of arrival; `seen[label]` undoes labels.
        run_seed: of the whole run.
        seed: of everything random in learning this task; depends on the run seed and on this
            and all earlier tasks, and on nothing else.
        device: where the images are.
    """

    def __init__(
        self,
        tasks: tuple[tuple[int, ...], ...],
        pixels: torch.Tensor,
        labels: torch.Tensor,
        run_seed: int,
    ) -> None:
        self.index = len(tasks) - 1
        self.classes = tasks[-1]
        self.seen = tuple(class_ for task in tasks for class_ in task)
        self.run_seed = run_seed
        self.seed = derive_seed(run_seed, tasks)
        self.device = pixels.device
        self._alone: Task | None = None
        self._data: tuple[torch.Tensor, torch.Tensor] | None = (pixels, labels)

    @property
    def old_count(self) -> int:
        """How many classes earlier tasks brought."""
        return len(self.seen) - len(self.classes)

    @property
    def pixels(self) -> torch.Tensor:
        """Training images, uint8, shape (n, channels, height, width)."""
        return self._open()[0]

    @property
    def labels(self) -> torch.Tensor:
        """New labels of the images, int64, shape (n,)."""
        return self._open()[1]

    def generator(self, *purpose: object) -> torch.Generator:
        """Randomness for one purpose (say, an epoch) within this task."""
        return derive_generator(self.device, self.seed, *purpose)

    def alone(self) -> Task:
        """This task as if it were the first: labels and randomness know of no other task.

        What is learnt from it depends on the task's own classes, so sequences can share it.
        """
        if self._alone is None:
            pixels, labels = self._open()
            self._alone = Task((self.classes,), pixels, labels - self.old_count, self.run_seed)
        return self._alone

    def close(self) -> None:
        """End the task: its images can no longer be had."""
        self._data = None
        if self._alone is not None:
            self._alone.close()

    def _open(self) -> tuple[torch.Tensor, torch.Tensor]:
        if self._data is None:
            raise PastDataError(
                f"Task {self.index + 1} is over and its training images are gone; a learner may "
                "keep exemplars in its own memory, within its budget."
            )
        return self._data


@dataclass(frozen=True, eq=False)
class Split:
    """Images of a dataset as tensors on a device: pixels uint8 (n, c, h, w), labels int64 (n,)."""

    pixels: torch.Tensor
    labels: torch.Tensor

    @classmethod
    def of(cls, images: Images, device: torch.device | str) -> Split:
        """The images on a device; on the CPU without a copy."""
        return cls(
            torch.from_numpy(images.pixels).to(device), torch.from_numpy(images.labels).to(device)
        )

    def only(self, classes: tuple[int, ...]) -> Split:
        """The images of some classes, class by class in the order given."""
        where = [torch.nonzero(self.labels == class_).squeeze(1) for class_ in classes]
        chosen = torch.cat(where)
        return Split(self.pixels[chosen], self.labels[chosen])


class Scenario:
    """A dataset that arrives task by task, for any sequence of its classes."""

    def __init__(self, dataset: ImageDataset, device: torch.device | str = "cpu") -> None:
        self.name = dataset.name
        self.classes = len(dataset)
        self.train = Split.of(dataset.train, device)
        self.test = Split.of(dataset.test, device)

    @contextmanager
    def task(
        self, tasks: tuple[tuple[int, ...], ...], run_seed: int, *, everything: bool = False
    ) -> Iterator[Task]:
        """The last of these tasks, for as long as the `with` block lasts.

        Args:
            tasks: this task and all before it, as original class ids.
            run_seed: of the whole run.
            everything: give the images of all classes seen so far; for upper bounds only.
        """
        sequence = ClassSequence(tasks)
        tasks, order = sequence.tasks, sequence.order
        if max(order) >= self.classes:
            raise UsageError(
                f"The sequence names class {max(order)} but dataset {self.name!r} has "
                f"{self.classes} classes."
            )
        given = self.train.only(order if everything else tasks[-1])
        task = Task(tasks, given.pixels, relabel(given.labels, order), run_seed)
        try:
            yield task
        finally:
            task.close()


def relabel(labels: torch.Tensor, order: tuple[int, ...]) -> torch.Tensor:
    """New labels of original ones: class `order[i]` becomes i."""
    table = np.full(max(order) + 1, -1)
    table[list(order)] = np.arange(len(order))
    return torch.from_numpy(table).to(labels.device)[labels]
