from __future__ import annotations

import subprocess
import sys

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


def test_the_data_are_there() -> None:
    assert dataset_status("quickdraw") == (True, "Bundled with edgecil.")


def test_drawings_need_neither_torch_nor_pillow() -> None:
    code = (
        "import sys; sys.modules.update({'torch': None, 'PIL': None});"
        "from edgecil.data.load import load_dataset;"
        "assert len(load_dataset('quickdraw', count=6)) == 6"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
