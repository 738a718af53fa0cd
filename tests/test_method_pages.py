"""The pages of the methods: commands that run accepts, and what was measured."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

pytest.importorskip("mkdocs")


from edgecil.backbones.named import BACKBONES
from edgecil.backbones.pretrained import PRETRAINED
from edgecil.cli.main import verb_parser
from edgecil.methods import Method, get_method, method_names
from edgecil.methods.setups import NAMED, PUBLISHED
from edgecil.paper.published_summaries import read_published
from edgecil.recipes import recipe_names
from edgecil.sequences import PROTOCOLS

TOOL = Path(__file__).parents[1] / "tools" / "method_pages.py"
PAGES = SimpleNamespace(**runpy.run_path(str(TOOL))).pages()
PARSER = verb_parser("run")
PAPER = sorted(set(read_published("paper-classic")["method"].str.lower()))


def page(method: str) -> str:
    return str(PAGES[f"reference/reproduce/{method}.md"])


@pytest.mark.parametrize("method", PUBLISHED)
def test_run_accepts_every_command(method: str) -> None:
    commands = re.findall(r"```console\n(.+)\n```", page(method))
    stated = sum(len(setup.stated) for setup in PUBLISHED[method].values())
    assert len(commands) == stated + 3 * (method in PAPER)
    folders = [command.split(" --out ")[1] for command in commands]
    assert len(set(folders)) == len(folders)
    for command in commands:
        program, verb, *words = shlex.split(command)
        assert (program, verb) == ("edgecil", "run")
        options = vars(PARSER.parse_args(words))
        assert options["protocol"][0] in PROTOCOLS
        if options.get("config"):
            assert options["config"].removeprefix("recipe:") in recipe_names()
        else:
            setup = NAMED[options["training.setup"]]
            assert (setup.method, setup.dataset) == (method, options["dataset"])
            network = options["training.backbone"]
            assert network in PRETRAINED or network in BACKBONES


def test_a_stated_accuracy_has_its_own_tasks_and_weights() -> None:
    assert "--tasks 20" in page("ease")
    assert "--backbone vit-b16-in21k " in page("ease")
    assert "--backbone vit-b16-in21k-google" in page("l2p")
    assert "--setup mos/mos/imagenet-a " in page("mos")
    for setup in NAMED.values():
        weights = [stated.weights for stated in setup.stated]
        assert len(set(weights)) == len(weights)
        assert {setup.backbone, *weights} <= {*PRETRAINED, *BACKBONES}


@pytest.mark.parametrize("method", PAPER)
def test_the_paper_s_methods_have_settings_and_parity(method: str) -> None:
    text = page(method)
    assert all(f"| {dataset} |" in text for dataset in PUBLISHED[method])
    assert "Accuracies (ours / reference):" in text
    assert f"[{method}](reproduce/{method}.md)" in PAGES["reference/published.md"]


def test_the_list_of_methods_has_every_classifier() -> None:
    lines = (
        (TOOL.parents[1] / "docs" / "evidence" / "methods.md")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    start = lines.index("| method | idea | reference | classifiers |") + 2
    rows = [line.strip("| ").split(" | ") for line in lines[start : lines.index("", start)]]
    listed = {row[0].strip("`"): tuple(row[-1].split(", ")) for row in rows}
    own = [get_method(name) for name in method_names()]
    assert listed == {
        entry.name: cast(type[Method], entry.build).classifiers
        for entry in own
        if entry.build.__module__.startswith("edgecil.methods.")
    }


def test_shares_of_the_order_name_their_table() -> None:
    assert re.search(r"the class order explains \d+ % on quickdraw 6/3", page("ranpac"))
