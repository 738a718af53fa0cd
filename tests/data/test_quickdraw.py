from __future__ import annotations

import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest

from edgecil.classes import get_classes
from edgecil.data import Dataset, dataset_status, load_dataset

BUNDLED = {"quickdraw": (100, "ae62be7d83e0"), "quickdraw-pretrain": (245, "d689b9a9acd3")}


@pytest.fixture(scope="module", params=BUNDLED)
def drawings(request: pytest.FixtureRequest) -> Dataset:
    return load_dataset(request.param)


def test_sixty_to_learn_and_forty_to_test_each_class(drawings: Dataset) -> None:
    classes, _ = BUNDLED[drawings.name]
    assert drawings.shape == (1, 28, 28)
    assert drawings.names == get_classes(drawings.name).labels
    train, test = drawings.counts()
    assert train.tolist() == [60] * classes
    assert test.tolist() == [40] * classes


def test_the_bundled_bytes_are_the_ones_that_were_packed(drawings: Dataset) -> None:
    assert drawings.fingerprint.startswith(BUNDLED[drawings.name][1])


def test_ink_is_bright_on_black_and_no_sheet_is_empty(drawings: Dataset) -> None:
    for part in (drawings.train, drawings.test):
        assert part.inputs.min() == 0
        assert part.inputs.max() == 255
        assert part.inputs.mean() < 60
        assert part.inputs.sum(axis=(1, 2, 3)).min() > 5 * 255


def test_no_drawing_is_both_learnt_and_tested(drawings: Dataset) -> None:
    train, test = (
        {image.tobytes() for image in part.inputs} for part in (drawings.train, drawings.test)
    )
    assert not train & test
    # The source has one drawing twice, number 78 and 80 of a class held for pre-training.
    assert len(drawings.train) == len(train)
    assert len(drawings.test) - len(test) == (drawings.name == "quickdraw-pretrain")


def test_labels_follow_the_drawings() -> None:
    # A circle is round: ink at the rim of its box and none in the middle; a square has corners.
    dataset = load_dataset("quickdraw-pretrain")
    square = dataset.names.index("square")
    circle = dataset.names.index("circle")
    mean = {
        label: dataset.train.inputs[dataset.train.labels == label, 0].mean(axis=0)
        for label in (square, circle)
    }
    assert mean[square][:3, :3].mean() > 3 * mean[circle][:3, :3].mean()


def test_classes_are_chosen_as_everywhere(drawings: Dataset) -> None:
    six = load_dataset(drawings.name, count=6)
    assert six.fingerprint == drawings.take(np.arange(6)).fingerprint
    larger = load_dataset(drawings.name, count=2, size=56)
    assert larger.shape == (1, 56, 56)
    assert larger.train.inputs.mean() == pytest.approx(
        drawings.take([0, 1]).train.inputs.mean(), abs=2
    )


def test_google_is_credited_next_to_the_data() -> None:
    text = (files("edgecil.data") / "bundled" / "ATTRIBUTION.txt").read_text(encoding="utf-8")
    for words in ("Google", "CC BY 4.0", "https://creativecommons.org/licenses/by/4.0/", "Changes"):
        assert words in text
    assert dataset_status("quickdraw") == (True, "Bundled with edgecil.")


def test_drawings_need_neither_torch_nor_pillow() -> None:
    code = (
        "import sys; sys.modules.update({'torch': None, 'PIL': None});"
        "from edgecil.data.registry import load_dataset;"
        "assert len(load_dataset('quickdraw', count=6)) == 6"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
