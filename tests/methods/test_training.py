from __future__ import annotations

from dataclasses import replace
from math import cos, pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from edgecil.data.stored_pixels import StoredPixels, stored_tensor
from edgecil.methods import training_loop as feed_module
from edgecil.methods.settings import Schedule
from edgecil.methods.task import Scenario, Task
from edgecil.methods.training_loop import Feed, fit, in_batches
from tests.toys import toy_dataset, toy_environment

DATASET = toy_dataset(train=3)
SETTING = toy_environment(DATASET)
PLAIN = Schedule(
    epochs=3, learning_rate=1.0, batch_size=4, momentum=0.0, weight_decay=0.0, augment=()
)


def with_task(classes: tuple[int, ...] = (0, 1, 2)) -> Task:
    scenario = Scenario(DATASET)
    with scenario.task((classes,), 0) as task:
        return Task((classes,), task.inputs, task.labels, task.run_seed)


def watch(
    schedule: Schedule, *, count: int = 9, **more: Any
) -> tuple[torch.nn.Parameter, list[tuple[torch.Tensor, torch.Tensor]]]:
    """Fit one weight by a loss whose gradient is 1; also every batch that the loss saw."""
    task, weight, batches = with_task(), torch.nn.Parameter(torch.zeros(1)), []

    def loss(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        batches.append((images, labels))
        return weight.sum()

    data = task.inputs[:count], torch.arange(count)
    fit([weight], data, loss, schedule, task, SETTING, **more)
    return weight, batches


def test_the_rate_follows_the_schedule() -> None:
    schedule = replace(PLAIN, milestones=(1, 2), decay=0.5)
    weight, batches = watch(schedule)
    assert len(batches) == 6
    assert weight.item() == pytest.approx(-2 * (1.0 + 0.5 + 0.25))


def test_momentum_and_weight_decay_are_used() -> None:
    weight, _ = watch(replace(PLAIN, epochs=1, learning_rate=0.1, momentum=0.5, weight_decay=0.1))
    first = -0.1 * 1.0
    velocity = 0.5 * 1.0 + (1.0 + 0.1 * first)
    assert weight.item() == pytest.approx(first - 0.1 * velocity)


@pytest.mark.parametrize("changes", [{}, {"clip": 0.5}, {"clip": 0.5, "accumulate": 2}])
def test_scaled_gradients_give_the_same_weights(changes, monkeypatch) -> None:
    """On CUDA mixed precision scales the loss, here on the CPU by a power of two."""
    schedule, scaler = replace(PLAIN, **changes), torch.amp.GradScaler
    plain, _ = watch(schedule)
    monkeypatch.setattr(torch.amp, "GradScaler", lambda device, enabled: scaler(device))
    scaled, _ = watch(schedule)
    assert plain.item() == pytest.approx(-6.0 * (schedule.clip or 1.0), rel=1e-5)
    assert torch.equal(scaled, plain)


@pytest.mark.parametrize(
    ("count", "drop", "sizes"),
    [
        (8, False, [4, 4]), (9, False, [4, 5]), (6, False, [4, 2]), (1, False, [1]),
        (6, True, [4]),
    ],
)  # fmt: skip
def test_no_batch_of_one_image_unless_there_is_but_one(count, drop, sizes) -> None:
    _, batches = watch(replace(PLAIN, epochs=1, drop_last=drop), count=count)
    assert [len(labels) for _, labels in batches] == sizes


def test_every_epoch_sees_every_image_once_in_an_order_of_its_own() -> None:
    _, batches = watch(PLAIN)
    orders = [
        torch.cat([labels for _, labels in batches[start : start + 2]]).tolist()
        for start in (0, 2, 4)
    ]
    assert all(sorted(order) == list(range(9)) for order in orders)
    assert len({tuple(order) for order in orders}) == 3


@pytest.mark.parametrize("steps", [1, 3, 7])
def test_a_budget_in_steps_is_that_many_whatever_an_epoch_has(steps) -> None:
    """Nine images in batches of four: three steps end in the second epoch."""
    schedule = replace(PLAIN, steps=steps, schedule="cosine")
    weight, batches = watch(schedule)
    assert [len(labels) for _, labels in batches] == ([4, 5] * 4)[:steps]
    assert weight.item() == pytest.approx(-sum(schedule.rate(step) for step in range(steps)))
    _, whole = watch(replace(PLAIN, epochs=4))
    pairs = zip(batches, whole, strict=False)
    assert all(torch.equal(labels, others) for (_, labels), (_, others) in pairs)


def test_labels_stay_with_their_images() -> None:
    task = with_task()
    _, batches = watch(PLAIN)
    prepared = in_batches(lambda images: images, task.inputs, SETTING)
    for images, labels in batches:
        assert torch.equal(images, prepared[labels])


def test_task_and_stage_decide_the_randomness_and_nothing_else_does() -> None:
    schedule = replace(PLAIN, augment=("crop:2", "flip"))
    one, again, other = (watch(schedule, stage=stage)[1] for stage in ("learn", "learn", "tune"))
    assert all(torch.equal(a[0], b[0]) for a, b in zip(one, again, strict=True))
    assert not all(torch.equal(a[0], b[0]) for a, b in zip(one, other, strict=True))


def test_views_are_augmented_each_for_itself_and_come_one_after_another() -> None:
    _, batches = watch(replace(PLAIN, epochs=1, augment=("crop:3",)), views=2)
    for images, labels in batches:
        first, second = labels.chunk(2)
        assert torch.equal(first, second)
        assert not torch.equal(*images.chunk(2))
    assert sorted(torch.cat([labels.chunk(2)[0] for _, labels in batches]).tolist()) == [*range(9)]


def test_no_gradient_outlives_the_training() -> None:
    weight, _ = watch(PLAIN)
    assert weight.grad is None


def test_frozen_parameters_stay() -> None:
    task, weights = with_task(), [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
    weights[1].requires_grad_(False)
    fit(
        weights,
        (task.inputs, task.labels),
        lambda images, labels: weights[0].sum() + weights[1].sum(),
        PLAIN,
        task,
        SETTING,
    )
    assert weights[0].item() < 0.0
    assert weights[1].item() == 0.0


def test_prediction_joins_batches_in_order_and_keeps_no_graph(monkeypatch) -> None:
    monkeypatch.setattr("edgecil.methods.training_loop._PREDICT_BATCH", 4)
    task, weight = with_task(), torch.ones(1, requires_grad=True)
    sizes = []

    def compute(images: torch.Tensor) -> torch.Tensor:
        sizes.append(len(images))
        return weight * images.mean(dim=(1, 2, 3))

    rows = in_batches(compute, task.inputs, SETTING)
    assert sizes == [4, 4, 1]
    assert not rows.requires_grad
    pixels = task.inputs.double() / 255
    expected = ((pixels - SETTING.mean[0]) / SETTING.std[0]).mean(dim=(1, 2, 3))
    assert rows.tolist() == pytest.approx(expected.tolist(), abs=1e-5)


def descend(schedule: Schedule) -> torch.Tensor:
    """A weight vector after fitting it to the labels by least squares."""
    task, weight = with_task(), torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))

    def loss(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return (weight * images.double().mean(dim=(1, 2, 3)) - labels).square().mean()

    fit([weight], (task.inputs, task.labels), loss, schedule, task, SETTING)
    return weight.detach()


def test_accumulated_parts_give_the_step_of_the_whole_batch() -> None:
    for size, parts in ((4, 2), (4, 3), (4, 4), (7, 5)):  # of 9 images, the last batch of 7 has 2
        schedule = replace(PLAIN, learning_rate=0.1, batch_size=size)
        torch.testing.assert_close(descend(replace(schedule, accumulate=parts)), descend(schedule))


def test_heads_have_a_rate_of_their_own() -> None:
    task = with_task()
    body, head = (torch.nn.Parameter(torch.zeros(1)) for _ in range(2))
    fit(
        [body],
        (task.inputs, task.labels),
        lambda images, labels: (body + head).sum(),
        replace(PLAIN, epochs=1, head_factor=0.1),
        task,
        SETTING,
        head=[head],
    )
    assert head.item() == pytest.approx(0.1 * body.item())


def test_the_first_task_has_its_own_schedule() -> None:
    _, batches = watch(replace(PLAIN, first=replace(PLAIN, epochs=1, batch_size=9)))
    assert [len(labels) for _, labels in batches] == [9]


def test_the_quarter_cosine_starts_one_epoch_late() -> None:
    schedule = replace(PLAIN, schedule="quarter-cosine", epochs=11)
    assert schedule.rate(0) == schedule.rate(1) == 1.0
    assert schedule.rate(6) == pytest.approx(cos(0.2475 * pi))
    assert schedule.rate(10) == pytest.approx(cos(0.4455 * pi))


CPU, OTHER = torch.device("cpu"), torch.device("meta")
PIXELS = torch.arange(7 * 3 * 4, dtype=torch.uint8).view(7, 3, 2, 2)
EPOCHS = (
    [torch.tensor([6, 0]), torch.tensor([3]), torch.tensor([1, 2]), torch.tensor([5, 4])],
    [torch.tensor([2, 2, 2]), torch.tensor([0])],
)


def stored(path: Path) -> StoredPixels:
    np.save(path, PIXELS.numpy())
    return stored_tensor(np.load(path, mmap_mode="r"))


def test_images_where_they_are_needed_are_taken_from_there() -> None:
    with Feed(PIXELS, CPU) as source:
        assert not source.streamed
        assert torch.equal(source.take(EPOCHS[0][0]), PIXELS[[6, 0]])


@pytest.mark.parametrize("free", [0, 8 * PIXELS.nbytes - 1, 8 * PIXELS.nbytes])
def test_images_move_to_the_device_at_once_if_they_need_an_eighth_of_its_room(
    free: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "room_on", lambda device: free)
    with Feed(PIXELS, OTHER) as source:
        fits = free >= 8 * PIXELS.nbytes
        assert source.streamed != fits
        source.begin(EPOCHS[0])
        images = source.take(EPOCHS[0][0].to(OTHER))
        assert images.device == OTHER
        assert images.shape == (2, 3, 2, 2)


def test_stored_images_come_in_the_order_announced_epoch_by_epoch(tmp_path: Path) -> None:
    with Feed(stored(tmp_path / "pixels.npy"), CPU) as source:
        assert source.streamed
        for batches in EPOCHS:
            source.begin(batches)
            for batch in batches:
                assert torch.equal(source.take(batch), PIXELS[batch])


def test_an_epoch_may_end_early(tmp_path: Path) -> None:
    with Feed(stored(tmp_path / "pixels.npy"), CPU) as source:
        source.begin(EPOCHS[0])
        source.take(EPOCHS[0][0])
        source.begin(EPOCHS[1])
        assert torch.equal(source.take(EPOCHS[1][0]), PIXELS[[2, 2, 2]])


def test_an_error_in_the_thread_is_raised_where_the_batch_is_needed(tmp_path: Path) -> None:
    with Feed(stored(tmp_path / "pixels.npy"), CPU) as source:
        source.begin([torch.tensor([99])])
        with pytest.raises(IndexError):
            source.take(torch.tensor([99]))
