"""What DER, MEMO, FOSTER and TagFex share: extractors side by side, all but the newest frozen."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from edgecil.backbones import GrowingLinear
from edgecil.methods import get_method
from edgecil.methods.der import ExpandingBackbone, ExpandingNetwork
from edgecil.methods.task import Scenario
from tests.toys import HARD, TASKS, Bench, accuracy, learn_all, seeded

EXPANDING = ("der", "memo", "tagfex")
SCENARIO = Scenario(HARD)
DER = Bench("der", HARD)


def extractor() -> nn.Module:
    """Batch norm and a linear map: vectors (n, 3) to features (n, 2)."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 2))


def network(*classes: int) -> ExpandingNetwork:
    made = ExpandingNetwork(ExpandingBackbone(nn.Identity(), extractor(), 2))
    for count in classes:
        made.grow(count, seeded(count))
    return made


def test_an_extractor_comes_with_every_group_of_classes_but_the_first() -> None:
    for classes in ((2,), (2, 1), (2, 1, 3)):
        made = network(*classes)
        assert len(made.backbone.extractors) == len(classes)
        assert made.backbone.feature_size == made.head.feature_size == 2 * len(classes)
        assert made(torch.rand(4, 3)).shape == (4, sum(classes))
        assert made.auxiliary.classes == (0 if len(classes) == 1 else 1 + classes[-1])


def test_a_new_extractor_starts_as_a_copy_and_is_not_tied() -> None:
    made = network(2, 1)
    old, new = made.backbone.extractors
    assert all(torch.equal(a, b) for a, b in zip(old.parameters(), new.parameters(), strict=True))
    with torch.no_grad():
        new[1].weight += 1.0
    assert not torch.equal(old[1].weight, new[1].weight)


def test_only_the_newest_extractor_learns_and_no_gradient_reaches_the_others() -> None:
    made = network(2, 1, 1).train()
    features = made.backbone(torch.rand(6, 3, generator=seeded()))
    sum(made.losses(features, torch.tensor([0, 1, 2, 3, 3, 3]), 3)).backward()
    for past in made.backbone.extractors[:-1]:
        assert not past.training
        assert all(not value.requires_grad and value.grad is None for value in past.parameters())
    trained = [made.backbone.newest, made.head, made.auxiliary]
    assert all(value.grad.abs().sum() > 0 for part in trained for value in part.parameters())


def test_training_moves_no_batch_statistics_of_the_frozen() -> None:
    made = network(2, 1).train()
    before = [extractor[0].running_mean.clone() for extractor in made.backbone.extractors]
    made(torch.rand(6, 3, generator=seeded()) + 5.0)
    after = [extractor[0].running_mean for extractor in made.backbone.extractors]
    assert torch.equal(before[0], after[0])
    assert not torch.equal(before[1], after[1])


def test_the_shared_part_learns_through_frozen_extractors() -> None:
    shared = nn.Linear(3, 3)
    made = ExpandingNetwork(ExpandingBackbone(shared, extractor(), 2))
    for count in (2, 1):
        made.grow(count, seeded())
    made.train()
    features = made.backbone(torch.rand(6, 3, generator=seeded()))
    features[:, :2].sum().backward()
    assert shared.weight.grad is not None


def test_without_old_classes_there_is_nothing_auxiliary() -> None:
    made = network(2)
    _, auxiliary = made.losses(torch.rand(3, 2), torch.tensor([0, 1, 1]), 0)
    assert auxiliary.item() == 0.0


@pytest.mark.parametrize("classes", [(2,), (2, 1), (1, 2, 3)])
def test_a_state_of_any_size_loads_into_a_fresh_network(classes) -> None:
    grown = network(*classes)
    with torch.no_grad():
        for parameter in grown.parameters():
            parameter.normal_(generator=seeded(3))
    fresh = network()
    fresh.load_state_dict(grown.state_dict())
    vectors = torch.rand(4, 3, generator=seeded())
    assert torch.equal(fresh.eval()(vectors), grown.eval()(vectors))
    frozen = [not value.requires_grad for value in grown.parameters()]
    assert [not value.requires_grad for value in fresh.parameters()] == frozen


