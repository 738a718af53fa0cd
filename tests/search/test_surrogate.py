"""The surrogate: kernels that are standardised over all orders, and predictions that learn."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.io.arrays import Floats, Ints
from edgecil.search.surrogate import _kernels, predict
from edgecil.sequences import SequenceSpace
from edgecil.sequences.scores import place_classes

SPACES = [SequenceSpace.equal(6, 3), SequenceSpace((3, 2, 1)), SequenceSpace.equal(4, 4)]


def all_places(space: SequenceSpace) -> Ints:
    orders = np.array([sequence.order for sequence in space.enumerate()])
    return place_classes(orders, space)


def position_effects(space: SequenceSpace, seed: int) -> Floats:
    """Accuracies that are sums of an effect of each class at each position."""
    effect = np.random.default_rng(seed).normal(0, 2, (space.classes, space.tasks))
    places = all_places(space)
    return 60.0 + effect[np.arange(space.classes), places].sum(axis=1)


def test_places_are_the_task_of_every_class() -> None:
    space = SequenceSpace((2, 1, 1))
    assert place_classes(np.array([[3, 1, 0, 2]]), space).tolist() == [[1, 0, 2, 0]]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_kernels_have_mean_0_over_all_orders_and_are_1_of_an_order_with_itself(space) -> None:
    places = all_places(space)
    kernels = _kernels(space, places[:3], places)[:4]
    varies = np.array([True, True, max(space.sizes) > 1, max(space.sizes) > 1])
    np.testing.assert_allclose(kernels.mean(axis=2), 0.0, atol=1e-9)
    np.testing.assert_allclose(
        kernels[:, np.arange(3), np.arange(3)], np.where(varies, 1.0, 0.0)[:, None] * np.ones(3)
    )
    for kernel in _kernels(space, places, places)[:4]:
        assert np.linalg.eigvalsh(kernel).min() > -1e-8


def test_effects_of_positions_are_learnt_from_a_third_of_the_orders() -> None:
    space = SPACES[0]
    places, truth = all_places(space), position_effects(space, 1)
    rng = np.random.default_rng(2)
    seen = rng.permutation(len(truth))[:30]
    noisy = truth[seen] + rng.normal(0, 0.5, 30)
    prediction = predict(space, places[seen], noisy, places)
    unseen = np.setdiff1d(np.arange(len(truth)), seen)
    assert np.corrcoef(prediction.mean[unseen], truth[unseen])[0, 1] > 0.85
    error = (prediction.mean[unseen] - truth[unseen]) / prediction.std[unseen]
    assert 0.4 < np.sqrt((error**2).mean()) < 2.0


def test_pure_noise_is_shrunk_towards_the_mean() -> None:
    space = SPACES[0]
    places = all_places(space)
    values = np.random.default_rng(5).normal(50, 3, 20)
    prediction = predict(space, places[:20], values, places[:20])
    assert prediction.mean.std() < 0.7 * values.std()
    assert prediction.noise > 1.0


def test_a_predictor_that_explains_everything_is_used() -> None:
    space = SPACES[0]
    places = all_places(space)
    z = np.random.default_rng(7).normal(size=(len(places), 1))
    truth = 50.0 + 4.0 * z[:, 0]
    prediction = predict(space, places[::6], truth[::6], places, predictors=(z[::6], z))
    assert np.corrcoef(prediction.mean, truth)[0, 1] > 0.98


def test_equal_values_are_predicted_everywhere() -> None:
    space = SPACES[0]
    places = all_places(space)
    prediction = predict(space, places[:4], [70.0] * 4, places)
    np.testing.assert_allclose(prediction.mean, 70.0, atol=1e-6)
