from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from edgecil import get_classes, read_similarity
from edgecil.data import load_dataset
from tests.cli.conftest import Cli


def write(name: str, content: str | bytes) -> Path:
    path = Path(name)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def write_features(**changed: np.ndarray) -> Path:
    rng = np.random.default_rng(0)
    held = {"features": rng.random((60, 8)), "labels": np.arange(60) % 6} | changed
    np.savez("f.npz", **held)
    return Path("f.npz")


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
    for words in ("100 classes", "most similar", "least similar", "saved to D.npz"):
        assert words in answer.out


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("n.txt", "apple\nbear\nbee\n"),
        ("n.TXT", b"\xef\xbb\xbfapple\r\nbear\r\nbee\r\n"),
        ("n.csv", "id,name\n0,apple\n1,bear\n2,bee\n"),
        ("n.json", '["apple", "bear", "bee"]'),
    ],
)
def test_names_come_from_files(cli: Cli, name: str, content: str | bytes) -> None:
    assert cli("similarity", "--names", write(name, content), "--json").json["classes"] == 3


def test_captions_replace_names(cli: Cli) -> None:
    bundled = cli("similarity", "ham10000", "--captions", "bundled", "--json").json
    assert bundled["source"]["template"] == "captions"
    assert bundled["mean"] != cli("similarity", "ham10000", "--json").json["mean"]


def test_image_prototypes_replace_text(cli: Cli) -> None:
    path = write_features()
    assert cli("similarity", "--features", path, "--json").json["classes"] == 6
    answer = cli("similarity", "--features", path, "--names", write("n.txt", "a\nb\nc\nd\ne\nf\n"))
    assert (answer.code, answer.err) == (0, "")
    assert " – " in answer.out


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
    found = read_similarity("D.npz")
    assert found.names == get_classes("quickdraw").labels[:6]
    assert found.source["features"] == model
    assert np.ptp(found.pairs()) > 0.05


def test_pixels_are_those_of_the_training_images(cli: Cli) -> None:
    images = load_dataset("quickdraw", count=6).train
    np.savez("f.npz", features=images.pixels.reshape(len(images), -1), labels=images.labels)
    cli("similarity", "--features", "f.npz", "--out", "a.npz")
    cli("similarity", "quickdraw", "--images", "pixels", "--classes", 6, "--out", "b.npz")
    by_hand, found = (read_similarity(name).pairs() for name in ("a.npz", "b.npz"))
    np.testing.assert_allclose(found, by_hand, rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["quickdraw", "--images", "vit-quickdraw", "--template", "{name}"], 2, "leave --template"),
        (["--images", "pixels"], 2, "--images needs a DATASET"),
        (["quickdraw", "--images", "pixels", "--features", "f.npz"], 2, "nor --features"),
        (["quickdraw", "--root", "data"], 2, "give --images MODEL too"),
        (["quickdraw", "--image-size", "32"], 2, "--image-size is about images"),
        (["quickdraw", "--threads", "2"], 2, "--threads is about images"),
        (["quickdraw", "--images", "pixels", "--threads", "0"], 2, "must be at least 1. Got 0"),
        (["quickdraw", "--images", "vit-quickdrew"], 2, "vit-quickdraw"),
        (["quickdraw", "--images", "vit-b16-dino"], 1, "hf download"),
        (["cifar100", "--images", "pixels"], 1, "--root DIR"),
        (["quickdraw", "--classes", "101"], 2, "100"),
    ],
)
def test_images_that_make_no_sense_are_told(
    cli: Cli, options: list[str], code: int, words: str
) -> None:
    answer = cli("similarity", *options)
    assert answer.code == code
    assert words in answer.sentence


@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("n.txt", "apple\napple\n", 2, "'apple' more than once"),
        ("n.txt", "apple\napple \n", 2, "'apple' more than once"),
        ("n.txt", "apple\n\nbee\n", 2, "blank name at label 1"),
        ("n.txt", "", 2, "is empty"),
        ("n.txt", "apple\n", 2, "names one class"),
        ("n.txt", "caf\u00e9\nth\u00e9\n".encode("latin-1"), 1, "not text in UTF-8"),
        ("n.csv", "", 2, "is empty"),
        ("n.csv", "0,apple\n1,bear\n", 2, "none is headed 'name'"),
        ("n.csv", "id,name\n0,apple\n1\n", 2, "no class name in column 2"),
        ("n.csv", "a" * 200_000, 1, "not valid CSV"),
        ("n.json", "", 1, "not valid JSON"),
        ("n.json", "[" * 100_000, 1, "not valid JSON"),
        ("n.json", "5", 2, "must hold a list of class names"),
        ("n.json", '["a", 1]', 2, "every class needs a name"),
        ("n.json", '{"a": "b"}', 2, "keys are not the labels"),
        ("n.pdf", "x", 2, "from .txt, .csv or .json files"),
        ("n.txt", "zyzzyva\nquokka\n", 1, "'minilm' encodes any text"),
    ],
)
def test_bad_names_are_told(
    cli: Cli, name: str, content: str | bytes, code: int, words: str
) -> None:
    answer = cli("similarity", "--names", write(name, content), "--json")
    assert answer.code == code
    assert words in answer.sentence


@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("c.json", '{"Melanoma": "dark"}', 2, "have no caption, 'Actinic keratosis' first"),
        ("c.json", '{"Melanome": "dark"}', 2, "Did you mean 'Melanoma'"),
        ("c.json", '["x"]', 2, "object from class label to caption"),
        ("c.json", "{", 1, "c.json"),
        ("c.csv", "", 2, "columns name and caption"),
        ("c.txt", "one\ntwo\n", 2, "needs 7 captions"),
        ("c.md", "one", 2, "from .json, .csv or .txt files"),
    ],
)
def test_bad_captions_are_told(cli: Cli, name: str, content: str, code: int, words: str) -> None:
    path = write(name, content)
    answer = cli("similarity", "ham10000", "--captions", path, "--json")
    assert answer.code == code
    assert words in answer.err
    assert answer.out == ""


