from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from edgecil.errors import UsageError
from edgecil.methods.memory import herd
from edgecil.methods.network import distil
from tests.toys import HARD, TASKS, Bench, accuracy, learn

BENCH = Bench("icarl", HARD)
SCENARIO, trained = BENCH.scenario, BENCH.trained


def unit(features: torch.Tensor) -> np.ndarray:
    rows = features.double().numpy()
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_exemplars_are_herded_in_the_new_feature_space() -> None:
    method = trained(2, memory={"per_class": 5})
    for label, class_ in enumerate((0, 3, 1, 4)):
        pixels = SCENARIO.train.only((class_,)).inputs
        if label >= 2:  # the older ones were chosen by an older network
            chosen = herd(normalize(method.features(pixels), dim=1), 5)
            assert torch.equal(method.memory.of_class(label), pixels[chosen])
        kept = {image.numpy().tobytes() for image in method.memory.of_class(label)}
        assert len(kept) == 5
        assert kept <= {image.numpy().tobytes() for image in pixels}


def test_the_nearest_mean_by_hand() -> None:
    method = trained(2, memory={"per_class": 3})
    means = []
    for label in range(4):
        mean = unit(method.features(method.memory.of_class(label))).mean(axis=0)
        means.append(mean / np.linalg.norm(mean))
    features = unit(method.features(SCENARIO.test.inputs))
    distances = ((features[:, None, :] - np.array(means)[None]) ** 2).sum(axis=2)
    assert (
        method.classify(SCENARIO.test.inputs)["nme"].tolist() == distances.argmin(axis=1).tolist()
    )


@pytest.mark.parametrize("name", ["icarl", "der"])
def test_replaying_exemplars_keeps_old_classes_alive(name) -> None:
    replaying, forgetting = (Bench(one, HARD).trained() for one in (name, "finetune"))
    old = TASKS[0] + TASKS[1]
    assert accuracy(replaying, SCENARIO, old) >= accuracy(forgetting, SCENARIO, old) + 0.2


def test_the_loss_is_cross_entropy_and_distillation_of_the_network_before() -> None:
    method = trained(1, temperature=2.0)
    before = copy.deepcopy(method.network)
    images = torch.randn(5, *HARD.shape, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 2, 3, 3])
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.begin(task)
        method.grow(task)
        with torch.no_grad():
            method.network.head.weight += 0.1
        actual = method.loss(images, labels, task)
    logits = method.network(images)
    expected = torch.nn.functional.cross_entropy(logits, labels)
    expected = expected + distil(logits[:, :2], before(images), 2.0)
    assert actual.item() == pytest.approx(expected.item())


def test_a_memory_too_small_for_its_classes_is_refused_before_training() -> None:
    method = trained(1, memory={"total": 3})
    with pytest.raises(UsageError, match=r"3.*20.*classes"):
        learn(method, SCENARIO, TASKS[:2])
