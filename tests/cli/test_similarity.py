from __future__ import annotations

import numpy as np
import pytest

from edgecil.classes import get_classes
from edgecil.data import load_dataset
from edgecil.similarity import read_similarity
from tests.cli.conftest import Cli


def test_a_matrix_is_built_described_and_saved(cli: Cli) -> None:
    answer = cli("similarity", "cifar100", "--out", "new/D.npz", "--json").json
    assert answer["classes"] == 100
    assert answer["out"] == "new/D.npz"
    assert answer["source"]["encoder"] == "minilm-bundled"
    most, least = (answer[key] for key in ("most_similar", "least_similar"))
    assert len(most) == len(least) == 5
    assert most[0]["similarity"] > answer["mean"] > least[0]["similarity"]
    saved = read_similarity("new/D.npz")
    assert len(saved) == 100
    assert saved.names[0] == "apple"


def test_people_see_the_closest_classes(cli: Cli) -> None:
    answer = cli("similarity", "cifar100", "--template", "{name}", "--out", "D.npz")
    assert (answer.code, answer.err) == (0, "")
    for words in ("100 classes", "most similar", "least similar"):
        assert words in answer.out


def test_the_classes_of_a_dataset_can_be_few(cli: Cli) -> None:
    cli("similarity", "quickdraw", "--out", "all.npz")
    cli("similarity", "quickdraw", "--classes", 6, "--out", "six.npz")
    cli("similarity", "quickdraw", "--classes", 6, "--classes-seed", 42, "--out", "drawn.npz")
    six, drawn = read_similarity("six.npz"), read_similarity("drawn.npz")
    assert six.names == get_classes("quickdraw").labels[:6]
    np.testing.assert_array_equal(six.pairs(), read_similarity("all.npz").take(range(6)).pairs())
    assert len(drawn) == 6
    assert drawn.names != six.names


@pytest.mark.parametrize("model", ["pixels", "vit-quickdraw"])
def test_a_datasets_own_images_replace_text(cli: Cli, model: str) -> None:
    answer = cli("similarity", "quickdraw", "--images", model, "--classes", 6, "--out", "D.npz")
    assert (answer.code, answer.err) == (0, "")
    actual = read_similarity("D.npz")
    assert actual.names == get_classes("quickdraw").labels[:6]
    assert actual.source["features"] == model
    assert np.ptp(actual.pairs()) > 0.05


def test_pixels_are_those_of_the_training_images(cli: Cli) -> None:
    images = load_dataset("quickdraw", count=6).train
    np.savez("f.npz", features=images.inputs.reshape(len(images), -1), labels=images.labels)
    cli("similarity", "--features", "f.npz", "--out", "a.npz")
    cli("similarity", "quickdraw", "--images", "pixels", "--classes", 6, "--out", "b.npz")
    by_hand, actual = (read_similarity(name).pairs() for name in ("a.npz", "b.npz"))
    np.testing.assert_allclose(actual, by_hand, rtol=1e-12)


@pytest.mark.parametrize("encoder", ["clip-rn50", "clip-vit-b-16"])
def test_missing_weights_say_how_to_get_them_and_what_serves(cli: Cli, encoder: str) -> None:
    pytest.importorskip("transformers")
    answer = cli("similarity", "cifar100", "--encoder", encoder)
    assert answer.code == 1
    assert "hf download" in answer.sentence
