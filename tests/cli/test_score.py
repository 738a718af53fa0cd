from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli

TASKS = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


def write(name: str, content: Any) -> Path:
    path = Path(name)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_the_profile_is_the_one_that_sequences_gave(cli: Cli, matrix: Path) -> None:
    made = cli("sequences", "--similarity", matrix, "--tasks", 4, "--json").json["sequences"]
    for run in made:
        path = write("s.json", {"tasks": run["tasks"]})
        found = cli("score", "--similarity", matrix, "--sequence", path, "--json").json
        assert found == run["profile"]
        assert found.keys() >= {"score", "z", "intra", "lag1", "lag2"}


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ({"tasks": TASKS}, ()),
        ({"tasks": TASKS}, ("--tasks", 4)),
        ({"tasks": TASKS, "order": list(range(12)), "label": "hard"}, ()),
        (list(range(12)), ("--tasks", 4)),
        ({"order": list(range(12))}, ("--increment", 3)),
        (list(range(12)), ("--sizes", "3,3,3,3")),
    ],
)
def test_every_way_to_write_an_order_is_the_same_sequence(
    cli: Cli, matrix: Path, content: Any, options: tuple[object, ...]
) -> None:
    common = ("score", "--similarity", matrix, "--json", "--sequence")
    found = cli(*common, write("s.json", content), *options).json
    assert found == cli(*common, write("t.json", {"tasks": TASKS})).json


def test_a_known_dataset_can_be_scored(cli: Cli) -> None:
    path = write("s.json", [4, 0, 3, 1, 2])
    found = cli("score", "eyepacs", "--sequence", path, "--sizes", "2,1,2", "--json").json
    assert -5 < found["z"] < 5


def test_people_see_it_too(cli: Cli, matrix: Path) -> None:
    answer = cli("score", "--similarity", matrix, "--sequence", write("s.json", {"tasks": TASKS}))
    assert (answer.code, answer.err) == (0, "")
    for words in ("exact z", "inside a task", "two tasks on", "generalization"):
        assert words in answer.out


def test_two_tasks_of_one_class_have_neither_intra_nor_lag2(cli: Cli) -> None:
    write("D.csv", "0,0.5\n0.5,0\n")
    path = write("s.json", {"tasks": [[1], [0]]})
    found = cli("score", "--similarity", "D.csv", "--sequence", path, "--json").json
    assert found["intra"] is None
    assert found["lag2"] is None
    assert "n/a" in cli("score", "--similarity", "D.csv", "--sequence", path).out


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ({"tasks": TASKS[:3]}, (), "each class from 0 to 11 once. Got 9 classes from 0 to 8"),
        ({"tasks": [[i + 1 for i in task] for task in TASKS]}, (), "from 1 to 12"),
        ({"tasks": [[0, 0], [1]]}, (), "Class 0 appears more than once"),
        ({"tasks": [[-1, 0], [1]]}, (), "0 or more. Got -1"),
        ({"tasks": [[0.5, 1], [2]]}, (), "0.5 is not an integer"),
        ({"tasks": [["a"], ["b"]]}, (), "'a' is not an integer"),
        ({"tasks": [[True], [False]]}, (), "True is not an integer"),
        ({"tasks": 5}, (), "must be a list of tasks"),
        ({"tasks": None}, (), "must be a list of tasks"),
        ({"tasks": []}, (), "at least one task"),
        ({"tasks": [[], [0]]}, (), "at least one class"),
        ({"tasks": [list(range(12))]}, (), "needs K >= 2"),
        ({"tasks": TASKS}, ("--tasks", 3), "sizes [3, 3, 3, 3], which differ"),
        (TASKS, ("--tasks", 4), 'must hold {"tasks"'),
        ({}, (), 'must hold {"tasks"'),
        ({"order": None}, (), 'must hold {"tasks"'),
        (["a"] * 12, ("--tasks", 4), 'must hold {"tasks"'),
        (5, ("--tasks", 4), 'must hold {"tasks"'),
        ([], ("--tasks", 4), "holds no classes"),
        (list(range(12)), (), "Say how the classes form tasks"),
        (list(range(11)), ("--tasks", 4), "do not divide into 4"),
        ({"sequences": [{"label": "a"}, {"label": "b"}]}, (), "holds several sequences"),
    ],
)
def test_an_order_that_makes_no_sense_is_told(
    cli: Cli, matrix: Path, content: Any, options: tuple[object, ...], words: str
) -> None:
    path = write("s.json", content)
    answer = cli("score", "--similarity", matrix, "--sequence", path, *options, "--json")
    assert answer.code == 2
    assert words in answer.sentence


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"tasks": [[0, 1', "not valid JSON"),
        ("", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[" + "9" * 5000 + "]", "not valid JSON"),
    ],
)
def test_an_unreadable_file_is_told(cli: Cli, matrix: Path, content: str, words: str) -> None:
    answer = cli("score", "--similarity", matrix, "--sequence", write("s.json", content))
    assert answer.code == 1
    assert words in answer.sentence


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("missing.json", "Cannot read missing.json: No such file"),
        (".", "Is a directory"),
        ("D.npy", "not text in UTF-8"),
    ],
)
def test_a_file_that_is_none_is_told(cli: Cli, matrix: Path, path: str, words: str) -> None:
    answer = cli("score", "--similarity", matrix, "--sequence", path)
    assert answer.code == 1
    assert words in answer.sentence


def test_a_sequence_is_required(cli: Cli, matrix: Path) -> None:
    answer = cli("score", "--similarity", matrix)
    assert answer.code == 2
    assert "--sequence" in answer.sentence
