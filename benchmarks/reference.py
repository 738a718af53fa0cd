"""Learners of a user's own checkout of PyCIL, on our networks, images and batches.

Nothing of PyCIL is part of edgecil. Its learners are imported from the checkout and given: our
network in place of its ResNets, our images and augmentation in place of its data manager, and the
epochs, learning rates and batches of our schedule in place of its constants. torchvision is not
needed. Used by `benchmarks/parity.py` and `tests/parity`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from edgecil.backbones import build_backbone
from edgecil.data import Dataset
from edgecil.methods import Environment, Schedule, get_method
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.task import derive_generator

NAME = "PyCIL"
# Our learners, and module and class of theirs.
LEARNERS = {
    "finetune": ("finetune", "Finetune"),
    "ewc": ("ewc", "EWC"),
    "lwf": ("lwf", "LwF"),
    "er": ("replay", "Replay"),
    "icarl": ("icarl", "iCaRL"),
    "wa": ("wa", "WA"),
    "bic": ("bic", "BiC"),
    "der": ("der", "DER"),
    "foster": ("foster", "FOSTER"),
    "memo": ("memo", "MEMO"),
    "tagfex": ("tagfex", "TagFex"),
}
CLASSIFIERS = {"icarl": ("nme", "head"), "foster": ("boosted", "head")}


class Convnet(nn.Module):
    """Our backbone with the interface of PyCIL's."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net
        self.out_dim = net.feature_size

    def forward(self, images: torch.Tensor) -> dict[str, Any]:
        if hasattr(self.net, "maps"):
            maps = self.net.maps(images)
            return {"features": maps.mean(dim=(2, 3)), "fmaps": [maps]}
        return {"features": self.net(images)}


class Part(nn.Module):
    """The shared or the last part of our residual network, as PyCIL's MEMO has them."""

    def __init__(self, net: nn.Module, feature_dim: int) -> None:
        super().__init__()
        self.net = net
        self.feature_dim = feature_dim

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.net(images)


@dataclass(frozen=True)
class Subset:
    """Images (n, c, h, w) and labels (n,) with the views that a loader gives of them."""

    images: np.ndarray
    labels: np.ndarray
    augmented: bool
    views: int

    def __len__(self) -> int:
        return len(self.labels)


class Images:
    """What PyCIL's learners ask of its data manager, for one class order."""

    def __init__(self, dataset: Dataset, tasks: tuple[tuple[int, ...], ...], views: int) -> None:
        order = [class_ for task in tasks for class_ in task]
        self.sizes, self.views = [len(task) for task in tasks], views
        self.dataset_name = dataset.name
        place = np.full(len(dataset), -1)
        place[order] = np.arange(len(order))
        self.parts = {
            name: (part.inputs, place[part.labels])
            for name, part in (("train", dataset.train), ("test", dataset.test))
        }

    def get_task_size(self, task: int) -> int:
        return self.sizes[task]

    def getlen(self, label: int) -> int:
        return int((self.parts["train"][1] == label).sum())

    def get_dataset(
        self,
        indices: np.ndarray,
        source: str,
        mode: str,
        appendent: Any = None,
        ret_data: bool = False,
    ) -> Any:
        pixels, labels = self.parts[source]
        chosen = [np.flatnonzero(labels == index) for index in indices]
        where = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)
        images, targets = [pixels[where]], [labels[where]]
        if appendent is not None and len(appendent) and len(appendent[1]):
            images.append(np.asarray(appendent[0], dtype=np.uint8))
            targets.append(np.asarray(appendent[1], dtype=np.int64))
        data, goals = np.concatenate(images), np.concatenate(targets)
        augmented = source == "train" and mode == "train"
        subset = Subset(data, goals, augmented, self.views if augmented else 1)
        return (data, goals, subset) if ret_data else subset

    def get_dataset_with_split(
        self,
        indices: np.ndarray,
        source: str,
        mode: str,
        appendent: Any = None,
        val_samples_per_class: int = 0,
    ) -> tuple[Subset, Subset]:
        """The images, and a number of random ones per class apart from them (BiC)."""
        data, labels, _ = self.get_dataset(indices, source, mode, appendent, ret_data=True)
        apart = np.zeros(len(labels), dtype=bool)
        for label in np.unique(labels):
            where = np.random.permutation(np.flatnonzero(labels == label))  # noqa: NPY002
            apart[where[:val_samples_per_class]] = True
        kept, held_out = (
            Subset(data[part], labels[part], True, self.views) for part in (~apart, apart)
        )
        return kept, held_out


