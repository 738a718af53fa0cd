"""`edgecil backbones`: the networks, from scratch and pre-trained."""

from __future__ import annotations

import argparse

from edgecil.cli.output import print_json, print_table, yes_no

NAME = "backbones"
HELP = "list the networks, from scratch and pre-trained, and what each requires"
EXAMPLES = (
    "edgecil backbones",
    "edgecil run --method ranpac --pretrained vit-quickdraw --dataset quickdraw --tasks 5 --out x",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""


def run(*, json: bool) -> None:
    """Print every backbone, whether it works here, and how to get what is missing."""
    from edgecil.cli.answers import Backbones, Entry
    from edgecil.io.packages import require_training

    require_training()
    from edgecil.backbones import backbone_names, backbone_status

    entries = [Entry(name, *backbone_status(name)) for name in backbone_names()]
    if json:
        print_json(Backbones(backbones=entries))
        return
    rows = ((entry.name, yes_no(entry.available), entry.note) for entry in entries)
    print_table(("backbone", "here", "note"), rows)
