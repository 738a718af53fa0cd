"""Tiny images on which learners can be tried in milliseconds: each class has its bright spot."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from edgecil.backbones.initialise import build as build_network
from edgecil.backbones.vit import ViT, ViTLayout
from edgecil.data import ImageDataset, Images
from edgecil.data.augment import channel_statistics
from edgecil.methods import Environment, Method, Recipe, get_method
from edgecil.methods.recipe import PAPER_MEMORY
from edgecil.methods.task import Scenario

SIDE = 12
SPOTS = [(row, column) for row in (0, 4, 8) for column in (0, 4, 8)]
TASKS = ((0, 3), (1, 4), (2, 5))
QUICK = Recipe(epochs=6, learning_rate=0.05, schedule="cosine", batch_size=8, augment=("crop:1",))

_FOLDER = tempfile.TemporaryDirectory()  # gone with the process

Tasks = tuple[tuple[int, ...], ...]


def toy_images(
    classes: int, each: int, *, channels: int = 1, contrast: int = 150, seed: int = 0
) -> Images:
    """`each` images of every class, shuffled; the spot is `contrast` brighter than the noise."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(classes), each)).astype(np.int64)
    pixels = rng.integers(0, 100, (len(labels), channels, SIDE, SIDE), dtype=np.uint8)
    for image, label in zip(pixels, labels, strict=True):
        row, column = SPOTS[label]
        image[:, row : row + 4, column : column + 4] += np.uint8(contrast)
    return Images(pixels, labels)


def toy_dataset(
    classes: int = 6,
    *,
    train: int = 12,
    test: int = 8,
    channels: int = 1,
    contrast: int = 150,
) -> ImageDataset:
    return ImageDataset(
        "toy",
        tuple(f"spot {label}" for label in range(classes)),
        toy_images(classes, train, channels=channels, contrast=contrast, seed=0),
        toy_images(classes, test, channels=channels, contrast=contrast, seed=1),
    )


def save_toy(path: Path, classes: int = 4, *, train: int = 12, contrast: int = 40) -> Path:
    """The toy as a file that `edgecil run --dataset` reads; hard enough to leave errors."""
    dataset = toy_dataset(classes, train=train, contrast=contrast)
    np.savez(
        path,
        x_train=dataset.train.pixels,
        y_train=dataset.train.labels,
        x_test=dataset.test.pixels,
        y_test=dataset.test.labels,
        names=np.array(dataset.names),
    )
    return path


@cache
def toy_vit(channels: int = 1) -> str:
    """A file with the weights of a tiny transformer, trained on other images with such spots."""
    layout = ViTLayout(channels=channels, patch=4, width=64, depth=2, heads=1, hidden=64)
    generator = torch.Generator().manual_seed(0)
    network = build_network(lambda: ViT(layout, (channels, SIDE, SIDE)), generator)
    images = toy_images(len(SPOTS), 20, channels=channels, seed=2)
    pixels = 2.0 * torch.from_numpy(images.pixels) / 255.0 - 1.0
    labels = torch.from_numpy(images.labels)
    head = torch.zeros(layout.width, len(SPOTS), requires_grad=True)
    optimizer = torch.optim.Adam([*network.parameters(), head], lr=2e-3)
    for _ in range(150):
        batch = torch.randperm(len(labels), generator=generator)[:60]
        value = torch.nn.functional.cross_entropy(network(pixels[batch]) @ head, labels[batch])
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    path = Path(_FOLDER.name) / f"vit-{channels}.safetensors"
    save_file(network.state_dict(), path)
    half = [0.5] * channels
    path.with_suffix(".json").write_text(json.dumps({"mean": half, "std": half}))
    return str(path)


def toy_environment(dataset: ImageDataset, seed: int = 0) -> Environment:
    statistics = channel_statistics(torch.from_numpy(dataset.train.pixels))
    return Environment(
        dataset.shape,
        statistics.mean,
        statistics.std,
        "resnet-tiny",
        seed,
        pretrained=toy_vit(dataset.shape[0]),
    )


def build(
    name: str,
    dataset: ImageDataset,
    *,
    seed: int = 0,
    recipe: Recipe = QUICK,
    settings: dict[str, object] | None = None,
    shared: Path | None = None,
) -> Method:
    entry = get_method(name)
    environment = toy_environment(dataset, seed)
    if shared is not None:
        environment = replace(environment, shared=str(shared))
    settings = {**entry.fast_settings, **(settings or {})}
    return entry.build(entry.configure(recipe, PAPER_MEMORY, settings), environment)


def learn(method: Method, scenario: Scenario, tasks: Tasks, *, seed: int = 0) -> None:
    """Learn the last of these tasks."""
    with scenario.task(tasks, seed, everything=method.sees_everything) as task:
        method.learn(task)


def learn_all(method: Method, scenario: Scenario, tasks: Tasks = TASKS, *, seed: int = 0) -> None:
    for end in range(1, len(tasks) + 1):
        learn(method, scenario, tasks[:end], seed=seed)


def accuracy(method: Method, scenario: Scenario, classes: tuple[int, ...]) -> float:
    """Share of the test images of some classes that the main classifier gets right."""
    images = scenario.test.only(classes)
    return float((method.predict(images.pixels) == images.labels).double().mean())


def same(one: object, other: object) -> bool:
    """Whether two states are equal bit for bit."""
    if isinstance(one, torch.Tensor):
        return (
            isinstance(other, torch.Tensor) and one.dtype == other.dtype and torch.equal(one, other)
        )
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and list(one) == list(other)
            and all(same(one[key], other[key]) for key in one)
        )
    if isinstance(one, list):
        return (
            isinstance(other, list)
            and len(one) == len(other)
            and all(same(a, b) for a, b in zip(one, other, strict=True))
        )
    return one == other
