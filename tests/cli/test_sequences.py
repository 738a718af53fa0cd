from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgecil.interop.exports import FORMATS
from tests.cli.conftest import Cli

PROFILE = {"score", "z", "intra", "lag1", "lag2"}
PROTOCOLS = ["edge", "optimal", "random", "random-legacy", "latin", "adversarial", "maxcover"]


def runs(cli: Cli, *arguments: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli("sequences", *arguments, "--json").json["sequences"]
    return found


def save(name: str, values: Any) -> Path:
    np.save(name, values)
    return Path(name)


def test_edge_gives_hard_median_and_easy_with_their_profiles(cli: Cli, matrix: Path) -> None:
    made = runs(cli, "--similarity", matrix, "--tasks", 4, "--protocol", "edge")
    assert [run["label"] for run in made] == ["hard", "median", "easy"]
    for run in made:
        assert run.keys() == {"label", "tasks", "order", "profile"}
        assert run["order"] == [class_ for task in run["tasks"] for class_ in task]
        assert sorted(run["order"]) == list(range(12))
        assert run["profile"].keys() >= PROFILE
    assert made[0]["profile"]["z"] < 0 < made[2]["profile"]["z"]


@pytest.mark.parametrize("size", [("cifar100", 10), ("ham10000", 7)])
def test_optimal_has_a_bound_and_a_gap(cli: Cli, size: tuple[str, int]) -> None:
    hard, median, easy = runs(cli, size[0], "--tasks", size[1], "--protocol", "optimal")
    assert hard["bound"] <= hard["profile"]["score"] + 1e-9
    assert easy["bound"] >= easy["profile"]["score"] - 1e-9
    for run in (hard, easy):
        assert 0 <= run["gap"] < 1
    assert median["bound"] is median["gap"] is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_answers_in_the_same_words(cli: Cli, matrix: Path, protocol: str) -> None:
    made = runs(cli, "--similarity", matrix, "--tasks", 3, "--protocol", protocol, "--runs", 4)
    assert len(made) == 4
    assert len({run["label"] for run in made}) == 4
    assert all(run["profile"].keys() >= PROFILE for run in made)
    again = runs(cli, "--similarity", matrix, "--tasks", 3, "--protocol", protocol, "--runs", 4)
    assert made == again


def test_enumerate_gives_all(cli: Cli) -> None:
    assert len(runs(cli, "eyepacs", "--sizes", "2,2,1", "--protocol", "enumerate")) == 30


def test_people_see_names_scores_and_tasks(cli: Cli) -> None:
    answer = cli("sequences", "cifar100", "--tasks", 10)
    assert (answer.code, answer.err) == (0, "")
    for words in ("hard   S = ", "   z = -", "easy   S = ", "aquarium fish", "lawn mower"):
        assert words in answer.out
    answer = cli("sequences", "cifar100", "--tasks", 10, "--protocol", "optimal")
    assert "of the range is left" in answer.out
    assert (
        "proved optimal" in cli("sequences", "eyepacs", "--tasks", 5, "--protocol", "optimal").out
    )


def test_names_with_markup_are_shown_as_they_are(cli: Cli) -> None:
    Path("D.csv").write_text("[red]cat[/red],[/x],[bold]\n0,1,2\n1,0,3\n2,3,0\n")
    answer = cli("sequences", "--similarity", "D.csv", "--tasks", 3)
    assert answer.code == 0
    for name in ("[red]cat[/red]", "[/x]", "[bold]"):
        assert name in answer.out


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_plot_is_drawn(cli: Cli, matrix: Path, suffix: str) -> None:
    path = Path(f"new/plot{suffix}")
    answer = cli("sequences", "--similarity", matrix, "--tasks", 3, "--plot", path)
    assert (answer.code, answer.err) == (0, "")
    assert path.stat().st_size > 1000
    assert f"drawn in {path}" in answer.out


def test_a_plot_beside_json_leaves_stdout_alone(cli: Cli, matrix: Path) -> None:
    runs(cli, "--similarity", matrix, "--tasks", 3, "--plot", "plot.svg")
    assert Path("plot.svg").exists()


@pytest.mark.parametrize("format_", sorted(FORMATS))
def test_every_format_is_one_json_object(cli: Cli, matrix: Path, format_: str) -> None:
    answer = cli("sequences", "--similarity", matrix, "--tasks", 3, "--format", format_).json
    if format_ == "json":
        assert answer == cli("sequences", "--similarity", matrix, "--tasks", 3, "--json").json
        return
    plain = {run["label"]: run for run in runs(cli, "--similarity", matrix, "--tasks", 3)}
    assert answer.keys() == plain.keys()
    for label, settings in answer.items():
        key = "fixed_class_order" if format_ == "avalanche" else "class_order"
        order = plain[label]["order"]
        inverse = np.argsort(order).tolist()
        assert settings[key] == (inverse if format_ == "mammoth" else order)


def test_sizes_that_a_tool_does_not_know_are_told(cli: Cli, matrix: Path) -> None:
    options = ("--similarity", matrix, "--sizes", "2,6,4", "--format", "pycil")
    assert cli("sequences", *options).code == 0
    answer = cli("sequences", *options[:2], "--sizes", "2,4,6", "--format", "pycil")
    assert answer.code == 2
    assert "export these to another format" in answer.sentence


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        (("--base", 6, "--increment", 2), [6, 2, 2, 2]),
        (("--increment", 4), [4, 4, 4]),
        (("--sizes", "7,4,1"), [7, 4, 1]),
        (("--tasks", 12), [1] * 12),
    ],
)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tasks_may_be_unequal(
    cli: Cli, matrix: Path, protocol: str, options: tuple[object, ...], sizes: list[int]
) -> None:
    made = runs(cli, "--similarity", matrix, *options, "--protocol", protocol)
    assert all([len(task) for task in run["tasks"]] == sizes for run in made)


