"""PILOT's ease.json on the command line: official CIFAR-100 files, 224 pixels, weights by path."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from edgecil.backbones.initialise import build
from edgecil.backbones.vit import ViT, ViTLayout
from edgecil.cli.main import main
from edgecil.data.formats.cifar import LAYOUTS
from edgecil.errors import EdgecilWarning
from edgecil.experiments import Experiment
from tests.data.painting import TRAIN, write_cifar

# Every key of PILOT's exps/ease.json (commit 5240714) with its value.
EASE = {
    "prefix": " ", "dataset": "cifar224", "memory_size": 0, "memory_per_class": 0,
    "fixed_memory": False, "shuffle": True, "init_cls": 5, "increment": 5, "model_name": "ease",
    "backbone_type": "vit_base_patch16_224_ease", "device": ["0"], "seed": [1993],
    "init_epochs": 20, "init_lr": 0.025, "later_epochs": 20, "later_lr": 0.025, "batch_size": 48,
    "weight_decay": 0.0005, "min_lr": 0, "optimizer": "sgd", "scheduler": "cosine",
    "pretrained": True, "vpt_type": "Deep", "prompt_token_num": 5, "ffn_num": 64,
    "use_diagonal": False, "recalc_sim": True, "alpha": 0.1, "use_init_ptm": False, "beta": 0,
    "use_old_data": False, "use_reweight": True, "moni_adam": False, "adapter_num": -1,
}  # fmt: skip
SCHEDULE = {
    "epochs": 20, "learning_rate": 0.025, "schedule": "cosine", "optimizer": "sgd",
    "weight_decay": 0.0005, "batch_size": 48, "augment": ["resized-crop:0.05", "flip"],
    "first": None,
}  # fmt: skip


def write_vit(path: Path) -> None:
    """A random ViT of one block with timm's names, patches of 16 pixels and images of 224."""
    layout = ViTLayout(width=64, depth=1, heads=1, hidden=64)
    network = build(lambda: ViT(layout, (3, 224, 224)), torch.Generator().manual_seed(0))
    save_file(network.state_dict(), path)
    config = {"mean": [0.5] * 3, "std": [0.5] * 3}
    path.with_suffix(".json").write_text(json.dumps(config), encoding="utf-8")


@pytest.mark.slow
def test_ease_runs_as_pilot_configures_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only images, weights, device and the number of classes are not those of a user with a GPU."""
    monkeypatch.chdir(tmp_path)
    Path("ease.json").write_text(json.dumps(EASE), encoding="utf-8")
    write_cifar(LAYOUTS["cifar100"], Path("data"), (TRAIN, TRAIN - 1))
    write_vit(Path("vit.safetensors"))
    seen: set[tuple[int, ...]] = set()
    brightest = 0.0
    embed = ViT.embed

    def watch(self: ViT, images: torch.Tensor) -> torch.Tensor:
        nonlocal brightest
        seen.add(tuple(images.shape[1:]))
        brightest = max(brightest, float(images.max()))
        return embed(self, images)

    monkeypatch.setattr(ViT, "embed", watch)
    options = "--root data --backbone ./vit.safetensors --device cpu --classes 10"
    protocol = "--protocol random-legacy --order-seed 1993 --budget 1 --workers 1 --out run"
    with pytest.warns(EdgecilWarning) as remarks:
        assert main(f"run --config ease.json {options} {protocol}".split()) == 0
    left_out = "no setting in edgecil: vpt_type, prompt_token_num"
    assert any(left_out in str(remark.message) for remark in remarks)
    assert seen == {(3, 224, 224)}
    assert brightest == pytest.approx((16 * 9 + 8) / 255)  # no normalisation
    experiment = Experiment.open("run")
    assert experiment.config is not None
    assert experiment.config.data.preparation == "centre-crop"
    identity = experiment.identity
    assert (identity["sizes"], identity["environment"]["normalisation"]) == ([5, 5], "none")
    ease, schedule = identity["method ease"], identity["method ease"]["schedule"]
    assert (ease["bottleneck"], ease["others"], ease["unmodified"]) == (64, 0.1, 0.0)
    assert {key: schedule[key] for key in SCHEDULE} == SCHEDULE
    [result] = experiment.results()
    drawn = np.random.RandomState(1993).permutation(10)
    assert set(result.sequence.tasks[0]) == set(drawn[:5])
    assert result.accuracy >= 70.0  # by chance 10
