"""PILOT's ease.json at the images' published size, on a fake CIFAR and a small random model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from edgecil.backbones.initialise import build
from edgecil.backbones.vit import ViT, ViTLayout
from edgecil.engine import build_config
from edgecil.engine.prepare import prepare
from edgecil.engine.run import run
from edgecil.interop.configs import translate_config

# The keys of PILOT's exps/ease.json that edgecil reads, with their values.
EASE = {
    "dataset": "cifar224",
    "memory_size": 0,
    "memory_per_class": 0,
    "fixed_memory": False,
    "shuffle": True,
    "init_cls": 5,
    "increment": 5,
    "model_name": "ease",
    "backbone_type": "vit_base_patch16_224_ease",
    "device": ["-1"],
    "seed": [1993],
    "init_epochs": 20,
    "init_lr": 0.025,
    "later_epochs": 20,
    "later_lr": 0.025,
    "batch_size": 48,
    "weight_decay": 0.0005,
    "optimizer": "sgd",
    "scheduler": "cosine",
    "ffn_num": 64,
    "alpha": 0.1,
}


def fake_cifar(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 3)
    pixels = rng.integers(0, 256, (12, 3, 32, 32), dtype=np.uint8)
    names = np.array([f"class {label}" for label in range(4)])
    path = folder / "fake.npz"
    np.savez(path, x_train=pixels, y_train=labels, x_test=pixels, y_test=labels, names=names)
    return path


def small_vit(folder: Path) -> Path:
    layout = ViTLayout(width=64, depth=1, heads=1, hidden=64)
    network = build(lambda: ViT(layout, (3, 224, 224)), torch.Generator().manual_seed(0))
    path = folder / "vit.safetensors"
    save_file(network.state_dict(), path)
    path.with_suffix(".json").write_text(
        json.dumps({"mean": [0.5] * 3, "std": [0.5] * 3}), encoding="utf-8"
    )
    return path


@pytest.mark.slow
def test_ease_runs_at_224_pixels_prepared_as_in_pilot(tmp_path: Path) -> None:
    file = tmp_path / "ease.json"
    file.write_text(json.dumps(EASE), encoding="utf-8")
    values, _ = translate_config(file)
    assert (values["preparation"], values["normalisation"]) == ("centre-crop", "none")
    values |= {
        "dataset": str(fake_cifar(tmp_path)),
        "pretrained": str(small_vit(tmp_path)),
        "base": 2,
        "increment": 2,
        "epochs": 1,
        "protocol": ["random"],
        "budget": 1,
    }
    prepared = prepare(build_config(values))
    environment = prepared.context.environment
    assert environment.shape == (3, 224, 224)
    assert prepared.context.scenario.train.pixels.shape[2:] == (256, 256)
    assert (environment.mean, environment.std) == ((0.0,) * 3, (1.0,) * 3)
    recipe = prepared.context.configs["ease"].recipe
    assert (recipe.learning_rate, recipe.batch_size) == (0.025, 48)
    assert recipe.augment == ("resized-crop:0.05", "flip")
    experiment = run(config=values, out=tmp_path / "run", workers=1)
    assert [result.method for result in experiment.results()] == ["ease"]
