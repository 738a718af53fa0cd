"""What the learners that grow promise of their size: parameters, memory, and while training."""

from __future__ import annotations

import copy
import weakref
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from edgecil.backbones.named import BACKBONES, ON_VECTORS
from edgecil.data import Dataset, Examples
from edgecil.methods import Method, der, get_method, training_loop as training
from edgecil.methods.der import ExpandingBackbone
from edgecil.methods.network import Network, NetworkMethod
from edgecil.methods.setups import PAPER_MEMORY
from edgecil.methods.tagfex import TagFexNetwork
from edgecil.methods.task import Scenario
from tests.toys import (
    QUICK,
    build,
    learn,
    learn_all,
    same,
    tensors_in,
    toy_dataset,
    toy_environment,
    toy_vit,
)

CLASSES, EACH, KEPT, BATCH, SIDE = 6, 16, 2, 8, 32
RESIDUAL = [backbone for backbone in BACKBONES if backbone not in ON_VECTORS]
TASKS = tuple((class_,) for class_ in range(CLASSES))
BRIEF = replace(QUICK, epochs=1, batch_size=BATCH, augment=())


def noise(each: int) -> Examples:
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (CLASSES * each, 1, SIDE, SIDE), dtype=np.uint8)
    return Examples(pixels, np.repeat(np.arange(CLASSES), each).astype(np.int64))


DATASET = Dataset("noise", tuple("abcdef"), noise(EACH), noise(1))
SCENARIO = Scenario(DATASET)


def network_method(name: str, **settings: object) -> NetworkMethod:
    return build(
        name, DATASET, schedule=BRIEF, settings={"memory": {"per_class": KEPT}, **settings}
    )


def bytes_of(*modules: torch.nn.Module) -> int:
    """Bytes of modules' weights and statistics."""
    return sum(value.nbytes for module in modules for value in module.state_dict().values())


def bytes_of_state(method: Method) -> int:
    return sum(value.nbytes for value in tensors_in(method.state()))


def parameters(module: torch.nn.Module) -> int:
    return sum(value.numel() for value in module.parameters())


class MemoryWatch(TorchDispatchMode):
    """Counts the bytes of tensors made under it, activations and gradients too, while they live.

    Attributes:
        alive: bytes now.
        peaks: most bytes so far, by stage of training.
        stage: to which peaks are counted.
    """

    def __init__(self) -> None:
        super().__init__()
        self.alive = 0
        self.peaks: dict[str, int] = defaultdict(int)
        self.stage = "around"
        self._storages: dict[int, int] = {}

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple[Any, ...] = (), options: Any = None
    ) -> Any:
        result = operation(*args, **(options or {}))
        for value in tree_iter(result):
            if isinstance(value, torch.Tensor):
                self._count(value.untyped_storage())
        self.peaks[self.stage] = max(self.peaks[self.stage], self.alive)
        return result

    def _count(self, storage: torch.UntypedStorage) -> None:
        place = storage._cdata
        if place not in self._storages:
            self._storages[place] = storage.nbytes()
            self.alive += storage.nbytes()
            weakref.finalize(storage, self._release, place)

    def _release(self, place: int) -> None:
        self.alive -= self._storages.pop(place)


def watching_stages(watch: MemoryWatch, minimise: Callable[..., None]) -> Callable[..., None]:
    def run(*args: Any, stage: str, **options: Any) -> None:
        watch.stage = stage
        minimise(*args, stage=stage, **options)
        watch.stage = "around"

    return run


def looked_back_at(name: str, network: Network) -> int:
    """What a method keeps from before a task, and the maps of a batch that it computes with it."""
    with MemoryWatch() as watch, torch.no_grad():
        network.backbone.eval()(torch.zeros(BATCH, *DATASET.shape))
    maps = watch.peaks["around"]
    if name == "icarl":
        return bytes_of(network) + maps
    if name == "foster":  # the old network, and that half of the boosted one which will not stay
        return 2 * bytes_of(network) + maps
    if name == "tagfex":  # of two views; attention and predictor do not learn in the first task
        assert isinstance(network, TagFexNetwork)
        steps = 3 * bytes_of(network.attention, network.predictor)
        return bytes_of(network.agnostic, network.projector) + steps + 2 * maps
    return 0


