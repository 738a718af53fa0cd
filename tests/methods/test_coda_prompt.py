from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from edgecil.data.augment import Pipeline
from edgecil.methods.coda_prompt import component_weights, gram_schmidt_rows, orthogonal_rows
from tests.toys import ADAM, SMALL, TASKS, Bench, learn, same

BENCH = Bench("coda-prompt", SMALL, **ADAM)
SCENARIO, trained = BENCH.scenario, BENCH.trained
KINDS = ("components", "keys", "attention")


def noise(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def test_component_weights_one_by_one() -> None:
    queries, keys, attention = noise(3, 5), noise(2, 4, 5, seed=1), noise(2, 4, 5, seed=2)
    weights = component_weights(queries, keys, attention)
    for layer in range(2):
        for image in range(3):
            for component in range(4):
                expected = torch.cosine_similarity(
                    queries[image] * attention[layer, component], keys[layer, component], dim=0
                )
                torch.testing.assert_close(weights[layer, image, component], expected)


def test_the_prompt_is_the_weighted_sum_of_components_keys_first_then_values() -> None:
    method = trained(2, components=3)
    queries = noise(4, method.vit.feature_size)
    weights = component_weights(queries, method.stacked("keys"), method.stacked("attention"))
    components = method.stacked("components")
    with torch.no_grad():
        prefixes = method.prefixes(queries)
    assert list(prefixes) == [0, 1]  # the toy has two blocks, fewer than the published five
    for layer, (keys, values) in prefixes.items():
        for image in range(4):
            prompt = sum(
                weights[layer, image, component] * components[layer, component]
                for component in range(6)
            )
            torch.testing.assert_close(torch.cat([keys[image], values[image]]), prompt)
            assert len(keys[image]) == len(values[image]) == 4


def test_the_penalty_is_of_components_keys_and_attention() -> None:
    method = trained(2, components=3)
    with torch.no_grad():
        for prompts in method.prompts:
            for kind in KINDS:
                prompts[kind].copy_(noise(*prompts[kind].shape, seed=len(kind)))
    expected = 0.0
    for kind in KINDS:
        for rows in method.stacked(kind).detach().flatten(2).double():
            expected += float(((rows @ rows.T - torch.eye(6)) ** 2).mean())
    assert method.penalty().item() == pytest.approx(expected, rel=1e-4)


def test_the_penalty_weighs_in_the_loss() -> None:
    method = trained(1)
    pixels, labels = SCENARIO.train.inputs[:4], torch.tensor([0, 1, 0, 1])
    images = Pipeline((), method.environment.mean, method.environment.std).plain(pixels)
    with torch.no_grad():
        method.prompts[0]["keys"] *= 3.0
        losses = []
        for weight in (0.0, 2.0):
            method.config = replace(method.config, orthogonality=weight)
            with SCENARIO.task(TASKS[:1], 0) as task:
                losses.append(method.loss(images, labels, method.frozen_features(pixels), task))
        torch.testing.assert_close(losses[1] - losses[0], 2.0 * method.penalty())


def test_new_components_start_orthogonal_to_the_trained_old_ones() -> None:
    old = noise(2, 4, 9)  # neither orthogonal nor of unit length, as training leaves them
    new = orthogonal_rows(3, old, torch.Generator().manual_seed(1))
    torch.testing.assert_close(new @ old.mT, torch.zeros(2, 3, 4), atol=1e-5, rtol=0)
    torch.testing.assert_close(new @ new.mT, torch.eye(3).expand(2, 3, 3), atol=1e-5, rtol=0)
    assert not torch.allclose(new[0], new[1])


def test_gram_schmidt_by_hand() -> None:
    """With two equal old rows c, the projection on c is subtracted twice, as in PILOT."""
    axis = torch.zeros(1, 1, 5)
    axis[..., 2] = 3.0
    drawn = torch.randn(2, 1, 5, generator=torch.Generator().manual_seed(1))[:, 0]
    new = gram_schmidt_rows(2, torch.cat([axis, axis], dim=1), torch.Generator().manual_seed(1))[0]
    first = drawn[0].clone()
    first[2] *= -1.0
    second = drawn[1].clone()
    second[2] *= -1.0
    second -= (drawn[1] @ first) / (first @ first) * first
    torch.testing.assert_close(new, torch.stack([first / first.norm(), second / second.norm()]))


def test_without_room_for_orthogonality_components_are_random_unit_vectors() -> None:
    for old_count in (4, 5, 8):
        new = orthogonal_rows(3, noise(1, old_count, 5), torch.Generator().manual_seed(1))
        assert new.shape == (1, 3, 5)
        torch.testing.assert_close(new.norm(dim=2), torch.ones(1, 3))


def test_each_task_adds_components_and_trains_only_its_own() -> None:
    method = trained(1, components=3)
    first = method.state()["prompts"]
    learn(method, SCENARIO, TASKS[:2])
    second = method.state()["prompts"]
    assert [len(first), len(second)] == [1, 2]
    assert same(second[0], first[0])
    assert {kind: tuple(value.shape) for kind, value in second[1].items()} == {
        "components": (2, 3, 8, 64),
        "keys": (2, 3, 64),
        "attention": (2, 3, 64),
    }
    trainable = [[value.requires_grad for value in prompts.values()] for prompts in method.prompts]
    assert trainable == [[False] * 3, [True] * 3]
