from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy

from edgecil.backbones.vit import Sockets
from tests.toys import ADAM, SMALL, TASKS, Bench, learn

BENCH = Bench("dualprompt", SMALL, **ADAM)
SCENARIO, trained = BENCH.scenario, BENCH.trained


def test_each_task_adds_expert_prompts_and_trains_the_general_ones() -> None:
    method = trained(1)
    general, expert = (method.prompts[0][name].detach().clone() for name in ("general", "expert"))
    assert general.shape == expert.shape == (1, 2, 5, 64)  # the toy has two blocks
    learn(method, SCENARIO, TASKS[:2])
    first, second = method.prompts
    assert set(first) == {"expert", "key"}
    assert torch.equal(first["expert"], expert)
    assert not torch.equal(second["general"], general)
    assert not torch.equal(second["expert"], expert)


def test_new_expert_prompts_start_from_the_last_ones_with_a_key_of_their_own() -> None:
    method = trained(2)
    with SCENARIO.task(TASKS, 0) as task:
        method.grow(task)
    *_, last, new = method.prompts
    assert torch.equal(new["expert"], last["expert"])
    assert not torch.equal(new["key"], last["key"])


def test_an_image_gets_the_prompts_of_the_nearest_key() -> None:
    method = trained(3)
    pixels = SCENARIO.test.inputs[:1]
    images, queries = method._prepare.plain(pixels), method.frozen_features(pixels)
    with torch.no_grad():
        for chosen in range(3):
            for task, prompts in enumerate(method.prompts):
                sign = 1.0 if task == chosen else -1.0
                prompts["key"].copy_(sign * queries[0])
            expert = method.prompts[chosen]["expert"]
            blocks = [*method.prompts[-1]["general"], *expert]
            sockets = Sockets(prefixes={block: tuple(pair) for block, pair in enumerate(blocks)})
            expected = method.vit(images, sockets)
            torch.testing.assert_close(method.features(images, queries), expected)


def test_a_batch_may_vote() -> None:
    method = trained(2, batchwise=True)
    keys = torch.eye(2, 64)
    with torch.no_grad():
        for prompts, key in zip(method.prompts, keys, strict=True):
            prompts["key"].copy_(key)
    assert method.choose(keys[[1, 1, 0]]).tolist() == [1, 1, 1]
    assert method.test_batch == BENCH.schedule.batch_size


def test_pilots_arrangement_gives_half_of_a_batch_keys_and_the_other_half_values() -> None:
    method = trained(1, mixed=True)
    pixels = SCENARIO.test.inputs[:4]
    images = method._prepare.plain(pixels)
    keys, values = method.prompts[0]["expert"][0]
    general = tuple(method.prompts[0]["general"][0])
    with torch.no_grad():
        rows = method.prompted(images, torch.zeros(4, dtype=torch.int64))
        for part, tokens in ((slice(0, 2), keys), (slice(2, 4), values)):
            sockets = Sockets(prefixes={0: general, 1: (tokens, tokens)})
            torch.testing.assert_close(rows[part], method.vit(images[part], sockets))


def test_the_loss_by_hand() -> None:
    method = trained(2)
    pixels, labels = SCENARIO.train.inputs[:4], torch.tensor([2, 3, 2, 3])
    images, queries = method._prepare.plain(pixels), method.frozen_features(pixels)
    with SCENARIO.task(TASKS[:2], 0) as task:
        loss = method.loss(images, labels, queries, task)
    features = method.prompted(images, torch.ones(4, dtype=torch.int64))
    entropy = cross_entropy(method.head(features)[:, 2:], labels - 2)
    pulled = torch.cosine_similarity(queries, method.prompts[1]["key"][None]).mean()
    torch.testing.assert_close(loss, entropy - 0.1 * pulled)
