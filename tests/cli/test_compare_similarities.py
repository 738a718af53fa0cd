from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.conftest import Cli

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


def agreements(cli: Cli, *words: object) -> list[dict[str, Any]]:
    answer = cli("paper", "compare-similarities", *words, "--json").json
    listed: list[dict[str, Any]] = answer["agreements"]
    return listed


def test_a_file_describes_what_to_build_and_all_pairs_are_compared(cli: Cli) -> None:
    Path("compared.toml").write_text(THREE, encoding="utf-8")
    answers = agreements(cli, "--config", "compared.toml")
    by_pair = {(answer.pop("left"), answer.pop("right")): answer for answer in answers}
    assert list(by_pair) == [("names", "captions"), ("names", "drawings"), ("captions", "drawings")]
    sources = {"names": ("--template", "{name}"), "drawings": ("--images", "pixels")}
    for name, options in sources.items():
        cli("similarity", "quickdraw", *options, "--classes", 6, "--out", f"{name}.npz")
    [by_hand] = agreements(cli, "names.npz", "drawings.npz", "--tasks", 3)
    assert by_pair["names", "drawings"].items() <= by_hand.items()
    others = agreements(cli, "--config", "compared.toml", "--tasks", 2)
    assert [it["csg"] for it in others] != [it["csg"] for it in by_pair.values()]
