"""The model slot: every form gives the features of the model itself, in every process."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from edgecil.backbones import build_backbone, model_slot as slot
from edgecil.backbones.named import default_backbone
from edgecil.backbones.pretrained import fingerprint, image_size_of, statistics_of
from edgecil.errors import EdgecilError, PrerequisiteError, UsageError
from tests.toys import seeded

pytestmark = pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")
SHAPE = (1, 12, 12)


class Tiny(nn.Module):
    """As timm's models: it states the preparation of its images."""

    def __init__(self, channels: int = 1) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(channels, 5, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2))
        mean, std = (0.5,) * channels, (0.25,) * channels
        self.pretrained_cfg = {"mean": mean, "std": std, "input_size": (channels, 12, 12)}

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.layers(images).flatten(1)


def make() -> nn.Module:
    return Tiny()


def maps() -> nn.Module:
    return nn.Conv2d(1, 4, 3)


def needs_size(size: int) -> nn.Module:
    return nn.Linear(size, size)


FILE = """
from torch import nn

def make():
    return nn.Sequential(nn.Flatten(), nn.Linear(144, 6))
"""


def test_a_module_gives_its_own_features_and_states_its_images() -> None:
    module = Tiny().eval()
    name = slot.backbone_text(module)
    assert slot.backbone_text(module) == name
    backbone = build_backbone(name, SHAPE, seeded()).eval()
    images = torch.rand(3, *SHAPE)
    assert backbone.feature_size == 20
    assert torch.equal(backbone(images), module(images))
    assert statistics_of(name) == slot.Normalise((0.5,), (0.25,))
    assert image_size_of(name) == 12
    with torch.no_grad():
        next(backbone.parameters()).add_(1.0)
    assert torch.equal(build_backbone(name, SHAPE, seeded()).eval()(images), module(images))


def test_a_function_is_called_under_the_seed_and_its_code_is_its_identity(tmp_path: Path) -> None:
    name = slot.backbone_text(make)
    weights = [
        next(build_backbone(name, SHAPE, seeded(seed)).parameters()).detach() for seed in (0, 0, 1)
    ]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    own = f"{file}:make"
    assert build_backbone(own, SHAPE, seeded()).feature_size == 6
    before = fingerprint(own)
    file.write_text(FILE + "\n# changed\n")
    for known in (fingerprint, slot.model_fingerprint):
        known.cache_clear()
    slot._models.pop(own)
    assert fingerprint(own) != before


def test_models_of_timm_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def create_model(name: str, **settings: Any) -> nn.Module:
        asked.append(settings)
        return Tiny()

    fake = SimpleNamespace(list_models=lambda: ["tiny"], create_model=create_model)
    monkeypatch.setitem(sys.modules, "timm", fake)
    assert build_backbone("timm:tiny.in1k", SHAPE, seeded()).feature_size == 20
    assert asked[-1] == {"num_classes": 0, "pretrained": True}
    build_backbone("timm:tiny?weights=none", SHAPE, seeded())
    assert asked[-1] == {"num_classes": 0, "pretrained": False}
    assert image_size_of("timm:tiny") == 12
    for wrong in ("timm:tyni", "timm:tiny?wieghts=none"):
        with pytest.raises(UsageError):
            build_backbone(wrong, SHAPE, seeded())
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(PrerequisiteError, match=r"edgecil\[timm\]"):
        build_backbone("timm:other", SHAPE, seeded())


def test_models_of_transformers_by_folder(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8,
        image_size=12, patch_size=4, num_channels=1,
    )  # fmt: skip
    model = transformers.ViTModel(config).eval()
    model.save_pretrained(tmp_path / "vit")
    backbone = build_backbone(f"hf:{tmp_path / 'vit'}", SHAPE, seeded()).eval()
    images = torch.rand(2, *SHAPE)
    assert torch.equal(backbone(images), model(images).pooler_output)


@pytest.mark.parametrize(
    "given",
    [
        maps, needs_size, lambda: nn.Identity(), 7, "timm", "python:Tiny-0", "no_module:make",
        lambda: Tiny(3), nn.Flatten(0),
    ],
)  # fmt: skip
def test_wrong_models_are_one_sentence(given: Any) -> None:
    with pytest.raises(EdgecilError) as caught:
        build_backbone(slot.backbone_text(given), SHAPE, seeded())
    assert len(str(caught.value)) < 350
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("net.py", r"net\.py:Net or .*net\.py:make or .*net\.py:boom\."),
        ("net.py:nope", r"'nope'\. Available: Net, make, boom\."),
        ("net.py:boom", r"net\.py:boom' cannot be loaded \(ValueError: no weights\)\."),
    ],
)
def test_mistakes_with_a_file_name_what_it_has(name: str, said: str, tmp_path: Path) -> None:
    text = "\ndef boom():\n    raise ValueError('no weights')\n"
    (tmp_path / "net.py").write_text(f"class Net:\n    pass\n{FILE}{text}")
    with pytest.raises(EdgecilError, match=said):
        build_backbone(str(tmp_path / name), SHAPE, seeded())


def test_defaults_are_chosen_by_the_data() -> None:
    shapes = ((1, 28, 28), (3, 32, 32), (3, 224, 224), (768,))
    assert [default_backbone(shape) for shape in shapes] == [
        "resnet-tiny", "resnet32", "resnet18", "linear",
    ]  # fmt: skip
    assert [default_backbone(shape, frozen=True) for shape in shapes] == [
        "vit-quickdraw", "vit-b16-in21k", "vit-b16-in21k", "linear",
    ]  # fmt: skip
