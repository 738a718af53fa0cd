"""Questions to a learner of the user after its first task, which cost a few predictions.

Does it draw random numbers that no seed determines? Do its answers depend on the other test inputs
and their order? Does it forget something when its state is restored?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from edgecil.backbones.features import take_named
from edgecil.methods.method import Method
from edgecil.methods.plain_learner import LearnerError
from edgecil.methods.task import derive_generator

MOST_INPUTS = 1_000
MOST_CHANGED = 0.005  # share of the labels that may change with the order of the inputs
_BATCHES = 3  # of unequal size

Labels = Mapping[str, Tensor]


@dataclass(frozen=True)
class LearnerChecks:
    """What the questions showed.

    Attributes:
        inputs: number of test inputs that were predicted.
        changed: labels that were others in another order and other batches.
        adapts: whether the learner says that its answers depend on the other inputs.
    """

    inputs: int
    changed: int = 0
    adapts: bool = False


def check_learner(
    method: Method,
    name: str,
    inputs: Tensor,
    answers: Labels,
    restore: Callable[[], Method],
    *,
    adapts: bool,
) -> LearnerChecks:
    """Raise an error if a learner's answers cannot be trusted.

    Args:
        method: the learner, which has given these answers.
        name: its name.
        inputs: the test inputs, in the order in which it was given them.
        answers: its labels of all of them, by classifier.
        restore: makes a new learner from the state before the test.
        adapts: whether it declares that answers depend on the other inputs.
    """
    if adapts:
        _check_restored(answers, _classify_restored(restore, name, inputs), name)
        return LearnerChecks(len(inputs), adapts=True)
    sample = take_named(inputs, torch.arange(min(len(inputs), MOST_INPUTS)))
    labels = _on_host(method.classify(sample))
    repeated = _on_host(method.classify(sample))
    differing = count_different(labels, repeated)
    if differing:
        raise LearnerError(
            f"{name} gave other labels to {differing} of {len(sample)} inputs when it was asked "
            "twice; draw random numbers from a seed, such as the global generators, which are "
            "seeded for every call."
        )
    _check_restored(labels, _classify_restored(restore, name, sample), name)
    changed = count_different(labels, _classify_in_batches(method, sample, labels))
    if changed > max(1, MOST_CHANGED * len(sample)):
        raise LearnerError(
            f"{name} gave other labels to {changed} of {len(sample)} inputs in another order and "
            "other batches; predict each input by itself (batch norm and dropout in evaluation "
            "mode), or declare `adapts = True` if answers are meant to depend on the other inputs."
        )
    return LearnerChecks(len(sample), changed)


def count_different(labels: Labels, again: Labels) -> int:
    """Return how many labels differ, of the classifier that has the most."""
    counts = [int((labels[classifier] != again[classifier]).sum()) for classifier in labels]
    return max(counts, default=0)


def _classify_in_batches(method: Method, inputs: Tensor, labels: Labels) -> dict[str, Tensor]:
    """Return labels of inputs that are predicted in another order and in batches.

    Inputs with equal labels are together, since batches of one class show best what a learner
    takes from the others.
    """
    generator = derive_generator("cpu", "order of test inputs", len(inputs))
    order = torch.randperm(len(inputs), generator=generator)
    main = labels[method.classifiers[0]]
    order = order[torch.argsort(main[order], stable=True)]
    size = -(-len(inputs) // _BATCHES)
    parts = [_on_host(method.classify(take_named(inputs, part))) for part in order.split(size)]
    back = torch.argsort(order)
    return {name: torch.cat([part[name] for part in parts])[back] for name in parts[0]}


def _classify_restored(restore: Callable[[], Method], name: str, inputs: Tensor) -> Labels:
    """Return labels of a new learner that was restored from the state."""
    method = restore()
    try:
        return _on_host(method.classify(inputs))
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        raise LearnerError(
            f"{name} cannot predict after its state is restored in a new object "
            f"({type(error).__name__}); the state must contain everything that predictions need."
        ) from error


def _check_restored(labels: Labels, restored: Labels, name: str) -> None:
    differing = count_different(labels, restored)
    if differing:
        count = len(next(iter(labels.values())))
        raise LearnerError(
            f"{name} gave other labels to {differing} of {count} inputs after its state was "
            "restored in a new object; the state must contain everything that predictions depend "
            "on."
        )


def _on_host(labels: Labels) -> dict[str, Tensor]:
    return {classifier: values.cpu() for classifier, values in labels.items()}
