from __future__ import annotations

import pytest
import torch

from edgecil.backbones.vit import Sockets
from edgecil.data.augment import Pipeline
from tests.toys import ADAM, SMALL, TASKS, Bench, learn

BENCH = Bench("l2p", SMALL, **ADAM)
SCENARIO, trained = BENCH.scenario, BENCH.trained


def test_the_prompts_are_those_whose_keys_are_nearest_to_the_query() -> None:
    method = trained(1, chosen=2)
    width = method.vit.feature_size
    with torch.no_grad():
        method.prompts[0]["keys"].copy_(torch.eye(10, width))
    query = torch.zeros(2, width)
    query[0, 7], query[0, 3], query[0, 1] = 3.0, 2.0, 1.0
    query[1, 0], query[1, 9], query[1, 2] = 1.0, 5.0, -9.0
    cosines, chosen = method.choose(query)
    assert chosen.tolist() == [[7, 3], [9, 0]]
    assert cosines[0].tolist() == pytest.approx([3 / 14**0.5, 2 / 14**0.5])


def test_an_image_is_read_with_its_own_prompts_whoever_is_beside_it() -> None:
    method = trained(2)
    pixels = SCENARIO.test.inputs
    images = Pipeline((), method.environment.mean, method.environment.std).plain(pixels)
    with torch.no_grad():
        together = method.features(images, method.frozen_features(pixels))
        for place in (0, 5):
            _, chosen = method.choose(method.frozen_features(pixels[place : place + 1]))
            tokens = method.prompts[0]["tokens"][chosen[0]].flatten(0, 1)
            final = method.vit.encode(
                method.vit.embed(images[place : place + 1]), Sockets(prompts=tokens)
            )
            torch.testing.assert_close(together[place], final[0, :25].mean(dim=0))


def test_the_loss_is_cross_entropy_among_new_classes_less_the_pull() -> None:
    method = trained(2)
    pixels, labels = SCENARIO.train.inputs[:8], torch.tensor([2, 3] * 4)
    images = Pipeline((), method.environment.mean, method.environment.std).plain(pixels)
    queries = method.frozen_features(pixels)
    with SCENARIO.task(TASKS[:2], 0) as task:
        loss = method.loss(images, labels, queries, task)
    logits = method.head(method.features(images, queries))[:, 2:]
    entropy = -logits.log_softmax(dim=1)[torch.arange(8), labels - 2].mean()
    keys = method.prompts[0]["keys"]
    cosines = torch.cosine_similarity(queries[:, None], keys[None], dim=2)
    pull = cosines.sort(dim=1, descending=True).values[:, :5].sum(dim=1).mean()
    torch.testing.assert_close(loss, entropy - 0.1 * pull)


def test_one_pool_is_trained_by_all_tasks() -> None:
    method = trained(1)
    first = method.state()
    learn(method, SCENARIO, TASKS[:2])
    second = method.state()
    assert len(first["prompts"]) == len(second["prompts"]) == 1
    assert not torch.equal(first["prompts"][0]["tokens"], second["prompts"][0]["tokens"])
    assert not torch.equal(first["prompts"][0]["keys"], second["prompts"][0]["keys"])
    assert torch.equal(first["head"]["weight"], second["head"]["weight"][:2])
