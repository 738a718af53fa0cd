"""What textbooks say of learners holds on real features: bundled Caltech-101, default settings.

Six classes in three tasks and twenty in ten. The oracles are class means and logistic regression on
all data at once.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from edgecil.backbones.model_slot import backbone_text
from edgecil.data import Dataset, Examples, load_dataset
from edgecil.methods import Environment, Method, get_method
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.task import Scenario
from edgecil.sequences.sequence import Tasks

TRAINED = (
    *("finetune", "naive", "joint", "ewc", "lwf", "er"),
    *("icarl", "wa", "bic", "derpp", "lucir", "slca"),
)
CLOSED = ("simplecil", "fecam", "acil", "ranpac")
SIZES = {"6/3": (6, 0, 3), "20/10": (20, 1, 10)}  # classes, their seed, tasks

every_learner = pytest.mark.parametrize("name", [*TRAINED, *CLOSED])
every_size = pytest.mark.parametrize("size", SIZES)


@cache
def photographs(size: str) -> Dataset:
    classes, seed, _ = SIZES[size]
    return load_dataset("caltech101", count=classes, seed=seed)


def tasks_of(size: str) -> Tasks:
    classes, _, tasks = SIZES[size]
    order = np.random.default_rng(100).permutation(classes)
    return tuple(tuple(sorted(part.tolist())) for part in np.split(order, tasks))


def scaled(dataset: Dataset, factor: float) -> Dataset:
    parts = [
        Examples(part.inputs * np.float32(factor), part.labels)
        for part in (dataset.train, dataset.test)
    ]
    return Dataset(dataset.name, dataset.names, *parts)


def build(name: str, dataset: Dataset, backbone: str, steps: int = 0, **options: Any) -> Method:
    entry = get_method(name)
    schedule, _ = entry.schedule("fast", "linear" if len(dataset.shape) == 3 else backbone)
    if steps:
        schedule = replace(schedule, steps=steps)
    settings = {**entry.fast_settings, **({"bottleneck": 0} if name == "ranpac" else {})}
    config = entry.configure(schedule, MemoryBudget(per_class=3), settings)
    no_statistics = (0.0,) * (len(dataset.shape) == 3), (1.0,) * (len(dataset.shape) == 3)
    environment = Environment(dataset.shape, *no_statistics, backbone, **options)
    return entry.build(config, environment)


def accuracies(method: Method, dataset: Dataset, tasks: Tasks, first: int = 1) -> list[float]:
    """Accuracy on each task after the last one, where it has learned from the `first` one on."""
    scenario = Scenario(dataset)
    for end in range(first, len(tasks) + 1):
        with scenario.task(tasks[:end], 0, everything=method.sees_everything) as task:
            method.learn(task)
    right = method.predict(scenario.test.inputs) == scenario.test.labels
    labels = scenario.test.labels
    return [
        100.0 * right[torch.isin(labels, torch.tensor(task))].float().mean().item()
        for task in tasks
    ]


@cache
def final(name: str, size: str, backbone: str = "linear", factor: float = 1.0) -> float:
    """A(O): the mean over tasks of the accuracy after the last one."""
    dataset = photographs(size) if factor == 1.0 else scaled(photographs(size), factor)
    first = len(tasks_of(size)) if name == "joint" else 1  # which begins anew at every task
    return float(
        np.mean(accuracies(build(name, dataset, backbone), dataset, tasks_of(size), first))
    )


def class_means(dataset: Dataset, classes: tuple[int, ...]) -> float:
    """Accuracy on some classes of the nearest mean direction of their training vectors."""
    x, y = (torch.from_numpy(part) for part in (dataset.train.inputs, dataset.train.labels))
    directions = functional.normalize(x, dim=1)
    means = torch.stack([directions[y == class_].mean(dim=0) for class_ in classes])
    tested = np.isin(dataset.test.labels, classes)
    nearest = functional.normalize(torch.from_numpy(dataset.test.inputs[tested]), dim=1) @ (
        functional.normalize(means, dim=1).T
    )
    answers = np.array(classes)[nearest.argmax(dim=1).numpy()]
    return 100.0 * float(np.mean(answers == dataset.test.labels[tested]))


def logistic_regression(size: str, penalty: float = 1e-3) -> float:
    """A(O) of logistic regression on all data, minimised by L-BFGS."""
    dataset = photographs(size)
    x, y = (torch.from_numpy(part) for part in (dataset.train.inputs, dataset.train.labels))
    length = x.square().mean().sqrt()
    weight = torch.zeros(len(dataset), x.shape[1], requires_grad=True)
    bias = torch.zeros(len(dataset), requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        value = functional.cross_entropy(x / length @ weight.T + bias, y)
        value = value + penalty / 2 * weight.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    answers = (torch.from_numpy(dataset.test.inputs) / length @ weight.T + bias).argmax(dim=1)
    right, labels = answers.numpy() == dataset.test.labels, dataset.test.labels
    return 100.0 * float(np.mean([right[np.isin(labels, task)].mean() for task in tasks_of(size)]))


@every_size
@every_learner
def test_the_first_task_is_learned_as_by_class_means(name: str, size: str) -> None:
    dataset, first = photographs(size), tasks_of(size)[:1]
    backbones = ("linear", "mlp") if name in TRAINED else ("linear",)
    for backbone in backbones:
        (accuracy,) = accuracies(build(name, dataset, backbone), dataset, first)
        assert accuracy >= class_means(dataset, first[0]) - 3.0


@every_size
def test_joint_training_is_the_upper_bound_and_as_good_as_logistic_regression(size: str) -> None:
    joint = final("joint", size)
    assert joint == pytest.approx(logistic_regression(size), abs=2.0)
    for name in (*TRAINED, *CLOSED):
        assert final(name, size) <= joint + 1.0, name


@every_size
def test_closed_forms_are_at_most_a_point_below_class_means(size: str) -> None:
    dataset = photographs(size)
    for name in ("acil", "ranpac"):
        assert final(name, size) >= class_means(dataset, tuple(range(len(dataset)))) - 1.0


@every_size
def test_naive_training_forgets_all_but_the_last_task_and_replay_does_not(size: str) -> None:
    dataset, tasks = photographs(size), tasks_of(size)
    after = accuracies(build("naive", dataset, "mlp"), dataset, tasks)
    assert after[-1] > 95.0
    assert np.mean(after[:-1]) < 10.0
    assert np.mean(after) == pytest.approx(100.0 / len(tasks), abs=8.0)
    assert np.mean(accuracies(build("er", dataset, "mlp"), dataset, tasks)) > 75.0


@every_size
def test_ten_times_the_steps_do_not_change_joint_training(size: str) -> None:
    dataset, tasks = photographs(size), tasks_of(size)
    longer = accuracies(build("joint", dataset, "linear", 1000), dataset, tasks, len(tasks))
    assert np.mean(longer) == pytest.approx(final("joint", size), abs=1.0)


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_the_scale_of_vectors_does_not_matter(factor: float) -> None:
    for name in (*TRAINED, *CLOSED):
        assert final(name, "6/3", factor=factor) == pytest.approx(final(name, "6/3"), abs=0.5), name


@pytest.mark.parametrize("name", [*CLOSED, "slca"])
def test_the_scale_of_a_network_does_not_matter(name: str) -> None:
    """The photographs' vectors as the features of a frozen network, whose output is scaled."""
    step = np.abs(photographs("6/3").train.inputs).max() / 127.0
    dataset = as_images(photographs("6/3"), step)
    results = [
        np.mean(
            accuracies(
                build(name, dataset, backbone_text(Vectors(factor)), normalisation="none"),
                dataset,
                tasks_of("6/3"),
            )
        )
        for factor in (1.0, 0.01, 100.0)
    ]
    assert results == pytest.approx([results[0]] * 3, abs=0.5)
    assert results[0] > 90.0


class Vectors(torch.nn.Module):  # type: ignore[misc]
    """A frozen network whose features are the pixels of an image, from -127 to 127, scaled."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.register_buffer("factor", torch.tensor(factor))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return (images.flatten(1) * 255.0 - 127.0) * self.factor


def as_images(dataset: Dataset, step: float) -> Dataset:
    """Return vectors of 256 numbers as images of 16 x 16 pixels."""
    parts = []
    for part in (dataset.train, dataset.test):
        pixels = np.clip(np.round(part.inputs / step) + 127.0, 0.0, 255.0).astype(np.uint8)
        parts.append(Examples(pixels.reshape(len(pixels), 1, 16, 16), part.labels))
    return Dataset(dataset.name, dataset.names, *parts)
