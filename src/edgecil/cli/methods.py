"""`edgecil methods`: the learners and their settings."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from edgecil.cli.output import print_json, print_table

NAME = "methods"
HELP = "list the learners and their published settings"
EXAMPLES = ("edgecil methods", "edgecil methods --json")


def configure(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""


def run(*, json: bool) -> None:
    """Print every method with its default settings."""
    from edgecil.cli.answers import Method, Methods
    from edgecil.io.packages import require_training

    require_training()
    from edgecil.methods import get_method, method_names

    entries = [get_method(name) for name in method_names()]
    methods = [Method(entry.name, entry.summary, asdict(entry.config())) for entry in entries]
    if json:
        print_json(Methods(methods=methods))
        return
    rows = []
    for method in methods:
        own = [f"{name} = {value}" for name, value in method.settings.items() if name != "recipe"]
        rows.append((method.name, method.summary + (f" [{', '.join(own)}]" if own else "")))
    print_table(("method", "what it does [its own settings]"), rows)
