from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from edgecil.methods import adapters as adapters_module
from edgecil.methods.method import saved
from edgecil.methods.ranpac import RIDGES, RanPAC, held_out_errors, last_task_errors
from tests.toys import TASKS, Bench, Tasks, learn, same, toy_dataset

BENCH = Bench("ranpac", toy_dataset(test=4), epochs=1, optimizer="adam", learning_rate=0.01)
SCENARIO, SIZE = BENCH.scenario, 50


def ranpac() -> RanPAC:
    return BENCH.build(projection=SIZE)


def trained(tasks: int | Tasks = TASKS, size: int = SIZE, **settings: object) -> RanPAC:
    return BENCH.trained(tasks, projection=size, **settings)


def ridge_by_brute_force(features: np.ndarray, targets: np.ndarray, ridge: float) -> np.ndarray:
    """Least squares with the penalty as further rows."""
    penalty = np.sqrt(ridge) * np.eye(features.shape[1])
    zeros = np.zeros((features.shape[1], targets.shape[1]))
    stacked = np.concatenate([features, penalty]), np.concatenate([targets, zeros])
    return np.linalg.lstsq(*stacked, rcond=None)[0]


def test_only_the_first_task_trains_anything(monkeypatch) -> None:
    method = trained(1)
    adapted = saved(method.adapters)
    assert any(bool(value.any()) for name, value in adapted.items() if "up_weight" in name)
    monkeypatch.setattr(adapters_module, "fit", None)
    learn(method, SCENARIO, TASKS[:2])
    assert same(saved(method.adapters), adapted)


def test_it_is_the_ridge_regression_on_the_images_of_all_tasks() -> None:
    method = trained()
    images = SCENARIO.train
    projected = method.project(method.features(images.inputs)).numpy()
    targets = np.eye(len(method.seen))[[method.seen.index(int(label)) for label in images.labels]]
    expected = ridge_by_brute_force(projected, targets, method.ridge)
    np.testing.assert_allclose(method.weights().numpy(), expected, rtol=1e-6, atol=1e-9)
    values = method.project(method.features(SCENARIO.test.inputs)).numpy() @ expected
    assert method.classify(SCENARIO.test.inputs)["head"].tolist() == values.argmax(axis=1).tolist()


def test_the_order_after_the_first_task_does_not_matter() -> None:
    first, second, third = TASKS
    one, other = trained((first, second, third)), trained((first, third, second))
    torch.testing.assert_close(one.gram, other.gram, rtol=1e-12, atol=1e-9)
    assert one.ridge == other.ridge
    moved = [other.seen.index(class_) for class_ in one.seen]
    torch.testing.assert_close(one.weights(), other.weights()[:, moved], rtol=1e-8, atol=1e-10)
    pixels = SCENARIO.test.inputs
    assert torch.equal(one.predict(pixels), other.predict(pixels))


def test_the_order_does_not_matter_where_the_least_penalty_is_best() -> None:
    """There are more random features than images: the Gram matrix is singular."""
    first, second, third = TASKS
    methods = []
    for tasks in ((first, second, third), (first, third, second)):
        method = trained(tasks, 600)
        method.errors = torch.arange(float(len(RIDGES)), dtype=torch.float64) + 1.0
        methods.append(method)
    one, other = methods
    assert not torch.equal(one.gram, other.gram)
    assert one.ridge == pytest.approx(other.ridge)
    pixels = SCENARIO.test.inputs
    moved = [other.seen.index(class_) for class_ in one.seen]
    values = [method.project(method.features(pixels)) @ method.weights() for method in methods]
    torch.testing.assert_close(values[0], values[1][:, moved], rtol=0.0, atol=1e-5)
    assert torch.equal(one.predict(pixels), other.predict(pixels))


@pytest.mark.parametrize(
    ("rule", "least"), [("leave-one-out", 0.1), ("last-task", 1e3 * 2.0**-52 * SIZE)]
)
def test_the_penalty_has_a_lower_limit_relative_to_the_gram_matrix(rule: str, least: float) -> None:
    method = ranpac()
    method.config = replace(method.config, ridge=rule)
    method.errors = torch.arange(float(len(RIDGES)), dtype=torch.float64) + 1.0
    assert method.ridge == RIDGES[0]
    method.gram = 1e9 * torch.eye(SIZE, dtype=torch.float64)
    assert method.ridge == pytest.approx(least * 1e9)


def test_of_equal_errors_the_largest_penalty_is_taken() -> None:
    method = ranpac()
    method.errors = torch.full((len(RIDGES),), 5.0, dtype=torch.float64)
    method.errors[3], method.errors[7], method.errors[9] = 1.0, 1.0 + 1e-9, 1.1
    assert method.ridge == RIDGES[7]


@pytest.mark.parametrize("size", [6, 30])
def test_errors_on_held_out_images_by_leaving_each_out(size) -> None:
    """With fewer random features than images, and with more."""
    rng = np.random.default_rng(0)
    features, targets = rng.normal(size=(15, size)), np.eye(3)[rng.integers(3, size=15)]
    expected = np.zeros(len(RIDGES))
    for image in range(15):
        others = np.arange(15) != image
        for place, ridge in enumerate(RIDGES):
            weights = ridge_by_brute_force(features[others], targets[others], ridge)
            expected[place] += ((features[image] @ weights - targets[image]) ** 2).sum()
    errors = held_out_errors(torch.from_numpy(features), torch.from_numpy(targets))
    np.testing.assert_allclose(errors.numpy(), expected, rtol=1e-6)


def test_a_single_image_prefers_no_penalty_to_another() -> None:
    one = torch.ones(1, 4, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    errors = held_out_errors(*one)
    assert errors.tolist() == pytest.approx([1.0] * len(RIDGES))


@pytest.mark.parametrize(("images", "size"), [(20, 6), (10, 30)])
def test_the_published_rule_tests_every_ridge_on_a_fifth_of_the_last_task(images, size) -> None:
    rng = np.random.default_rng(0)
    features, targets = rng.random((images, size)), np.eye(3)[rng.integers(0, 3, images)]
    kept = int(0.8 * images)
    errors = last_task_errors(torch.from_numpy(features), torch.from_numpy(targets))
    for ridge, error in list(zip(RIDGES, errors, strict=True))[4:]:  # below, rounding errors
        weights = ridge_by_brute_force(features[:kept], targets[:kept], ridge)
        expected = ((features[kept:] @ weights - targets[kept:]) ** 2).sum()
        assert float(error) == pytest.approx(expected, rel=1e-4)


def test_cosine_weights_have_unit_length_and_the_same_direction() -> None:
    plain = trained()
    scaled = trained(cosine=True)
    lengths = plain.weights().norm(dim=0)
    torch.testing.assert_close(scaled.weights() * lengths, plain.weights())


def test_the_state_holds_half_of_the_gram_matrix_and_nothing_is_lost() -> None:
    method, again = trained(), ranpac()
    state = method.state()
    assert state["gram"].shape == (SIZE * (SIZE + 1) // 2,)
    assert state["gram"].dtype == torch.float64
    assert torch.equal(method.gram, method.gram.T)
    again.restore(state)
    assert torch.equal(again.gram, method.gram)
