"""The slots with the real libraries: `make ecosystem` runs this in an environment of its own."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import edgecil
from edgecil.backbones import build_backbone, model_slot as slot
from edgecil.backbones.extract import features
from edgecil.data import load_dataset
from edgecil.errors import DataError
from edgecil.interop.exports import export

timm = pytest.importorskip("timm")
torchvision = pytest.importorskip("torchvision")

pytestmark = pytest.mark.filterwarnings("ignore")

FAMILIES = (
    "deit_tiny_distilled_patch16_224", "vit_small_patch14_dinov2", "resnet34", "convnext_atto",
    "swin_tiny_patch4_window7_224", "mobilenetv3_small_050", "efficientnet_b0",
    "eva02_tiny_patch14_224", "vit_base_patch16_siglip_224",
)  # fmt: skip


@pytest.mark.parametrize("name", FAMILIES)
def test_timm_models_give_the_same_features_through_the_slot(name: str) -> None:
    torch.manual_seed(5)
    model = timm.create_model(name, num_classes=0).eval()
    size = model.pretrained_cfg["input_size"]
    text = slot.backbone_text(model)
    backbone = build_backbone(text, size, torch.Generator().manual_seed(0)).eval()
    images = torch.rand(2, *size)
    with torch.no_grad():
        assert torch.equal(backbone(images), model(images))
    assert backbone.feature_size == model(images).shape[1]
    statistics, side = slot.model_config(text)
    assert (statistics.mean, side) == (tuple(model.pretrained_cfg["mean"]), size[-1])


def test_a_timm_name_without_weights_is_drawn_from_the_seed() -> None:
    first, second = (
        build_backbone("timm:resnet18?weights=none", (3, 32, 32), torch.Generator().manual_seed(7))
        for _ in range(2)
    )
    assert first.feature_size == 512
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)


def fake(size: int, transform: Any) -> Any:
    return torchvision.datasets.FakeData(size, (3, 16, 16), 3, transform)


def test_torchvision_datasets_and_transforms() -> None:
    v2 = torchvision.transforms
    plain = load_dataset((fake(60, None), fake(30, None)))
    floats = load_dataset((fake(60, v2.ToTensor()), fake(30, v2.ToTensor())))
    assert plain.fingerprint == floats.fingerprint
    assert plain.shape == (3, 16, 16)
    flips = v2.Compose([v2.RandomHorizontalFlip(), v2.ToTensor()])
    normalised = v2.Compose([v2.ToTensor(), v2.Normalize([0.5] * 3, [0.25] * 3)])
    for wrong in (flips, normalised):
        with pytest.raises(DataError):
            load_dataset((fake(60, wrong), fake(30, wrong)))


def test_hugging_face_datasets_in_memory() -> None:
    datasets = pytest.importorskip("datasets")
    rows = np.random.default_rng(0).normal(size=(30, 4))
    part = datasets.Dataset.from_dict({"embedding": rows.tolist(), "label": list(range(3)) * 10})
    assert load_dataset(part).shape == (4,)


def test_from_a_timm_model_to_a_comparison(tmp_path: Path) -> None:
    """The notebook of the documentation, with random weights."""
    model = timm.create_model("mobilenetv3_small_050", num_classes=0)
    images = (fake(90, None), fake(45, None))
    path = features(
        dataset=images, backbone=model, out=tmp_path / "f.npz", image_size=32, progress=False
    )
    experiment = edgecil.run(
        method=["simplecil", "er", "finetune"], dataset=path, sizes=[2, 1], protocol="random",
        budget=3, out=tmp_path / "out", execution={"workers": 1, "progress": False},
    )  # fmt: skip
    assert len(edgecil.compare(experiment.directory).pairs) == 3


def exported(tool: Any, out: Path) -> dict[str, Any]:
    """The module of one exported class order."""
    orders = {"classes": 6, "sizes": [3, 1, 2], "protocol": "random", "budget": 1}
    (name,) = export(tool, out=out, command="train", orders=orders).runs
    return runpy.run_path(str(out / "orders" / f"{name}.py"))


def test_continuum_follows_an_exported_order(tmp_path: Path) -> None:
    continuum = pytest.importorskip("continuum")
    order = exported("continuum", tmp_path / "exported")
    x, y = np.zeros((12, 8, 8, 3), dtype=np.uint8), np.repeat(np.arange(6), 2)
    made = order["scenario"](continuum.datasets.InMemoryDataset(x, y))
    assert [sorted(set(task._y.tolist())) for task in made] == [[0, 1, 2], [3], [4, 5]]


def test_avalanche_follows_an_exported_order(tmp_path: Path) -> None:
    utils = pytest.importorskip("avalanche.benchmarks.utils")
    order = exported("avalanche", tmp_path / "exported")
    y = torch.arange(6).repeat(2)
    data = torch.utils.data.TensorDataset(torch.zeros(12, 3), y)
    data.targets = y.tolist()
    part = utils.as_classification_dataset(data)
    made = order["benchmark"](part, part)
    for experience, task in zip(made.train_stream, order["TASKS"], strict=True):
        labels = [order["ORDER"].index(label) for label in task]
        assert sorted(set(experience.dataset.targets)) == sorted(labels)
