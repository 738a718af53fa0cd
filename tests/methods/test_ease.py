from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from edgecil.backbones.initialise import build as build_network
from edgecil.backbones.vit import ViT, ViTLayout
from edgecil.errors import EdgecilError
from edgecil.methods import ease as ease_module, get_method
from edgecil.methods.adapters import adapt
from edgecil.methods.ease import CACHE_VERSION, EASEConfig, complete_prototypes, compute_once
from edgecil.methods.method import saved
from edgecil.methods.settings import Schedule
from edgecil.methods.task import PastDataError, Scenario, Task
from tests.toys import SMALL, TASKS, Bench, build, learn_all, same, toy_dataset, toy_environment

BENCH = Bench("ease", SMALL, epochs=1, optimizer="adam", learning_rate=0.01)
SCENARIO, trained = BENCH.scenario, BENCH.trained
# The ways up of the first two features, by CACHE_VERSION.
KNOWN = {1: [0.00877, 0.03292, 0.07999, -0.06153, -0.00072, -0.00159, 0.00219, -0.00178]}


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def complete_by_brute_force(prototypes: list[np.ndarray]) -> list[list[np.ndarray]]:
    """Class by class: seen in a subspace, or put together from the classes that were."""
    task_of = [task for task, by_task in enumerate(prototypes) for _ in range(by_task.shape[1])]
    place = [row for by_task in prototypes for row in range(by_task.shape[1])]
    rows = []
    for subspace in range(len(prototypes)):
        row = []
        for task, index in zip(task_of, place, strict=True):
            if task >= subspace:
                row.append(prototypes[task][subspace, index])
                continue
            own = prototypes[task][task, index]
            weights, values = [], []
            for other, where in zip(task_of, place, strict=True):
                if other >= subspace:
                    cosine = unit(own) @ unit(prototypes[other][task, where])
                    weights.append(np.exp(cosine))
                    values.append(prototypes[other][subspace, where])
            row.append(sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights))
        rows.append(row)
    return rows


@pytest.mark.parametrize("sizes", [(2, 2, 2), (1, 3, 2), (4,), (3, 1, 1, 2)])
def test_completed_prototypes_by_brute_force(sizes) -> None:
    rng = np.random.default_rng(0)
    prototypes = [rng.normal(size=(task + 1, size, 5)) for task, size in enumerate(sizes)]
    complete = complete_prototypes([torch.from_numpy(by_task) for by_task in prototypes])
    np.testing.assert_allclose(complete.numpy(), complete_by_brute_force(prototypes), rtol=1e-10)


def test_adapters_depend_on_their_own_task_alone() -> None:
    early, late = trained((TASKS[1],)), trained((TASKS[0], TASKS[1]))
    assert same(saved(early.adapters[0]), saved(late.adapters[1]))
    assert not same(saved(late.adapters[0]), saved(late.adapters[1]))


def test_sequences_share_the_adapters_of_a_task(tmp_path, monkeypatch) -> None:
    trainings = []

    def counting(*args: object) -> torch.nn.ModuleList:
        trainings.append(args)
        return adapt(*args)

    monkeypatch.setattr(ease_module, "adapt", counting)
    for tasks in (TASKS, TASKS[::-1]):
        method = build("ease", SMALL, schedule=BENCH.schedule, shared=tmp_path)
        learn_all(method, SCENARIO, tasks)
    assert len(trainings) == len(TASKS)


def test_adapters_are_those_of_their_version(tmp_path) -> None:
    """If this fails, run directories hold other adapters: raise CACHE_VERSION, add to KNOWN."""
    layout = ViTLayout(channels=1, patch=4, width=64, depth=1, heads=1, hidden=64)
    network = build_network(lambda: ViT(layout, SMALL.shape), torch.Generator().manual_seed(0))
    save_file(network.state_dict(), tmp_path / "vit.safetensors")
    entry = get_method("ease")
    environment = replace(toy_environment(SMALL), backbone=str(tmp_path / "vit.safetensors"))
    # Steps so small that versions of torch and kernels agree: they differ by at most 0.000002.
    schedule = Schedule(epochs=2, learning_rate=1.0, batch_size=8, augment=("crop:1", "flip"))
    method = entry.build(EASEConfig(schedule, bottleneck=4), environment)
    learn_all(method, SCENARIO, TASKS[:1])
    weights = saved(method.adapters[0])
    actual = [*weights["0.down_weight"].flatten()[:4], *weights["0.up_bias"].flatten()[:4]]
    assert actual == pytest.approx(KNOWN[CACHE_VERSION], abs=2e-5)


def test_prototypes_are_class_means_in_each_subspace() -> None:
    method = trained(2)
    for label, class_ in enumerate(TASKS[1]):
        pixels = SCENARIO.train.only((class_,)).inputs
        for subspace, adapters in enumerate(method.adapters):
            mean = method.adapted_features(pixels, adapters).mean(dim=0)
            torch.testing.assert_close(method.prototypes[1][subspace, label], mean)


