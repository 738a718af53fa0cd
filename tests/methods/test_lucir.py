from __future__ import annotations

import pytest
import torch
from torch.nn.functional import cosine_embedding_loss, cross_entropy, normalize

from edgecil.methods.lucir import margin_loss
from tests.toys import TASKS, Bench, learn, toy_dataset

BENCH = Bench("lucir", toy_dataset(train=8, test=4), epochs=1)
SCENARIO, trained = BENCH.scenario, BENCH.trained


def test_weights_of_old_classes_are_fixed() -> None:
    method = trained(1)
    before = method.network.head.weight.detach().clone()
    learn(method, SCENARIO, TASKS[:2])
    assert torch.equal(method.network.head.weight[:2], before)


def test_new_weights_begin_as_mean_directions_with_the_length_of_old_ones() -> None:
    method = trained(1)
    old = method.network.head.weight.detach().clone()
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.grow(task)
        features = normalize(method.features(task.inputs), dim=1)
        for label in (2, 3):
            mean = normalize(features[task.labels == label].mean(dim=0), dim=0)
            expected = old.norm(dim=1).mean() * mean
            torch.testing.assert_close(method.network.head.weight[label], expected)


def test_margins_by_brute_force() -> None:
    generator = torch.Generator().manual_seed(0)
    cosines = torch.rand(6, 7, generator=generator) * 2 - 1
    labels = torch.tensor([0, 5, 3, 1, 6, 0])
    misses = []
    for row, label in zip(cosines.tolist(), labels.tolist(), strict=True):
        if label < 4:
            rivals = sorted(row[4:], reverse=True)[:2]
            misses += [max(0.0, 0.5 - row[label] + rival) for rival in rivals]
    expected = sum(misses) / len(misses)
    assert float(margin_loss(cosines, labels, 4, 2, 0.5)) == pytest.approx(expected)
    assert float(margin_loss(cosines, torch.full((6,), 5), 4, 2, 0.5)) == 0.0


def test_the_loss_by_hand() -> None:
    """Three old classes and one new one: the strength is multiplied by √3."""
    tasks = ((0, 1, 2), (3,))
    method = trained(tasks[:1])
    images = torch.randn(4, *BENCH.dataset.shape, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 3, 2, 3])
    with SCENARIO.task(tasks, 0) as task:
        method.begin(task)
        method.grow(task)
        actual = method.loss(images, labels, task)
    network = method.network
    features, before = network.backbone(images), method.teacher.backbone(images)
    cosines = normalize(features, dim=1) @ normalize(network.head.weight, dim=1).T
    entropy = cross_entropy(network.head.scale * cosines, labels)
    kept = cosine_embedding_loss(features, before, torch.ones(4))
    margins = margin_loss(cosines, labels, 3, 2, 0.5)
    torch.testing.assert_close(actual, entropy + 5.0 * 3**0.5 * kept + margins)
    actual.backward()
    assert not network.head.weight.grad[:3].any()
