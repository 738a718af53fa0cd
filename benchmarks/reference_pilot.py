"""Learners of a user's own checkout of PILOT, on our frozen transformer, images and batches.

Nothing of PILOT is part of edgecil. Its learners and its vision transformers are imported from the
checkout; the transformers get our sizes, our patch embedding and our weights, and the learners our
images and the settings of our learner's config. timm is not needed. Used by `benchmarks/parity.py`.
"""

from __future__ import annotations

import copy
import importlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import reference
import timm_names
import torch
from torch import nn

from edgecil.backbones.pretrained import frozen_vit
from edgecil.backbones.vit import ViT
from edgecil.data import Dataset
from edgecil.methods import Environment, get_method
from edgecil.methods.method import suited_to
from edgecil.methods.settings import Schedule

NAME = "PILOT"
# Our learners; modules of theirs: the learner, and its vision transformer.
LEARNERS = {
    "simplecil": ("simplecil", None),
    "aper": ("aper_adapter", "vit_adapter"),
    "ranpac": ("ranpac", "vit_adapter"),
    "ease": ("ease", "vit_ease"),
    "mos": ("mos", "vit_mos"),
    "l2p": ("l2p", "vit_l2p"),
    "coda-prompt": ("coda_prompt", "vit_coda_promtpt"),
    "dualprompt": ("dualprompt", "vit_dualprompt"),
    "slca": ("slca", None),
}
# What PILOT has and our schedule `fast` has not: L2P's constant rate, CODA-Prompt's schedule and
# incomplete batches, MOS's slower head, SLCA's steps of SGD.
_AS_PILOT: dict[str, dict[str, Any]] = {
    "l2p": {"schedule": "steps", "milestones": (), "learning_rate": 0.005},
    "coda-prompt": {"schedule": "quarter-cosine", "drop_last": True},
    "dualprompt": {"schedule": "steps", "milestones": ()},
    "mos": {"head_factor": 0.1},
    "slca": {
        "optimizer": "sgd",
        "schedule": "steps",
        "milestones": (8,),
        "learning_rate": 0.01,
        "weight_decay": 5e-4,
    },
}
CLASSIFIERS: dict[str, tuple[str, ...]] = {}


def matches(root: Path) -> bool:
    """Whether a folder is a checkout of PILOT."""
    return (root / "models" / "ease.py").is_file() and (root / "backbone").is_dir()


def configure(name: str, args: Any) -> Any:
    """Config of our learner: PILOT's behaviour; the setup `fast` suits drawings."""
    entry = get_method(name)
    schedule, memory = entry.schedule(args.setup, args.backbone)
    settings = {**entry.published_settings, **entry.settings(args.setup)}
    if args.setup == "fast":
        schedule = replace(schedule, augment=(), **_AS_PILOT.get(name, {}))
    if name == "ranpac":
        settings["cosine"] = True
    if name == "mos":
        settings["alignment"] = {"weight_decay": schedule.weight_decay}
    return entry.configure(schedule, memory, settings)


def curves(
    name: str,
    config: Any,
    environment: Environment,
    dataset: Dataset,
    tasks: tuple[tuple[int, ...], ...],
) -> list[dict[str, float]]:
    """Accuracy of PILOT's learner after every task, in per cent."""
    if len({len(task) for task in tasks}) > 1:
        raise SystemExit("PILOT's learners are compared on tasks of equal size; change --tasks.")
    vit = frozen_vit(environment.backbone, environment.shape, environment.device)
    if not get_method(name).pretrained:  # trained, so that the shared one must not change
        vit = copy.deepcopy(vit).requires_grad_(True)
    environment = suited_to(environment.backbone, environment)
    schedule = getattr(config, "schedule", Schedule())
    reference.Loader.environment, reference.Loader.schedule = environment, schedule
    learner = _build(name, config, schedule, vit, tasks)
    images = reference.Images(dataset, tasks, 1)
    results = []
    for _ in tasks:
        learner.incremental_train(images)
        predicted, labels = learner._eval_cnn(learner.test_loader)
        results.append({"head": 100.0 * float((predicted[:, 0] == labels).mean())})
        learner.after_task()
    return results


