"""Contract checks for your own learner or protocol: `edgecil.testing.check_method(MyLearner)`.

The checks train the learner on tiny synthetic images, in seconds for a small network. A failed
check raises AssertionError with a sentence that says what to change. :func:`check_protocol` does
the same for a protocol and trains nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from edgecil.backbones.model_slot import backbone_text
from edgecil.backbones.named import default_backbone
from edgecil.data.augment import channel_statistics
from edgecil.data.dataset import Dataset, Examples
from edgecil.errors import EdgecilError
from edgecil.methods.entry import MethodEntry
from edgecil.methods.method import Environment, Method
from edgecil.methods.plain_learner import LearnerError, PlainMethod
from edgecil.methods.resolve import resolve_method
from edgecil.methods.settings import Schedule
from edgecil.methods.task import Scenario
from edgecil.registry import Registry
from edgecil.sequences.protocols.protocol_contract import check_protocol as check_protocol
from edgecil.sequences.sequence import Tasks as Tasks
from edgecil.training.learner_checks import check_learner
from edgecil.training.main_guard import refuse_while_importing
from edgecil.training.node_training import pack, unpack

SIDE = 12
SPOTS = [(row, column) for row in (0, 4, 8) for column in (0, 4, 8)]
_TINY = {"train": 6, "test": 4}  # images per class: two batches in a task of two classes
_MANY = {"train": 20, "test": 20}  # images per class: enough to tell learning from chance
_BELOW_MEANS = 3.0  # points by which class means of the pixels may be better
TASKS: Tasks = ((0, 3), (1, 4), (2, 5))
BRIEF = Schedule(epochs=2, learning_rate=0.05, schedule="cosine", batch_size=8, augment=("crop:1",))


def toy_images(
    classes: int, each: int, *, channels: int = 1, contrast: int = 150, seed: int = 0
) -> Examples:
    """Noise images of up to nine classes; each class has a bright square at its own position."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(classes), each)).astype(np.int64)
    pixels = rng.integers(0, 100, (len(labels), channels, SIDE, SIDE), dtype=np.uint8)
    for image, label in zip(pixels, labels, strict=True):
        row, column = SPOTS[label]
        image[:, row : row + 4, column : column + 4] += np.uint8(contrast)
    return Examples(pixels, labels)


def toy_dataset(
    classes: int = 6, *, train: int = 12, test: int = 8, channels: int = 1, contrast: int = 150
) -> Dataset:
    """Return a dataset of :func:`toy_images`, 12 pixels wide."""
    return Dataset(
        "toy",
        tuple(f"spot {label}" for label in range(classes)),
        toy_images(classes, train, channels=channels, contrast=contrast, seed=0),
        toy_images(classes, test, channels=channels, contrast=contrast, seed=1),
    )


@dataclass(frozen=True)
class Subject:
    """A learner under test; by default with the network for the data."""

    entry: MethodEntry
    settings: Mapping[str, Any] = field(default_factory=dict)
    schedule: Schedule = BRIEF
    backbone: str | None = None
    learns: bool = True

    def build(self, dataset: Dataset, seed: int = 0) -> Method:
        """Return a new, untrained learner."""
        statistics = channel_statistics(torch.from_numpy(dataset.train.inputs))
        environment = Environment(
            dataset.shape,
            statistics.mean,
            statistics.std,
            self.backbone or default_backbone(dataset.shape, frozen=self.entry.pretrained),
            seed,
        )
        _, memory = self.entry.schedule("paper", "resnet-tiny")
        settings = {**self.entry.fast_settings, **self.settings}
        return self.entry.build(self.entry.configure(self.schedule, memory, settings), environment)


