from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import edgecil
from edgecil.errors import UsageError
from edgecil.io.progress_bar import Progress
from edgecil.similarity import (
    PIXELS,
    build_similarity,
    choose_similarity,
    image_similarity,
    save_similarity,
    text_similarity,
)
from tests.toys import save_toy, toy_dataset


def test_a_dataset_gives_the_text_similarity_of_its_names() -> None:
    matrix = build_similarity(dataset="CIFAR-100")
    expected = text_similarity(edgecil.classes.get_classes("cifar100"))
    np.testing.assert_array_equal(matrix.values, expected.values)
    assert matrix.names == expected.names


def test_classes_are_chosen_by_count_by_seed_and_by_id() -> None:
    whole = build_similarity(dataset="quickdraw")
    assert build_similarity(dataset="quickdraw", classes=6).names == whole.names[:6]
    drawn = build_similarity(dataset="quickdraw", classes=6, classes_seed=42)
    assert len(drawn) == 6
    assert drawn.names != whole.names[:6]
    picked = build_similarity(dataset="quickdraw", class_ids=[5, 2, 9])
    np.testing.assert_array_equal(picked.values, whole.take(np.array([5, 2, 9])).values)


def test_names_are_a_file_or_a_list(tmp_path: Path) -> None:
    path = tmp_path / "n.txt"
    path.write_text("apple\nbear\nbee\n", encoding="utf-8")
    matrix = build_similarity(names=["apple", "bear", "bee"])
    np.testing.assert_array_equal(build_similarity(names=path).values, matrix.values)
    assert matrix.names == ("apple", "bear", "bee")


def test_captions_replace_names() -> None:
    matrix = build_similarity(dataset="ham10000", captions="bundled")
    assert matrix.source["template"] == "captions"
    assert not np.allclose(matrix.values, build_similarity(dataset="ham10000").values)


def test_images_replace_text_and_progress_is_reported(tmp_path, monkeypatch) -> None:
    steps: list[tuple[int, int]] = []
    monkeypatch.setattr(Progress, "update", lambda self, *step: steps.append(step))
    path = save_toy(tmp_path / "toy.npz", 4)
    matrix = build_similarity(dataset=str(path), images=PIXELS)
    expected = image_similarity(toy_dataset(4, contrast=40), PIXELS)
    np.testing.assert_array_equal(matrix.values, expected.values)
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "'dataset' or 'names'"),
        ({"dataset": "cifar100", "names": ["a", "b"]}, "100 classes were expected"),
        ({"images": "pixels"}, "'images' requires a 'dataset'"),
        ({"dataset": "quickdraw", "images": "pixels", "template": "{name}"}, "'template'"),
        ({"dataset": "quickdraw", "images": "pixels", "threads": 0}, "at least 1. Got 0"),
        ({"dataset": "quickdraw", "root": "data"}, "'root'"),
        ({"dataset": "quickdraw", "image_size": 32}, "'image_size'"),
        ({"dataset": "quickdraw", "threads": 2}, "'threads'"),
        ({"dataset": "quickdraw", "classes": 101}, "100"),
        ({"dataset": "quickdrew"}, "quickdraw"),
        ({"names": ["only"]}, "at least 2"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words) as raised:
        build_similarity(**options)
    assert "--" not in str(raised.value)


def test_a_file_or_class_vectors_take_the_place_of_a_dataset(tmp_path: Path) -> None:
    matrix = build_similarity(dataset="cifar100", classes=6)
    save_similarity(matrix, tmp_path / "D.npz")
    three = choose_similarity(tmp_path / "D.npz", classes=3)
    assert three.names == matrix.names[:3]
    assert choose_similarity(matrix) is matrix
    np.save(tmp_path / "v.npy", np.eye(4))
    assert len(choose_similarity({"embeddings": tmp_path / "v.npy"})) >= 2
    assert len(choose_similarity(dataset="cifar100")) == 100
    with pytest.raises(UsageError, match="has no class 'bee'"):
        choose_similarity(matrix, dataset="cifar100")
    with pytest.raises(UsageError, match="not both"):
        choose_similarity({"file": "D.npz", "embeddings": "v.npy"})


@pytest.mark.parametrize("dataset", ["ham10000", "eyepacs"])
def test_the_papers_names_are_a_choice(dataset: str) -> None:
    plain = build_similarity(dataset=dataset, template="{name}")
    paper = build_similarity(dataset=dataset, names=f"{dataset}-paper", template="{label}")
    assert paper.names == edgecil.classes.get_classes(f"{dataset}-paper").labels
    assert not np.allclose(plain.values, paper.values)
    with pytest.raises(UsageError, match="were expected"):
        build_similarity(dataset=dataset, names=["one", "two"])
