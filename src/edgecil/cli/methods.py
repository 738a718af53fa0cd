"""`edgecil methods`: the learners, and their settings."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from edgecil.cli.output import print_json, print_table

NAME = "methods"
HELP = "list the learners and their published settings"


def configure(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""


def run(args: argparse.Namespace) -> None:
    """Print every method with its default settings."""
    from edgecil.cli.training import require_training

    require_training()
    from edgecil.methods import get_method, method_names

    entries = [get_method(name) for name in method_names()]
    settings = [asdict(entry.config()) for entry in entries]
    if args.json:
        print_json(
            {
                "methods": [
                    {"name": entry.name, "summary": entry.summary, "settings": values}
                    for entry, values in zip(entries, settings, strict=True)
                ]
            }
        )
        return
    rows = []
    for entry, values in zip(entries, settings, strict=True):
        own = {name: value for name, value in values.items() if name != "recipe"}
        shown = ", ".join(f"{name} = {value}" for name, value in own.items())
        rows.append((entry.name, entry.summary + (f" [{shown}]" if shown else "")))
    print_table(("method", "what it does [its own settings]"), rows)