def bench(name: str) -> Bench:
    return Bench(name, HARD, epochs=2)


@pytest.mark.parametrize("name", ["der", "memo"])
def test_the_loss_is_cross_entropy_and_that_of_the_auxiliary_head(name) -> None:
    method = bench(name).trained(1, auxiliary=0.5)
    images = torch.randn(5, *HARD.shape, generator=seeded())
    labels = torch.tensor([0, 1, 2, 3, 3])
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.grow(task)
        actual = method.loss(images, labels, task)
    maps = method.network.backbone.shared(images)
    old, new = (stage(maps) for stage in method.network.backbone.extractors)
    chosen = method.network.head(torch.cat([old, new], dim=1)).log_softmax(dim=1)
    own = method.network.auxiliary(new).log_softmax(dim=1)
    rows, new_or_old = torch.arange(5), torch.tensor([0, 0, 1, 2, 2])
    expected = -(chosen[rows, labels].mean() + 0.5 * own[rows, new_or_old].mean())
    assert actual.item() == pytest.approx(expected.item())


@pytest.mark.parametrize("name", EXPANDING)
def test_after_a_task_the_weights_of_new_classes_are_as_long_as_those_of_old_ones(name) -> None:
    method = bench(name).trained(balancing=0)
    lengths = method.network.head.weight.norm(dim=1)
    assert lengths[4:].mean().item() == pytest.approx(lengths[:4].mean().item(), rel=1e-5)


@pytest.mark.parametrize("name", EXPANDING)
def test_balancing_is_of_the_aligned_head_on_exemplars_for_so_many_epochs(
    name, monkeypatch
) -> None:
    fits = []

    def note(trained: Any, count: int, _: Any, schedule: Any, task: Any, *, stage: str) -> None:
        head = method.network.head
        assert all(a is b for a, b in zip(trained, head.parameters(), strict=True))
        lengths = head.weight.norm(dim=1)
        assert lengths[: task.old_count].mean().item() == pytest.approx(
            lengths[task.old_count :].mean().item(), rel=1e-5
        )
        fits.append((stage, count, schedule.epochs))

    monkeypatch.setattr("edgecil.methods.der.minimise", note)
    for balancing, expected in ((0, []), (7, [("balance", 12, 7), ("balance", 18, 7)])):
        method = bench(name).build(balancing=balancing, memory={"per_class": 3})
        learn_all(method, SCENARIO, TASKS)
        assert fits == expected


@pytest.mark.parametrize("name", EXPANDING)
def test_balancing_has_one_rule_for_all_expanding_learners(name) -> None:
    entry = get_method(name)
    for schedule in ("paper", "published"):
        config = entry.configure(*entry.schedule(schedule, "resnet32"), entry.settings(schedule))
        assert config.balancing == 0
    fast = entry.configure(*entry.schedule("fast", "resnet32"), entry.settings("fast"))
    assert fast.balancing == 30


def test_balancing_teaches_the_head_all_classes_and_moves_nothing_else() -> None:
    method = DER.trained(2, memory={"per_class": 4}, balancing=6)
    backbone = method.network.backbone.state_dict()
    before = {name: value.clone() for name, value in backbone.items()}
    fresh = GrowingLinear.of(method.network.head.feature_size, 4, seeded())
    method.network.head = fresh
    chance = [accuracy(method, SCENARIO, task) for task in TASKS[:2]]
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.balance(method.memory, task)
    reached = [accuracy(method, SCENARIO, task) for task in TASKS[:2]]
    assert min(reached) >= 0.5 > min(chance)
    assert all(torch.equal(value, before[name]) for name, value in backbone.items())
