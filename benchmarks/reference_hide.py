"""HiDe-Prompt from a user's own checkout of its authors' code, on our frozen transformer.

Nothing of it is part of edgecil. Both of the authors' engines run as they are (task-identity
inference, then prompts and the head); they get our transformer, images and settings. timm,
scikit-learn and a GPU are not needed. Used by `benchmarks/parity.py`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import reference
import timm_names
import torch
from torch import nn

from edgecil.backbones.pretrained import frozen_vit
from edgecil.backbones.vit import ViT
from edgecil.data import Dataset
from edgecil.methods import Environment, get_method
from edgecil.methods.method import suited_to

NAME = "HiDe-Prompt"
LEARNERS = {"hide-prompt": "engines/hide_promtp_wtp_and_tap_engine.py"}
CLASSIFIERS: dict[str, tuple[str, ...]] = {}

_FROZEN = ("blocks", "patch_embed", "cls_token", "norm", "pos_embed")
_INFERENCE_RATE = 0.0005 * 24 / 256  # of the authors' training of the task-identity inference


def matches(root: Path) -> bool:
    """Whether a folder is a checkout of HiDe-Prompt."""
    return all((root / path).is_file() for path in LEARNERS.values())


def configure(name: str, args: Any) -> Any:
    """Config of our learner: the authors' behaviour; the setup `fast` suits drawings."""
    entry = get_method(name)
    schedule, memory = entry.schedule(args.setup, args.backbone)
    if args.setup != "fast":
        return entry.configure(schedule, memory, entry.settings(args.setup))
    # The authors tie the batches of all stages together: 24 images give 120 sampled features.
    schedule = replace(
        schedule,
        learning_rate=0.005,
        schedule="steps",
        milestones=(),
        batch_size=24,
        head_factor=0.1,
        clip=1.0,
    )
    return entry.configure(schedule, memory, entry.published_settings)


def curves(
    name: str,
    config: Any,
    environment: Environment,
    dataset: Dataset,
    tasks: tuple[tuple[int, ...], ...],
) -> list[dict[str, float]]:
    """Accuracy of the authors' learner after every task, in per cent."""
    timm_names.install()
    vit = frozen_vit(environment.backbone, environment.shape, environment.device)
    reference.Loader.environment = suited_to(environment.backbone, environment)
    reference.Loader.schedule = config.schedule
    if not torch.cuda.is_available():
        torch.cuda.synchronize = lambda *_: None
    images = reference.Images(dataset, tasks, 1)
    ends = np.cumsum([len(task) for task in tasks])
    mask = [list(range(end - len(task), end)) for end, task in zip(ends, tasks, strict=True)]
    batch = config.schedule.batch_size
    loaders = [
        {"train": Batches(images, labels, batch, "train"), "val": Batches(images, labels, batch)}
        for labels in mask
    ]
    by_class = [
        {"train": Batches(images, [label], batch, "train", plain=True)} for label in range(ends[-1])
    ]
    task_of = {label: task for task, labels in enumerate(mask) for label in labels}
    with tempfile.TemporaryDirectory() as folder:
        torch.serialization.add_safe_globals([argparse.Namespace])
        common = (loaders, by_class, mask, task_of)
        _infer_tasks(config, vit, folder, *common)
        return _train(config, vit, folder, *common)


class Batches:
    """A loader of images and labels, without the indices that PyCIL's loaders have."""

    def __init__(
        self,
        images: reference.Images,
        labels: list[int],
        batch: int,
        source: str = "test",
        *,
        plain: bool = False,
    ) -> None:
        mode = "train" if source == "train" and not plain else "test"
        subset = images.get_dataset(np.array(labels), source, mode)
        self.loader = reference.Loader(subset, batch, shuffle=mode == "train")

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        return ((pixels, labels) for _, pixels, labels in self.loader)


def _arguments(config: Any, tasks: int, classes: int) -> argparse.Namespace:
    return argparse.Namespace(
        batch_size=config.schedule.batch_size,
        clip_grad=config.schedule.clip,
        weight_decay=config.schedule.weight_decay,
        crct_epochs=config.alignment.epochs,
        ca_storage_efficient_method="multi-centroid",
        n_centroids=config.centroids,
        num_tasks=tasks,
        nb_classes=classes,
        sched="constant",
        reinit_optimizer=True,
        train_mask=True,
        task_inc=False,
        distributed=False,
        world_size=1,
        print_freq=10**9,
        model="ours",
    )


