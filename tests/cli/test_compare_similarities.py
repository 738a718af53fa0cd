from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgecil.cli.compare_similarities import read_experiment
from tests.cli.conftest import Cli


def test_a_matrix_agrees_with_itself(cli: Cli, matrix: Path) -> None:
    answer = cli("compare-similarities", matrix, matrix, "--tasks", 3, "--json").json
    assert answer["mae"] == 0.0
    assert answer["spearman"] == pytest.approx(1.0)
    assert answer["p_value"] < 0.01
    for goal in ("hard", "easy"):
        assert answer["csg"][goal] == {"position": 1.0, "matched": 1.0}


def test_people_see_it_too(cli: Cli, matrix: Path) -> None:
    answer = cli("compare-similarities", matrix, matrix, "--tasks", 3)
    assert (answer.code, answer.err) == (0, "")
    for words in ("mean absolute error", "Spearman", "CSG hard", "1.00 matched"):
        assert words in answer.out


def test_a_constant_matrix_has_no_rank_correlation(cli: Cli, matrix: Path) -> None:
    np.save("flat.npy", np.ones((12, 12)))
    assert (
        cli("compare-similarities", "flat.npy", matrix, "--tasks", 3, "--json").json["spearman"]
        is None
    )
    assert "n/a" in cli("compare-similarities", "flat.npy", matrix, "--tasks", 3).out


def test_matrices_of_other_classes_are_refused(cli: Cli, matrix: Path) -> None:
    values = np.load(matrix)
    np.save("nine.npy", values[:9, :9])
    answer = cli("compare-similarities", matrix, "nine.npy", "--tasks", 3)
    assert answer.code == 2
    assert "12 and 9 classes" in answer.sentence
    names = np.array([f"c{index}" for index in range(12)])
    np.savez("a.npz", values=values, names=names)
    np.savez("b.npz", values=values, names=names[::-1])
    answer = cli("compare-similarities", "a.npz", "b.npz", "--tasks", 3)
    assert answer.code == 2
    assert "label 0 is 'c0' in A and 'c11' in B" in answer.sentence
    assert cli("compare-similarities", "a.npz", matrix, "--tasks", 3).code == 0


@pytest.mark.parametrize("other", ["missing.npy", "asymmetric.npy"])
def test_a_bad_second_matrix_is_told(cli: Cli, matrix: Path, other: str) -> None:
    np.save("asymmetric.npy", np.arange(144.0).reshape(12, 12))
    assert cli("compare-similarities", matrix, other, "--tasks", 3).sentence


THREE = """
dataset = "quickdraw"
sizes = [2, 2, 2]

[similarities.names]
template = "{name}"
classes = 6

[similarities.captions]
captions = "bundled"
classes = 6

[similarities.drawings]
images = "pixels"
classes = 6
"""


def configured(text: str) -> Path:
    path = Path("compared.toml")
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_says_what_to_build_and_all_pairs_are_compared(cli: Cli) -> None:
    answers = cli("compare-similarities", "--config", configured(THREE), "--json").json[
        "agreements"
    ]
    found = {(answer.pop("left"), answer.pop("right")): answer for answer in answers}
    assert list(found) == [
        ("names", "captions"),
        ("names", "drawings"),
        ("captions", "drawings"),
    ]
    sources = {"names": ("--template", "{name}"), "drawings": ("--images", "pixels")}
    for name, options in sources.items():
        cli("similarity", "quickdraw", *options, "--classes", 6, "--out", f"{name}.npz")
    by_hand = cli("compare-similarities", "names.npz", "drawings.npz", "--tasks", 3, "--json").json
    assert found["names", "drawings"] == by_hand


def test_people_see_which_two_agree_and_options_win(cli: Cli) -> None:
    answer = cli("compare-similarities", "--config", configured(THREE), "--tasks", 2)
    assert (answer.code, answer.err) == (0, "")
    for words in ("names and captions", "captions and drawings", "CSG easy"):
        assert words in answer.out
    one = cli("compare-similarities", "--config", configured(THREE), "--tasks", 2, "--json").json
    assert one != cli("compare-similarities", "--config", configured(THREE), "--json").json


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("sizes", "size", "Unknown setting in compared.toml 'size'"),
        ("[similarities", "[other.similarities", "Unknown setting in compared.toml 'other'"),
        ("captions = ", "caption = ", "'caption'"),
        ("[2, 2, 2]", '"two"', "--sizes takes whole numbers"),
        ("sizes = [2, 2, 2]", 'tasks = "two"', "of compared.toml must be a whole number"),
        ("classes = 6", 'classes = "6"', "must be a whole number. Got '6'"),
        ('dataset = "quickdraw"', "", "needs a 'dataset'"),
        ('images = "pixels"', 'images = "gone.safetensors"', "gone.safetensors"),
        ('dataset = "quickdraw"', "dataset =", "not valid TOML"),
        ('dataset = "quickdraw"', 'dataset = "--help"', "Unknown dataset '--help'"),
    ],
)
def test_a_file_that_makes_no_sense_is_told(cli: Cli, old: str, new: str, words: str) -> None:
    answer = cli("compare-similarities", "--config", configured(THREE.replace(old, new)))
    assert answer.code in (1, 2)
    assert words in answer.sentence


@pytest.mark.parametrize("given", [[], ["D.npy"], ["D.npy", "D.npy", "--root", "data"]])
def test_two_matrices_or_a_file_are_needed(cli: Cli, matrix: Path, given: list[str]) -> None:
    answer = cli("compare-similarities", *given, "--tasks", 3)
    assert answer.code == 2
    assert "Give two matrices A and B, or --config FILE" in answer.sentence
    answer = cli("compare-similarities", "D.npy", "--config", configured(THREE))
    assert "leave D.npy out" in answer.sentence


def test_the_root_of_the_command_line_wins_and_one_for_nothing_is_refused(cli: Cli) -> None:
    path = configured(THREE.replace('"pixels"', '"pixels"\nroot = "there"'))
    _, sources = read_experiment(path, root="here")
    assert [source.root for source in sources.values()] == [None, None, "here"]
    _, sources = read_experiment(path, root=None)
    assert sources["drawings"].root == "there"
    texts = THREE.replace('images = "pixels"', 'template = "a {name}"')
    answer = cli("compare-similarities", "--config", configured(texts), "--root", "data")
    assert answer.code == 2
    assert "asks for no images; leave --root data out" in answer.sentence


def test_a_slip_in_the_tasks_is_told_before_images_are_read(cli: Cli) -> None:
    path = configured(THREE.replace('images = "pixels"', 'images = "gone.safetensors"'))
    answer = cli("compare-similarities", "--config", path, "--tasks", 4)
    assert "6 classes do not divide into 4 equal tasks" in answer.sentence
