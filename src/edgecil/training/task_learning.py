"""Whether a learner has learned its current task, which is told apart from having forgotten it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import normalize

from edgecil.backbones.features import take_named
from edgecil.experiments.results import NodeResult
from edgecil.methods import Method
from edgecil.methods.task import Split, Task

MOST = 200
"""Training inputs of a task that are classified; with more, evenly spaced ones."""


@dataclass(frozen=True, eq=False)
class LearnedInputs:
    """Training inputs of one task, kept beyond the task for the measurement.

    Attributes:
        inputs: images (n, c, h, w) or vectors (n, d).
        labels: new labels (n,).
        is_first: whether the task is the first one.
    """

    inputs: Tensor
    labels: Tensor
    is_first: bool

    @classmethod
    def of(cls, task: Task) -> LearnedInputs:
        """Return at most `MOST` inputs of the task's own classes."""
        places = torch.nonzero(task.labels >= task.old_count).squeeze(1)
        if len(places) > MOST:
            places = places[torch.linspace(0, len(places) - 1, MOST).long().to(places.device)]
        inputs = take_named(task.inputs, places.to(task.inputs.device))
        return cls(inputs, task.labels[places], not task.old_count)

    def shuffled(self, generator: torch.Generator) -> LearnedInputs:
        """Return the same inputs in a random order."""
        order = torch.randperm(len(self.labels), generator=generator)
        inputs = take_named(self.inputs, order.to(self.inputs.device))
        return replace(self, inputs=inputs, labels=self.labels[order.to(self.labels.device)])


def count_training_answers(method: Method, learned: LearnedInputs) -> tuple[int, int]:
    """Return how many of the training inputs the main classifier has right, and their number."""
    answers = method.classify(learned.inputs)[method.classifiers[0]].to(learned.labels.device)
    return int((answers == learned.labels).sum()), len(learned.labels)


def count_class_mean_answers(
    untrained: Method, learned: LearnedInputs, tested: Split, classes: tuple[int, ...]
) -> int | None:
    """Return how many test inputs of the first task class means have right, before any training.

    The means are of features of a new learner, or of vectors themselves; by cosine similarity. None
    for images where the learner has no features.
    """
    features = untrained.initial_features
    trained_rows, test_rows = features(learned.inputs), features(tested.inputs)
    if trained_rows is None or test_rows is None:
        if learned.inputs.dim() != 2:
            return None
        trained_rows, test_rows = learned.inputs, tested.inputs
    labels = learned.labels.to(trained_rows.device)
    directions = normalize(trained_rows.float(), dim=1)
    means = torch.stack([directions[labels == label].mean(dim=0) for label in range(len(classes))])
    nearest = (normalize(test_rows.float(), dim=1) @ normalize(means, dim=1).T).argmax(dim=1)
    expected = tested.labels.to(nearest.device)
    return int((torch.tensor(classes, device=nearest.device)[nearest] == expected).sum())


def with_learning(
    result: NodeResult,
    method: Method,
    untrained: Method | None,
    learned: LearnedInputs,
    tested: Split,
) -> NodeResult:
    """Return a result with the answers on training inputs and, of a first task, of class means."""
    if not method.trains:
        return result
    means = None
    if learned.is_first and untrained is not None:
        means = count_class_mean_answers(untrained, learned, tested, method.seen)
    return replace(result, training=count_training_answers(method, learned), class_means=means)
