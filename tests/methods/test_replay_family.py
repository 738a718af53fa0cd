"""Distillation, and what is special about LwF, WA, BiC, SimpleCIL and APER."""

from __future__ import annotations

from math import log
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy, normalize

from edgecil.methods import bic
from edgecil.methods.network import distil
from edgecil.methods.task import Scenario
from tests.toys import TASKS, accuracy, build, learn, learn_all, toy_dataset

DATASET = toy_dataset()
SCENARIO = Scenario(DATASET)


def after_one(name: str, **settings: Any) -> Any:
    return learn_all(build(name, DATASET, settings=settings), SCENARIO, TASKS[:1])


@pytest.mark.parametrize(("name", "share"), [("lwf", None), ("wa", 0.5), ("bic", 0.5)])
def test_the_loss_by_its_parts(name: str, share: float | None) -> None:
    method = after_one(name)
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.begin(task)
        method.grow(task)
        images, labels = torch.rand(4, 1, 12, 12), torch.tensor([2, 3, 2, 3])
        method.network.eval()
        logits, old = method.network(images), method.teacher(images)
        kept = distil(logits[:, :2], old, 2.0)
        if share is None:
            expected = cross_entropy(logits[:, 2:], labels - 2) + 3.0 * kept
        else:
            expected = (1 - share) * cross_entropy(logits, labels) + share * kept
        assert method.loss(images, labels, task).item() == pytest.approx(expected.item())


def test_wa_shortens_the_weights_of_new_classes_and_enlarges_them_only_as_published() -> None:
    for enlarge in (False, True):
        method = build("wa", DATASET, settings={"enlarge": enlarge})
        with SCENARIO.task(TASKS[:2], 0) as task:
            method.seen = task.seen
            method.network.grow(4, torch.Generator().manual_seed(0))
            for factor in (4.0, 0.25):
                with torch.no_grad():
                    method.network.head.weight[2:] *= factor
                before = method.network.head.weight.norm(dim=1)
                method.end(task)
                after = method.network.head.weight.norm(dim=1)
                aligned = enlarge or factor > 1.0
                expected = before[:2].mean() if aligned else before[2:].mean()
                assert after[2:].mean().item() == pytest.approx(expected.item(), rel=1e-5)
                assert torch.equal(after[:2], before[:2])
        assert method.teacher is None


def test_bic_corrects_only_the_newest_classes_and_keeps_earlier_corrections() -> None:
    method = after_one("bic")
    assert method.network.scales.tolist() == [1.0, 1.0]
    learn(method, SCENARIO, TASKS[:2])
    first = method.network.shifts.clone()
    assert first[:2].tolist() == [0.0, 0.0]
    assert first[2] == first[3] != 0.0
    learn(method, SCENARIO, TASKS)
    assert torch.equal(method.network.shifts[:4], first)


def test_bic_may_fit_its_correction_as_pycil_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyCIL takes the cross-entropy of probabilities as if they were logits."""
    fitted: list[torch.Tensor] = []

    def once(_: Any, count: int, loss: Any, *__: Any, **___: Any) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(bic, "cross_entropy", lambda logits, _: fitted.append(logits.detach()))
            loss(torch.arange(count), torch.Generator())

    monkeypatch.setattr(bic, "minimise", once)
    for correction in ("logits", "double-softmax"):
        learn(after_one("bic", correction=correction), SCENARIO, TASKS[:2])
    logits, probabilities = fitted
    torch.testing.assert_close(logits.softmax(dim=1), probabilities)


def test_bic_trains_on_no_held_out_image() -> None:
    method = after_one("bic", memory={"per_class": 10}, held_out=0.3)
    with SCENARIO.task(TASKS[:2], 0) as task:
        _, labels = method.training_data(task)
        assert torch.bincount(labels).tolist() == [7, 7, 9, 9]
        assert (
            torch.bincount(method.memory.beside(task)[1][method.held_out(task)]).tolist() == [3] * 4
        )


def test_simplecil_does_not_depend_on_the_order() -> None:
    means = []
    for tasks in (TASKS, TASKS[::-1]):
        method = learn_all(build("simplecil", DATASET), SCENARIO, tasks)
        assert accuracy(method, SCENARIO, tuple(range(6))) > 0.9
        means.append({class_: method.prototypes[i] for i, class_ in enumerate(method.seen)})
    assert all(torch.equal(means[0][class_], means[1][class_]) for class_ in range(6))


def test_aper_puts_adapted_features_beside_the_frozen_ones() -> None:
    method = learn_all(build("aper", DATASET), SCENARIO, TASKS[:1])
    features = method.features(SCENARIO.test.inputs[:3])
    width = method.vit.feature_size
    assert features.shape == (3, 2 * width)
    assert torch.equal(features[:, :width], method.frozen_features(SCENARIO.test.inputs[:3]))
    assert not torch.equal(features[:, :width], features[:, width:])
    before = method.adapters[0].up_weight.clone()
    learn(method, SCENARIO, TASKS[:2])
    assert torch.equal(method.adapters[0].up_weight, before)
    cosines = normalize(features, dim=1) @ normalize(method.prototypes, dim=1).T
    labels = method.classify(SCENARIO.test.inputs[:3])["head"]
    assert torch.equal(labels, cosines.argmax(dim=1))


@pytest.mark.parametrize(
    ("student", "teacher", "temperature", "weights", "expected"),
    [
        # (ln 9, 0) at T = 2 wants (3/4, 1/4); (0, 0) says (1/2, 1/2)
        ([[0.0, 0.0]], [[log(9.0), 0.0]], 2.0, None, log(2.0)),
        ([[log(16.0), 0.0]], [[log(9.0), 0.0]], 2.0, None, -0.75 * log(0.8) - 0.25 * log(0.2)),
        # the mean over rows
        ([[0.0, 0.0], [log(3.0), 0.0]], [[0.0, 0.0], [200.0, 0.0]], 1.0, None, log(2 / 0.75) / 2),
        # (3/4, 1/4) weighed by (1, 3) wants (1/2, 1/2)
        ([[log(4.0), 0.0]], [[log(3.0), 0.0]], 1.0, [1.0, 3.0], -(log(4 / 5) + log(1 / 5)) / 2),
    ],
)
def test_distillation_by_hand(student, teacher, temperature, weights, expected) -> None:
    weighed = None if weights is None else torch.tensor(weights)
    actual = distil(torch.tensor(student), torch.tensor(teacher), temperature, weighed)
    assert actual.item() == pytest.approx(expected)