def _network(vit: ViT, classes: int, **settings: Any) -> Any:
    module = importlib.import_module("vits.hide_prompt_vision_transformer")
    network = module.VisionTransformer(
        **timm_names.sizes(vit),
        embed_layer=lambda **_: timm_names.Stem(vit),
        num_classes=classes,
        **settings,
    )
    timm_names.load(network, vit).to(vit.pos_embed.device)
    for name, parameter in network.named_parameters():
        if name.startswith(_FROZEN):
            parameter.requires_grad_(False)
    network.__dict__["module"] = network  # the engines expect DistributedDataParallel
    return network


def _engine(name: str) -> Any:
    # The package itself imports engines for other datasets, which require torchvision.
    package = sys.modules.setdefault("engines", ModuleType("engines"))
    package.__path__ = [str(Path(path) / "engines") for path in sys.path if matches(Path(path))]
    engine = importlib.import_module(f"engines.{name}")
    engine.dist = argparse.Namespace(
        barrier=lambda: None, all_gather=lambda parts, own: parts[0].copy_(own)
    )
    return engine


def _infer_tasks(
    config: Any, vit: ViT, folder: str, loaders: Any, by_class: Any, mask: Any, task_of: Any
) -> None:
    """Train the authors' task-identity inference on all tasks; states go to a folder."""
    engine = _engine("hide_tii_engine")
    engine.evaluate_till_now = lambda **_: {}
    args = _arguments(config, len(mask), len(task_of))
    args.epochs = max(1, round(config.schedule.epochs * 20 / 50))
    args.lr, args.ca_lr, args.output_dir = _INFERENCE_RATE, config.inference_rate, folder
    args.batch_size = config.inference_batch
    network = _network(vit, len(task_of), mlp_structure=[2])
    optimizer = timm_names.create_optimizer(args, network)
    criterion = nn.CrossEntropyLoss()
    engine.train_and_evaluate(
        network,
        network,
        criterion,
        loaders,
        by_class,
        optimizer,
        None,
        vit.pos_embed.device,
        mask,
        task_of,
        args,
    )


def _train(
    config: Any, vit: ViT, folder: str, loaders: Any, by_class: Any, mask: Any, task_of: Any
) -> list[dict[str, float]]:
    """Train prompts and head; accuracies after every task."""
    engine = _engine("hide_promtp_wtp_and_tap_engine")
    args = _arguments(config, len(mask), len(task_of))
    args.epochs, args.lr = config.schedule.epochs, config.schedule.learning_rate
    args.ca_lr, args.reg = config.alignment.learning_rate, config.contrast
    args.prompt_momentum = config.ensemble
    args.prompt_pool = args.shared_prompt_pool = args.use_prefix_tune_for_e_prompt = True
    args.shared_prompt_key, args.top_k, args.size = False, 1, len(mask)
    args.larger_prompt_lr, args.not_train_ca = True, False
    args.trained_original_model, args.output_dir = folder, ""
    blocks = list(range(min(config.layers, vit.layout.depth)))
    original = _network(vit, len(task_of), mlp_structure=[2])
    original.requires_grad_(False)
    network = _network(
        vit,
        len(task_of),
        prompt_length=config.length,
        prompt_pool=True,
        pool_size=len(mask),
        top_k=1,
        use_prompt_mask=True,
        use_g_prompt=False,
        g_prompt_length=0,
        g_prompt_layer_idx=[],
        use_e_prompt=True,
        e_prompt_layer_idx=blocks,
        use_prefix_tune_for_e_prompt=True,
    )
    evaluate, results = engine.evaluate, {}

    def record(*, task_id: int, acc_matrix: Any, data_loader: Any, **named: Any) -> dict[str, Any]:
        if task_id and task_id not in results:  # before the alignment
            results[task_id] = {}
            return {}
        accuracies = [
            evaluate(data_loader=data_loader[i]["val"], i=i, task_id=task_id, **named)["Acc@1"]
            for i in range(task_id + 1)
        ]
        weights = [len(labels) for labels in mask[: task_id + 1]]
        results[task_id] = {"head": float(np.average(accuracies, weights=weights))}
        return {}

    engine.evaluate_till_now = record
    fast = [p for n, p in network.named_parameters() if p.requires_grad and "prompt" in n]
    slow = [p for n, p in network.named_parameters() if p.requires_grad and "prompt" not in n]
    groups = [{"params": fast}, {"params": slow, "lr": args.lr * config.schedule.head_factor}]
    engine.train_and_evaluate(
        network,
        network,
        original,
        nn.CrossEntropyLoss(),
        loaders,
        by_class,
        timm_names.create_optimizer(args, groups),
        None,
        vit.pos_embed.device,
        mask,
        task_of,
        args,
    )
    return [results[task] for task in range(len(mask))]
