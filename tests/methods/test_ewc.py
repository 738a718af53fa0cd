from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from edgecil.data.augment import Pipeline
from edgecil.methods.ewc import EWC
from edgecil.methods.network import NetworkMethod
from edgecil.methods.task import Task
from tests.toys import QUICK, TASKS, Bench, build, learn, learn_all, same, toy_dataset

BENCH = Bench("ewc", toy_dataset(contrast=25))  # errors remain, so gradients do
SCENARIO, trained = BENCH.scenario, BENCH.trained


def weights(method: NetworkMethod) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in method.network.named_parameters()}


def started() -> EWC:
    """A learner at the beginning of its second task."""
    method = trained(1)
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.begin(task)
    return method


def test_the_penalty_by_hand() -> None:
    method = started()
    generator = torch.Generator().manual_seed(0)
    expected = 0.0
    with torch.no_grad():
        for name, value in method.network.named_parameters():
            shift = torch.randn(value.shape, generator=generator)
            value += shift
            moved = value.double() - method.anchor[name].double()
            expected += 0.5 * float((method.fisher[name].double() * moved**2).sum())
    assert expected > 0.0
    assert method.penalty().item() == pytest.approx(expected, rel=1e-4)


def test_new_rows_of_the_head_are_free() -> None:
    method = started()
    method.network.head.grow(2, torch.Generator().manual_seed(0))
    assert method.penalty().item() == 0.0
    with torch.no_grad():
        method.network.head.weight[2:] += 100.0
    assert method.penalty().item() == 0.0
    with torch.no_grad():
        method.network.head.weight[0] += 1.0
    assert method.penalty().item() > 0.0


def fisher_of(method: EWC, task: Task, groups: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    """Mean over groups of the squared gradient of the group's mean loss, by torch.func."""
    weights = {name: value.detach() for name, value in method.network.named_parameters()}
    rest = dict(method.network.named_buffers())
    images = Pipeline((), method.environment.mean, method.environment.std).plain(task.inputs)

    def loss(weights: dict[str, torch.Tensor], group: torch.Tensor) -> torch.Tensor:
        logits = torch.func.functional_call(method.network, {**weights, **rest}, (images[group],))
        chosen = logits.log_softmax(dim=1)[torch.arange(len(group)), task.labels[group]]
        return -chosen.mean()

    gradients = [torch.func.grad(loss)(weights, group) for group in groups]
    return {
        name: torch.stack([gradient[name] ** 2 for gradient in gradients]).mean(dim=0)
        for name in weights
    }


@pytest.mark.parametrize("batch", [1, 8, 1000])
def test_fisher_information_against_another_computation(batch) -> None:
    """Images come class by class; batches mix them, as one class has far larger gradients."""
    state = trained(2).state()
    schedule = replace(QUICK, batch_size=batch)
    method = build("ewc", BENCH.dataset, schedule=schedule, settings={"fisher_cap": 1e9})
    method.restore(state)
    with SCENARIO.task(TASKS[:2], 0) as task:
        actual = method.estimate_fisher(task)
        order = torch.randperm(len(task.labels), generator=task.generator("fisher"))
        groups = list(order.split(batch))
        expected = fisher_of(method, task, groups)
        assert all(len(set(task.labels[group].tolist())) == min(batch, 2) for group in groups)
    assert max(float(value.max()) for value in expected.values()) > 0.0
    for name, value in expected.items():
        torch.testing.assert_close(actual[name], value, rtol=1e-3, atol=1e-9)


def test_fisher_information_is_capped_and_leaves_nothing_behind() -> None:
    method = trained(1, fisher_cap=1e-6)
    largest = max(float(value.max()) for value in method.fisher.values())
    assert largest == pytest.approx(1e-6)
    assert all(value.grad is None for value in method.network.parameters())


def test_old_and_new_information_merge_by_their_share_of_classes(monkeypatch) -> None:
    method = BENCH.build(strength=0.1)  # a large information needs little
    values = iter([6.0, 12.0, 30.0])

    def constant(task: Task) -> dict[str, torch.Tensor]:
        value = next(values)
        return {name: torch.full_like(old, value) for name, old in weights(method).items()}

    monkeypatch.setattr(method, "estimate_fisher", constant)
    learn(method, SCENARIO, TASKS[:1])
    learn(method, SCENARIO, TASKS[:2])
    assert method.fisher["head.bias"].tolist() == [9.0, 9.0, 12.0, 12.0]
    learn(method, SCENARIO, TASKS)
    merged = [9.0 * 2 / 3 + 10.0] * 2 + [12.0 * 2 / 3 + 10.0] * 2 + [30.0] * 2
    assert method.fisher["head.bias"].tolist() == pytest.approx(merged)
    name = next(name for name in method.fisher if name.startswith("backbone"))
    assert method.fisher[name].unique().tolist() == pytest.approx([16.0])


def test_the_anchor_is_where_the_last_task_ended() -> None:
    method = started()
    assert same(method.anchor, weights(method))


def test_the_penalty_holds_weights_back() -> None:
    distances = []
    for strength in (0.0, 1e5):
        method = trained(1, strength=strength)
        anchor, fisher = weights(method), method.fisher
        learn(method, SCENARIO, TASKS[:2])
        after = weights(method)
        distances.append(
            sum(
                float((fisher[name] * (after[name][: len(old)] - old) ** 2).sum())
                for name, old in anchor.items()
            )
        )
    assert distances[1] < 0.5 * distances[0]


def test_without_strength_it_is_fine_tuning() -> None:
    plain = learn_all(build("finetune", BENCH.dataset), SCENARIO, TASKS[:2])
    assert same(plain.state()["network"], trained(2, strength=0.0).state()["network"])
