"""`edgecil backbones`: the networks, and what is missing for the pre-trained ones."""

from __future__ import annotations

import argparse

from edgecil.cli.output import print_json, print_table

NAME = "backbones"
HELP = "list the networks, from scratch and pre-trained, and what each needs"


def configure(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""


def run(args: argparse.Namespace) -> None:
    """Print every backbone, whether it works here, and how to get what is missing."""
    from edgecil.cli.training import require_training

    require_training()
    from edgecil.backbones import backbone_names, backbone_status

    found = [(name, *backbone_status(name)) for name in backbone_names()]
    if args.json:
        print_json(
            {
                "backbones": [
                    {"name": name, "available": here, "note": sentence}
                    for name, here, sentence in found
                ]
            }
        )
        return
    print_table(
        ("backbone", "here", "note"),
        ((name, "yes" if here else "no", sentence) for name, here, sentence in found),
    )
