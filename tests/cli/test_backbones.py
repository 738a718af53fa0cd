from __future__ import annotations

from tests.cli.conftest import Cli


def test_networks_from_scratch_and_the_bundled_one_are_here(cli: Cli) -> None:
    listed = {row["name"]: row for row in cli("backbones", "--json").json["backbones"]}
    assert all(listed[name]["available"] for name in ("resnet32", "resnet18", "vit-quickdraw"))
    assert listed["vit-quickdraw"]["note"].endswith("comes with edgecil.")


def test_what_is_missing_says_how_to_get_it(cli: Cli) -> None:
    listed = {row["name"]: row for row in cli("backbones", "--json").json["backbones"]}
    for name in ("vit-b16-in21k", "vit-b16-in1k", "vit-b16-dino", "vit-b16-clip"):
        assert not listed[name]["available"]
        assert "hf download" in listed[name]["note"]


def test_people_see_them_too(cli: Cli) -> None:
    answer = cli("backbones")
    assert (answer.code, answer.err) == (0, "")
    assert "vit-quickdraw" in answer.out
