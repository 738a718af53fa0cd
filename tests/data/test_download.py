from __future__ import annotations

import hashlib
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from edgecil.data import IMAGE_DATASETS, load, load_dataset
from edgecil.data.formats import cifar
from edgecil.errors import DataError, PrerequisiteError
from edgecil.registry import Registry


@pytest.fixture
def archive(tmp_path, painted, monkeypatch) -> Path:
    """An archive like the official one, at the address that is asked."""
    path = tmp_path / "archive.tar.gz"
    with tarfile.open(path, "w:gz") as members:
        members.add(painted("cifar100") / "cifar-100-python", "cifar-100-python")
        members.add(__file__, "../escaped")
    digest = hashlib.md5(path.read_bytes()).hexdigest()
    layout = replace(cifar.LAYOUTS["cifar100"], url=path.as_uri(), md5=digest)
    form = replace(
        IMAGE_DATASETS["cifar100"], download=lambda root: cifar.download_cifar(layout, root)
    )
    entries = dict(IMAGE_DATASETS.items()) | {"cifar100": form}
    monkeypatch.setattr(load, "IMAGE_DATASETS", Registry("image dataset", entries))
    return path


def test_cifar100_is_fetched_when_asked_and_once(tmp_path, archive, painted) -> None:
    root = tmp_path / "new" / "data"
    with pytest.raises(PrerequisiteError, match="There is no directory"):
        load_dataset("cifar100", root=root)
    fetched = load_dataset("cifar100", root=root, download=True)
    assert fetched.fingerprint == load_dataset("cifar100", root=painted("cifar100")).fingerprint
    assert sorted(path.name for path in root.rglob("*")) == [
        "cifar-100-python",
        *sorted(cifar.LAYOUTS["cifar100"].files),
    ]
    (root / "cifar-100-python" / "meta").unlink()  # half a copy is completed
    assert len(load_dataset("cifar100", root=root, download=True)) == 100
    archive.unlink()
    load_dataset("cifar100", root=root, download=True)


def test_another_checksum_unpacks_nothing(tmp_path, archive) -> None:
    archive.write_bytes(archive.read_bytes()[:-1])
    with pytest.raises(DataError, match="MD5 sum"):
        load_dataset("cifar100", root=tmp_path / "data", download=True)
    assert not (tmp_path / "data").exists()


def test_no_network_says_what_to_do(tmp_path, archive) -> None:
    archive.unlink()
    with pytest.raises(PrerequisiteError, match="download"):
        load_dataset("cifar100", root=tmp_path / "data", download=True)
