from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional

from edgecil.backbones import backbone_names, backbone_status, build_backbone
from edgecil.backbones.pretrained import (
    PRETRAINED,
    find_pretrained,
    fingerprint,
    fitting_size,
    frozen_backbone,
    frozen_vit,
    image_size_of,
    is_pretrained,
    load_pretrained,
    load_vit,
    statistics_of,
)
from edgecil.backbones.vit import ViT
from edgecil.data import load_dataset
from edgecil.data.augment import Pipeline
from edgecil.errors import PrerequisiteError, UsageError

BUNDLED = "vit-quickdraw"
DRAWING = (1, 28, 28)
ON_THE_HUB = [name for name in PRETRAINED if name != BUNDLED]


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """Nothing is remembered of other tests' files."""
    yield
    for remembered in (frozen_backbone, statistics_of, fingerprint):
        remembered.cache_clear()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The bundled weights and their description, in a folder of a user's."""
    source = Path(PRETRAINED[BUNDLED].source)
    for file in (source, source.with_suffix(".json")):
        shutil.copy(file, tmp_path / file.name)
    return tmp_path / source.name


def drawings(count: int = 3) -> torch.Tensor:
    return torch.rand(count, *DRAWING, generator=torch.Generator().manual_seed(0))


def test_the_bundled_features_tell_unseen_drawings_apart() -> None:
    dataset = load_dataset("quickdraw", count=20)
    statistics = statistics_of(BUNDLED)
    prepare = Pipeline((), statistics.mean, statistics.std)
    vit = frozen_vit(BUNDLED, DRAWING, "cpu")
    parts = []
    for images, each in ((dataset.train, 20), (dataset.test, 10)):
        labels = torch.from_numpy(images.labels)
        some = torch.cat([torch.nonzero(labels == label)[:each, 0] for label in range(20)])
        pixels = torch.from_numpy(images.inputs)[some]
        parts.append(functional.normalize(vit(prepare.plain(pixels)), dim=1).view(20, each, -1))
    means = functional.normalize(parts[0].mean(dim=1), dim=1)
    nearest = (parts[1] @ means.T).argmax(dim=2)
    accuracy = 100 * (nearest == torch.arange(20)[:, None]).float().mean()
    report = json.loads(
        Path(PRETRAINED[BUNDLED].source).with_suffix(".json").read_text(encoding="utf-8")
    )
    logged = report["log"][-1]["nearest_mean"]
    # The log has all 100 classes and all drawings; 20 classes are easier, fewer drawings harder.
    assert accuracy >= logged >= 45


def test_the_bundled_weights_are_the_files_bit_for_bit() -> None:
    stored = load_file(PRETRAINED[BUNDLED].source)
    loaded = load_vit(BUNDLED, DRAWING).state_dict()
    counters = {name for name in loaded if name.endswith("num_batches_tracked")}
    assert loaded.keys() - counters == stored.keys()
    assert all(torch.equal(loaded[name], stored[name].float()) for name in stored)
    assert all(loaded[name] == 0 for name in counters)


def test_a_frozen_network_is_one_for_all_and_never_changes() -> None:
    vit = frozen_vit(BUNDLED, DRAWING, "cpu")
    assert frozen_vit(BUNDLED, DRAWING, "cpu") is vit
    assert frozen_vit(BUNDLED, (1, 32, 32), "cpu") is not vit
    assert not vit.training
    assert not any(weight.requires_grad for weight in vit.parameters())
    assert torch.equal(vit(drawings()), load_vit(BUNDLED, DRAWING).eval()(drawings()))


def test_a_backbone_of_that_name_is_new_and_learns() -> None:
    generator = torch.Generator().manual_seed(0)
    before = generator.get_state()
    first, second = (build_backbone(BUNDLED, DRAWING, generator) for _ in range(2))
    assert torch.equal(generator.get_state(), before)
    assert isinstance(first, ViT)
    first(drawings()).pow(2).sum().backward()
    assert all(weight.grad is not None for weight in first.parameters())
    assert all(weight.grad is None for weight in second.parameters())


