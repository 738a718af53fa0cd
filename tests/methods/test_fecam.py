from __future__ import annotations

import numpy as np
import pytest
import torch

from edgecil.methods.fecam import correlation_root
from tests.toys import TASKS, Bench, toy_dataset

BENCH = Bench("fecam", toy_dataset(train=8, test=6))
SCENARIO, trained = BENCH.scenario, BENCH.trained


def test_distances_by_the_formulas_of_the_paper() -> None:
    """The covariance of unit features, shrunk, scaled to unit variances and inverted."""
    method = trained(shrinkage=0.5)
    features = method.features(SCENARIO.train.inputs).double().numpy()
    images = method.features(SCENARIO.test.inputs).double().numpy()
    distances = []
    for class_ in method.seen:
        rows = features[SCENARIO.train.labels.numpy() == class_]
        covariance = np.cov(rows.T)
        covariance += 0.5 * np.diag(covariance).mean() * np.eye(len(covariance))
        lengths = np.sqrt(np.diag(covariance))
        inverse = np.linalg.pinv(covariance / np.outer(lengths, lengths))
        apart = images - rows.mean(axis=0)
        distances.append(np.einsum("nd,de,ne->n", apart, inverse, apart))
    expected = np.stack(distances).argmin(axis=0)
    assert method.classify(SCENARIO.test.inputs)["head"].tolist() == expected.tolist()


def test_the_order_does_not_matter() -> None:
    one, other = trained(), trained(TASKS[::-1])
    pixels = SCENARIO.test.inputs
    assert torch.equal(one.predict(pixels), other.predict(pixels))


@pytest.mark.parametrize("count", [1, 3])
def test_a_class_of_equal_images_has_no_correlations(count: int) -> None:
    assert torch.equal(correlation_root(torch.ones(count, 4), 1.0), torch.eye(4).double())
