"""What learners on vectors reach with default settings, and whether the scale of features matters.

    python benchmarks/defaults.py caltech101 cub200.npz --out RUNS

Prints two Markdown tables. The first has A(O) of every learner, the mean over random class orders,
at several sizes; below stand classifiers that are fitted to all training vectors at once. The
second has closed forms on a frozen network whose output is multiplied by .01 and 100, and on
vectors multiplied by these with `--scale none`. The same command resumes below RUNS.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

import edgecil
from edgecil.data import Dataset, load_dataset

TRAINED = ("finetune", "naive", "er", "wa", "derpp", "lwf", "joint")
CLOSED = ("simplecil", "fecam", "acil", "ranpac", "slca")
FACTORS = (1.0, 0.01, 100.0)
# Classes above which learners that keep a covariance of every class are left out of the scales.
MANY = 100
COVARIANCES = ("fecam", "slca")
SETTINGS = {"ranpac": {"bottleneck": 0}}  # adapters need a transformer
REFERENCES = ("class mean", "ridge", "LDA", "logistic regression")
PENALTY = 1e-3  # of the logistic regression, by weight
RIDGE = 0.1  # share of the mean diagonal of the Gram matrix
SHRINKAGE = 0.1  # of the covariance within classes towards its mean variance
# Classes, tasks, and the seed that chooses the classes.
SMALL = ((20, 10, 1), (6, 3, 0))


@dataclass(frozen=True)
class Size:
    """A dataset, how many of its classes, and in how many tasks."""

    dataset: str
    classes: int
    tasks: int
    seed: int

    @property
    def name(self) -> str:
        """Dataset, classes and tasks: `caltech101 20/10`."""
        return f"{Path(self.dataset).stem} {self.classes}/{self.tasks}"

    @property
    def classes_chosen(self) -> dict[str, Any]:
        """Options of `edgecil.run` that choose the classes."""
        return {"classes": self.classes, "classes_seed": self.seed}

    @property
    def left_out(self) -> tuple[str, ...]:
        """Learners whose covariances of all classes would not fit into memory."""
        return COVARIANCES if self.classes > MANY else ()

    def load(self) -> Dataset:
        """Load the dataset with the classes of `data`."""
        return load_dataset(self.dataset, count=self.classes, seed=self.seed)


def mean_accuracies(
    size: Size, methods: Sequence[str], out: Path, orders: int, **options: Any
) -> dict[str, float]:
    """Train learners on random class orders, and return the mean of A(O) of each."""
    experiment = edgecil.run(
        options.get("dataset", size.dataset),
        method=list(methods),
        tasks=size.tasks,
        data={**size.classes_chosen, **options.get("data", {})},
        protocol=f"random:{orders}",
        training={
            "backbone": options.get("backbone", "linear"),
            "set": {name: values for name, values in SETTINGS.items() if name in methods},
        },
        out=out,
        execution={"progress": False, "workers": 1},
    )
    means = experiment.to_pandas().groupby("method")["accuracy"].mean()
    return {method: float(means[method]) for method in methods}


def reference_accuracies(dataset: Dataset) -> dict[str, float]:
    """Return the mean accuracy over classes of classifiers fitted to all training vectors."""
    inputs = torch.from_numpy(dataset.train.inputs).double()
    tested = torch.from_numpy(dataset.test.inputs).double()
    labels = torch.from_numpy(dataset.train.labels)
    length = inputs.square().mean().sqrt()
    inputs, tested = inputs / length, tested / length
    targets = functional.one_hot(labels, len(dataset)).double()
    means = (targets.T @ inputs) / targets.sum(dim=0)[:, None]
    scores = {
        "class mean": functional.normalize(tested, dim=1)
        @ functional.normalize(direction_means(inputs, targets), dim=1).T,
        "ridge": ridge_scores(inputs, targets, tested),
        "LDA": discriminant_scores(inputs, labels, means, tested),
        "logistic regression": logistic_scores(inputs, labels, tested, len(dataset)),
    }
    truth = torch.from_numpy(dataset.test.labels)
    return {name: class_accuracy(values.argmax(dim=1), truth) for name, values in scores.items()}


def direction_means(inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the mean direction (classes, d) of each class."""
    return targets.T @ functional.normalize(inputs, dim=1)


def ridge_scores(inputs: torch.Tensor, targets: torch.Tensor, tested: torch.Tensor) -> torch.Tensor:
    """Return scores (n, classes) of a ridge regression with an intercept."""
    centre, offset = inputs.mean(dim=0), targets.mean(dim=0)
    apart = inputs - centre
    gram = apart.T @ apart
    gram.diagonal().add_(RIDGE * gram.diagonal().mean())
    weights = torch.linalg.solve(gram, apart.T @ (targets - offset))
    return (tested - centre) @ weights + offset


def discriminant_scores(
    inputs: torch.Tensor, labels: torch.Tensor, means: torch.Tensor, tested: torch.Tensor
) -> torch.Tensor:
    """Return scores (n, classes) of a linear discriminant analysis with equal priors."""
    apart = inputs - means[labels]
    covariance = apart.T @ apart / (len(inputs) - len(means))
    variance = covariance.diagonal().mean()
    covariance = (1.0 - SHRINKAGE) * covariance
    covariance.diagonal().add_(SHRINKAGE * variance)
    weights = torch.linalg.solve(covariance, means.T)  # (d, classes)
    return tested @ weights - 0.5 * (means * weights.T).sum(dim=1)


