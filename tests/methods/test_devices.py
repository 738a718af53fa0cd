"""Images are on the device if they fit, or move by batches; everything else is on the device.

No learner mixes devices; networks compute in mixed precision if it is chosen, and RanPAC's
regression on the device. No GPU is needed; see `fake_device`.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
import torch

from edgecil.backbones import features
from edgecil.methods import (
    Environment,
    get_method,
    method_names,
    prompts,
    task as task_module,
    training_loop,
)
from edgecil.methods.setups import PAPER_MEMORY
from edgecil.methods.task import Scenario
from tests.methods.fake_device import NAME, FakeDevice, FakeTensor, install
from tests.toys import QUICK, TASKS, learn, toy_dataset, toy_environment

DATASET = toy_dataset(train=6, test=2)
OURS = [name for name in method_names() if get_method(name).build.__module__.startswith("edgecil.")]
BATCH = QUICK.batch_size
VIEWS = {"tagfex": 2}  # of each image of a batch
FULL_PRECISION = ("ewc",)  # the Fisher information: squares of small gradients
COPIES = {"tagfex": 2}  # its loss has terms that depend on the labels and on the values of others
UNTRAINED = ("simplecil", "fecam", "acil")
SMALL_PRODUCTS = (
    "coda-prompt",
    "mos",
    "slca",
    "fecam",
)  # new components, covariances of a class: on the CPU
SMALL = {"projection": 40, "balancing": 1, "alignment": {"epochs": 1, "batch_size": 8}}


def published_config(name: str) -> Any:
    """The published behaviour in one epoch."""
    entry = get_method(name)
    small = {field.name: SMALL[field.name] for field in fields(entry.config) if field.name in SMALL}
    schedule = replace(QUICK, epochs=1, augment=("crop:1", "flip"))
    return entry.configure(schedule, PAPER_MEMORY, {**entry.published_settings, **small})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*copying from a non-meta parameter")  # the fake one does
@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("fits", [True, False])
def test_a_step_copies_its_batch_and_nothing_else(name, fits, monkeypatch) -> None:
    """And a learner trains, is restored and predicts on the device.

    Images that fit are there before the first step; of others each step moves its batch.
    """
    install(monkeypatch, task_module)
    monkeypatch.setattr(features, "_banks", {})  # rows of other tests would not be computed
    monkeypatch.setattr(features, "BATCH", BATCH)
    monkeypatch.setattr(prompts, "BATCH", BATCH)
    monkeypatch.setattr(training_loop, "room_on", lambda device: 2**40 if fits else 0)
    frozen = get_method(name).pretrained
    environment = toy_environment(DATASET, frozen=frozen)
    environment = replace(environment, device=NAME, precision="bfloat16")
    with FakeDevice() as device:
        steps = watch_steps(device, monkeypatch)
        scenario = Scenario(DATASET, NAME)
        method, again = (
            get_method(name).build(published_config(name), environment) for _ in range(2)
        )
        learn(method, scenario, TASKS[:1])
        again.restore(method.state())
        learn(again, scenario, TASKS[:2])
        labels = again.classify(scenario.test.only(again.seen).inputs)
        assert all(isinstance(chosen, FakeTensor) for chosen in labels.values())
        assert all(0 <= int(chosen.max()) < len(again.seen) for chosen in labels.values())
    if name not in UNTRAINED:
        assert steps
    for moved, copies in steps:
        assert moved <= (0 if fits else VIEWS.get(name, 1) * BATCH)
        assert copies <= COPIES.get(name, 0)
    assert any(moved for moved, _ in steps) == (not fits and name not in UNTRAINED)
    assert any(device.mixed)
    assert name in FULL_PRECISION or all(device.mixed)
    assert name in SMALL_PRODUCTS or all(there for _, _, there in device.products)


def watch_steps(device: FakeDevice, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Images and other copies between two steps of an optimiser, in the single epoch of a fit."""
    before: dict[Any, tuple[int, int]] = {}
    steps = []
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        step = kind.step

        def count(self: Any, *args: Any, step: Any = step) -> Any:
            result = step(self, *args)
            now = device.moved, device.copies
            if self in before:
                steps.append(tuple(b - a for a, b in zip(before[self], now, strict=True)))
            before[self] = now
            return result

        monkeypatch.setattr(kind, "step", count)
    return steps


@pytest.mark.parametrize("rule", ["leave-one-out", "last-task"])
def test_ranpac_adds_and_solves_on_the_device(rule, monkeypatch) -> None:
    install(monkeypatch, task_module)
    config = replace(published_config("ranpac"), ridge=rule)
    environment = replace(toy_environment(DATASET, frozen=True), device=NAME)
    with FakeDevice() as device:
        scenario = Scenario(DATASET, NAME)
        method = get_method("ranpac").build(config, environment)
        learn(method, scenario, TASKS[:1])
        method.classify(scenario.test.only(method.seen).inputs)
    decomposition = "_linalg_eigh" if rule == "last-task" else "_linalg_svd"
    double = {name for name, kind, there in device.products if kind == torch.float64 and there}
    assert double == {"mm", decomposition, "linalg_cholesky_ex", "cholesky_solve"}
    assert all(there for _, _, there in device.products)


def test_the_device_notices_what_a_gpu_would(monkeypatch) -> None:
    install(monkeypatch, task_module)
    with FakeDevice():
        there, here = torch.zeros(3, device=NAME), torch.zeros(3)
        assert isinstance(there + 1.0, FakeTensor)
        with pytest.raises(RuntimeError, match="two devices"):
            there + here
        with pytest.raises(RuntimeError, match="two devices"):
            here[there.long()]
        assert torch.equal((there + here.to(NAME)).cpu(), here)
        generator = task_module.derive_generator(NAME, "draw")
        assert isinstance(torch.rand(3, generator=generator, device=NAME), FakeTensor)
        with pytest.raises(RuntimeError, match="another device"):
            torch.rand(3, generator=generator)
        with pytest.raises(RuntimeError, match="another device"):
            torch.rand(3, generator=torch.Generator(), device=NAME)


@pytest.mark.parametrize(
    "step", ["crop:2", "flip", "colour", "resized-crop:0.05", "autoaugment", "cutout:4"]
)
def test_augmentation_stays_on_the_device(step, monkeypatch) -> None:
    install(monkeypatch, task_module)
    prepare = Environment((3, 8, 8), (0.5,) * 3, (0.5,) * 3, "resnet-tiny").pipeline((step,))
    with FakeDevice():
        pixels = torch.arange(40 * 3 * 64).remainder(256).to(torch.uint8).view(40, 3, 8, 8)
        images = prepare(pixels.to(NAME), task_module.derive_generator(NAME, step))
        assert isinstance(images, FakeTensor)
        assert bool(images.isfinite().all())
