from __future__ import annotations

import pytest
import torch

from edgecil.backbones.vit import Sockets
from edgecil.data.augment import Pipeline
from edgecil.methods import class_statistics
from edgecil.methods.class_statistics import separation_loss
from edgecil.methods.hide_prompt import HiDePrompt
from edgecil.methods.training_loop import in_batches
from tests.toys import ADAM, SMALL, TASKS, Bench, learn

BENCH = Bench("hide-prompt", SMALL, **ADAM)
SCENARIO = BENCH.scenario


def trained(tasks: int = 1, **settings: object) -> HiDePrompt:
    return BENCH.trained(tasks, **{"alignment": {"epochs": 1}, **settings})


def prefixes(method: HiDePrompt) -> list[torch.Tensor]:
    return [prompts["prefixes"].detach().clone() for prompts in method.prompts]


def test_each_task_trains_a_prompt_of_its_own() -> None:
    method = trained()
    (first,) = prefixes(method)
    assert first.shape == (2, 2, 5, 64)  # the toy has two blocks, fewer than the published five
    learn(method, SCENARIO, TASKS[:2])
    kept, second = prefixes(method)
    assert torch.equal(kept, first)
    assert not torch.equal(second, first)
    assert [prompts["prefixes"].requires_grad for prompts in method.prompts] == [False, True]


def test_a_new_prompt_starts_from_the_last_one() -> None:
    method = trained(2)
    with SCENARIO.task(TASKS, 0) as task:
        method.grow(task)
    *_, last, new = prefixes(method)
    assert torch.equal(new, last)


def test_a_new_prompt_takes_a_share_of_the_mean_of_the_earlier_ones() -> None:
    method = trained(3)
    one, two, three = prefixes(method)
    torch.testing.assert_close(method.ensembled(), 0.99 * three + 0.01 * (one + two) / 2)


def test_the_share_is_part_of_the_prompt_once_its_task_is_over() -> None:
    """With nothing but earlier prompts in it, the second prompt is the first."""
    method = trained(2, ensemble=1.0)
    one, two = prefixes(method)
    assert torch.equal(one, two)


def test_the_loss_keeps_new_features_apart_from_old_centroids() -> None:
    method = trained(2)
    pixels, labels = SCENARIO.train.inputs[:4], torch.tensor([2, 3, 2, 3])
    images = Pipeline((), method.environment.mean, method.environment.std).plain(pixels)
    features = method.prefixed(images, method.ensembled())
    with SCENARIO.task(TASKS[:2], 0) as task:
        loss = method.loss(images, labels, method.frozen_features(pixels), task)
    entropy = torch.nn.functional.cross_entropy(method.head(features)[:, 2:], labels - 2)
    everything = torch.cat([method.instructed.centroids(), features])
    torch.testing.assert_close(loss, entropy + 0.1 * separation_loss(everything, 0.8))


def test_statistics_are_of_features_without_and_with_the_prompt_of_the_own_task() -> None:
    method = trained(2, centroids=1)
    for label, class_ in enumerate(method.seen):
        pixels = SCENARIO.train.only((class_,)).inputs
        torch.testing.assert_close(
            method.plain.means[label, 0], method.frozen_features(pixels).mean(dim=0)
        )
        own = method.prompts[label // 2]["prefixes"].detach()
        sockets = Sockets(prefixes=dict(enumerate((keys, values) for keys, values in own)))
        features = in_batches(lambda part: method.vit(part, sockets), pixels, method.environment)  # noqa: B023
        torch.testing.assert_close(method.instructed.means[label, 0], features.mean(dim=0))


def test_an_image_gets_the_prompt_of_the_task_of_its_likeliest_class() -> None:
    method = trained(3)
    pixels = SCENARIO.test.inputs[:6]
    images = Pipeline((), method.environment.mean, method.environment.std).plain(pixels)
    queries = method.frozen_features(pixels)
    with torch.no_grad():
        for class_, task in ((0, 0), (3, 1), (5, 2)):
            method.inference.head.weight.zero_()
            method.inference.head.bias.copy_(torch.nn.functional.one_hot(torch.tensor(class_), 6))
            expected = method.prefixed(images, method.prompts[task]["prefixes"])
            torch.testing.assert_close(method.features(images, queries), expected)


def test_there_is_a_batch_per_old_class_small_for_the_inference_and_large_for_the_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fits = []

    def watching(*args: object, **named: object) -> None:
        _, count, _, schedule, _ = args
        fits.append((count, schedule.batch_size, schedule.weight_decay))

    method = trained(2)
    monkeypatch.setattr(class_statistics, "minimise", watching)
    learn(method, SCENARIO, TASKS)
    assert fits == [(4 * 24, 24, 0.0), (4 * 120, 120, 0.0)]
