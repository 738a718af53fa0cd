from __future__ import annotations

from tests.cli.conftest import Cli


def test_every_method_with_its_published_settings(cli: Cli) -> None:
    listed = {row["name"]: row for row in cli("methods", "--json").json["methods"]}
    assert listed.keys() >= {"finetune", "joint", "ewc", "icarl"}
    assert all(row["summary"] for row in listed.values())
    icarl = listed["icarl"]["settings"]
    assert icarl["memory"] == {"total": 2000, "per_class": 20}
    assert icarl["temperature"] == 2.0
    assert icarl["recipe"]["epochs"] == 170
    assert icarl["recipe"]["milestones"] == [60, 120, 170]
    assert listed["ewc"]["settings"]["strength"] == 1000.0


def test_people_see_what_each_does(cli: Cli) -> None:
    answer = cli("methods")
    assert answer.code == 0
    assert answer.err == ""
    text = " ".join(answer.out.split())
    assert "lower bound" in text
    assert "strength = 1000.0" in text
