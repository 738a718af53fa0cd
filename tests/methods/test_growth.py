"""What the learners that grow promise of their size: parameters, memory, and while training."""

from __future__ import annotations

import copy
import gc
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from edgecil.backbones.registry import BACKBONES
from edgecil.errors import UsageError
from edgecil.methods import Method, get_method
from edgecil.methods.network import NetworkMethod
from edgecil.methods.recipe import PAPER_MEMORY
from edgecil.scenario import ImageDataset, Images
from edgecil.scenario.task import Scenario, Task
from tests.toys import QUICK, build, learn, toy_dataset, toy_setting, toy_vit

CLASSES, EACH, KEPT, BATCH = 10, 5, 2, 8
TASKS = tuple((class_,) for class_ in range(CLASSES))
BRIEF = replace(QUICK, epochs=1, batch_size=32, augment=())


def noise(each: int) -> Images:
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (CLASSES * each, 1, 12, 12), dtype=np.uint8)
    return Images(pixels, np.repeat(np.arange(CLASSES), each).astype(np.int64))


DATASET = ImageDataset("noise", tuple("abcdefghij"), noise(EACH), noise(1))
SCENARIO = Scenario(DATASET)


def network_method(name: str) -> NetworkMethod:
    method = build(name, DATASET, recipe=BRIEF, settings={"memory": {"per_class": KEPT}})
    assert isinstance(method, NetworkMethod)
    return method


def tensors_in(value: object) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(item)


def bytes_alive() -> int:
    """Bytes of all tensors that anything in this process still holds, gradients included."""
    gc.collect()
    found = [value for value in gc.get_objects() if issubclass(type(value), torch.Tensor)]
    found += [value.grad for value in found if value.is_leaf and value.grad is not None]
    storages = {value.data_ptr(): value.untyped_storage().nbytes() for value in found}
    return sum(storages.values())


def bytes_of_state(method: Method) -> int:
    return sum(value.nbytes for value in tensors_in(method.state()))


def parameters(module: torch.nn.Module) -> int:
    return sum(value.numel() for value in module.parameters())


@pytest.mark.parametrize("name", ["icarl", "foster", "der", "memo", "tagfex"])
def test_over_ten_tasks_only_the_methods_own_parts_are_added(name: str) -> None:
    """What is held beside them (old networks, gradients, images of past tasks) would be a leak."""
    empty = bytes_alive()
    method = network_method(name)
    size, whole = method.network.head.feature_size, parameters(method.network)
    part = parameters(getattr(method.network.backbone, "newest", method.network.backbone))
    grows = name not in ("icarl", "foster")
    for end in range(1, CLASSES + 1):
        learn(method, SCENARIO, TASKS[:end])
        extractors = end if grows else 1
        heads = {"der": 2, "memo": 2, "tagfex": 3}.get(name, 0) if end > 1 else 0
        head = end * (extractors * size + 1) + heads * (size + 1)
        assert parameters(method.network) == whole + (extractors - 1) * part + head
        assert len(method.memory or ()) == KEPT * end
        if end in (1, 2, CLASSES):
            beside = bytes_alive() - empty - bytes_of_state(method)
            assert abs(beside) < 1000, f"{beside} bytes beside the state after task {end}"


@pytest.mark.parametrize("name", ["der", "foster", "tagfex"])
def test_frozen_extractors_keep_nothing_for_the_backward_pass(name: str) -> None:
    """From the second to the fifth task, a batch needs the same memory but for longer features."""
    method, kept = network_method(name), []
    for end in range(1, 6):
        with SCENARIO.task(TASKS[:end], 0) as task:
            kept.append(bytes_for_backward(method, task))
        learn(method, SCENARIO, TASKS[:end])
    features = BATCH * method.network.head.weight.element_size() * 64
    assert kept[1] > 50 * features
    assert all(abs(size - kept[1]) < 6 * features * step for step, size in enumerate(kept[2:], 1))


def bytes_for_backward(method: NetworkMethod, task: Task) -> int:
    """What the loss of a batch of the task's class keeps for its gradient, weights apart."""
    copied = copy.deepcopy(method)
    copied.begin(task)
    copied.grow(task)
    copied.network.train()
    images = torch.rand(BATCH, *DATASET.shape, generator=torch.Generator().manual_seed(0))
    saved: dict[int, int] = {}

    def note(value: torch.Tensor) -> torch.Tensor:
        saved[value.data_ptr()] = value.untyped_storage().nbytes()
        return value

    with torch.autograd.graph.saved_tensors_hooks(note, lambda value: value):
        loss = copied.loss(images, torch.full((BATCH,), task.known), task)
    assert loss.requires_grad
    weights = {value.data_ptr() for value in copied.network.parameters()}
    return sum(size for place, size in saved.items() if place not in weights)


def grow_twice(name: str, backbone: str) -> None:
    """Two tasks, one step of the loss in each."""
    dataset = toy_dataset(channels=3)
    scenario, entry = Scenario(dataset), get_method(name)
    setting = replace(toy_setting(dataset), backbone=backbone)
    method = entry.build(entry.configure(BRIEF, PAPER_MEMORY), setting)
    assert isinstance(method, NetworkMethod)
    images = torch.rand(4, *dataset.shape, generator=torch.Generator().manual_seed(0))
    for tasks, labels in ((((0, 1),), [0, 1, 0, 1]), (((0, 1), (2,)), [0, 1, 2, 2])):
        with scenario.task(tasks, 0) as task:
            method.begin(task)
            method.grow(task)
            method.network.train()
            method.loss(images, torch.tensor(labels), task).backward()
    assert method.network.eval()(images).shape == (4, 3)


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("name", ["der", "foster", "memo", "tagfex"])
def test_every_backbone_trained_from_scratch_can_grow(name: str, backbone: str) -> None:
    grow_twice(name, backbone)


@pytest.mark.parametrize("name", ["der", "foster"])
def test_whole_transformers_can_stand_side_by_side(name: str) -> None:
    grow_twice(name, toy_vit(3))


@pytest.mark.parametrize("name", ["memo", "tagfex"])
def test_a_backbone_without_stages_is_refused_by_those_that_need_them(name: str) -> None:
    with pytest.raises(UsageError, match=r"stages of a residual network.*Got a ViT.*resnet-tiny"):
        grow_twice(name, toy_vit(3))