def test_the_unmodified_transformer_is_one_more_subspace() -> None:
    """With a weight that exceeds all cosines it decides alone: the class with the nearest mean."""
    method = trained(unmodified=1e6)
    pixels = SCENARIO.test.inputs
    features = method.frozen_features(pixels)
    means = torch.stack(
        [
            method.frozen_features(SCENARIO.train.only((class_,)).inputs).mean(dim=0)
            for class_ in method.seen
        ]
    )
    torch.testing.assert_close(method.unmodified, means)
    expected = torch.cosine_similarity(features[:, None], means[None], dim=2).argmax(dim=1)
    assert method.classify(pixels)["head"].tolist() == expected.tolist()
    again = BENCH.build(unmodified=1e6)
    again.restore(method.state())
    assert again.classify(pixels)["head"].tolist() == expected.tolist()


def test_the_reweighted_ensemble_by_hand() -> None:
    method = trained(others=0.4)
    pixels = SCENARIO.test.inputs
    complete = complete_by_brute_force([by_task.numpy() for by_task in method.prototypes])
    features = [method.adapted_features(pixels, one).numpy() for one in method.adapters]
    expected = []
    for image in range(len(pixels)):
        logits = [
            sum(
                (1.0 if subspace == label // 2 else 0.4 / 2)
                * (unit(features[subspace][image]) @ unit(complete[subspace][label]))
                for subspace in range(3)
            )
            for label in range(6)
        ]
        expected.append(int(np.argmax(logits)))
    assert method.classify(pixels)["head"].tolist() == expected


class Counter:
    """Computes a result from a task, and counts its calls."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, task: Task) -> dict[str, Any]:
        self.times += 1
        noise = torch.rand(2, generator=task.generator("noise"))
        return {"labels": task.labels, "seen": list(task.seen), "noise": noise}


def make(
    tasks: tuple[tuple[int, ...], ...],
    counter: Counter,
    shared: Path | None,
    *,
    kind: tuple[object, ...] = ("toy",),
    scenario: Scenario = SCENARIO,
    seed: int = 0,
    **settings: object,
) -> dict:
    environment = replace(
        toy_environment(SMALL), shared=None if shared is None else str(shared), **settings
    )
    with scenario.task(tasks, seed) as task:
        return compute_once(kind, task, environment, counter)


@pytest.mark.parametrize("sharing", [False, True])
def test_it_is_the_same_whatever_came_before(sharing, tmp_path) -> None:
    counter, place = Counter(), tmp_path if sharing else None
    early = make(((4, 5),), counter, place)
    late = make(((0, 1), (2, 3), (4, 5)), counter, place)
    other = make(((4, 3),), counter, place)
    assert torch.equal(early["noise"], late["noise"])
    assert not torch.equal(early["noise"], other["noise"])
    assert counter.times == (2 if sharing else 3)


def test_two_that_need_it_at_once_make_it_once(tmp_path) -> None:
    counter = Counter()
    threads = [
        threading.Thread(target=make, args=(((first, 1), (4, 5)), counter, tmp_path))
        for first in (0, 2, 3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.times == 1


def test_everything_that_determines_a_result_is_in_its_key(tmp_path) -> None:
    counter = Counter()
    others: list[dict[str, Any]] = [
        {},
        {"kind": ("another",)},
        {"kind": ("toy", Schedule(epochs=2))},
        {"kind": ("toy", Schedule(epochs=3))},
        {"scenario": Scenario(toy_dataset(train=6, contrast=20))},
        {"scenario": Scenario(toy_dataset(train=4))},
        {"seed": 1},
        {"precision": "bfloat16"},
    ]
    for times, other in enumerate(others, start=1):
        make(((4, 5),), counter, tmp_path, **other)
        assert counter.times == times
    for other in others:
        make(((0, 1), (4, 5)), counter, tmp_path, **other)
    assert counter.times == len(others)


def test_a_damaged_result_is_computed_again(tmp_path) -> None:
    counter = Counter()
    expected = make(((4, 5),), counter, tmp_path)
    (file,) = (tmp_path / "tasks").glob("*.pt")
    whole = file.read_bytes()
    noise = whole.index(expected["noise"].numpy().tobytes())
    flipped = whole[:noise] + bytes([whole[noise] ^ 1]) + whole[noise + 1 :]
    for damaged in (b"", b"not a result", whole[:-100], flipped):
        times = counter.times
        file.write_bytes(damaged)
        assert same(make(((4, 5),), counter, tmp_path), expected)
        assert counter.times == times + 1
        assert same(make(((4, 5),), counter, tmp_path), expected)
        assert counter.times == times + 1


def test_a_place_that_cannot_be_used_is_named(tmp_path) -> None:
    (tmp_path / "tasks").write_text("a file")
    with pytest.raises(EdgecilError, match=r"^Cannot use .*tasks: "):
        make(((4, 5),), Counter(), tmp_path)


def test_a_task_alone_ends_with_the_task() -> None:
    with SCENARIO.task(((0, 1), (2, 3)), 0) as task:
        alone = task.alone()
        assert torch.equal(alone.inputs, task.inputs)
    with pytest.raises(PastDataError):
        _ = alone.inputs
