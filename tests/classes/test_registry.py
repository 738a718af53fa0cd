from __future__ import annotations

import numpy as np
import pytest

from edgecil.classes import dataset_names, get_classes, register_classes, registry
from edgecil.classes.registry import BUNDLED
from edgecil.errors import UsageError

COUNTS = {
    "cifar10": 10, "cifar100": 100, "cub200": 200, "caltech101": 100, "imagenet": 1000,
    "imagenet100": 100, "imagenet100-lucir": 100, "food101": 101, "fgvc-aircraft": 100,
    "stanford-cars": 196, "ham10000-paper": 7, "eyepacs-paper": 5, "imagenet-r": 200,
    "imagenet-a": 200, "ham10000": 7, "eyepacs": 5, "quickdraw": 100, "quickdraw-pretrain": 245,
    "quickdraw-all": 345,
}  # fmt: skip


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_list_is_whole(name: str) -> None:
    classes = get_classes(name).require(COUNTS[name])
    assert classes.name == name
    assert len(set(classes.words)) == len(classes)
    assert all(words == " ".join(words.split()) for words in classes.words)


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("cifar10", "airplane", "truck"),
        ("cifar100", "apple", "worm"),
        ("cub200", "Black footed Albatross", "Common Yellowthroat"),
        ("caltech101", "Faces", "yin yang"),
        ("imagenet-r", "goldfish", "acorn"),
        ("imagenet-1k", "tench", "toilet tissue"),
        ("food101", "apple pie", "waffles"),
        ("FGVC Aircraft", "707-320", "Yak-42"),
        ("stanford-cars", "AM General Hummer SUV 2000", "smart fortwo Convertible 2012"),
        ("eyepacs-paper", "no", "proliferative"),
        ("ham10000-paper", "Actinic keratosis", "Vascular lesion"),
        ("ham10000", "Actinic keratosis", "Vascular lesion"),
        ("eyepacs", "No diabetic retinopathy", "Proliferative diabetic retinopathy"),
    ],
)
def test_label_orders_are_the_official_ones(name: str, first: str, last: str) -> None:
    words = get_classes(name).words
    assert (words[0], words[-1]) == (first, last)


@pytest.mark.parametrize(
    "name", ["imagenet", "imagenet100", "imagenet100-lucir", "imagenet-r", "imagenet-a"]
)
def test_imagenet_labels_are_in_sorted_wnid_order(name: str) -> None:
    folders = get_classes(name).folders
    assert list(folders) == sorted(folders)


def test_the_two_lists_of_100_are_those_of_podnet_and_lucir() -> None:
    wnids = get_classes("imagenet").folders
    assert get_classes("imagenet100-podnet").folders == wnids[:100]
    drawn = np.random.RandomState(1993).choice(wnids, 100, replace=False)
    assert get_classes("imagenet100-lucir").folders == tuple(sorted(drawn))


def test_imagenet_names_a_class_as_its_variants_do() -> None:
    whole = get_classes("imagenet")
    label_of = dict(zip(whole.folders or (), whole.labels, strict=True))
    for name in ("imagenet-r", "imagenet-a"):
        classes = get_classes(name)
        assert [label_of[wnid] for wnid in classes.folders or ()] == list(classes.labels)


def test_quickdraw_is_split_into_100_and_245() -> None:
    evaluated, others, everything = (
        get_classes(name).labels for name in ("quickdraw", "quickdraw-pretrain", "quickdraw-all")
    )
    assert not set(evaluated) & set(others)
    assert set(evaluated) | set(others) == set(everything)
    for labels in (evaluated, others, everything):
        assert list(labels) == sorted(labels, key=str.lower)


def test_quickdraw_evaluates_every_class_that_cifar100_has_too() -> None:
    cifar100 = set(get_classes("cifar100").words)
    shared = cifar100 & set(get_classes("quickdraw-all").words)
    assert len(shared) > 20
    assert shared <= set(get_classes("quickdraw").words)


@pytest.mark.parametrize("name", ["CIFAR-100", "cifar_100", "cifar", "Cifar224"])
def test_spelling_of_a_name_does_not_matter(name: str) -> None:
    assert get_classes(name) is get_classes("cifar100")


def test_an_unknown_name_comes_with_the_nearest_ones() -> None:
    with pytest.raises(UsageError, match="Did you mean 'cub200'"):
        get_classes("cub20")


def test_a_dataset_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "CLASS_LISTS", registry._entries())
    register_classes("my-pets", ["cat", "dog"])
    assert get_classes("My Pets").labels == ("cat", "dog")
    assert dataset_names()[-1] == "my-pets"
    with pytest.raises(UsageError, match="names"):
        register_classes("other", "cat")


@pytest.mark.parametrize("name", ["cifar100", "CIFAR_100", "cub"])
def test_bundled_names_cannot_be_taken(name: str) -> None:
    with pytest.raises(UsageError, match="is bundled already"):
        register_classes(name, ["cat", "dog"])


def test_another_spelling_of_a_registered_name_replaces_it() -> None:
    register_classes("My-Set", ["a", "b"])
    register_classes("my_set", ["c", "d", "e"], count=3)
    assert get_classes("My-Set").labels == ("c", "d", "e")
    assert [name for name in dataset_names() if "set" in name.lower()] == ["my_set"]
    with pytest.raises(UsageError, match="has 2 names but 3"):
        register_classes("my_set", ["a", "b"], count=3)
