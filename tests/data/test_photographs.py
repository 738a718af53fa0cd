"""DomainNet, ObjectNet, OmniBenchmark and VTAB, with fewer classes than the real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgecil.data import load_dataset
from edgecil.data.formats import photographs as domains
from edgecil.errors import DataError, EdgecilWarning
from tests.data.painting import TEST, TRAIN, classes_painted, parts_painted, save

# The labels of the lists are not in the alphabetical order of the folders.
NAMES = ("zebra", "The_Eiffel_Tower", "ant")


def write_domainnet(root: Path, *chosen: str) -> None:
    for domain in chosen:
        for part, mark in (("train", TRAIN), ("test", TEST)):
            lines = []
            for label, name in enumerate(NAMES):
                image = f"{domain}/{name}/{domain}_{part}_{label}.jpg"
                save(root / image, label, mark)
                lines.append(f"{image} {label}\n")
            (root / f"{domain}_{part}.txt").write_text("".join(reversed(lines)), encoding="utf-8")


@pytest.fixture(autouse=True)
def few_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert domains.DOMAINNET_CLASSES == 345
    assert {name: count for name, (count, _) in domains.SUBSETS.items()} == {
        "objectnet": 200,
        "omnibenchmark": 300,
        "vtab": 50,
    }
    monkeypatch.setattr(domains, "DOMAINNET_CLASSES", len(NAMES))
    small = {name: (3, inner) for name, (_, inner) in domains.SUBSETS.items()}
    monkeypatch.setattr(domains, "SUBSETS", small)


def test_domainnet_has_the_labels_and_the_split_of_its_lists(tmp_path: Path) -> None:
    write_domainnet(tmp_path, *domains.DOMAINS)
    dataset = load_dataset("domainnet", root=tmp_path, size=8)
    assert dataset.names == NAMES
    assert [part.tolist() for part in dataset.counts()] == [[6] * 3, [6] * 3]
    for part, mark in ((dataset.train, TRAIN), (dataset.test, TEST)):
        np.testing.assert_array_equal(classes_painted(part), part.labels)
        assert parts_painted(part) == {mark}


def test_some_domains_are_used_aloud(tmp_path: Path) -> None:
    write_domainnet(tmp_path / "DomainNet", "real", "sketch")
    with pytest.warns(EdgecilWarning, match="domains clipart"):
        dataset = load_dataset("DomainNet", root=tmp_path, size=8)
    assert len(dataset.train) == 6


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("real/ant/a.jpg 0", "the label of that class. Got 'real/ant/a.jpg 0'"),
        ("real/ant/a.jpg", "domain/class/image"),
        ("real/../a.jpg 1", "domain/class/image"),
        ("/zebra/a.jpg 0", "domain/class/image"),
        ("real/bee/a.jpg 3", "Got 4 labels"),
    ],
)
def test_wrong_lists_are_refused(tmp_path: Path, line: str, message: str) -> None:
    write_domainnet(tmp_path, "real")
    with (tmp_path / "real_test.txt").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(DataError, match=message):
        load_dataset("domainnet", root=tmp_path)


@pytest.mark.parametrize(
    ("name", "inner"),
    [("objectnet", "objectnet"), ("omnibenchmark", "."), ("vtab", "vtab-cil/vtab"), ("vtab", ".")],
)
def test_subsets_of_pilot(tmp_path: Path, name: str, inner: str) -> None:
    for part, mark in (("train", TRAIN), ("test", TEST)):
        for label, folder in enumerate(("10", "11", "9")):
            save(tmp_path / inner / part / folder / "x.jpg", label, mark)
    dataset = load_dataset(name, root=tmp_path, size=8)
    assert (dataset.name, dataset.names) == (name, ("10", "11", "9"))
    np.testing.assert_array_equal(classes_painted(dataset.test), dataset.test.labels)
    assert parts_painted(dataset.test) == {TEST}
    save(tmp_path / inner / "train" / "new" / "x.jpg", 0)
    save(tmp_path / inner / "test" / "new" / "x.jpg", 0)
    with pytest.raises(DataError, match="must have 3 class folders"):
        load_dataset(name, root=tmp_path)
