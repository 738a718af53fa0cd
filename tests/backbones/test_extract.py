"""Features of a dataset: those of the network itself, resumed after an interruption."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from edgecil.backbones.extract import features
from edgecil.backbones.named import MLP
from edgecil.cli.main import main
from edgecil.data import input_store as store, load_dataset
from edgecil.errors import UsageError
from tests.backbones.test_slot import Tiny
from tests.data.painting import save
from tests.toys import toy_dataset

pytestmark = pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")
EXAMPLE = Path(__file__).parents[2] / "examples" / "any_model.py"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "cache"))


def test_features_are_those_of_the_model(tmp_path) -> None:
    images, model = toy_dataset(4), Tiny().eval()
    path = features(
        dataset=images, backbone=model, out=tmp_path / "f.npz", batch_size=7, progress=False
    )
    vectors = load_dataset(path)
    assert (vectors.names, vectors.shape) == (images.names, (20,))
    pixels = torch.from_numpy(images.test.inputs).float().div(255)
    with torch.no_grad():
        expected = model((pixels - 0.5) / 0.25)
    assert np.allclose(vectors.test.inputs, expected.numpy(), atol=1e-5)
    assert np.array_equal(vectors.train.labels, images.train.labels)
    with pytest.raises(UsageError):
        features(dataset=images, backbone=model, out=path, progress=False)


def test_an_interrupted_computation_resumes(tmp_path, monkeypatch) -> None:
    class Stubborn(Tiny):
        calls = 0

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            Stubborn.calls += 1
            if Stubborn.calls == 6:
                raise KeyboardInterrupt
            return super().forward(images)

    monkeypatch.setattr(store, "_AT_ONCE", 10)
    images, model = toy_dataset(4), Stubborn()
    options = {"dataset": images, "backbone": model, "progress": False, "batch_size": 10}
    with pytest.raises(KeyboardInterrupt):
        features(out=tmp_path / "f.npz", **options)
    features(out=tmp_path / "f.npz", **options)
    total = len(images.train) + len(images.test)
    assert Stubborn.calls == 1 + 1 + -(-total // 10), "one probe, one interruption, nothing twice"


def test_the_command_line(tmp_path) -> None:
    words = "features quickdraw --classes 4 --backbone vit-quickdraw --out"
    assert main([*words.split(), str(tmp_path / "f.npz")]) == 0
    assert load_dataset(tmp_path / "f.npz").shape == (128,)


@pytest.mark.parametrize(
    "wrong",
    [
        {"backbone": "resnet-tiny"},
        {"backbone": "vit-quickdraw", "out": "f.csv"},
        {"backbone": "vit-quickdraw", "batch_size": 0},
        {"backbone": Tiny(3)},
        {"backbone": MLP((3,))},
    ],
)
def test_wrong_uses_are_refused(tmp_path, wrong) -> None:
    out = tmp_path / str(wrong.pop("out", "f.npz"))
    with pytest.raises(UsageError) as caught:
        features(dataset=toy_dataset(4), out=out, progress=False, **wrong)
    assert "\n" not in str(caught.value)
    assert not out.exists()


@pytest.mark.slow
def test_the_example_goes_from_a_folder_to_a_comparison(tmp_path) -> None:
    rng = np.random.default_rng(0)
    for label in range(6):
        for index in range(10):
            save(tmp_path / "images" / f"c{label}" / f"{index}.png", label, int(rng.integers(99)))
    words = [sys.executable, str(EXAMPLE), str(tmp_path / "images"), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "simplecil" in done.stdout
    code = EXAMPLE.read_text(encoding="utf-8").split('__main__":')[1]
    assert len(code.strip().splitlines()) <= 15
