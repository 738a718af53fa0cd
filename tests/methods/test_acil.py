from __future__ import annotations

import numpy as np
import torch

from edgecil.methods.acil import ACIL
from tests.toys import TASKS, Bench, Tasks, toy_dataset

BENCH = Bench("acil", toy_dataset(train=8, test=6))
SCENARIO = BENCH.scenario
SIZE, RIDGE = 40, 0.3


def trained(tasks: Tasks = TASKS) -> ACIL:
    return BENCH.trained(tasks, projection=SIZE, ridge=RIDGE, relative=False)


def test_the_recursion_of_the_paper_gives_the_same_weights() -> None:
    """Equations 9 and 10: the inverse and the weights are updated task by task."""
    method = trained()
    inverse, weights = np.eye(SIZE) / RIDGE, np.zeros((SIZE, 0))
    for task in TASKS:
        images = SCENARIO.train.only(task)
        rows = method.project(method.features(images.inputs)).numpy()
        seen = weights.shape[1] + len(task)
        weights = np.pad(weights, ((0, 0), (0, seen - weights.shape[1])))
        targets = np.eye(seen)[[method.seen.index(int(label)) for label in images.labels]]
        gain = np.linalg.inv(np.eye(len(rows)) + rows @ inverse @ rows.T)
        inverse = inverse - inverse @ rows.T @ gain @ rows @ inverse
        weights = weights + inverse @ rows.T @ (targets - rows @ weights)
    np.testing.assert_allclose(method.weights().numpy(), weights, rtol=1e-6, atol=1e-8)


def test_the_order_does_not_matter() -> None:
    one, other = trained(), trained(TASKS[::-1])
    moved = [other.seen.index(class_) for class_ in one.seen]
    torch.testing.assert_close(one.weights(), other.weights()[:, moved], rtol=1e-6, atol=1e-9)


def test_the_projection_is_that_of_a_linear_layer() -> None:
    projection = trained(()).projection
    assert projection.shape == (64, SIZE)
    assert 0.95 / 8 < float(projection.abs().max()) <= 1 / 8