@pytest.mark.parametrize("name", ON_THE_HUB)
def test_what_is_on_the_hub_is_described_without_it(name) -> None:
    assert name in backbone_names()
    statistics = statistics_of(name)
    assert len(statistics.mean) == len(statistics.std) == 3
    here, sentence = backbone_status(name)
    assert not here
    assert f"hf download {PRETRAINED[name].source}" in sentence
    with pytest.raises(PrerequisiteError, match="downloading it failed") as raised:
        load_pretrained(name, (3, 224, 224))
    assert str(raised.value).startswith(f"Backbone '{name}' requires {PRETRAINED[name].source}")


def test_a_path_works_wherever_a_name_does(copied) -> None:
    path = str(copied)
    assert is_pretrained(path)
    assert find_pretrained(path).source == path
    assert statistics_of(path) == statistics_of(BUNDLED)
    assert fingerprint(path) == fingerprint(BUNDLED)
    assert image_size_of(path) == 32  # four patches of eight pixels
    assert fitting_size(path, DRAWING) is None
    assert backbone_status(path) == (True, f"Pre-trained: your own weights; in {path}.")
    expected = load_vit(BUNDLED, DRAWING).eval()(drawings())
    assert torch.equal(load_vit(path, DRAWING).eval()(drawings()), expected)


def test_a_hub_id_is_downloaded_once_with_its_settings(copied, monkeypatch, hub) -> None:
    repository = hub / "models--us--tiny"
    asked: list[list[str]] = []

    def snapshot_download(hub_id: str, revision: None, allow_patterns: list[str]) -> str:
        asked.append(allow_patterns)
        snapshot = repository / "snapshots" / "abc"
        snapshot.mkdir(parents=True, exist_ok=True)
        (repository / "refs").mkdir(exist_ok=True)
        (repository / "refs" / "main").write_text("abc")
        shutil.copy(copied, snapshot / "model.safetensors")
        shutil.copy(copied.with_suffix(".json"), snapshot / "model.json")
        return str(snapshot)

    info = SimpleNamespace(sha="abc", siblings=[SimpleNamespace(rfilename="model.safetensors")])
    monkeypatch.setattr(huggingface_hub, "model_info", lambda _, **__: info)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    assert is_pretrained("us/tiny")
    first = load_vit("us/tiny", DRAWING).eval()(drawings())
    assert asked == [["model.safetensors", "*.json", "*.txt"]]
    assert torch.equal(load_vit("us/tiny", DRAWING).eval()(drawings()), first)
    assert len(asked) == 1
    assert backbone_status("us/tiny")[0]


def test_the_fingerprint_changes_with_the_weights_and_with_what_is_said_of_them(copied) -> None:
    seen = {fingerprint(str(copied))}
    state = load_file(copied)
    save_file({**state, "norm.bias": state["norm.bias"] + 1}, copied)
    fingerprint.cache_clear()
    seen.add(fingerprint(str(copied)))
    report = json.loads(copied.with_suffix(".json").read_text(encoding="utf-8"))
    copied.with_suffix(".json").write_text(json.dumps({**report, "mean": [0.3]}))
    fingerprint.cache_clear()
    seen.add(fingerprint(str(copied)))
    assert len(seen) == 3


def test_names_that_nobody_knows_list_those_somebody_does(tmp_path) -> None:
    assert not is_pretrained("vit-b16")
    assert not is_pretrained("resnet32")
    assert not is_pretrained(str(tmp_path / "missing.safetensors"))
    with pytest.raises(UsageError, match="vit-quickdraw"):
        find_pretrained("vit-b16")
    with pytest.raises(UsageError, match="vit-b16-clip"):
        build_backbone("vit-b16", DRAWING, torch.Generator())


def test_a_folder_is_taken_for_weights_only_if_written_with_a_slash(copied, monkeypatch) -> None:
    folder = copied.parent / "resnet32"
    folder.mkdir()
    monkeypatch.chdir(copied.parent)
    assert not is_pretrained("resnet32")
    assert is_pretrained("./resnet32")
    assert is_pretrained(copied.name)


@pytest.mark.parametrize(
    ("name", "shape", "expected"),
    [
        ("vit-b16-in1k", (3, 32, 32), 224),
        ("vit-b16-in1k", (3, 224, 224), None),
        ("vit-b16-in1k", (3, 240, 224), None),
        ("vit-b16-in1k", (3, 300, 224), 224),
        (BUNDLED, DRAWING, None),
    ],
)
def test_images_far_from_the_training_size_are_resized(name, shape, expected) -> None:
    assert fitting_size(name, shape) == expected