def test_a_caption_that_is_no_text_is_told(cli: Cli) -> None:
    path = write("c.json", json.dumps(dict.fromkeys(get_classes("eyepacs").labels, 3)))
    answer = cli("similarity", "eyepacs", "--captions", path)
    assert "must be a text. Got 3" in answer.sentence


def test_a_dataset_without_shipped_captions_is_told(cli: Cli) -> None:
    answer = cli("similarity", "cifar100", "--captions", "bundled")
    assert "bundled for ham10000, eyepacs, quickdraw only" in answer.sentence


@pytest.mark.parametrize(
    ("changed", "code", "words"),
    [
        ({"features": np.zeros((60, 2, 2))}, 2, "(n, d) array"),
        ({"features": np.full((60, 8), np.nan)}, 2, "sample 0 has NaN"),
        ({"features": np.full((60, 8), 1e200)}, 1, "must lie within"),
        ({"features": np.zeros((60, 8), complex)}, 1, "real numbers. Got complex128"),
        ({"features": np.full((60, 8), "a")}, 1, "real numbers. Got <U1"),
        ({"features": np.zeros((60, 8))}, 2, "must not be zero"),
        ({"labels": np.arange(10)}, 2, "one per feature row"),
        ({"labels": np.arange(60) / 2}, 2, "must be integers"),
        ({"labels": np.arange(60) % 6 - 1}, 2, "Got -1"),
        ({"labels": 2 * (np.arange(60) % 6)}, 2, "class 1 ('class 1') first"),
        ({"labels": np.full(60, 2**40)}, 1, "labels up to 1099511627776 but only 60 samples"),
        ({"labels": np.full(60, 2**64 - 1, np.uint64)}, 1, "only 60 samples"),
    ],
)
def test_bad_features_are_told(
    cli: Cli, changed: dict[str, np.ndarray], code: int, words: str
) -> None:
    answer = cli("similarity", "--features", write_features(**changed), "--json")
    assert answer.code == code
    assert words in answer.sentence


def test_features_that_do_not_fit_the_names_are_told(cli: Cli) -> None:
    path = write_features()
    assert "('Vascular lesion')" in cli("similarity", "ham10000", "--features", path).sentence
    assert "0..4. Got 5" in cli("similarity", "eyepacs", "--features", path).sentence
    np.savez("g.npz", features=np.ones((2, 2)))
    assert "It has: features" in cli("similarity", "--features", "g.npz").sentence
    np.save("g.npy", np.ones((2, 2)))
    assert "from .npz files" in cli("similarity", "--features", "g.npy").sentence


@pytest.mark.parametrize(
    ("option", "value"), [("--encoder", "minilm"), ("--template", "{name}"), ("--captions", "x")]
)
def test_options_for_texts_are_refused_beside_images(cli: Cli, option: str, value: str) -> None:
    answer = cli("similarity", "--features", write_features(), option, value)
    assert answer.code == 2
    assert f"leave {option} out" in answer.sentence


@pytest.mark.parametrize(
    ("out", "code", "words"),
    [
        ("D.npy", 2, "saved as .npz"),
        ("", 2, "saved as .npz"),
        ("folder.npz", 1, "Cannot write folder.npz"),
        ("file/D.npz", 1, "Cannot write file/D.npz"),
        ("/dev/null/D.npz", 1, "Cannot write /dev/null/D.npz"),
        ("a" * 300 + ".npz", 1, "File name too long"),
    ],
)
def test_a_place_that_cannot_be_written_is_told(cli: Cli, out: str, code: int, words: str) -> None:
    Path("folder.npz").mkdir()
    Path("file").touch()
    before = sorted(Path().iterdir())
    answer = cli("similarity", "ham10000", "--out", out, "--json")
    assert answer.code == code
    assert words in answer.sentence
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "either a DATASET or --names FILE"),
        (("cifar100", "--names", "n.txt"), "either a DATASET or --names FILE"),
        (("cifar10",), "Did you mean 'cifar100'?"),
        (("imagenet",), "Did you mean 'imagenet-r' or 'imagenet-a'?"),
        (("cifar100", "--encoder", "clip-vit"), "Did you mean 'clip-vit-l-14'"),
        (("cifar100", "--encoder", "nope"), "Known: minilm-bundled, minilm, clip-rn50"),
        (("cifar100", "--template", "a photo"), "must hold {name} exactly once"),
        (("cifar100", "--weights", "x"), "takes no weights"),
    ],
)
def test_nonsense_is_told(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    answer = cli("similarity", *arguments)
    assert answer.code == 2
    assert words in answer.sentence


@pytest.mark.parametrize("encoder", ["clip-rn50", "clip-vit-b-16"])
def test_missing_weights_say_how_to_get_them_and_what_serves(cli: Cli, encoder: str) -> None:
    pytest.importorskip("transformers")
    answer = cli("similarity", "cifar100", "--encoder", encoder)
    assert answer.code == 1
    for words in ("hf download", "--weights FOLDER", "'minilm-bundled' needs nothing and serves"):
        assert words in answer.sentence


def test_a_folder_without_weights_is_told(cli: Cli) -> None:
    pytest.importorskip("transformers")
    answer = cli("similarity", "cifar100", "--encoder", "clip-rn50", "--weights", ".")
    assert answer.code == 1
    assert "holds no weights; expected one of" in answer.sentence