class Plain(nn.Module):
    """Our transformer without additions, with the interface of PILOT's backbones.

    A frozen one stays in evaluation mode, which matters to the batch norms of a convolutional stem.
    """

    def __init__(self, vit: ViT) -> None:
        super().__init__()
        self.vit, self.out_dim = vit, vit.feature_size
        self.learns = any(weight.requires_grad for weight in vit.parameters())

    def train(self, mode: bool = True) -> Plain:
        return super().train(mode and self.learns)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.vit(images)


def _build(
    name: str, config: Any, schedule: Schedule, vit: ViT, tasks: tuple[tuple[int, ...], ...]
) -> Any:
    """PILOT's learner of a name, untrained, around our transformer."""
    timm_names.install()
    module_name, vit_name = LEARNERS[name]
    module = importlib.import_module(f"models.{module_name}")
    base, nets = importlib.import_module("models.base"), importlib.import_module("utils.inc_net")
    for part in (module, base):
        part.DataLoader = reference.Loader
        if hasattr(part, "tqdm"):
            part.tqdm = reference.Quiet
    classes, width = sum(len(task) for task in tasks), vit.feature_size
    nets.get_backbone = lambda args, *_, **__: _backbone(args, vit_name, config, vit)
    nets.timm.create_model = lambda *_, **__: _backbone({}, vit_name, config, vit)  # L2P's queries
    nets.CodaPrompt = _sized(importlib.import_module("backbone.prompt").CodaPrompt, width)
    if name == "ease":
        cosine = importlib.import_module("backbone.linears").EaseCosineLinear
        weigh = cosine.forward_reweight
        cosine.forward_reweight = lambda *values, **named: weigh(*values, **named, out_dim=width)
    arguments = {
        "device": [vit.pos_embed.device],
        "memory_size": 0,
        "nb_classes": classes,
        "nb_tasks": len(tasks),
        "init_cls": len(tasks[0]),
        "increment": len(tasks[0]),
        "backbone_type": "ours_adapter" if vit_name == "vit_adapter" else "ours",
        "model_name": module_name,
        **dict.fromkeys(("tuned_epoch", "init_epochs", "later_epochs"), schedule.epochs),
        **dict.fromkeys(("init_lr", "later_lr"), schedule.learning_rate),
        "batch_size": schedule.batch_size,
        "weight_decay": schedule.weight_decay,
        "min_lr": 0.0,
        "optimizer": schedule.optimizer,
        "scheduler": "constant" if schedule.schedule == "steps" else "cosine",
        "reinit_optimizer": True,
        "pretrained": True,
        **_settings(name, config, len(tasks)),
    }
    learner = module.Learner(arguments)
    if name == "mos":
        learner._network.backbone.out_dim = width
    if name == "coda-prompt":
        # torch's default has this std at width 768, where PILOT's head belongs.
        learner._network.fc = nn.Linear(width, classes)
        nn.init.normal_(learner._network.fc.weight, std=0.02)
        nn.init.zeros_(learner._network.fc.bias)
    learner._compute_accuracy = lambda *_: 0.0  # printed only
    learner.topk = 1
    return learner


def _settings(name: str, config: Any, tasks: int) -> dict[str, Any]:
    """PILOT's names of the settings of one of our configs."""
    if name == "ranpac":
        return {"use_RP": True, "M": config.projection}
    if name == "ease":
        return {
            "use_old_data": False,
            "use_init_ptm": False,
            "use_diagonal": False,
            "recalc_sim": True,
            "alpha": config.others,
            "beta": 0,
            "use_reweight": True,
            "moni_adam": False,
            "adapter_num": -1,
        }
    if name == "mos":
        return {
            "reg": config.contrast,
            "adapter_momentum": config.merging,
            "ensemble": True,
            "crct_epochs": config.alignment.epochs,
            "ca_lr": config.alignment.learning_rate,
            "ca_storage_efficient_method": "covariance",
        }
    if name in ("l2p", "dualprompt"):
        return {
            "freeze": ["blocks", "patch_embed", "cls_token", "norm", "pos_embed"],
            "get_original_backbone": True,
            "drop": 0.0,
            "drop_path": 0.0,
            "prompt_pool": True,
            "shared_prompt_pool": name == "dualprompt",
            "use_prefix_tune_for_e_prompt": name == "dualprompt",
            "top_k": 1,
            "size": tasks,
            "shared_prompt_key": False,
            "pull_constraint": True,
            "pull_constraint_coeff": config.pull,
        }
    if name == "slca":
        schedule = config.schedule
        return {
            "epochs": schedule.epochs,
            "lrate": schedule.learning_rate,
            "lrate_decay": schedule.decay,
            "milestones": list(schedule.milestones),
            "bcb_lrscale": config.slow,
            "ca_epochs": config.alignment.epochs,
            "ca_with_logit_norm": config.temperature or 0,
            "seed": 0,
        }
    if name == "coda-prompt":
        return {
            "prompt_param": [config.components * tasks, config.length, config.orthogonality],
        }
    return {}


