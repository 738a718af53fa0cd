from __future__ import annotations

import pytest
import torch

from edgecil.methods.class_statistics import (
    ClassGaussians,
    ClassMixtures,
    align_classifier,
    separation_loss,
)
from edgecil.methods.settings import Schedule
from edgecil.methods.task import Scenario
from tests.toys import TASKS, seeded, toy_dataset


def blobs(*centres: tuple[float, float], each: int = 50, spread: float = 0.1) -> torch.Tensor:
    noise = torch.randn(len(centres), each, 2, generator=seeded())
    return (torch.tensor(centres)[:, None] + spread * noise).flatten(0, 1)


def test_one_centroid_is_the_mean_with_the_variance_of_each_feature() -> None:
    features = torch.randn(40, 3, generator=seeded()) * torch.tensor([1.0, 2.0, 5.0])
    statistics = ClassMixtures(1, 3, "cpu")
    statistics.add(features, seeded())
    torch.testing.assert_close(statistics.means[0, 0], features.mean(dim=0))
    torch.testing.assert_close(
        statistics.variances[0, 0], features.var(dim=0, unbiased=False) + 1e-4
    )
    assert statistics.shares.tolist() == [[1.0]]


def test_features_are_drawn_by_share_or_equally_from_centroids_of_several() -> None:
    """Nine features at one place, three at another, one at a third, which has no variance."""
    counts = {}
    for equal in (False, True):
        statistics = ClassMixtures(3, 2, "cpu", equal=equal)
        statistics.means = torch.tensor([[[0.0, 0.0], [10.0, 0.0], [20.0, 0.0]]])
        statistics.variances = torch.tensor([0.01, 0.01, 0.0])[None, :, None].expand(1, 3, 2) + 1e-4
        statistics.shares = torch.tensor([[9.0, 3.0, 1.0]]) / 13
        drawn = statistics.sample([torch.zeros(1300, dtype=torch.int64)], seeded())
        places = (drawn[:, 0] / 10).round().long()
        counts[equal] = (torch.bincount(places, minlength=3) / 1300).tolist()
    assert counts[False] == pytest.approx([9 / 13, 3 / 13, 1 / 13], abs=0.04)
    assert counts[True] == pytest.approx([0.5, 0.5, 0.0], abs=0.04)
    alone = ClassMixtures(3, 2, "cpu", equal=True)
    alone.add(torch.tensor([[1.0, 2.0]]), seeded())
    assert alone.sample([torch.zeros(2, dtype=torch.int64)], seeded()).shape == (2, 2)


def test_several_centroids_find_separate_blobs() -> None:
    features = blobs((0.0, 0.0), (10.0, 0.0))
    statistics = ClassMixtures(2, 2, "cpu")
    statistics.add(features, seeded(1))
    order = statistics.means[0, :, 0].argsort()
    expected = torch.stack([features[:50].mean(dim=0), features[50:].mean(dim=0)])
    torch.testing.assert_close(statistics.means[0, order], expected)
    assert statistics.shares[0].tolist() == [0.5, 0.5]
    assert statistics.variances.max() < 0.05


def test_drawn_features_have_the_statistics_of_their_class() -> None:
    statistics = ClassMixtures(3, 2, "cpu")
    classes = [blobs((0.0, 0.0), (4.0, 1.0), (4.0, 1.0)), blobs((-20.0, 5.0), spread=1.0)]
    for features in classes:
        statistics.add(features, seeded())
    for label, features in enumerate(classes):
        drawn = statistics.sample([torch.full((20_000,), label)], seeded(1))
        torch.testing.assert_close(drawn.mean(dim=0), features.mean(dim=0), atol=0.05, rtol=0)
        torch.testing.assert_close(
            drawn.var(dim=0), features.var(dim=0, unbiased=False), atol=0.1, rtol=0.05
        )


