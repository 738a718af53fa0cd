"""What verbs answer, as JSON and in words."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import get_args

import pytest

from edgecil.analysis.answers import SCHEMA
from edgecil.catalogue import EntryKind
from edgecil.cli.output import schema_name
from tests.cli.conftest import Cli

LIGHT = (
    *(("list", kind) for kind in get_args(EntryKind)),
    ("list", "recipes", "--show", "demo"),
    ("similarity", "ham10000"),
    ("sequences", "ham10000", "--tasks", 7),
    ("paper", "space", "--classes", 6, "--tasks", 3),
)


def test_a_saved_analysis_has_the_schema_of_its_verb() -> None:
    assert schema_name("analyze") == SCHEMA == "edgecil.analysis/8"
    assert schema_name("paper space") == "edgecil.paper-space/1"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("similarity cifar100 --template {name}", "100 classes|most similar|least similar"),
        ("paper space --classes 6 --tasks 3", "Ω| = 90"),
        (
            "paper space --classes 100 --tasks 10 --accuracy-range 0.1 --mean-similarity 0.6",
            "about 10^92.37|10,820|109|Theorem 4",
        ),
        ("paper space --tasks 4 --similarity D.npy", "Theorem 3"),
        ("paper rank paper-enumerable", "ranking error|covered"),
        (
            "paper score --similarity D.npy --sequence s.json",
            "exact z|intra|generalization",
        ),
        (
            "paper compare-similarities D.npy copy.npy --tasks 3",
            "mean absolute error|Spearman|CSG hard|1.00 matched",
        ),
    ],
)
def test_people_see_the_numbers_in_words(cli: Cli, matrix: Path, command: str, shown: str) -> None:
    shutil.copy(matrix, "copy.npy")
    tasks = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    Path("s.json").write_text(json.dumps({"tasks": tasks}))
    answer = cli(*command.split())
    assert (answer.code, answer.err) == (0, "")
    for words in shown.removeprefix("|").split("|"):
        assert words in answer.out


@pytest.mark.parametrize("columns", ["0", "-1", "9", "x", "", "100000"])
def test_any_width_is_accepted(cli: Cli, columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert "latin" in cli("list", "protocols").out.replace("\n", "")
    assert cli("run", "--help").code == 0


@pytest.mark.parametrize("words", LIGHT, ids=lambda words: " ".join(map(str, words)))
def test_answers_name_the_schema_of_their_verb(cli: Cli, words: tuple[object, ...]) -> None:
    answer = cli(*words, "--json").json
    assert answer["schema"] in (schema_name(str(words[0])), "edgecil.paper-space/1")
