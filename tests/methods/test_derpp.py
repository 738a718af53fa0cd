from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy, mse_loss

from edgecil.methods.derpp import logit_distance
from tests.toys import TASKS, Bench, learn, toy_dataset

BENCH = Bench("derpp", toy_dataset(train=8, test=4), epochs=1, augment=())
SCENARIO, trained = BENCH.scenario, BENCH.trained


def test_logits_are_those_of_the_end_of_the_task_and_stay() -> None:
    method = trained(1, memory={"total": 12, "per_class": 4})
    for label in range(2):
        features = method.features(method.memory.of_class(label))
        torch.testing.assert_close(method.logits[label], method.network.head(features).detach())
    before = [logits.clone() for logits in method.logits]
    for end, kept in ((2, 3), (3, 2)):
        learn(method, SCENARIO, TASKS[:end])
        for label in range(2):
            assert torch.equal(method.logits[label], before[label][:kept])
    assert [logits.shape[1] for logits in method.logits] == [2, 2, 4, 4, 6, 6]


def test_the_distance_counts_logits_that_existed() -> None:
    outputs = torch.tensor([[1.0, 2.0, 9.0], [4.0, 5.0, 6.0]], requires_grad=True)
    stored = torch.tensor([[0.0, 0.0, torch.nan], [4.0, 4.0, 4.0]])
    value = logit_distance(outputs, stored)
    assert float(value.detach()) == (1 + 4 + 0 + 1 + 4) / 5
    value.backward()
    assert outputs.grad is not None
    expected = torch.tensor([[0.4, 0.8, 0.0], [0.0, 0.4, 0.8]])
    torch.testing.assert_close(outputs.grad, expected)
    full = torch.rand(3, 4)
    torch.testing.assert_close(logit_distance(full, full + 2.0), mse_loss(full, full + 2.0))


def test_the_loss_by_hand() -> None:
    """With batches that hold all exemplars, the draw has no effect on the loss."""
    method = trained(1, alpha=0.7, beta=0.2, memory={"per_class": 4})
    method.network.eval()
    pixels, labels = SCENARIO.train.only((TASKS[1][0],)).inputs[:3], torch.tensor([2, 2, 2])
    prepare = method.environment.pipeline()
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.begin(task)
        method._batch = 100
        method.grow(task)
        actual = method.loss(prepare.plain(pixels), labels, task)
    exemplars = torch.cat([method.memory.of_class(label) for label in range(2)])
    own = torch.tensor([0] * 4 + [1] * 4)
    outputs = method.network(prepare.plain(exemplars))
    expected = cross_entropy(method.network(prepare.plain(pixels)), labels)
    expected = expected + 0.7 * mse_loss(outputs[:, :2], torch.cat(method.logits))
    torch.testing.assert_close(actual, expected + 0.2 * cross_entropy(outputs, own))


def test_the_first_task_is_plain_training() -> None:
    plain = Bench("finetune", BENCH.dataset, epochs=1, augment=()).trained(1)
    method = trained(1)
    for one, other in zip(method.network.parameters(), plain.network.parameters(), strict=True):
        assert torch.equal(one, other)
