from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy

from edgecil.methods.tagfex import TagFex, info_nce
from edgecil.methods.task import Scenario, Task
from edgecil.methods.teacher import distil
from tests.toys import QUICK, TASKS, Tasks, build, learn, learn_all, same, toy_dataset

DATASET = toy_dataset(contrast=60)
SCENARIO = Scenario(DATASET)
BRIEF = replace(QUICK, epochs=1)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def tagfex(**settings: object) -> TagFex:
    return build("tagfex", DATASET, schedule=BRIEF, settings=settings)


def test_a_new_extractor_starts_between_the_last_and_the_task_agnostic_one() -> None:
    method = learn_all(tagfex(inherited=0.75), SCENARIO, TASKS[:1])
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.grow(task)
    old, new = method.network.backbone.extractors
    for last, first, agnostic in zip(
        old.parameters(), new.parameters(), method.network.agnostic.parameters(), strict=True
    ):
        assert torch.allclose(first, 0.75 * last + 0.25 * agnostic, atol=1e-6)


def test_old_classes_start_without_a_say_of_the_new_extractor() -> None:
    method = learn_all(tagfex(), SCENARIO, TASKS[:1])
    pixels = torch.randn(4, *DATASET.shape, generator=seeded())
    before = method.network.eval()(pixels)
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.grow(task)
    assert torch.allclose(method.network.eval()(pixels)[:, :2], before, atol=1e-6)


def test_a_batch_is_two_views_of_each_image(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without augmentation, they are the same."""
    batches = []

    def note(self: TagFex, images: torch.Tensor, labels: torch.Tensor, task: Task) -> torch.Tensor:
        batches.append((images, labels))
        return loss(self, images, labels, task)

    loss = TagFex.loss
    monkeypatch.setattr(TagFex, "loss", note)
    method = build("tagfex", DATASET, schedule=replace(BRIEF, augment=()))
    learn(method, SCENARIO, TASKS[:1])
    assert sum(len(labels) for _, labels in batches) == 2 * 24
    for rows in (rows for batch in batches for rows in batch):
        one, other = rows.chunk(2)
        assert torch.equal(one, other)


def prepared(
    method: TagFex, tasks: Tasks = TASKS[:2]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Two views of five images with their labels, the loss, and the old projected features."""
    views = torch.randn(10, *DATASET.shape, generator=seeded())
    labels = torch.tensor([0, 1, 2, 3, 3]).repeat(2)
    old = copy.deepcopy(method.network.eval())
    with SCENARIO.task(tasks, 0) as task:
        method.begin(task)
        method.grow(task)
        method.network.eval()
        with torch.no_grad():
            for value in method.network.projector.parameters():
                value += 0.1  # it learns on, what was kept of it does not
        actual = method.loss(views, labels, task)
    return views, labels, actual, old.projector(old.agnostic(views))


@pytest.mark.parametrize("old_count", [1, 2, 3])
def test_the_loss_by_its_parts(old_count: int) -> None:
    """The more old classes there are, the more the task-agnostic extractor is to keep."""
    tasks = (tuple(range(old_count)), tuple(range(old_count, 4)))
    method = tagfex()
    learn(method, SCENARIO, tasks[:1])
    frozen = copy.deepcopy(method.network.projector)
    views, labels, actual, before = prepared(method, tasks)
    network = method.network
    features, agnostic = network.backbone(views), network.agnostic(views)
    logits = network.head(features)
    classes = cross_entropy(logits, labels)
    new_or_old = (labels - old_count + 1).clamp(min=0)
    auxiliary = cross_entropy(network.auxiliary(network.backbone.newest(views)), new_or_old)
    embedded = network.projector(agnostic)
    contrast = info_nce(embedded, embedded, 0.2)
    kept = info_nce(frozen(network.predictor(agnostic)), before, 0.2)
    maps = network.agnostic.maps(views), network.backbone.newest.maps(views)
    new, share = labels >= old_count, old_count / 4
    merged = network.transfer(network.attention(*maps))[new]
    merging = cross_entropy(merged, labels[new] - old_count)
    agnostic_part = (1 - share) * contrast + share * 2 * kept
    expected = classes + 2 * auxiliary + agnostic_part + merging
    if merging < classes:
        expected = expected + distil(logits[new][:, old_count:], merged, 2.0)
    assert actual.item() == pytest.approx(expected.item(), rel=1e-5)


def test_transfer_takes_place_only_from_the_better_to_the_worse() -> None:
    """Features merged well teach the newest extractor; features merged badly do not.

    What teaches does not learn from it.
    """
    teaching, silent, gradients = {}, {}, []
    for losses, spoil in ((teaching, 1.0), (silent, 50.0)):
        for weight in (0.0, 1.0):
            method = learn_all(tagfex(transfer=weight), SCENARIO, TASKS[:1])
            with SCENARIO.task(TASKS[:2], 0) as task:
                method.begin(task)
                method.grow(task)
                method.network.eval()
                with torch.no_grad():
                    method.network.transfer.weight *= spoil
                    method.network.head.weight[2:] *= 10.0 if spoil == 1.0 else 1.0
                views = torch.randn(10, *DATASET.shape, generator=seeded())
                labels = torch.tensor([0, 1, 2, 3, 3]).repeat(2)
                actual = method.loss(views, labels, task)
            actual.backward()
            losses[weight] = actual.item()
            gradients.append(method.network.transfer.weight.grad)
    assert teaching[1.0] > teaching[0.0]
    assert torch.equal(gradients[0], gradients[1])
    assert silent[1.0] == silent[0.0]


def test_a_batch_without_new_classes_has_a_finite_loss_and_gradient() -> None:
    method = learn_all(tagfex(), SCENARIO, TASKS[:1])
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.begin(task)
        method.grow(task)
        method.network.train()
        views = torch.randn(4, *DATASET.shape, generator=seeded())
        method.loss(views, torch.tensor([0, 1, 0, 1]), task).backward()
    gradients = [value.grad for value in method.network.parameters() if value.grad is not None]
    assert all(torch.isfinite(gradient).all() for gradient in gradients)


def test_the_transfer_teaches_no_task_to_the_agnostic_extractor() -> None:
    """Without the contrast, nothing at all reaches it."""
    method = learn_all(tagfex(contrast=0.0), SCENARIO, TASKS[:1])
    _, _, actual, _ = prepared(method)
    actual.backward()
    for value in method.network.agnostic.parameters():
        assert value.grad is None or not value.grad.any()


def test_the_agnostic_extractor_goes_on_learning_and_old_extractors_do_not() -> None:
    method = learn_all(tagfex(), SCENARIO, TASKS[:1])
    before = method.state()["network"]
    learn(method, SCENARIO, TASKS[:2])
    after = method.state()["network"]
    for name in before:
        if name.startswith("backbone.extractors.0"):
            assert same(before[name], after[name]), name
        elif name.startswith(("agnostic", "projector")) and name.endswith("weight"):
            assert not same(before[name], after[name]), name


def test_nothing_that_only_training_needs_outlives_it() -> None:
    method = learn_all(tagfex(), SCENARIO, TASKS[:2])
    assert not hasattr(method, "old")
