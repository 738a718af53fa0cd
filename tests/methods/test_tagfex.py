from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, layer_norm

from edgecil.errors import UsageError
from edgecil.methods.network import distil
from edgecil.methods.tagfex import MergeAttention, TagFex, info_nce
from edgecil.methods.task import Task
from tests.toys import HARD, TASKS, Bench, Tasks, seeded

BENCH = Bench("tagfex", HARD, epochs=1)
SCENARIO, trained = BENCH.scenario, BENCH.trained


def test_a_new_extractor_starts_between_the_last_and_the_task_agnostic_one() -> None:
    method = trained(1, inherited=0.75)
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.grow(task)
    old, new = method.network.backbone.extractors
    for last, first, agnostic in zip(
        old.parameters(), new.parameters(), method.network.agnostic.parameters(), strict=True
    ):
        assert torch.allclose(first, 0.75 * last + 0.25 * agnostic, atol=1e-6)


def test_old_classes_start_without_a_say_of_the_new_extractor() -> None:
    method = trained(1)
    pixels = torch.randn(4, *HARD.shape, generator=seeded())
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
    Bench("tagfex", HARD, epochs=1, augment=()).trained(1)
    assert sum(len(labels) for _, labels in batches) == 2 * 24
    for rows in (rows for batch in batches for rows in batch):
        one, other = rows.chunk(2)
        assert torch.equal(one, other)


def prepared(
    method: TagFex, tasks: Tasks = TASKS[:2]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Two views of five images with their labels, the loss, and the old projected features."""
    views = torch.randn(10, *HARD.shape, generator=seeded())
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
    method = trained(tasks[:1])
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
            method = trained(1, transfer=weight)
            with SCENARIO.task(TASKS[:2], 0) as task:
                method.begin(task)
                method.grow(task)
                method.network.eval()
                with torch.no_grad():
                    method.network.transfer.weight *= spoil
                    method.network.head.weight[2:] *= 10.0 if spoil == 1.0 else 1.0
                views = torch.randn(10, *HARD.shape, generator=seeded())
                labels = torch.tensor([0, 1, 2, 3, 3]).repeat(2)
                actual = method.loss(views, labels, task)
            actual.backward()
            losses[weight] = actual.item()
            gradients.append(method.network.transfer.weight.grad)
    assert teaching[1.0] > teaching[0.0]
    assert torch.equal(gradients[0], gradients[1])
    assert silent[1.0] == silent[0.0]


def test_a_batch_without_new_classes_has_a_finite_loss_and_gradient() -> None:
    method = trained(1)
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.begin(task)
        method.grow(task)
        method.network.train()
        views = torch.randn(4, *HARD.shape, generator=seeded())
        method.loss(views, torch.tensor([0, 1, 0, 1]), task).backward()
    gradients = [value.grad for value in method.network.parameters() if value.grad is not None]
    assert all(torch.isfinite(gradient).all() for gradient in gradients)


def test_the_transfer_teaches_no_task_to_the_agnostic_extractor() -> None:
    """Without the contrast, nothing at all reaches it."""
    method = trained(1, contrast=0.0)
    _, _, actual, _ = prepared(method)
    actual.backward()
    for value in method.network.agnostic.parameters():
        assert value.grad is None or not value.grad.any()


def test_contrast_against_loops() -> None:
    generator = torch.Generator().manual_seed(0)
    anchors = torch.randn(6, 4, generator=generator, dtype=torch.float64)
    candidates = torch.randn(6, 4, generator=generator, dtype=torch.float64)
    losses = []
    for i, anchor in enumerate(anchors.numpy()):
        cosines = [
            anchor @ other / np.linalg.norm(anchor) / np.linalg.norm(other) / 0.2
            for other in candidates.numpy()
        ]
        rivals = [cosine for j, cosine in enumerate(cosines) if j != i]
        losses.append(np.log(np.exp(rivals).sum()) - cosines[(i + 3) % 6])
    assert info_nce(anchors, candidates, 0.2).item() == pytest.approx(np.mean(losses))


def test_merging_against_loops() -> None:
    """Every position of the newest asks all positions of both, head by head."""
    attention = MergeAttention(size=4, heads=2)
    attention.reset(seeded())
    agnostic, newest = torch.randn(2, 3, 4, 2, 1, generator=seeded(1)).unbind()
    merged = attention(agnostic, newest).detach().numpy()

    def tokens(maps: torch.Tensor) -> np.ndarray:
        """(4, 2, 1) to two normalised tokens of length 4."""
        return layer_norm(maps.flatten(1).T, (4,)).numpy()

    query, agnostic_key, newest_key, agnostic_value, newest_value = (
        attention.weights.detach().numpy()
    )
    for image in range(3):
        a, n = tokens(agnostic[image]), tokens(newest[image])
        keys = np.concatenate([a @ agnostic_key, n @ newest_key])
        values = np.concatenate([a @ agnostic_value, n @ newest_value])
        answers = np.zeros((2, 4))
        for position, question in enumerate(n @ query):
            for head in (slice(0, 2), slice(2, 4)):
                scores = np.exp(keys[:, head] @ question[head] / np.sqrt(2))
                answers[position, head] = scores @ values[:, head] / scores.sum()
        assert merged[image] == pytest.approx(answers.mean(axis=0), abs=1e-5)


def test_heads_must_divide_the_features() -> None:
    with pytest.raises(UsageError, match=r"feature.*64.*7"):
        MergeAttention(64, 7)