def kept_by_a_frozen_stage(backbone: ExpandingBackbone) -> int:
    """What a last stage keeps of a batch for the gradient of what is before it."""
    maps = backbone.shared(torch.zeros(BATCH, *DATASET.shape)).detach().requires_grad_()
    stage = copy.deepcopy(backbone.newest).requires_grad_(False).eval()
    with MemoryWatch() as watch:
        features = stage(maps)
    return watch.alive - features.nbytes


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("icarl", {}),
        ("foster", {}),
        ("der", {"balancing": 1}),
        ("memo", {"balancing": 1}),
        ("memo", {"balancing": 1, "train_shared": False}),
        ("tagfex", {"balancing": 1, "duration": 1.0}),
    ],
)
def test_over_six_tasks_memory_grows_with_the_methods_own_parts_and_nothing_else(
    name: str, settings: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a task there is its state; while it is learnt, what is trained and looked back at.

    A head that grows has gradients, momentum and steps, and a batch longer features: together less
    than eight times the head, which is little beside an extractor.
    """
    plain = network_method(name, **settings).network
    more, stage = looked_back_at(name, plain), 0
    if name == "memo" and settings.get("train_shared", True):
        stage = kept_by_a_frozen_stage(plain.backbone)
    watch, first = MemoryWatch(), 0
    for module in (training, der):
        monkeypatch.setattr(module, "minimise", watching_stages(watch, module.minimise))
    with watch:
        method = network_method(name, **settings)
        for end in range(1, CLASSES + 1):
            watch.peaks.clear()
            learn(method, SCENARIO, TASKS[:end])
            peaks, state = dict(watch.peaks), bytes_of_state(method)
            assert parameters(method.network) == expected_parameters(name, plain, end)
            assert len(method.memory or ()) == KEPT * end
            assert abs(watch.alive - state) < 100
            assert set(peaks) == {"around", *stages(name, end)}
            first = first or peaks["learn"] - state
            allowed = first + (0 if end == 1 else more + (end - 1) * stage)
            head = bytes_of(method.network.head)
            assert max(peaks.values()) - state <= allowed + 8 * head, (end, peaks, state)
            assert peaks.get("balance", 0) - state < 0.2 * first


def expected_parameters(name: str, fresh: Network, tasks: int) -> int:
    """DER and TagFex: a backbone per task; MEMO: a last stage; the others: no more than a head."""
    size = fresh.head.feature_size
    if name in ("icarl", "foster"):
        return parameters(fresh) + tasks * (size + 1)
    outputs = 0 if tasks == 1 else 3 if name == "tagfex" else 2
    heads = tasks * (tasks * size + 1) + outputs * (size + 1)
    return parameters(fresh) + (tasks - 1) * parameters(fresh.backbone.newest) + heads


def stages(name: str, task: int) -> tuple[str, ...]:
    if task == 1 or name == "icarl":
        return ("learn",)
    return ("learn", "compress" if name == "foster" else "balance")


def flat(images: Examples) -> Examples:
    """The images' pixels in [0, 1] as vectors."""
    vectors = images.inputs.reshape(len(images), -1).astype(np.float32) / np.float32(255.0)
    return Examples(vectors, images.labels)


@pytest.mark.parametrize(
    ("name", "backbone"),
    [
        *((name, backbone) for name in ("der", "foster") for backbone in BACKBONES),
        *((name, backbone) for name in ("memo", "tagfex") for backbone in RESIDUAL),
        ("der", "vit"),
        ("foster", "vit"),
    ],
)
def test_every_backbone_can_grow(name: str, backbone: str) -> None:
    """Two tasks of an epoch; the state goes into a new learner, which predicts the same."""
    dataset = toy_dataset(3, channels=3, train=4, test=2)
    environment = replace(
        toy_environment(dataset), backbone=toy_vit(3) if backbone == "vit" else backbone
    )
    if backbone in ON_VECTORS:
        dataset = replace(dataset, train=flat(dataset.train), test=flat(dataset.test))
        environment = replace(environment, shape=dataset.shape, mean=(), std=())
    scenario, entry = Scenario(dataset), get_method(name)
    once = {"balancing": 1} if "balancing" in entry.fast_settings else {}
    config = entry.configure(BRIEF, PAPER_MEMORY, {**entry.fast_settings, **once})
    method = entry.build(config, environment)
    learn_all(method, scenario, ((0, 1), (2,)))
    state = method.state()
    assert all(torch.isfinite(value).all() for value in tensors_in(state))
    again = entry.build(config, environment)
    again.restore(state)
    actual = again.classify(scenario.test.inputs)
    assert same(actual, method.classify(scenario.test.inputs))
    assert list(actual) == (["head", "nme", "boosted"] if name == "foster" else ["head", "nme"])