def logistic_scores(
    inputs: torch.Tensor, labels: torch.Tensor, tested: torch.Tensor, classes: int
) -> torch.Tensor:
    """Return logits (n, classes) of a logistic regression, minimised by L-BFGS."""
    weight = torch.zeros(classes, inputs.shape[1], dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(classes, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=60, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        value = functional.cross_entropy(inputs @ weight.T + bias, labels)
        value = value + PENALTY / 2 * weight.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    return (tested @ weight.T + bias).detach()


def class_accuracy(answers: torch.Tensor, truth: torch.Tensor) -> float:
    """Return the mean over classes of the accuracy on each, in per cent."""
    right = (answers == truth).double()
    return 100.0 * float(
        torch.stack([right[truth == label].mean() for label in truth.unique()]).mean()
    )


NETWORK = """import torch


class Pixels(torch.nn.Module):
    def forward(self, images):
        return (images.flatten(1) * 255.0 - 127.0) * {factor}


def make():
    return Pixels()
"""


def write_vectors(dataset: Dataset, factor: float, path: Path) -> None:
    """Write a dataset with its vectors multiplied by a factor."""
    np.savez(
        path,
        X_train=dataset.train.inputs * np.float32(factor),
        y_train=dataset.train.labels,
        X_test=dataset.test.inputs * np.float32(factor),
        y_test=dataset.test.labels,
    )


def write_images(dataset: Dataset, path: Path) -> None:
    """Write the vectors of a dataset as grey images of 8 bits with one row of pixels."""
    largest = np.abs(dataset.train.inputs).max()
    images = []
    for examples in (dataset.train, dataset.test):
        pixels = np.round(examples.inputs * (127.0 / largest)) + 127.0
        side = 16
        images.append(
            np.clip(pixels, 0.0, 255.0).astype(np.uint8).reshape(len(pixels), side, -1, 1)
        )
    np.savez(
        path,
        X_train=images[0],
        y_train=dataset.train.labels,
        X_test=images[1],
        y_test=dataset.test.labels,
    )


def print_row(cells: Sequence[object]) -> None:
    """Print one row of a Markdown table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def print_defaults(sizes: Sequence[Size], out: Path, orders: int) -> None:
    """Print A(O) of every learner with default settings, and of the references."""
    columns: dict[str, dict[str, float]] = {}
    for size in sizes:
        place = out / size.name.replace(" ", "-").replace("/", "-")
        linear = [*TRAINED, *(name for name in CLOSED if name not in size.left_out)]
        columns[f"{size.name}, linear"] = {
            **mean_accuracies(size, linear, place / "linear", orders),
            **reference_accuracies(size.load()),
        }
        columns[f"{size.name}, mlp"] = mean_accuracies(
            size, TRAINED, place / "mlp", orders, backbone="mlp"
        )
    print_row(["A(O), %", *columns])
    print_row(["---"] * (1 + len(columns)))
    for row in (*TRAINED, *CLOSED, *REFERENCES):
        print_row(
            [row, *(f"{column[row]:.1f}" if row in column else "" for column in columns.values())]
        )


def print_scales(sizes: Sequence[Size], out: Path) -> None:
    """Print A(O) of closed forms by the scale of the features."""
    print()
    print_row(["features", "learner", *(f"× {factor:g}" for factor in FACTORS)])
    print_row(["---"] * (2 + len(FACTORS)))
    for size in sizes:
        methods = [name for name in CLOSED if name not in size.left_out]
        place = out / f"scales-{size.name.replace(' ', '-').replace('/', '-')}"
        place.mkdir(parents=True, exist_ok=True)
        dataset = size.load()
        whole = replace(size, seed=0)  # the files hold the classes of the size alone
        vectors, networks = [], []
        for factor in FACTORS:
            path = place / f"vectors-{factor:g}.npz"
            write_vectors(dataset, factor, path)
            vectors.append(
                mean_accuracies(
                    whole,
                    methods,
                    place / f"runs-vectors-{factor:g}",
                    1,
                    dataset=str(path),
                    data={"scale": "none"},
                )
            )
            images, network = place / "images.npz", place / f"network_{factor:g}.py"
            write_images(dataset, images)
            network.write_text(NETWORK.format(factor=factor))
            networks.append(
                mean_accuracies(
                    whole,
                    methods,
                    place / f"runs-network-{factor:g}",
                    1,
                    dataset=str(images),
                    backbone=f"{network}:make",
                    data={"normalisation": "none"},
                )
            )
        for kind, results in (("vectors, no scale", vectors), ("frozen network", networks)):
            for method in methods:
                values = [f"{result[method]:.1f}" for result in results]
                print_row([f"{size.name}, {kind}", method, *values])


def main() -> None:
    """Train, and print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--orders", type=int, default=3)
    options = parser.parse_args()
    sizes = []
    for dataset in options.datasets:
        classes = len(load_dataset(dataset))
        sizes.append(Size(dataset, classes, 10, 0))
        if dataset == "caltech101":
            sizes.extend(Size(dataset, *small) for small in SMALL)
    print_defaults(sizes, options.out, options.orders)
    print_scales(sizes, options.out)


if __name__ == "__main__":
    main()
