from __future__ import annotations

from tests.cli.conftest import Cli


def test_generators_protocols_and_objectives_are_listed(cli: Cli) -> None:
    listed = cli("generators", "--json").json
    made = {(row["name"], row["goal"]) for row in listed["generators"]}
    for name in ("edge", "optimal", "adversarial", "maxcover"):
        assert {(name, "hard"), (name, "easy")} <= made
    assert {("random", "random"), ("random-legacy", "random")} <= made
    assert {row["name"] for row in listed["protocols"]} >= {"edge", "latin", "enumerate", "optimal"}
    assert {row["name"] for row in listed["objectives"]} >= {
        "adjacent",
        "intra",
        "to-last",
        "generalization",
    }
    assert all(row["summary"] for rows in listed.values() for row in rows)


def test_people_see_them_too(cli: Cli) -> None:
    answer = cli("generators")
    assert (answer.code, answer.err) == (0, "")
    for word in ("maxcover", "latin", "generalization"):
        assert word in answer.out
