"""Our learners and PyCIL's from the same weights on the same batches keep the same weights.

Runs with `make parity TOOLBOX=PATH`, where PATH is a checkout of PyCIL. Both learners are in one
process and in double precision; ours trains first and its batches are recorded, then PyCIL's
learner gets our weights after each growth of the network, and the batches. Exemplars, EWC's Fisher
information and predictions on test images are each learner's own.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from edgecil.data.augment import pipeline
from edgecil.methods import Environment, Schedule, get_method, network as network_module
from edgecil.methods.ewc import EWC
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.network import NetworkMethod
from edgecil.methods.task import Scenario
from tests.parity.toolbox import TOOLBOX, requires
from tests.toys import TASKS, learn, toy_dataset

SCHEDULE = Schedule(
    epochs=3, learning_rate=0.05, milestones=(2,), batch_size=16, augment=("crop:1", "flip")
)
MEMORY = MemoryBudget(total=None, per_class=20)
LARGEST_GAP = 1e-7

pytestmark = requires("PyCIL")

# Parts of our networks, and of PyCIL's; {} is the number of an extractor.
PARTS = {
    "backbone.extractors.{}": ("convnets.{}.net", "AdaptiveExtractors.{}.net"),
    "backbone.shared": ("TaskAgnosticExtractor.net",),
    "backbone": ("convnet.net",),
    "head": ("fc",),
    "auxiliary": ("aux_fc", "fe_fc"),
    "agnostic": ("ta_net.net",),
    "projector": ("projector",),
    "predictor": ("predictor",),
    "attention.newest_norm": ("ts_attn.norm_ts",),
    "attention.agnostic_norm": ("ts_attn.norm_ta",),
    "transfer": ("trans_classifier",),
}
# Every other tensor of ours has one of PyCIL's. BiC's correction is copied into PyCIL's learner.
NOT_COMPARED = {"scales", "shifts"}
ATTENTION = ("weight_q", "weight_k_ta", "weight_k_ts", "weight_v_ta", "weight_v_ts")


class Recording:
    """The batches of one stage of training, and the network before it."""

    def __init__(self, stage: str, network: Any, epochs: int) -> None:
        self.stage, self.network, self.epochs = stage, copy.deepcopy(network), epochs
        self.batches: list[tuple[torch.Tensor, torch.Tensor]] = []


class Replay:
    """A loader that gives the recorded batches, epoch by epoch; all images if not for training."""

    stages: ClassVar[list[Recording]] = []
    views = 1
    plain: type

    def __init__(
        self, dataset: Any, batch_size: int = 1, *, shuffle: bool = False, **_: Any
    ) -> None:
        self.dataset, self.batch_size, self.shuffle = dataset, batch_size, shuffle
        self.position = 0

    def __len__(self) -> int:
        return len(self.stages[0].batches) // self.stages[0].epochs

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        if not self.shuffle:
            yield from self.plain(self.dataset, self.batch_size)
            return
        batches = [batch for stage in self.stages for batch in stage.batches]
        stage = self.stages[0] if self.position < len(self.stages[0].batches) else self.stages[-1]
        size = len(stage.batches) // stage.epochs
        for images, labels in batches[self.position : self.position + size]:
            parts = images.chunk(self.views)
            yield (None, *parts, labels[: len(labels) // self.views])
        self.position += size


def pairs(ours: Any, theirs: Any) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
    """Tensors of both networks with the same meaning."""
    state, reference = ours.state_dict(), theirs.state_dict()
    for name, value in state.items():
        if name == "attention.weights":
            for row, weight in zip(value, ATTENTION, strict=True):
                yield f"{name}.{weight}", row, reference[f"ts_attn.{weight}"]
            continue
        for part, candidates in PARTS.items():
            number = name.split(".")[2] if "{}" in part and name.count(".") > 2 else ""
            prefix = part.format(number)
            if not name.startswith(f"{prefix}."):
                continue
            rest = name[len(prefix) :]
            match = [
                f"{one.format(number)}{rest}"
                for one in candidates
                if f"{one.format(number)}{rest}" in reference
            ]
            if match and reference[match[0]].shape == value.shape:
                yield name, value, reference[match[0]]
            break


def expected_names(network: Any) -> set[str]:
    """Names of the tensors of our network that must be compared: all that are not empty."""
    state = network.state_dict()
    names = {name for name, value in state.items() if value.numel()} - NOT_COMPARED
    if "attention.weights" in names:
        names.remove("attention.weights")
        names |= {f"attention.weights.{weight}" for weight in ATTENTION}
    return names


def largest_gap(name: str, monkeypatch: pytest.MonkeyPatch) -> float:
    sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
    import reference

    reference.find_toolbox(str(TOOLBOX))
    monkeypatch.setattr(pipeline, "to_float", lambda pixels: pixels.double() / 255)
    dataset = toy_dataset(train=24)
    scenario = Scenario(dataset)
    environment = Environment(dataset.shape, (0.3,), (0.2,), "resnet-tiny")
    schedule = replace(SCHEDULE, schedule="cosine") if name == "foster" else SCHEDULE
    entry = get_method(name)
    method = entry.build(entry.configure(schedule, MEMORY, entry.published_settings), environment)
    assert isinstance(method, NetworkMethod)
    stages: list[Recording] = []
    fit = network_module.fit

    def record(
        parameters: Any, data: Any, loss: Any, used: Schedule, *rest: Any, **more: Any
    ) -> None:
        current = method.network if more["stage"] == "learn" else method.old  # type: ignore[attr-defined]
        stages.append(Recording(more["stage"], current, used.epochs))

        def note(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
            stages[-1].batches.append((images.detach().clone(), labels.clone()))
            return loss(images, labels)

        fit(parameters, data, note, used, *rest, **more)

    monkeypatch.setattr(network_module, "fit", record)
    if isinstance(method, EWC):
        record_fisher(method, stages, monkeypatch)
    reference.Loader.environment, reference.Loader.schedule = environment, schedule
    Replay.plain = reference.Loader
    views = 2 if name == "tagfex" else 1
    learner = reference.build_reference(name, environment, schedule, MEMORY, Replay)
    images = reference.Images(dataset, TASKS, views)
    Replay.views = views
    training = "_stage1_training" if name == "bic" else "_train"
    train, gap = getattr(learner, training), 0.0

    def start(*loaders: Any) -> None:
        for _, ours, theirs in pairs(stages[0].network, learner._network):
            theirs.copy_(ours)
        train(*loaders)

    def correct(*_: Any) -> None:
        """BiC's correction, which PyCIL fits by another loss."""
        layer = learner._network.bias_layers[-1]
        layer.alpha.data.fill_(float(method.network.scales[-1]))  # type: ignore[attr-defined]
        layer.beta.data.fill_(float(method.network.shifts[-1]))  # type: ignore[attr-defined]

    setattr(learner, training, start)
    learner._stage2_bias_correction = correct
    if name == "foster":
        nets = sys.modules["utils.inc_net"]
        copy_fc = nets.FOSTERNet.copy_fc

        def copy_all(student: Any, fc: Any) -> None:
            copy_fc(student, fc)
            for _, ours, theirs in pairs(stages[-1].network, student):
                theirs.copy_(ours)

        monkeypatch.setattr(nets.FOSTERNet, "copy_fc", copy_all)
    for end in range(1, len(TASKS) + 1):
        stages.clear()
        learn(method, scenario, TASKS[:end])
        Replay.stages = list(stages)
        learner.incremental_train(images)
        compressed = getattr(learner, "_snet", None)
        theirs = learner._network if compressed is None else compressed
        gaps: dict[str, float] = {}
        for key, ours, one in pairs(method.network, theirs):
            assert key not in gaps
            if ours.numel():
                gaps[key] = float((ours - one).abs().max())
        assert gaps.keys() == expected_names(method.network)
        if isinstance(method, EWC):
            gaps |= fisher_gaps(method, learner)
        gap = max(gap, *gaps.values())
        compare_exemplars(name, method, learner)
        compare_predictions(name, method, learner, images)
        learner.after_task()
    return gap


