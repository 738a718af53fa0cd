"""`edgecil encoders`: what turns class names into vectors."""

from __future__ import annotations

import argparse

from edgecil.cli.output import print_json, print_table, yes_no

NAME = "encoders"
HELP = "list the text encoders and what each requires"
EXAMPLES = ("edgecil encoders", "edgecil similarity cifar100 --encoder clip-vit-b-32")


def configure(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""


def run(*, json: bool) -> None:
    """Print every encoder, whether it works here, and how to get what is missing."""
    from edgecil.cli.answers import Encoders, Entry
    from edgecil.similarity import encoder_names, encoder_status

    statuses = [encoder_status(name) for name in encoder_names()]
    entries = [Entry(status.name, status.available, status.sentence) for status in statuses]
    if json:
        print_json(Encoders(encoders=entries))
        return
    rows = ((entry.name, yes_no(entry.available), entry.note) for entry in entries)
    print_table(("encoder", "here", "note"), rows)
