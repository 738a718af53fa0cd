from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.cli.conftest import Answer, Cli

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


def compare(cli: Cli, *words: object) -> Answer:
    return cli("paper", "compare-similarities", *words)


def agreements(cli: Cli, *words: object) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = compare(cli, *words, "--json").json["agreements"]
    return listed


def configured(text: str) -> Path:
    path = Path("compared.toml")
    path.write_text(text, encoding="utf-8")
    return path


def copy(matrix: Path) -> Path:
    np.save("copy.npy", np.load(matrix))
    return Path("copy.npy")


def test_a_file_describes_what_to_build_and_all_pairs_are_compared(cli: Cli) -> None:
    answers = agreements(cli, "--config", configured(THREE))
    by_pair = {(answer.pop("left"), answer.pop("right")): answer for answer in answers}
    assert list(by_pair) == [("names", "captions"), ("names", "drawings"), ("captions", "drawings")]
    sources = {"names": ("--template", "{name}"), "drawings": ("--images", "pixels")}
    for name, options in sources.items():
        cli("similarity", "quickdraw", *options, "--classes", 6, "--out", f"{name}.npz")
    [by_hand] = agreements(cli, "names.npz", "drawings.npz", "--tasks", 3)
    assert by_pair["names", "drawings"].items() <= by_hand.items()
    others = agreements(cli, "--config", configured(THREE), "--tasks", 2)
    assert [it["csg"] for it in others] != [it["csg"] for it in by_pair.values()]
