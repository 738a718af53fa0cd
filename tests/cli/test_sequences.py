from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli

PROFILE = {"score", "z", "objectives"}


def runs(cli: Cli, *arguments: object) -> list[dict[str, Any]]:
    actual: list[dict[str, Any]] = cli("sequences", *arguments, "--json").json["sequences"]
    return actual


def test_edge_gives_hard_median_and_easy_with_their_profiles(cli, matrix) -> None:
    made = runs(cli, "--similarity", matrix, "--tasks", 4, "--protocol", "edge")
    assert [run["label"] for run in made] == ["hard", "median", "easy"]
    for run in made:
        assert run["certificate"] is None
        assert run["order"] == [class_ for task in run["tasks"] for class_ in task]
        assert sorted(run["order"]) == list(range(12))
        assert run["profile"].keys() >= PROFILE
    assert made[0]["profile"]["z"] < 0 < made[2]["profile"]["z"]


def test_edge_names_its_encoder_and_that_the_paper_s_is_another(cli: Cli) -> None:
    asked = ("sequences", "cifar100", "--tasks", 10, "--protocol", "random,edge")
    (note,) = cli(*asked, "--json").json["notes"]
    assert "minilm-bundled" in note
    assert "not from clip-vit-b-16" in note
    assert cli(*asked).out.splitlines()[-1] == note


def test_the_default_is_random_and_a_dataset_may_be_an_option(cli) -> None:
    made = runs(cli, "--dataset", "cifar100", "--tasks", 10)
    assert [run["label"] for run in made] == ["seed-0", "seed-42", "seed-1993"]
    assert made == runs(cli, "cifar100", "--tasks", 10, "--eval", "random")


def test_people_see_names_scores_and_tasks(cli) -> None:
    answer = cli("sequences", "cifar100", "--tasks", 10, "--protocol", "optimal")
    assert (answer.code, answer.err) == (0, "")
    for words in ("hard   S = ", "   z = -", "easy   S = ", "aquarium fish", "lawn mower", "gap"):
        assert words in answer.out
    assert "(optimal)" in cli("sequences", "eyepacs", "--tasks", 5, "--protocol", "optimal").out


def test_names_with_markup_are_shown_as_they_are(cli) -> None:
    Path("D.csv").write_text("[red]cat[/red],[/x],[bold]\n9,1,2\n1,9,3\n2,3,9\n")
    answer = cli("sequences", "--similarity", "D.csv", "--tasks", 3)
    assert answer.code == 0
    for name in ("[red]cat[/red]", "[/x]", "[bold]"):
        assert name in answer.out


def test_several_protocols_have_distinct_labels(cli, matrix) -> None:
    words = ("sequences", "--similarity", matrix, "--tasks", 3, "--protocol", "edge, Random")
    answer = cli(*words, "--json").json
    labels = [one["label"] for one in answer["sequences"]]
    assert labels[:4] == ["edge/hard", "edge/median", "edge/easy", "random/seed-0"]


def test_fewer_classes_may_take_part(cli) -> None:
    first = cli("sequences", "cifar100", "--classes", 6, "--tasks", 3)
    assert first.code == 0
    assert "apple" in first.out
    assert "worm" not in first.out
    draw = ("cifar100", "--classes", 6, "--tasks", 3, "--protocol", "edge", "--classes-seed")
    drawn = runs(cli, *draw, 3)
    assert sorted(drawn[0]["order"]) == list(range(6))
    assert drawn == runs(cli, *draw, 3)
    assert drawn != runs(cli, *draw, 4)


@pytest.mark.parametrize(
    ("option", "value"), [("--encoder", "minilm"), ("--captions", "c.json"), ("--weights", "w")]
)
def test_options_for_texts_are_refused_beside_a_matrix(cli, matrix, option, value) -> None:
    answer = cli("sequences", "--similarity", matrix, "--tasks", 3, option, value)
    assert answer.code == 2
    assert option in answer.sentence
