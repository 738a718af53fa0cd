"""Tiny learners and datasets for tests; the images are those of `edgecil.testing`."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filelock import FileLock
from safetensors.torch import save_file

from edgecil.backbones.initialise import build as build_network
from edgecil.backbones.vit import ViT, ViTLayout
from edgecil.data import Dataset
from edgecil.data.augment import channel_statistics
from edgecil.methods import Environment, Method, Schedule, get_method
from edgecil.methods.setups import PAPER_MEMORY
from edgecil.methods.task import Scenario
from edgecil.testing import SIDE, SPOTS, TASKS, Tasks, learn, same, toy_dataset, toy_images

__all__ = ["SIDE", "SPOTS", "TASKS", "Tasks", "learn", "same", "toy_dataset", "toy_images"]

QUICK = Schedule(epochs=6, learning_rate=0.05, schedule="cosine", batch_size=8, augment=("crop:1",))

_SHARED = Path(os.environ.get("EDGECIL_TEST_FOLDER") or tempfile.mkdtemp())


def save_toy(path: Path, classes: int = 4, *, train: int = 12, contrast: int = 40) -> Path:
    """The toy as a file that `edgecil run --dataset` reads; hard enough to leave errors."""
    dataset = toy_dataset(classes, train=train, contrast=contrast)
    np.savez(
        path,
        x_train=dataset.train.inputs,
        y_train=dataset.train.labels,
        x_test=dataset.test.inputs,
        y_test=dataset.test.labels,
        names=np.array(dataset.names),
    )
    return path


@cache
def toy_vit(channels: int = 1) -> str:
    """A file with the weights of a tiny transformer, trained on other images with such spots."""
    path = _SHARED / f"vit-{channels}.safetensors"
    with FileLock(path.with_suffix(".lock")):  # one worker trains it, the others wait
        if not path.exists():
            _train_vit(path, channels)
    return str(path)


def _train_vit(path: Path, channels: int) -> None:
    layout = ViTLayout(channels=channels, patch=4, width=64, depth=2, heads=1, hidden=64)
    generator = torch.Generator().manual_seed(0)
    network = build_network(lambda: ViT(layout, (channels, SIDE, SIDE)), generator)
    images = toy_images(len(SPOTS), 20, channels=channels, seed=2)
    pixels = 2.0 * torch.from_numpy(images.inputs) / 255.0 - 1.0
    labels = torch.from_numpy(images.labels)
    head = torch.zeros(layout.width, len(SPOTS), requires_grad=True)
    optimizer = torch.optim.Adam([*network.parameters(), head], lr=2e-3)
    for _ in range(150):
        batch = torch.randperm(len(labels), generator=generator)[:60]
        value = torch.nn.functional.cross_entropy(network(pixels[batch]) @ head, labels[batch])
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    half = [0.5] * channels
    path.with_suffix(".json").write_text(json.dumps({"mean": half, "std": half}))
    save_file(network.state_dict(), path)


def toy_environment(dataset: Dataset, seed: int = 0, *, frozen: bool = False) -> Environment:
    statistics = channel_statistics(torch.from_numpy(dataset.train.inputs))
    return Environment(
        dataset.shape,
        statistics.mean,
        statistics.std,
        toy_vit(dataset.shape[0]) if frozen else "resnet-tiny",
        seed,
    )


def build(
    name: str,
    dataset: Dataset,
    *,
    seed: int = 0,
    schedule: Schedule = QUICK,
    settings: dict[str, object] | None = None,
    shared: Path | None = None,
    precision: str = "float32",
) -> Method:
    entry = get_method(name)
    frozen = entry.pretrained
    environment = replace(toy_environment(dataset, seed, frozen=frozen), precision=precision)
    if shared is not None:
        environment = replace(environment, shared=str(shared))
    settings = {**entry.fast_settings, **(settings or {})}
    return entry.build(entry.configure(schedule, PAPER_MEMORY, settings), environment)


def learn_all(method: Method, scenario: Scenario, tasks: Tasks = TASKS, *, seed: int = 0) -> Any:
    """Learn some tasks; the method itself."""
    for end in range(1, len(tasks) + 1):
        learn(method, scenario, tasks[:end], seed=seed)
    return method


SMALL = toy_dataset(train=6, test=4)
HARD = toy_dataset(contrast=60)  # errors remain
ADAM: dict[str, Any] = {"epochs": 1, "optimizer": "adam", "weight_decay": 0.0, "augment": ()}


class Bench:
    """A learner on a tiny dataset, trained by `QUICK` with some changes."""

    def __init__(self, name: str, dataset: Dataset, **changes: Any) -> None:
        self.name, self.dataset, self.scenario = name, dataset, Scenario(dataset)
        self.schedule = replace(QUICK, **changes)

    def build(self, **settings: object) -> Any:
        """The learner before its first task."""
        return build(self.name, self.dataset, schedule=self.schedule, settings=settings)

    def trained(self, tasks: int | Tasks = TASKS, **settings: object) -> Any:
        """The learner after some tasks, or after so many of `TASKS`."""
        some = TASKS[:tasks] if isinstance(tasks, int) else tasks
        return learn_all(self.build(**settings), self.scenario, some)


def accuracy(method: Method, scenario: Scenario, classes: tuple[int, ...]) -> float:
    """Share of the test images of some classes that the main classifier gets right."""
    images = scenario.test.only(classes)
    return float((method.predict(images.inputs) == images.labels).double().mean())


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def tensors_in(value: object) -> Iterator[torch.Tensor]:
    """Every tensor inside a state."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(item)