class TestedLearner:
    """A learner on tiny images, whose failed calls become errors that say what to change."""

    def __init__(self, subject: Subject) -> None:
        dataset = toy_dataset(**_TINY)
        self._name = subject.entry.name
        self.scenario = Scenario(dataset)
        self._restored = False
        with self._call("The constructor", "failed", "it must accept its default settings"):
            self.method = subject.build(dataset)
        # Names of the four calls, for error messages.
        self._learn, self._classify = "learn", "classify"
        self._state, self._restore = "state", "restore"
        if isinstance(self.method, PlainMethod):
            self._learn, self._classify = "fit_task", "predict"
            self._state, self._restore = "state_dict", "load_state_dict"

    def learn(self, tasks: Tasks) -> None:
        """Learn the last of these tasks."""
        advice = "tasks may have any classes and any number of them"
        with self._call(self._learn, f"failed on task {len(tasks)}", advice):
            learn(self.method, self.scenario, tasks)

    def classify(self) -> dict[str, torch.Tensor]:
        """Return the predicted labels of all test images by classifier."""
        advice = "it must accept any number of images after every task"
        with self._call(self._classify, "failed", advice):
            return self.method.classify(self.scenario.test.inputs)

    def state(self) -> dict[str, Any]:
        """Return the state."""
        advice = "it must return the state after every task"
        with self._call(self._state, "failed", advice):
            return self.method.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Load a state."""
        advice = f"it must accept the state of {self._state} after any task, in a new object"
        with self._call(self._restore, "failed", advice):
            self.method.restore(state)
        self._restored = True

    @contextmanager
    def _call(self, call: str, failed: str, advice: str) -> Iterator[None]:
        if self._restored:
            failed += f" after {self._restore}({self._state}()) in a new object"
            advice = (
                f"the state lacks something that {self._learn} creates: return it from "
                f"{self._state} and set it in {self._restore}"
            )
        try:
            yield
        except EdgecilError:  # a complete sentence
            raise
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            raise AssertionError(
                f"{self._name}: {call} {failed} ({reason.rstrip(': ')}); {advice}."
            ) from error


MethodCheck = Callable[[Subject], None]
METHOD_CHECKS: Registry[MethodCheck] = Registry("check")


def check_method(
    method: str | MethodEntry | Callable[..., Any],
    *,
    settings: Mapping[str, Any] | None = None,
    backbone: Any = None,
    learns: bool = True,
) -> None:
    """Check that a learner keeps the contract that the engine relies on, and that it learns.

    Args:
        method: a class, a function, or text as :func:`edgecil.methods.get_method` accepts.
        settings: settings by name.
        backbone: network of the learner; by default the one for the data.
        learns: whether to check that it learns a first task as well as class means do; not for
            learners that are not meant to.
    """
    refuse_while_importing()
    subject = Subject(
        resolve_method(method),
        settings or {},
        backbone=None if backbone is None else backbone_text(backbone),
        learns=learns,
    )
    for check in METHOD_CHECKS.values():
        check(subject)


@METHOD_CHECKS.register("predictions")
def check_predictions(subject: Subject) -> None:
    """Predictions are one class id per image, of classes seen so far."""
    learner = TestedLearner(subject)
    name, method = subject.entry.name, learner.method
    images = len(learner.scenario.test.inputs)
    for end in range(1, len(TASKS) + 1):
        learner.learn(TASKS[:end])
        seen = [class_ for task in TASKS[:end] for class_ in task]
        assert list(method.seen) == seen, (
            f"{name}.seen is {method.seen} after the tasks {TASKS[:end]}; learn() must set it to "
            "task.seen."
        )
        labels = learner.classify()
        assert list(labels) == list(method.classifiers), (
            f"{name}.classify returned {list(labels)}; return one entry for each of its "
            f"'classifiers', {list(method.classifiers)}."
        )
        for classifier, predicted in labels.items():
            assert predicted.shape == (images,), (
                f"{name}.classify returned shape {tuple(predicted.shape)} for {images} images "
                f"({classifier!r}); return one label per image."
            )
            assert 0 <= int(predicted.min()) <= int(predicted.max()) < len(seen), (
                f"{name}.classify returned labels from {int(predicted.min())} to "
                f"{int(predicted.max())} after {len(seen)} classes ({classifier!r}); labels are "
                "positions in task.seen."
            )


@METHOD_CHECKS.register("resume")
def check_resume(subject: Subject) -> None:
    """A learner restored from its state continues exactly like one that was never stopped."""
    name = subject.entry.name
    steady = TestedLearner(subject)
    for end in range(1, len(TASKS) + 1):
        before = _stored(steady.state()) if end > 1 else None  # an untrained learner has no state
        steady.learn(TASKS[:end])
        resumed = TestedLearner(subject)
        if before is not None:
            resumed.restore(before)
        resumed.learn(TASKS[:end])
        assert same(resumed.state(), steady.state()), (
            f"{name} differs after task {end} if it is saved and restored before that task. The "
            "state must contain everything that later tasks depend on, and random numbers must "
            "come from the task's seed."
        )
        copy = TestedLearner(subject)
        copy.restore(_stored(steady.state()))
        expected = steady.classify()
        assert same(copy.classify(), expected), (
            f"{name} predicts differently after its state is restored in a new object; the state "
            "must contain everything that predictions depend on, including evaluation mode."
        )


@METHOD_CHECKS.register("state-is-a-copy")
def check_state_is_a_copy(subject: Subject) -> None:
    """Learning another task does not change a state that was taken before."""
    learner = TestedLearner(subject)
    learner.learn(TASKS[:1])
    state = learner.state()
    copy = _stored(state)
    learner.learn(TASKS[:2])
    assert same(state, copy), (
        f"Learning the second task changed the state of {subject.entry.name} after the first; "
        "return copies of the tensors."
    )


@METHOD_CHECKS.register("seeds")
def check_seeds(subject: Subject) -> None:
    """The same seed gives the same result, whatever the global random state is."""
    states = []
    for disturbance in (1, 2):
        random.seed(disturbance)
        np.random.seed(disturbance)  # noqa: NPY002
        torch.manual_seed(disturbance)
        before = _global_state()
        learner = TestedLearner(subject)
        for end in (1, 2):
            learner.learn(TASKS[:end])
        learner.classify()
        states.append(learner.state())
        assert before == _global_state(), (
            f"{subject.entry.name} changes the global random state; draw from task.generator(…) "
            "or edgecil.methods.task.derive_generator."
        )
    assert same(states[0], states[1]), (
        f"{subject.entry.name} depends on the global random state; draw from task.generator(…) or "
        "edgecil.methods.task.derive_generator."
    )


@METHOD_CHECKS.register("task-sizes")
def check_task_sizes(subject: Subject) -> None:
    """Tasks may have different numbers of classes, one included, in any class order."""
    learner = TestedLearner(subject)
    tasks: Tasks = ((5,), (0, 2, 4))
    for end in range(1, len(tasks) + 1):
        learner.learn(tasks[:end])
        learner.classify()


@METHOD_CHECKS.register("order-free")
def check_order_free(subject: Subject) -> None:
    """The scores of an order-free learner give its predictions after every task of every order."""
    if not subject.entry.order_free:
        return
    name = subject.entry.name
    dataset = toy_dataset(**_TINY)
    scenario = Scenario(dataset)
    hidden = scenario.without_test_labels()
    scores = subject.build(dataset).scores(hidden)
    expected = len(scenario.test.labels), scenario.classes
    assert scores.shape == expected, (
        f"{name}.scores returned shape {tuple(scores.shape)}; return a row for each of the "
        f"{expected[0]} test images and a column for each of the {expected[1]} classes."
    )
    for seed, tasks in enumerate((TASKS, TASKS[::-1], ((5,), (0, 2, 4), (1, 3)))):
        method = subject.build(dataset, seed)
        assert list(method.classifiers) == ["head"], (
            f"{name} is order-free and has the classifiers {list(method.classifiers)}; an "
            "order-free learner must have 'head' alone."
        )
        for end in range(1, len(tasks) + 1):
            learn(method, scenario, tasks[:end], seed=seed)
            seen = torch.tensor(method.seen)
            predicted = seen[method.classify(scenario.test.inputs)["head"].cpu()]
            assert same(predicted, seen[scores[:, seen].argmax(dim=1).cpu()]), (
                f"{name} is order-free, but its predictions after the tasks {tasks[:end]} are not "
                "the classes with the largest scores; set 'order_free' to False."
            )


@METHOD_CHECKS.register("test-inputs")
def check_test_inputs(subject: Subject) -> None:
    """Predictions are neither random nor depend on the other test inputs, unless that is declared.

    Learners of edgecil may depend on them where the published method does.
    """
    if subject.entry.source is None:
        return
    learner = TestedLearner(subject)
    for end in (1, 2):
        learner.learn(TASKS[:end])
    state = learner.state()

    def restore() -> Method:
        restored = TestedLearner(subject)
        restored.restore(_stored(state))
        return restored.method

    try:
        check_learner(
            learner.method,
            subject.entry.name,
            learner.scenario.test.inputs,
            learner.classify(),
            restore,
            adapts=subject.entry.adapts,
        )
    except LearnerError as error:
        raise AssertionError(str(error)) from error


@METHOD_CHECKS.register("learns")
def check_learns(subject: Subject) -> None:
    """A first task is learned about as well as class means of the pixels do, by default settings.

    Learners of edgecil are tested on photographs; here they would train for a few steps only.
    """
    if subject.entry.source is None or not subject.learns:
        return
    dataset = toy_dataset(**_MANY)
    scenario = Scenario(dataset)
    classes = TASKS[0]
    backbone = subject.backbone or default_backbone(dataset.shape, frozen=subject.entry.pretrained)
    schedule, _ = subject.entry.schedule("fast", backbone)
    method = replace(subject, schedule=schedule).build(dataset)
    learn(method, scenario, TASKS[:1])
    tested = scenario.test.only(classes)
    right = method.predict(tested.inputs) == tested.labels
    accuracy = 100.0 * float(right.double().mean())
    means = class_mean_accuracy(dataset, classes)
    assert accuracy >= means - _BELOW_MEANS, (
        f"{subject.entry.name} has {accuracy:.0f} % of the test images of an easy first task "
        f"right, where class means of the pixels have {means:.0f} %; train longer or at another "
        "learning rate, or give check_method(..., learns=False) if it is not meant to learn this."
    )


def class_mean_accuracy(dataset: Dataset, classes: tuple[int, ...]) -> float:
    """Return the accuracy on some classes of the nearest mean of their training inputs."""
    train, test = dataset.train, dataset.test
    rows = train.inputs.reshape(len(train.inputs), -1).astype(np.float64)
    means = np.stack([rows[train.labels == class_].mean(axis=0) for class_ in classes])
    tested = np.isin(test.labels, classes)
    inputs = test.inputs[tested].reshape(int(tested.sum()), 1, -1).astype(np.float64)
    nearest = np.square(inputs - means).sum(axis=2).argmin(axis=1)
    return 100.0 * float(np.mean(np.array(classes)[nearest] == test.labels[tested]))


def learn(method: Method, scenario: Scenario, tasks: Tasks, *, seed: int = 0) -> None:
    """Learn the last of these tasks."""
    with scenario.task(tasks, seed, everything=method.sees_everything) as task:
        method.learn(task)


def _stored(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state as the engine stores and reads it: tensors and plain values only."""
    try:
        return unpack(pack(state))
    except Exception as error:
        raise AssertionError(
            f"The state cannot be read again ({str(error).splitlines()[0]}); use tensors, numbers, "
            "strings, lists and dictionaries."
        ) from error


def same(first: object, second: object) -> bool:
    """Return whether two states are equal bit for bit."""
    if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
        return first.dtype == second.dtype and bool(torch.equal(first, second))
    if isinstance(first, torch.Tensor) or isinstance(second, torch.Tensor):
        return False
    if isinstance(first, dict) and isinstance(second, dict):
        if list(first) != list(second):
            return False
        return all(same(first[key], second[key]) for key in first)
    if isinstance(first, (list, tuple)) and type(first) is type(second):
        return len(first) == len(second) and all(map(same, first, second))
    return first == second


def _global_state() -> tuple[object, ...]:
    numpy_state = np.random.get_state()  # noqa: NPY002
    return random.getstate(), str(numpy_state), torch.get_rng_state().tolist()
