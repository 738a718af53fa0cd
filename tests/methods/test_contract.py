"""The contract of every learner in edgecil."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from edgecil.methods import PAPER, Method, get_method, method_names
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.task import Scenario
from edgecil.testing import METHOD_CHECKS, Subject
from edgecil.training.node_training import pack, unpack
from tests.toys import (
    QUICK,
    TASKS,
    Tasks,
    accuracy,
    build,
    learn,
    learn_all,
    same,
    tensors_in,
    toy_dataset,
    toy_vit,
)

DATASET = toy_dataset()
SCENARIO = Scenario(DATASET)
# For what does not depend on learning well: two epochs of two batches a task.
BRIEF = replace(QUICK, epochs=2)
TINY = toy_dataset(train=6, test=4)
TINY_SCENARIO = Scenario(TINY)
CLOSED_FORM = ("simplecil", "fecam")  # nothing random
OURS = [
    name
    for name in method_names()
    if get_method(name).source is None and get_method(name).build.__module__.startswith("edgecil.")
]

every_method = pytest.mark.parametrize("name", OURS)


def brief(name: str) -> dict[str, object]:
    """Settings for what does not depend on learning well."""
    return {"balancing": 2} if "balancing" in get_method(name).fast_settings else {}


def build_brief(name: str, **options: Any) -> Method:
    """A learner for TINY that trains each task for two epochs."""
    settings = {**brief(name), **options.pop("settings", {})}
    return build(name, TINY, schedule=BRIEF, settings=settings, **options)


def budget(name: str) -> MemoryBudget | None:
    return getattr(get_method(name).config(), "memory", None)


@every_method
@pytest.mark.parametrize("check", METHOD_CHECKS)
def test_keeps_the_contract_for_all_learners(name, check) -> None:
    METHOD_CHECKS[check](
        Subject(
            get_method(name),
            brief(name),
            backbone=toy_vit() if get_method(name).pretrained else None,
        )
    )


@every_method
def test_another_seed_gives_another_result(name) -> None:
    states = []
    for seed in (0, 1):
        method = learn_all(build_brief(name, seed=seed), TINY_SCENARIO, TASKS[:1], seed=seed)
        states.append(method.state())
    assert same(*states) == (name in CLOSED_FORM)


@every_method
def test_learns_each_task_as_it_comes(name) -> None:
    """Half of the classes as in B50-Inc10, then one, then three, in colour.

    LwF keeps the outputs of old classes, which exceed those of few new ones after six epochs.
    """
    tasks: Tasks = ((5,), (0, 2, 4), (1, 3)) if name == "lwf" else ((0, 2, 4, 5), (1,), (3, 6, 7))
    dataset = toy_dataset(6 if name == "lwf" else 8, channels=3)
    scenario, method = Scenario(dataset), build(name, dataset)
    for end in range(1, len(tasks) + 1):
        learn(method, scenario, tasks[:end])
        if end == 1:
            assert accuracy(method, scenario, tasks[0]) > 0.85
    assert accuracy(method, scenario, method.seen) > 1.0 / len(method.seen)


@every_method
def test_keeps_no_more_images_than_its_budget_allows(name) -> None:
    allowed = budget(name)
    small = {"memory": {"total": 10, "per_class": 4}}
    method = build_brief(name, settings={} if allowed is None else small)
    for end, quota in zip(range(1, len(TASKS) + 1), (4, 2, 1), strict=True):
        learn(method, TINY_SCENARIO, TASKS[:end])
        tensors = tensors_in(unpack(pack(method.state())))
        stacks = [it for it in tensors if it.dtype == torch.uint8 and it.ndim == 4]
        limit = 0 if allowed is None else 10
        assert sum(len(stack) for stack in stacks) <= limit
        if allowed is not None:
            assert [len(stack) for stack in stacks] == [quota] * 2 * end


@every_method
def test_sharing_with_other_sequences_changes_nothing(name, tmp_path, monkeypatch) -> None:
    """A result cached by another sequence equals the result computed alone."""
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "cache"))
    pixels, tasks = TINY_SCENARIO.test.inputs, TASKS[:2]
    alone = learn_all(build_brief(name), TINY_SCENARIO, tasks)
    other = learn_all(build_brief(name, shared=tmp_path), TINY_SCENARIO, tasks[::-1])
    other.classify(pixels)
    sharing = learn_all(build_brief(name, shared=tmp_path), TINY_SCENARIO, tasks)
    assert same(sharing.state(), alone.state())
    assert same(sharing.classify(pixels), alone.classify(pixels))


@every_method
def test_published_settings_are_the_defaults(name) -> None:
    entry = get_method(name)
    config = entry.config()
    assert entry.pretrained or replace(config.schedule, schedule=PAPER.schedule) == PAPER
    assert entry.configure(*entry.schedule("paper", "resnet32")) == config
    assert budget(name) in (None, MemoryBudget(total=2000, per_class=20))
    assert entry.summary


@pytest.mark.parametrize("name", [name for name in OURS if get_method(name).pretrained])
def test_a_frozen_network_never_changes(name) -> None:
    method = build_brief(name)
    frozen = {key: value.clone() for key, value in method.vit.state_dict().items()}
    learn_all(method, TINY_SCENARIO, TASKS[:2])
    assert same(dict(method.vit.state_dict()), frozen)
    assert not any(value.requires_grad for value in method.vit.parameters())


@every_method
def test_learns_with_mixed_precision(name) -> None:
    """On a CPU it computes with bfloat16; states keep the type that they have without it."""
    plain, mixed = (
        build(name, DATASET, schedule=BRIEF, settings=brief(name), precision=precision)
        for precision in ("float32", "bfloat16")
    )
    for method in (plain, mixed):
        learn_all(method, SCENARIO, TASKS[:2])
        assert accuracy(method, SCENARIO, TASKS[1]) > 0.3
    types, usual = ([it.dtype for it in tensors_in(one.state())] for one in (mixed, plain))
    assert types == usual
    assert not same(plain.state(), mixed.state())
