"""Several similarities described in one file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgecil.backbones.pretrained import PRETRAINED
from edgecil.classes import get_classes
from edgecil.errors import UsageError
from edgecil.recipes import read_recipe, recipe_names
from edgecil.similarity import PIXELS, encoder_names, read_sources, text_similarity
from edgecil.similarity.captions import CAPTIONED

TWO = """
dataset = "ham10000"
tasks = 7

[similarities.names]
template = "{name}"

[similarities.pictures]
images = "pixels"
root = "there"
"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(TWO, encoding="utf-8")
    return path


def test_a_given_root_replaces_the_files(two: Path) -> None:
    assert read_sources(two).similarities["pictures"].root == "there"
    sources = read_sources(two, root="here")
    assert [source.root for source in sources.similarities.values()] == [None, "here"]
    assert sources.space == {"tasks": 7, "base": None, "increment": None, "sizes": None}


def test_a_root_without_images_and_a_single_source_are_refused(two: Path) -> None:
    two.write_text(
        TWO.replace('images = "pixels"\nroot = "there"', 'encoder = "minilm"'), encoding="utf-8"
    )
    with pytest.raises(UsageError, match="'root'"):
        read_sources(two, root="here")
    two.write_text(TWO.split("[similarities.pictures]")[0], encoding="utf-8")
    with pytest.raises(UsageError, match="Got 1"):
        read_sources(two)


def test_the_similarities_are_built_in_the_order_of_the_file(two: Path) -> None:
    two.write_text(
        TWO.replace('images = "pixels"\nroot = "there"', 'captions = "bundled"'), encoding="utf-8"
    )
    built = read_sources(two).build()
    assert list(built) == ["names", "pictures"]
    assert {len(matrix) for matrix in built.values()} == {7}


def test_other_names_stand_for_the_classes_of_the_dataset(two: Path) -> None:
    two.write_text(
        TWO.replace('images = "pixels"\nroot = "there"', 'names = "ham10000-paper"\nclasses = 7'),
        encoding="utf-8",
    )
    built = read_sources(two).build()
    assert built["names"].names == built["pictures"].names == get_classes("ham10000").labels
    paper = text_similarity(get_classes("ham10000-paper"))
    np.testing.assert_array_equal(built["pictures"].values, paper.values)
    assert not np.array_equal(built["names"].values, paper.values)


@pytest.mark.parametrize("name", ["eyepacs", "ham10000"])
def test_the_paper_s_study_of_captions_has_the_paper_s_names(name: str) -> None:
    source = read_sources(f"recipe:captions-{name}").similarities["names"]
    assert source.names == f"{name}-paper"
    assert len(get_classes(source.names)) == len(get_classes(name))


@pytest.mark.parametrize(
    "name", [name for name in recipe_names() if "similarities" in read_recipe(name)]
)
def test_a_bundled_comparison_names_only_what_exists(name: str) -> None:
    sources = read_sources(f"recipe:{name}")
    for source in sources.similarities.values():
        assert source.encoder in (None, *encoder_names())
        assert source.images in (None, PIXELS, *PRETRAINED)
        assert source.captions is None or sources.dataset in CAPTIONED
    assert len(get_classes(sources.dataset)) % (sources.tasks or 1) == 0
