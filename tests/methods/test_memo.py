from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest
import torch

from edgecil.errors import UsageError
from edgecil.methods.memo import MEMO
from edgecil.scenario.task import Scenario
from tests.toys import QUICK, TASKS, build, learn, learn_all, same, toy_dataset

DATASET = toy_dataset(contrast=60)
SCENARIO = Scenario(DATASET)
BRIEF = replace(QUICK, epochs=1)


def memo(**settings: object) -> MEMO:
    method = build("memo", DATASET, recipe=BRIEF, settings=settings)
    assert isinstance(method, MEMO)
    return method


def count(module: torch.nn.Module) -> int:
    return sum(value.numel() for value in module.parameters())


def test_one_shared_stem_and_a_last_stage_per_task() -> None:
    method = memo()
    whole = count(method.network.backbone)
    stem = count(method.network.backbone.shared)
    for tasks in range(1, len(TASKS) + 1):
        learn(method, SCENARIO, TASKS[:tasks])
        assert count(method.network.backbone) == stem + tasks * (whole - stem)


def test_specialised_stages_are_frozen_and_the_generalised_part_goes_on_learning() -> None:
    method = memo()
    learn(method, SCENARIO, TASKS[:1])
    before = method.state()["network"]
    learn(method, SCENARIO, TASKS[:2])
    after = method.state()["network"]
    for name in before:
        if name.startswith("backbone.extractors.0"):
            assert same(before[name], after[name]), name
        elif name.startswith("backbone.shared") and name.endswith("conv1.weight"):
            assert not same(before[name], after[name]), name
    old, new = method.network.backbone.extractors
    assert not any(value.requires_grad for value in old.parameters())
    learning = [*new.parameters(), *method.network.backbone.shared.parameters()]
    assert all(value.requires_grad for value in learning)


def test_counted_fairly_model_and_exemplars_stay_within_what_a_fixed_model_may_use() -> None:
    method = memo(count_growth=True, memory={"total": 2000, "per_class": None})
    allowed = 4 * count(method.network.backbone) + 2000 * prod(DATASET.shape)
    paid = memo(memory={"total": 2000, "per_class": None})
    for tasks in (1, 2):
        learn(method, SCENARIO, TASKS[:tasks])
        images = method.memory.budget.quota(2 * tasks) * 2 * tasks
        assert 4 * count(method.network.backbone) + images * prod(DATASET.shape) <= allowed
    learn_all(paid, SCENARIO, TASKS[:2])
    assert method.memory.budget.total < paid.memory.budget.total == 2000


def test_a_model_that_has_eaten_up_its_exemplars_is_refused_before_training() -> None:
    method = memo(count_growth=True)
    learn_all(method, SCENARIO, TASKS[:2])
    with pytest.raises(UsageError, match="leaves none with 6 classes"):
        learn(method, SCENARIO, TASKS)


def test_counting_growth_needs_a_total_to_count_against() -> None:
    with pytest.raises(UsageError, match="count_growth needs a memory with a total"):
        memo(count_growth=True, memory={"total": None})
