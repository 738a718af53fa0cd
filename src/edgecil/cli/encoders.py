"""`edgecil encoders`: what turns class names into vectors, and what is missing for it."""

from __future__ import annotations

import argparse

from edgecil.cli.output import print_json, print_table

NAME = "encoders"
HELP = "list the text encoders, and what each needs"


def configure(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""


def run(args: argparse.Namespace) -> None:
    """Print every encoder, whether it works here, and how to get what is missing."""
    from edgecil.similarity import encoder_names, encoder_status

    found = [encoder_status(name) for name in encoder_names()]
    if args.json:
        print_json(
            {
                "encoders": [
                    {"name": status.name, "available": status.available, "note": status.sentence}
                    for status in found
                ]
            }
        )
        return
    print_table(
        ("encoder", "here", "note"),
        ((status.name, "yes" if status.available else "no", status.sentence) for status in found),
    )