def test_fewer_classes_may_take_part(cli: Cli) -> None:
    first = cli("sequences", "cifar100", "--classes", 6, "--tasks", 3)
    assert first.code == 0
    assert "apple" in first.out
    assert "worm" not in first.out
    drawn = runs(cli, "cifar100", "--classes", 6, "--classes-seed", 3, "--tasks", 3)
    assert sorted(drawn[0]["order"]) == list(range(6))
    assert drawn == runs(cli, "cifar100", "--classes", 6, "--classes-seed", 3, "--tasks", 3)
    assert drawn != runs(cli, "cifar100", "--classes", 6, "--classes-seed", 4, "--tasks", 3)


def test_embeddings_serve_as_well_as_their_matrix(cli: Cli) -> None:
    vectors = np.random.default_rng(0).standard_normal((12, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    options = ("--tasks", 3, "--protocol", "optimal")
    from_vectors = runs(cli, "--embeddings", save("E.npy", vectors), *options)
    from_matrix = runs(cli, "--similarity", save("D.npy", vectors @ vectors.T), *options)
    for end in (0, 2):
        left, right = (made[end]["profile"]["score"] for made in (from_vectors, from_matrix))
        assert left == pytest.approx(right)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", ["negative", "constant", "zero", "binary"])
def test_unusual_similarities_work(cli: Cli, matrix: Path, protocol: str, kind: str) -> None:
    values = {
        "negative": -np.load(matrix),
        "constant": np.ones((12, 12)),
        "zero": np.zeros((12, 12)),
        "binary": np.load(matrix) > 0.5,
    }[kind]
    made = runs(cli, "--similarity", save("odd.npy", values), "--tasks", 3, "--protocol", protocol)
    assert len(made) == 3
    if kind in ("constant", "zero"):
        assert all(run["profile"]["z"] == 0 for run in made)


def test_a_constant_similarity_can_be_drawn(cli: Cli) -> None:
    path = save("odd.npy", np.ones((12, 12)))
    answer = cli("sequences", "--similarity", path, "--tasks", 3, "--plot", "p.png")
    assert (answer.code, answer.err) == (0, "")


def changed(place: Any, value: float) -> np.ndarray:
    values = np.full((4, 4), 0.5)
    values[place] = value
    return values


@pytest.mark.parametrize(
    ("values", "code", "words"),
    [
        (changed((0, 1), 0.9), 2, "must be symmetric, but entry (0, 1) is 0.9"),
        (changed(..., np.nan), 2, "must be finite, but entry (0, 1) is nan"),
        (changed(..., np.inf), 2, "must be finite"),
        (changed(..., 1e300), 1, "must lie within ±1e+100"),
        (np.ones((4, 3)), 2, "must be square"),
        (np.ones(4), 2, "must be square"),
        (np.float64(1.0), 2, "must be square"),
        (np.ones((1, 1)), 2, "at least 2 classes"),
        (np.ones((0, 0)), 2, "at least 2 classes"),
        (np.ones((4, 4), complex), 1, "real numbers. Got complex128"),
        (np.full((4, 4), "a"), 1, "real numbers. Got <U1"),
        (np.zeros((4, 4), "datetime64[D]"), 1, "real numbers. Got datetime64[D]"),
        (np.zeros((4, 4), [("a", float)]), 1, "real numbers"),
    ],
)
def test_a_bad_matrix_is_told(cli: Cli, values: Any, code: int, words: str) -> None:
    answer = cli("sequences", "--similarity", save("bad.npy", values), "--tasks", 2, "--json")
    assert answer.code == code
    assert words in answer.sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("0,1\n1\n", "rows of different lengths"),
        ("0,1\n1,x\n", "not a number"),
        ("cat,dog\n", "0 rows of 0 numbers"),
        ("0;1\n1;0\n", "separated by commas"),
        ("0,1,2\n0,1,2\n", "2 rows of 3 numbers"),
        ("1" * 200_000, "not valid CSV"),
    ],
)
def test_a_bad_csv_is_told(cli: Cli, text: str, words: str) -> None:
    Path("bad.csv").write_text(text)
    answer = cli("sequences", "--similarity", "bad.csv", "--tasks", 2)
    assert answer.code == 1
    assert words in answer.sentence