@pytest.mark.parametrize("count", [1, 2])
def test_a_class_of_fewer_features_than_centroids_has_empty_ones_that_are_never_drawn(
    count: int,
) -> None:
    features = torch.tensor([[5.0, 5.0], [7.0, 7.0]])[:count]
    statistics = ClassMixtures(4, 2, "cpu")
    statistics.add(features, seeded())
    assert statistics.shares[0].sum() == 1.0
    assert int((statistics.shares[0] > 0).sum()) == len(statistics.centroids()) == count
    drawn = statistics.sample([torch.zeros(100, dtype=torch.int64)], seeded(1))
    assert torch.cdist(drawn, features).min(dim=1).values.max() < 0.1


def test_a_gaussian_has_the_mean_and_the_covariance_of_its_class() -> None:
    features = torch.randn(40, 3, generator=seeded()) @ torch.randn(3, 3, generator=seeded(1))
    gaussians = ClassGaussians(3, "cpu")
    gaussians.add(features)
    torch.testing.assert_close(gaussians.means[0], features.mean(dim=0))
    covariance = gaussians.roots[0] @ gaussians.roots[0].T
    torch.testing.assert_close(covariance, features.T.cov() + 1e-4 * torch.eye(3))


def test_noise_is_drawn_batch_by_batch_and_shaped_by_class() -> None:
    gaussians = ClassGaussians(3, "cpu")
    gaussians.add(*(torch.randn(9, 3, generator=seeded(seed)) for seed in range(3)))
    batches = [torch.tensor([2, 0, 0, 1]), torch.tensor([1, 2])]
    drawn, source = gaussians.sample(batches, seeded(7)), seeded(7)
    noise = torch.cat([torch.randn(len(labels), 3, generator=source) for labels in batches])
    for feature, label, row in zip(drawn, torch.cat(batches), noise, strict=True):
        torch.testing.assert_close(feature, gaussians.means[label] + gaussians.roots[label] @ row)


def test_gaussians_are_stored_as_triangles() -> None:
    gaussians, again = ClassGaussians(3, "cpu"), ClassGaussians(3, "cpu")
    gaussians.add(*(torch.randn(9, 3, generator=seeded(seed)) for seed in range(2)))
    state = gaussians.state()
    assert state["roots"].shape == (2, 6)
    again.restore(state, "cpu")
    assert torch.equal(again.roots, gaussians.roots)


def test_a_gaussian_of_one_feature_is_narrow() -> None:
    gaussians = ClassGaussians(2, "cpu")
    gaussians.add(torch.tensor([[5.0, 7.0]]))
    torch.testing.assert_close(gaussians.roots[0], 0.01 * torch.eye(2))


class Watched(torch.nn.Linear):
    """A classifier that remembers the first feature of what it is shown, batch by batch."""

    def __init__(self) -> None:
        super().__init__(2, 4)
        self.batches: list[list[float]] = []

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        self.batches.append(features[:, 0].tolist())
        return super().forward(features)


def test_aligning_draws_alike_from_all_classes_in_so_many_batches() -> None:
    statistics, classifier = ClassGaussians(2, "cpu"), Watched()
    for label in range(4):
        statistics.add(torch.full((3, 2), 10.0 * label))
    schedule = Schedule(epochs=2, learning_rate=1e-3, batch_size=6, augment=())
    with Scenario(toy_dataset(train=1)).task(TASKS[:2], 0) as task:
        align_classifier(classifier, statistics, schedule, task, batches=2, stage="alignment")
    assert [len(batch) for batch in classifier.batches] == [6] * (2 * 2)
    for epoch in (classifier.batches[:2], classifier.batches[2:]):
        drawn = sorted(round(value / 10.0) for batch in epoch for value in batch)
        assert drawn == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3


def test_apartness_by_hand() -> None:
    vectors = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    products = torch.tensor([[1.0, 0.0, 1.0], [0.0, 4.0, 2.0], [1.0, 2.0, 2.0]]) / 0.8
    shares = products.exp() / products.exp().sum(dim=1, keepdim=True)
    torch.testing.assert_close(separation_loss(vectors, 0.8), -shares.diag().log().mean())
