from __future__ import annotations

from tests.cli.conftest import Cli

PAPER = {
    "clip-rn50",
    "clip-rn101",
    "clip-rn50x64",
    "clip-vit-b-32",
    "clip-vit-b-16",
    "clip-vit-l-14",
}


def test_the_default_works_here_and_what_is_missing_says_how_to_get_it(cli: Cli) -> None:
    listed = {row["name"]: row for row in cli("encoders", "--json").json["encoders"]}
    assert listed.keys() >= PAPER | {"minilm", "minilm-bundled"}
    assert listed["minilm-bundled"]["available"]
    for name in PAPER:
        assert not listed[name]["available"]
        assert "hf download" in listed[name]["note"] or "pip install" in listed[name]["note"]


def test_people_see_them_too(cli: Cli) -> None:
    answer = cli("encoders")
    assert (answer.code, answer.err) == (0, "")
    assert "minilm-bundled" in answer.out