def test_a_csv_from_pandas_is_read(cli: Cli) -> None:
    Path("D.csv").write_text(",0,1,2\n0,0,.1,.2\n1,.1,0,.3\n2,.2,.3,0\n")
    assert len(runs(cli, "--similarity", "D.csv", "--tasks", 3)) == 3


@pytest.mark.parametrize("option", ["--similarity", "--embeddings"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.npy", b""),
        ("bad.npz", b""),
        ("bad.npy", b"hello"),
        ("bad.npz", b"PK\x03\x04hello"),
        ("cut.npy", None),
        ("cut.npz", None),
        ("flipped.npz", None),
        ("objects.npy", None),
    ],
)
def test_a_damaged_file_is_told(cli: Cli, option: str, name: str, content: bytes | None) -> None:
    path = Path(name)
    if content is not None:
        path.write_bytes(content)
    elif name == "objects.npy":
        np.save(path, np.array([[None]]), allow_pickle=True)
    else:
        values = np.random.default_rng(0).random((40, 40))
        if path.suffix == ".npy":
            np.save(path, values)
        else:
            np.savez_compressed(path, values=values)
        whole = bytearray(path.read_bytes())
        if name == "flipped.npz":
            whole[60:62] = bytes(byte ^ 0xFF for byte in whole[60:62])
            path.write_bytes(whole)
        else:
            path.write_bytes(whole[:200])
    answer = cli("sequences", option, path, "--tasks", 2)
    assert answer.code == 1
    assert f"Cannot read {name}: it is cut short, damaged, or not a" in answer.sentence