def record_fisher(method: EWC, stages: list[Recording], monkeypatch: pytest.MonkeyPatch) -> None:
    """Record the batches from which our EWC estimates the Fisher information, as a stage."""
    estimate, entropy = method.estimate_fisher, torch.nn.functional.cross_entropy

    def recorded(task: Any) -> Any:
        stage = Recording("fisher", method.network, 1)
        inputs: list[torch.Tensor] = []
        hook = method.network.register_forward_pre_hook(
            lambda _, given: inputs.append(given[0].detach().clone())
        )

        def note(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
            stage.batches.append((inputs[-1], labels.clone()))
            return entropy(logits, labels)

        with monkeypatch.context() as patch:
            patch.setattr(torch.nn.functional, "cross_entropy", note)
            result = estimate(task)
        hook.remove()
        stages.append(stage)
        return result

    monkeypatch.setattr(method, "estimate_fisher", recorded)


def fisher_gaps(method: EWC, learner: Any) -> dict[str, float]:
    """Largest difference of the Fisher information, relative to its cap, by weight."""
    gaps = {}
    for name, value in method.fisher.items():
        theirs = name.replace("backbone.", "convnet.net.").replace("head.", "fc.")
        gap = (value - learner.fisher[theirs]).abs().max()
        gaps[f"Fisher of {name}"] = float(gap) / method.config.fisher_cap
    return gaps


def compare_exemplars(name: str, method: NetworkMethod, learner: Any) -> None:
    """The same exemplars in the same order; FOSTER's are chosen by another network."""
    if method.memory is None or name == "foster":
        return
    for label in range(len(method.seen)):
        chosen = learner._data_memory[learner._targets_memory == label]
        assert np.array_equal(chosen, method.memory.of_class(label).numpy())


def compare_predictions(name: str, method: NetworkMethod, learner: Any, images: Any) -> None:
    """Every test image gets the same class from each classifier that both have."""
    subset = images.get_dataset(np.arange(len(method.seen)), "test", "test")
    ours = {
        classifier: labels.tolist()
        for classifier, labels in method.classify(torch.from_numpy(subset.images)).items()
    }
    theirs = {"head": learner._eval_cnn(learner.test_loader)[0]}
    if name == "foster":
        theirs = {"boosted": theirs["head"]}
    elif getattr(learner, "_class_means", None) is not None:
        theirs["nme"] = learner._eval_nme(learner.test_loader, learner._class_means)[0]
    expected = {"finetune": 1, "lwf": 1, "ewc": 1, "foster": 1}.get(name, 2)
    assert len(theirs) == expected
    for classifier, predicted in theirs.items():
        assert ours[classifier] == predicted[:, 0].tolist(), classifier


@pytest.fixture
def _double() -> Iterator[None]:
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("_double")
@pytest.mark.parametrize(
    "name",
    ["finetune", "ewc", "lwf", "er", "icarl", "wa", "bic", "der", "foster", "memo", "tagfex"],
)
def test_three_tasks_in_lockstep(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gap = largest_gap(name, monkeypatch)
    print(f"{name}: largest gap {gap:.1e}")  # noqa: T201
    assert gap < LARGEST_GAP