def _backbone(args: dict[str, Any], vit_name: str | None, config: Any, vit: ViT) -> Any:
    """The vision transformer that a learner of PILOT asks for, with our weights."""
    if vit_name is None or (vit_name == "vit_adapter" and args["backbone_type"] == "ours"):
        return Plain(vit)
    module = importlib.import_module(f"backbone.{vit_name}")

    def embedding(**_: Any) -> timm_names.Stem:
        return timm_names.Stem(vit)

    sizes = timm_names.sizes(vit)
    if vit_name == "vit_coda_promtpt":
        module.PatchEmbed, module.torch = embedding, _NoLeaves()
        return timm_names.load(module.VisionTransformer(**sizes), vit)
    sizes["embed_layer"] = embedding
    if vit_name in ("vit_l2p", "vit_dualprompt"):
        if not args:  # without prompts, for the queries
            return timm_names.load(module.VisionTransformer(**sizes, num_classes=1), vit).eval()
        if vit_name == "vit_dualprompt":
            general = min(config.general, vit.layout.depth - 1)
            expert = min(config.expert, vit.layout.depth - general)
            network = module.VisionTransformer(
                **sizes,
                num_classes=args["nb_classes"],
                prompt_length=config.length,
                prompt_pool=True,
                prompt_key=True,
                pool_size=args["size"],
                top_k=1,
                batchwise_prompt=config.batchwise,
                use_prompt_mask=True,
                use_g_prompt=True,
                g_prompt_length=config.length,
                g_prompt_layer_idx=list(range(general)),
                use_prefix_tune_for_g_prompt=True,
                use_e_prompt=True,
                e_prompt_layer_idx=list(range(general, general + expert)),
                use_prefix_tune_for_e_prompt=True,
            )
            return timm_names.load(network, vit)
        network = module.VisionTransformer(
            **sizes,
            num_classes=args["nb_classes"],
            prompt_length=config.length,
            prompt_pool=True,
            prompt_key=True,
            pool_size=config.pool,
            top_k=config.chosen,
            batchwise_prompt=config.batchwise,
            head_type="prompt",
        )
        return timm_names.load(network, vit, prompts=config.length * config.chosen)
    tuning = SimpleNamespace(
        ffn_adapt=True,
        ffn_option="parallel",
        ffn_adapter_layernorm_option="none",
        ffn_adapter_init_option="lora",
        ffn_adapter_scalar="0.1",
        ffn_num=config.bottleneck,
        d_model=vit.feature_size,
        vpt_on=False,
        adapter_momentum=getattr(config, "merging", 0.0),
        _device=vit.pos_embed.device,
    )
    outputs = args["nb_classes"] if vit_name == "vit_mos" else 0
    network = module.VisionTransformer(**sizes, num_classes=outputs, tuning_config=tuning)
    network.out_dim = vit.feature_size
    return timm_names.load(network, vit, split=True)


class _NoLeaves:
    """torch, but zeros require no gradient: PILOT adds to them in place, which fails on CPUs."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    def zeros(self, *size: Any, requires_grad: bool = False, **named: Any) -> torch.Tensor:
        return torch.zeros(*size, **named)


def _sized(prompt: Any, width: int) -> Any:
    """PILOT's component prompts for tokens of another width than 768."""
    return lambda _, tasks, settings: prompt(width, tasks, settings, key_dim=width)