@pytest.mark.parametrize("option", ["--similarity", "--embeddings"])
@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("missing.npy", 1, "Cannot read missing.npy: No such file"),
        ("folder.npy", 1, "Is a directory"),
        ("D.txt", 2, "from .npz"),
        ("folder", 2, "from .npz"),
    ],
)
def test_a_file_that_is_none_is_told(
    cli: Cli, option: str, name: str, code: int, words: str
) -> None:
    Path("folder.npy").mkdir()
    Path("folder").mkdir()
    answer = cli("sequences", option, name, "--tasks", 2)
    assert answer.code == code
    assert words in answer.sentence


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": np.ones((3, 3))}, "no array called 'values' (it has: x)"),
        ({}, "it has: nothing"),
        ({"values": np.ones((3, 3)), "names": np.array(["a", "b"])}, "2 class names were given"),
        ({"values": np.ones((3, 3)), "names": np.array("a")}, "must be a list of texts"),
        ({"values": np.ones((3, 3)), "names": np.ones((3, 3))}, "must be a list of texts"),
        ({"values": np.ones((3, 3)), "source": np.array("[1]")}, "damaged 'source' entry"),
    ],
)
def test_a_strange_archive_is_told(cli: Cli, arrays: dict[str, Any], words: str) -> None:
    np.savez("D.npz", **arrays)
    answer = cli("sequences", "--similarity", "D.npz", "--tasks", 3)
    assert words in answer.sentence


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        (np.full((4, 3), np.nan), "must be finite"),
        (np.zeros((4, 3)), "must not be zero"),
        (np.full((4, 3), 1e200), "must lie within"),
        (np.full((4, 3), "a"), "real numbers"),
        (np.ones((4, 3), complex), "real numbers"),
        (np.ones((1, 3)), "N >= 2"),
    ],
)
def test_bad_vectors_are_told(cli: Cli, vectors: Any, words: str) -> None:
    answer = cli("sequences", "--embeddings", save("E.npy", vectors), "--tasks", 2)
    assert words in answer.sentence


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--tasks", 1), "needs K >= 2. Got K = 1"),
        (("--increment", 7), "needs K >= 2. Got K = 1"),
        (("--tasks", 8), "Got 8"),
        (("--tasks", 0), "Got 0"),
        (("--tasks", -3), "Got -3"),
        (("--tasks", 3), "do not divide into 3"),
        (("--tasks", 2.5), "invalid int value"),
        (("--base", 9, "--increment", 2), "Got base 9"),
        (("--base", 3, "--increment", 3), "do not divide into increments of 3"),
        (("--increment", 0), "increment 0"),
        (("--sizes", "3,3"), "sum to 6"),
        (("--sizes", "3,x"), "--sizes takes whole numbers"),
        (("--sizes", "0,7"), "at least 1"),
        (("--tasks", 7, "--sizes", "3,4"), "Say how the classes form tasks"),
        ((), "Say how the classes form tasks"),
        (("--tasks", 7, "--classes", 8), "[2, 7]. Got 8"),
        (("--tasks", 7, "--classes", 1), "[2, 7]. Got 1"),
        (("--tasks", 7, "--classes-seed", 3), "say how many"),
        (("--tasks", 7, "--classes", 7, "--classes-seed", -1), "at least 0. Got -1"),
        (("--tasks", 7, "--protocol", "optimum"), "Did you mean 'optimal'?"),
        (("--tasks", 7, "--protocol", "nope"), "Known: latin, random"),
        (("--tasks", 7, "--protocol", "optimal", "--objective", "inta"), "Did you mean 'intra'?"),
        (("--tasks", 7, "--objective", "intra"), "--objective is for --protocol optimal"),
        (("--tasks", 7, "--runs", 0), "Got 0"),
        (("--tasks", 7, "--runs", 1), "'budget' >= 2. Got 1"),
        (("--tasks", 7, "--seed", -1), "Got -1"),
        (("--tasks", 7, "--protocol", "enumerate", "--runs", 3), "leave the 'budget'"),
        (("--tasks", 7, "--format", "xml"), "mammoth"),
        (("--tasks", 7, "--similarity", "D.npy"), "which classes are meant by one of"),
        (("--tasks", 7, "--plot", "p.gif"), "drawn as .png, .svg, .pdf"),
    ],
)
def test_nonsense_is_told(cli: Cli, options: tuple[object, ...], words: str) -> None:
    answer = cli("sequences", "ham10000", *options)
    assert answer.code == 2
    assert words in answer.sentence


def test_a_space_too_large_to_enumerate_is_told(cli: Cli) -> None:
    answer = cli("sequences", "cifar100", "--tasks", 10, "--protocol", "enumerate")
    assert answer.code == 2
    assert "about 10^92 sequences, too many to enumerate" in answer.sentence


@pytest.mark.parametrize(
    ("option", "value"), [("--encoder", "minilm"), ("--captions", "c.json"), ("--weights", "w")]
)
def test_options_for_texts_are_refused_beside_a_matrix(
    cli: Cli, matrix: Path, option: str, value: str
) -> None:
    answer = cli("sequences", "--similarity", matrix, "--tasks", 3, option, value)
    assert answer.code == 2
    assert f"leave {option} out" in answer.sentence


@pytest.mark.parametrize("plot", ["folder.png", "file/p.png", "/dev/null/p.png"])
def test_a_plot_that_cannot_be_written_is_told(cli: Cli, matrix: Path, plot: str) -> None:
    Path("folder.png").mkdir()
    Path("file").touch()
    answer = cli("sequences", "--similarity", matrix, "--tasks", 3, "--plot", plot, "--json")
    assert answer.code == 1
    assert f"Cannot write {plot}" in answer.sentence


def test_the_answer_is_read_by_a_plain_json_parser(cli: Cli, matrix: Path) -> None:
    answer = cli("sequences", "--similarity", matrix, "--tasks", 3, "--json")
    assert answer.err == ""
    assert json.loads(answer.out)["sequences"][0]["label"] == "hard"
