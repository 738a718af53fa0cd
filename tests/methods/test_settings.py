from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any

import pytest

from edgecil.backbones.named import BACKBONES
from edgecil.errors import UsageError
from edgecil.methods import PAPER, Schedule, get_method, get_schedule
from edgecil.methods.entry import replace_schedule
from edgecil.methods.memory import MemoryBudget


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        ("acil", {"ridge": 0.0}, "'acil.ridge' must be more than 0. Got 0.0 instead."),
        ("aper", {"bottleneck": 0}, "'aper.bottleneck' must be at least 1. Got 0 instead."),
        ("bic", {"correction": "bias"}, "Unknown correction 'bias'"),
        ("bic", {"held_out": 1.0}, "'bic.held_out' must be between 0 and 1. Got 1.0"),
        ("coda-prompt", {"length": 3}, "even length"),
        ("der", {"balancing": -5}, "'der.balancing' must be at least 0. Got -5"),
        ("ease", {"others": -0.1}, "'ease.others' must be at least 0"),
        ("l2p", {"chosen": 11}, "'chosen' to be from 1 to the pool of 10. Got 11."),
        ("mos", {"merging": 1.5}, "'mos.merging' must be from 0 to 1. Got 1.5"),
        ("ranpac", {"bottleneck": -1}, "'ranpac.bottleneck' must be at least 0. Got -1"),
        ("slca", {"temperature": 0.0}, "'slca.temperature' must be more than 0"),
    ],
)
def test_impossible_settings_are_refused(
    method: str, settings: dict[str, Any], message: str
) -> None:
    entry = get_method(method)
    with pytest.raises(UsageError) as refused:
        entry.configure(*entry.schedule("paper", "resnet32"), settings)
    assert message in str(refused.value)


def test_the_paper_recipe_is_as_published() -> None:
    assert get_schedule("paper", "resnet32") == (PAPER, MemoryBudget(total=2000, per_class=20))
    assert (PAPER.epochs, PAPER.batch_size) == (170, 128)
    assert (PAPER.learning_rate, PAPER.momentum, PAPER.weight_decay) == (0.1, 0.9, 5e-4)
    assert (PAPER.schedule, PAPER.milestones, PAPER.decay) == ("steps", (60, 120, 170), 0.1)


def test_steps_fall_at_the_milestones() -> None:
    epochs = (0, 59, 60, 119, 120, 169)
    expected = [0.1, 0.1, 0.01, 0.01, 0.001, 0.001]
    assert [PAPER.rate(epoch) for epoch in epochs] == pytest.approx(expected)


def test_cosine_falls_from_the_first_rate_towards_zero() -> None:
    schedule = Schedule(epochs=4, learning_rate=0.2, schedule="cosine")
    expected = [0.2, 0.1 * (1 + 0.5**0.5), 0.1, 0.1 * (1 - 0.5**0.5)]
    assert [schedule.rate(epoch) for epoch in range(4)] == pytest.approx(expected)


def test_a_share_of_a_recipe_falls_at_the_same_share_of_it() -> None:
    schedule = Schedule(epochs=170, milestones=(60, 120, 170), learning_rate=0.2)
    shorter = schedule.lasting(130 / 170)
    assert (shorter.epochs, shorter.milestones) == (130, (46, 92, 130))
    assert shorter == replace(schedule, epochs=130, milestones=(46, 92, 130))
    assert schedule.lasting(0.001).epochs == 1


def test_a_budget_in_steps_has_its_rate_by_step() -> None:
    schedule = Schedule(steps=4, learning_rate=0.2, schedule="cosine", milestones=(2,))
    expected = [0.2, 0.1 * (1 + 0.5**0.5), 0.1, 0.1 * (1 - 0.5**0.5)]
    assert [schedule.rate(step) for step in range(4)] == pytest.approx(expected)
    assert schedule.count_steps(10_000) == 4
    assert replace(schedule, steps=None, epochs=3, batch_size=8).count_steps(17) == 9
    longer = schedule.lasting(2.0)
    assert (longer.steps, longer.milestones) == (8, (4,))
    again = schedule.lasting_epochs(30)
    assert (again.steps, again.epochs, again.milestones) == (None, 30, (15,))


def test_a_number_of_epochs_replaces_one_of_steps() -> None:
    schedule = Schedule(steps=100)
    assert replace_schedule(schedule, {"epochs": 3}).steps is None
    assert replace_schedule(schedule, {"epochs": 3, "steps": 50}).steps == 50
    assert replace_schedule(schedule, {"learning_rate": 0.1}).steps == 100


@pytest.mark.parametrize("backbone", [*BACKBONES, "vit-quickdraw"])
def test_every_backbone_that_is_always_here_has_a_fast_recipe(backbone: str) -> None:
    schedule, memory = get_schedule("fast", backbone)
    assert schedule.duration < PAPER.epochs
    assert memory.quota(6) >= 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": 0}, "'epochs'.*at least 1"),
        ({"batch_size": 0}, "'batch_size'.*at least 1"),
        ({"learning_rate": 0.0}, "'learning_rate'.*more than 0"),
        ({"learning_rate": nan}, "'learning_rate'.*more than 0"),
        ({"schedule": "linear"}, "Unknown schedule 'linear'"),
        ({"augment": ("crop", "flop")}, "'flop'.*'flip'"),
    ],
)
def test_nonsense_is_refused_before_any_training(change: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        replace(PAPER, **change)


def test_unknown_recipes_and_backbones_without_one() -> None:
    with pytest.raises(UsageError, match="Unknown setup 'quick'"):
        get_schedule("quick", "resnet32")
    with pytest.raises(UsageError, match="'recipe:demo'"):
        get_schedule("demo", "resnet32")
    with pytest.raises(UsageError, match="'vit'"):
        get_schedule("fast", "vit")
