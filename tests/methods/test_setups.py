"""The schedules `paper` and `published`, and the behaviour of published code as settings."""

from __future__ import annotations

import pytest
import torch

from edgecil.errors import UsageError
from edgecil.methods import METHODS, get_method
from edgecil.methods.entry import replace_schedule
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.mos import mean_of
from edgecil.methods.settings import Schedule
from edgecil.methods.setups import COMMITS, PUBLISHED
from edgecil.methods.task import Scenario
from tests.toys import TASKS, Bench, learn, same, toy_dataset

DATASET = toy_dataset(test=4)
SCENARIO = Scenario(DATASET)
ROWS = [(method, dataset) for method, rows in PUBLISHED.items() for dataset in rows]


def configured(method: str, setup: str, dataset: str | None = None) -> object:
    entry = get_method(method)
    schedule = entry.schedule(setup, "resnet32", dataset)
    return entry.configure(*schedule, entry.settings(setup, dataset))


@pytest.mark.parametrize(("method", "dataset"), ROWS)
def test_every_row_is_a_valid_configuration_with_a_source(method: str, dataset: str) -> None:
    row = PUBLISHED[method][dataset]
    config = configured(method, row.name)
    assert config == configured(method, "published", dataset)
    assert row.split
    assert getattr(config, "schedule", row.schedule) == row.schedule
    assert row.source.split()[0].rstrip(":") in COMMITS


def test_every_method_has_published_settings_on_cifar() -> None:
    ours = {
        name for name, entry in METHODS.items() if entry.build.__module__.startswith("edgecil.")
    }
    assert set(PUBLISHED) == ours
    assert all("cifar100" in rows for rows in PUBLISHED.values())


def test_pycil_trains_the_first_task_longer_and_keeps_2000_exemplars() -> None:
    config = configured("icarl", "published")
    schedule, memory = config.schedule, config.memory
    first, later = schedule.at(0), schedule.at(1)
    assert (first.epochs, first.milestones, first.weight_decay) == (200, (60, 120, 170), 5e-4)
    assert (later.epochs, later.milestones, later.weight_decay) == (170, (80, 120), 2e-4)
    assert memory == MemoryBudget(total=2000, per_class=None)


def test_a_dataset_without_settings_is_refused_with_those_that_have_some() -> None:
    with pytest.raises(UsageError, match="'icarl'"):
        configured("icarl", "published", "cub200")
    with pytest.raises(UsageError, match="'icarl'"):
        configured("icarl", "pilot/ease/imagenet-r")
    assert configured("icarl", "published", "own") == configured("icarl", "published")


@pytest.mark.parametrize(
    ("method", "setting", "fast", "published"),
    [
        ("ranpac", "ridge", "leave-one-out", "last-task"),
        ("l2p", "batchwise", False, True),
        ("mos", "merging_rule", "step", "use"),
        ("ewc", "fisher_images", "plain", "training"),
        ("wa", "enlarge", False, True),
        ("acil", "relative", True, False),
        ("slca", "scaled", True, False),
        ("hide-prompt", "inference_rate", 0.005, 0.00046875),
        ("coda-prompt", "start", "orthogonal", "gram-schmidt"),
    ],
)
def test_paper_and_published_behave_as_published_and_fast_does_not(
    method: str, setting: str, fast: object, published: object
) -> None:
    assert getattr(configured(method, "fast"), setting) == fast
    for schedule in ("paper", "published"):
        assert getattr(configured(method, schedule), setting) == published


@pytest.mark.parametrize("schedule", ["paper", "published", "hide-prompt/hide-prompt/imagenet-r"])
def test_hide_prompt_contrasts_the_features_of_24_images_as_each_gpu_of_its_authors(
    schedule: str,
) -> None:
    training = configured("hide-prompt", schedule).schedule
    assert training.batch_size / training.accumulate == 24
    assert configured("hide-prompt", "fast").schedule.accumulate == 1


@pytest.mark.parametrize(
    ("schedule", "batch", "decay"),
    [
        ("paper", 240, 5e-4),
        ("published", 240, 5e-4),
        ("mos/mos/cub200", 160, 5e-4),
        ("pilot/mos/imagenet-r", 80, 5e-3),
        ("mos/mos/imagenet-a", 160, 5e-3),
    ],
)
def test_mos_aligns_with_five_times_the_batch_and_the_same_weight_decay(
    schedule: str, batch: int, decay: float
) -> None:
    alignment = configured("mos", schedule).alignment
    assert (alignment.batch_size, alignment.weight_decay) == (batch, decay)


def test_batchwise_prompts_are_those_that_most_images_choose() -> None:
    method = Bench("l2p", DATASET, epochs=1).trained(1, batchwise=True, chosen=1)
    keys = method.prompts[0]["keys"].detach()
    cosines, chosen = method.choose(torch.stack([keys[3], keys[7], keys[3]]))
    assert chosen.tolist() == [[3], [3], [3]]
    assert cosines[1] < cosines[0]
    torch.testing.assert_close(cosines[0], torch.ones(1))


def test_mos_merges_on_every_use_and_uses_the_mean_of_earlier_adapters() -> None:
    settings = {"merging_rule": "use", "merging": 0.5, "alignment": {"epochs": 1}}
    bench = Bench("mos", DATASET, epochs=1)
    method, again = bench.trained(**settings), bench.build(**settings)
    assert method.in_use(0) is method.adapters[0]
    expected = mean_of(method.adapters[:2]).state_dict()
    assert same(method.in_use(2).state_dict(), expected)
    again.restore(method.state())
    pixels = SCENARIO.test.inputs
    assert same(again.classify(pixels), method.classify(pixels))


def test_ewc_s_fisher_from_augmented_images_updates_batch_statistics() -> None:
    fishers, means = [], []
    for images in ("plain", "training"):
        method = Bench("ewc", DATASET, epochs=1).trained(1, fisher_images=images)
        fishers.append(method.fisher)
        buffers = dict(method.network.named_buffers())
        means.append(next(value for name, value in buffers.items() if "running_mean" in name))
        assert not method.network.training
    assert not same(*fishers)
    assert not torch.equal(*means)


def test_foster_s_boosted_network_has_two_extractors_and_predicts() -> None:
    method = Bench("foster", DATASET, epochs=1).trained(1)
    pixels = SCENARIO.test.inputs
    first = method.classify(pixels)
    assert torch.equal(first["boosted"], first["head"])
    learn(method, SCENARIO, TASKS[:2])
    assert len(method.boosted.backbone.extractors) == 2
    assert len(method.network.backbone.extractors) == 1


def test_a_change_to_the_recipe_reaches_its_first_task() -> None:
    schedule = Schedule(epochs=5, first=Schedule(epochs=9))
    changed = replace_schedule(schedule, {"batch_size": 7})
    assert [changed.at(task).batch_size for task in (0, 1)] == [7, 7]
    assert [changed.at(task).epochs for task in (0, 1)] == [9, 5]
    with pytest.raises(UsageError, match="'first'"):
        Schedule(first=schedule)