class Loader:
    """Batches of a subset, prepared by our pipelines; in place of torch's DataLoader."""

    environment: Environment
    schedule: Schedule
    orders: Iterator[torch.Tensor] | None = None  # of the images in each epoch; random if None

    def __init__(
        self,
        dataset: Subset,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        **_: Any,
    ) -> None:
        self.dataset, self.batch_size, self.shuffle = dataset, batch_size, shuffle
        self.drop_last = drop_last

    def __len__(self) -> int:
        return max(1, -(-len(self.dataset) // self.batch_size))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        count = len(self.dataset)
        order = torch.arange(count)
        if self.shuffle:
            order = torch.randperm(count) if self.orders is None else next(self.orders)
        generator = torch.Generator().manual_seed(int(torch.randint(2**40, (1,))))
        steps = self.schedule.augment if self.dataset.augmented else ()
        prepare = self.environment.pipeline(steps)
        parts = list(order.split(self.batch_size))
        if self.drop_last and len(parts) > 1 and len(parts[-1]) < self.batch_size:
            parts.pop()
        if len(parts) > 1 and len(parts[-1]) == 1:  # batch normalisation requires two images
            parts[-2:] = [torch.cat(parts[-2:])]
        for part in parts:
            pixels = torch.from_numpy(self.dataset.images[part.numpy()])
            views = [prepare(pixels, generator) for _ in range(self.dataset.views)]
            yield (part, *views, torch.from_numpy(self.dataset.labels[part.numpy()]))


class Quiet:
    """tqdm without output."""

    def __init__(self, values: Any, **_: Any) -> None:
        self.values = values

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def set_description(self, *_: Any) -> None:
        pass

    def close(self) -> None:
        pass


def find_toolbox(path: str | Path) -> Path:
    """The checkout, importable; the program ends if it is not one of PyCIL."""
    root = Path(path).expanduser().resolve()
    if not matches(root):
        sys.exit(f"{root} is not a checkout of PyCIL (github.com/LAMDA-CL/PyCIL).")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return root


def matches(root: Path) -> bool:
    """Whether a folder is a checkout of PyCIL."""
    return (root / "models" / "icarl.py").is_file() and (root / "convs").is_dir()


def configure(name: str, args: Any) -> Any:
    """Config of our learner: PyCIL's behaviour and the schedule that the options give.

    With the schedule `fast` the rate has steps at a half and three quarters; FOSTER has a cosine in
    both codes.
    """
    entry = get_method(name)
    if args.setup != "fast":
        schedule, memory = entry.schedule(args.setup, args.backbone)
        memory = replace(memory, total=None, per_class=args.memory)
        return entry.configure(schedule, memory, entry.settings(args.setup))
    epochs = args.epochs
    schedule = Schedule(
        epochs=epochs,
        learning_rate=args.learning_rate,
        schedule="cosine" if name == "foster" else "steps",
        milestones=(epochs // 2, epochs * 3 // 4),
        batch_size=args.batch_size,
        augment=("crop:2", "flip"),
    )
    memory = MemoryBudget(total=None, per_class=args.memory)
    return entry.configure(schedule, memory, entry.settings("published"))


def curves(
    name: str,
    config: Any,
    environment: Environment,
    dataset: Dataset,
    tasks: tuple[tuple[int, ...], ...],
) -> list[dict[str, float]]:
    """Accuracies of PyCIL's learner after every task, in per cent, by classifier."""
    Loader.environment, Loader.schedule = environment, config.schedule
    memory = getattr(config, "memory", MemoryBudget(total=None, per_class=1))
    learner = build_reference(name, environment, config.schedule, memory)
    if name == "bic":  # it holds out a share of its exemplars, by their total number
        learner._memory_size = memory.per_class * sum(len(task) for task in tasks)
        if config.correction == "logits":
            importlib.import_module("models.bic").torch = _OneSoftmax()
    images = Images(dataset, tasks, 2 if name == "tagfex" else 1)
    results = []
    for _ in tasks:
        learner.incremental_train(images)
        results.append(accuracies(learner))
        learner.after_task()
    return results


class _OneSoftmax:
    """torch, but its softmax returns the logits: the cross-entropy that follows applies its own."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    def softmax(self, logits: torch.Tensor, **_: Any) -> torch.Tensor:
        return logits


def build_reference(
    name: str,
    environment: Environment,
    schedule: Schedule,
    memory: MemoryBudget,
    loader: type = Loader,
) -> Any:
    """PyCIL's learner of a name, untrained, with our network and schedule.

    Args:
        name: one of `LEARNERS`.
        environment: of our learners; its seed gives the network's first weights.
        schedule: training of every task.
        memory: exemplars; a number per class.
        loader: class that replaces torch's DataLoader.
    """
    module_name, class_name = LEARNERS[name]
    module = importlib.import_module(f"models.{module_name}")
    base, nets = importlib.import_module("models.base"), importlib.import_module("utils.inc_net")
    nets.get_convnet = _networks(environment, split=name == "memo")
    first, schedule = schedule.at(0), schedule.at(1)
    of_first = {
        "epoch": first.epochs,
        "epochs": first.epochs,
        "lr": first.learning_rate,
        "milestones": list(first.milestones),
        "lr_decay": first.decay,
        "weight_decay": first.weight_decay,
    }
    constants = {f"init_{key}": value for key, value in of_first.items()}
    constants |= {
        "epochs": schedule.epochs,
        "lrate": schedule.learning_rate,
        "milestones": list(schedule.milestones),
        "lrate_decay": schedule.decay,
        "weight_decay": schedule.weight_decay,
        "batch_size": schedule.batch_size,
        "num_workers": 0,
    }
    for key, value in constants.items():
        if hasattr(module, key):
            setattr(module, key, value)
    for part in (module, base):
        part.DataLoader = loader
        if hasattr(part, "tqdm"):
            part.tqdm = Quiet
    size = 64
    arguments = {
        **constants,
        "convnet_type": "ours",
        "dataset": "ours",
        "skip": False,
        "device": [torch.device(environment.device)],
        "memory_size": 2000,
        "memory_per_class": memory.per_class,
        "fixed_memory": True,
        "scheduler": "steplr",
        "train_base": True,
        "train_adaptive": False,
        "alpha_aux": 1.0,
        "lr": schedule.learning_rate,
        "boosting_epochs": schedule.epochs,
        "compression_epochs": max(1, round(schedule.epochs * 130 / 170)),
        "beta1": 0.96,
        "beta2": 0.97,
        "oofc": "ft",
        "is_teacher_wa": False,
        "is_student_wa": False,
        "lambda_okd": 1,
        "wa_value": 1,
        "T": 2,
        "init_interpolation_factor": 0.95,
        "infonce_temp": 0.2,
        "infonce_kd_temp": 0.2,
        "kd_temp": 2,
        "proj_hidden_dim": 4 * size,
        "proj_output_dim": 2 * size,
        "attn_num_heads": 8,
        "contrast_factor": 1,
        "trans_cls_factor": 1,
        "transfer_factor": 1,
        "aux_factor": 2,
        "contrast_kd_factor": 2,
    }
    learner = getattr(module, class_name)(arguments)
    learner._compute_accuracy = lambda *_: 0.0  # printed only
    learner._evaluate = lambda *_: {"top1": 0.0, "top5": 0.0}  # printed only
    learner.topk = 1
    return learner


def accuracies(learner: Any) -> dict[str, float]:
    """Accuracy in per cent on the classes seen, by classifier."""
    loader = learner.test_loader
    results = {}
    with torch.no_grad():
        predicted, labels = learner._eval_cnn(loader)
        results["head"] = 100.0 * float((predicted[:, 0] == labels).mean())
        if hasattr(learner, "_class_means"):
            predicted, labels = learner._eval_nme(loader, learner._class_means)
            results["nme"] = 100.0 * float((predicted[:, 0] == labels).mean())
        if getattr(learner, "_snet", None) is not None:
            boosted, learner._network = learner._network, learner._snet
            predicted, labels = learner._eval_cnn(loader)
            results["boosted"] = results["head"]
            results["head"] = 100.0 * float((predicted[:, 0] == labels).mean())
            learner._network = boosted
        elif hasattr(learner, "_snet"):  # FOSTER's first task boosts nothing and compresses nothing
            results["boosted"] = results["head"]
    return results


def _networks(environment: Environment, *, split: bool) -> Callable[..., Any]:
    """A function in place of PyCIL's `get_convnet`; the first network has our first weights."""
    built: list[int] = []

    def get(*_: Any, **__: Any) -> Any:
        built.append(1)
        purpose = "weights" if len(built) == 1 else f"weights {len(built)}"
        generator = derive_generator("cpu", environment.seed, purpose)
        net = build_backbone(environment.backbone, environment.shape, generator)
        if not split:
            return Convnet(net)
        return Part(net.shallow, 0), Part(net.last_stage, net.feature_size)

    return get
