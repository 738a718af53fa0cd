"""Vectors are inputs like images: every learner that needs features alone runs on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import edgecil
from edgecil.data import load_dataset
from edgecil.errors import DataError, UsageError
from edgecil.methods import get_method, method_names
from tests.grouped import train

pytestmark = pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")

CLASSES, WIDTH = 6, 8
NAMES = [f"word {label}" for label in range(CLASSES)]
TRAINING = {"epochs": 30, "learning_rate": 0.02, "batch_size": 8}
SETTINGS = {"ranpac": {"bottleneck": 0, "projection": 32}}


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """Gaussian classes of 20 vectors, split by `test`."""
    path = tmp_path / "words.npz"
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(CLASSES), 20)
    x = rng.normal(size=(CLASSES, WIDTH))[labels] + 0.4 * rng.normal(size=(len(labels), WIDTH))
    test = np.tile(np.arange(20) >= 12, CLASSES)
    np.savez(path, x=x.astype(np.float16), y=labels, test=test, names=NAMES)
    return path


def needs(name: str) -> str:
    entry = get_method(name)
    return entry.needs(entry.configure(*entry.schedule("fast", "linear"), SETTINGS.get(name)))


# Without those that tests register.
OURS = [name for name in method_names() if "edgecil" in get_method(name).config.__module__]
ON_FEATURES = [name for name in OURS if needs(name) == "features"]
OTHERS = [name for name in OURS if needs(name) != "features"]


def run(data: Any, out: Path, **options: Any) -> edgecil.Experiment:
    given = {"dataset": data, "tasks": 3, "protocol": "random", "budget": 2, "workers": 1}
    return train(out=out, progress=False, **{**given, **options})


def test_a_file_of_vectors_is_a_dataset(words) -> None:
    dataset = load_dataset(words, ids=[4, 1])
    assert dataset.names == ("word 4", "word 1")
    assert (dataset.shape, dataset.channels) == ((WIDTH,), 0)
    assert dataset.train.inputs.dtype == np.float32
    assert (len(dataset.train), len(dataset.test)) == (24, 16)


@pytest.mark.parametrize(
    "changed",
    [
        {"x": np.full((12, 3), np.nan), "y": np.repeat(np.arange(3), 4)},
        {"x": np.zeros((12, 0)), "y": np.repeat(np.arange(3), 4)},
        {"x": np.full((12, 3), "a"), "y": np.repeat(np.arange(3), 4)},
        {"x": np.ones((12, 3)), "y": np.repeat(np.arange(3), 4), "test": np.ones(12)},
    ],
    ids=["not finite", "no numbers", "texts", "test is no mask"],
)
def test_wrong_vectors_are_refused_in_one_sentence(tmp_path, changed) -> None:
    np.savez(tmp_path / "wrong.npz", **changed)
    with pytest.raises(DataError) as caught:
        load_dataset(tmp_path / "wrong.npz")
    assert len(str(caught.value)) < 300


def test_every_learner_on_features_learns_vectors(words, tmp_path) -> None:
    experiment = run(words, tmp_path / "out", method=ON_FEATURES, set=SETTINGS, schedule=TRAINING)
    accuracies = {result.method: result.accuracy for result in experiment.results()}
    assert set(accuracies) == set(ON_FEATURES)
    assert {"simplecil", "ranpac", "finetune", "er", "icarl", "der", "foster"} <= set(accuracies)
    assert min(accuracies.values()) > 100 / CLASSES
    assert max(accuracies.values()) > 85


def test_simplecil_on_vectors_is_the_nearest_mean_by_cosine(words, tmp_path) -> None:
    experiment = run(words, tmp_path / "out", method="simplecil")
    dataset = load_dataset(words)
    train, test = dataset.train, dataset.test
    means = np.stack([train.inputs[train.labels == label].mean(axis=0) for label in range(CLASSES)])
    cosines = test.inputs @ (means / np.linalg.norm(means, axis=1, keepdims=True)).T
    hits = cosines.argmax(axis=1) == test.labels
    by_task = [
        [100 * np.mean(hits[np.isin(test.labels, task)]) for task in result.sequence.tasks]
        for result in experiment.results()
    ]
    assert [result.accuracy for result in experiment.results()] == pytest.approx(
        [np.mean(tasks) for tasks in by_task]
    )


def test_a_perceptron_on_vectors(words, tmp_path) -> None:
    experiment = run(words, tmp_path / "out", method="er", backbone="mlp", schedule=TRAINING)
    assert np.mean([result.accuracy for result in experiment.results()]) > 60


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        *(({"method": name}, "has vectors") for name in OTHERS),
        ({"method": "ranpac"}, "bottleneck"),
        ({"method": "er", "backbone": "resnet-tiny"}, "'resnet-tiny'"),
        ({"method": "er", "backbone": "linear", "dataset": "quickdraw", "classes": 6}, "'linear'"),
    ],
)
def test_what_does_not_suit_the_inputs_is_refused_before_training(
    words, tmp_path, options, problem
) -> None:
    with pytest.raises(UsageError, match=problem):
        run(words, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_similarities_of_vectors(words) -> None:
    matrix = edgecil.build_similarity(dataset=str(words), images="pixels")
    assert matrix.names == tuple(NAMES)
    train = load_dataset(words).train
    units = train.inputs / np.linalg.norm(train.inputs, axis=1, keepdims=True)
    first, second = (units[train.labels == label].mean(axis=0) for label in (0, 1))
    cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert matrix.values[0, 1] == pytest.approx(cosine, abs=1e-5)


def test_arrays_in_python_are_a_dataset_for_workers_and_resuming(words, tmp_path) -> None:
    """In this process, in worker processes and after more orders, to the last bit."""
    with np.load(words) as file:
        arrays = dict(file)
    here, there = (
        run(arrays, tmp_path / str(workers), method="er", workers=workers) for workers in (1, 2)
    )
    again = run(dict(arrays), tmp_path / "1", method="er", budget=3)
    assert (again.summary.reused, again.summary.trained) == (6, 3)
    counts, others = (
        {it.sequence: it.nodes[-1].class_correct for it in experiment.results()}
        for experiment in (here, there)
    )
    assert others
    assert others.items() <= counts.items()
    arrays["x"] = arrays["x"] + 1
    with pytest.raises(UsageError, match="dataset"):
        run(arrays, tmp_path / "1", method="er", budget=3)
