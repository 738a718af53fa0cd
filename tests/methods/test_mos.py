from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.special import softmax
from torch import nn

from edgecil.methods.adapters import Adapter
from edgecil.methods.method import saved
from edgecil.methods.mos import MOS, merge_adapters
from tests.toys import SMALL, TASKS, Bench, build, learn, learn_all

BENCH = Bench("mos", SMALL, epochs=1, optimizer="adam", learning_rate=0.01)
SCENARIO = BENCH.scenario
STILL = replace(BENCH.schedule, learning_rate=1e-30)


def trained(tasks: int = 3, **settings: object) -> MOS:
    return BENCH.trained(tasks, **{"alignment": {"epochs": 2}, **settings})


def constant(value: float) -> nn.ModuleList:
    adapters = nn.ModuleList(Adapter(3, 2) for _ in range(2))
    for parameter in adapters.parameters():
        nn.init.constant_(parameter, value)
    return adapters


def test_merging_by_hand() -> None:
    """0.9 · 10 + 0.1 · (1 + 3 + 8) / 3"""
    adapters = constant(10.0)
    merge_adapters(adapters, [constant(1.0), constant(3.0), constant(8.0)], 0.1)
    for parameter in adapters.parameters():
        torch.testing.assert_close(parameter, torch.full_like(parameter, 9.4))


def test_new_adapters_begin_as_the_last_ones() -> None:
    method = trained(2, merging=0.0)
    method.schedule = STILL
    learn(method, SCENARIO, TASKS)
    first, second, third = (saved(adapters) for adapters in method.adapters)
    torch.testing.assert_close(third, second)
    assert not torch.allclose(third["0.down_weight"], first["0.down_weight"])


def test_adapters_are_merged_at_every_step_and_at_the_end() -> None:
    """Without learning they move from the last ones towards the mean, step by step."""
    method = trained(2)
    method.schedule = replace(STILL, batch_size=4)  # three batches of the twelve images
    learn(method, SCENARIO, TASKS)
    first, second, third = (saved(adapters) for adapters in method.adapters)
    for name, reached in third.items():
        mean = (first[name] + second[name]) / 2
        expected = mean + 0.9 ** (3 + 1) * (second[name] - mean)
        torch.testing.assert_close(reached, expected)


def test_a_small_head_begins_with_weights_of_a_third_of_the_variance() -> None:
    wide, small = (
        trained(1, small_head=small, schedule=vars(STILL)).head.weight.detach()
        for small in (False, True)
    )
    torch.testing.assert_close(small, wide / 3**0.5)


def test_what_is_kept_of_the_classes() -> None:
    """Prototypes are seen through the first adapters, Gaussians through the task's own."""
    method = trained(2)
    for label, class_ in enumerate(method.seen):
        pixels = SCENARIO.train.only((class_,)).inputs
        first = method.adapted_features(pixels, method.adapters[0])
        own = method.adapted_features(pixels, method.adapters[label // 2])
        torch.testing.assert_close(method.prototypes[label], first.mean(dim=0))
        torch.testing.assert_close(method.gaussians.means[label], own.mean(dim=0))


def test_the_diagonal_covariance_keeps_variances_alone() -> None:
    method = trained(1, covariance="diagonal")
    pixels = SCENARIO.train.only((method.seen[0],)).inputs
    features = method.adapted_features(pixels, method.adapters[0])
    expected = (features.var(dim=0) + 1e-4).sqrt().diag()
    torch.testing.assert_close(method.gaussians.roots[0], expected)


def refine_by_hand(first: np.ndarray, logits: np.ndarray, often: int) -> np.ndarray:
    """Logits (classes,) of one image, two classes to a task; (classes,) and (tasks, classes)."""
    task = int(first.argmax()) // 2
    for _ in range(often):
        refined = logits[task]
        if int(refined.argmax()) // 2 == task:
            break
        task = int(refined.argmax()) // 2
    return refined


@pytest.mark.parametrize("often", [1, 2, 4])
def test_adapters_are_chosen_anew_until_they_stay_the_same(often: int) -> None:
    method = trained(refinements=often)
    rng = np.random.default_rng(0)
    first, logits = rng.normal(size=(50, 6)), rng.normal(size=(3, 50, 6))
    refined = method.refine(torch.from_numpy(first), torch.from_numpy(logits)).numpy()
    for image in range(50):
        expected = refine_by_hand(first[image], logits[:, image], often)
        assert refined[image].tolist() == expected.tolist()


def test_the_two_stages_by_hand() -> None:
    method = trained()
    pixels = SCENARIO.test.inputs
    features = [method.adapted_features(pixels, one) for one in method.adapters]
    first = torch.cosine_similarity(features[0][:, None], method.prototypes[None], dim=2).numpy()
    with torch.no_grad():
        logits = torch.stack([method.head(one) for one in features]).numpy()
    expected = []
    for image in range(len(pixels)):
        refined = refine_by_hand(first[image], logits[:, image], 4)
        expected.append(int((softmax(refined) + softmax(3 * first[image])).argmax()))
    assert method.classify(pixels)["head"].tolist() == expected


def test_rows_of_adapters_that_no_other_sequence_has_leave_no_files(tmp_path: Path) -> None:
    method = trained(2)
    settings = {"alignment": {"epochs": 2}}
    sharing = build("mos", SMALL, schedule=BENCH.schedule, settings=settings, shared=tmp_path)
    learn_all(sharing, SCENARIO, TASKS[:2])
    pixels = SCENARIO.test.only((0, 3, 1, 4)).inputs
    assert torch.equal(sharing.predict(pixels), method.predict(pixels))
    assert list(tmp_path.rglob("*.npz")) == []
