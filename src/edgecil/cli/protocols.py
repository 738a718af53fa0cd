"""`edgecil generators`: how sequences are made, and which protocols run them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from edgecil.cli.output import print_json, print_table

NAME = "generators"
HELP = "list the sequence generators, protocols and objectives"


def configure(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""


def run(args: argparse.Namespace) -> None:
    """Print generators by name and goal, protocols, and objectives."""
    from edgecil.sequences import OBJECTIVES, PROTOCOLS, generators

    makers = [(maker.name, maker.goal, maker.summary) for maker in generators()]
    protocols = [(known.name, known.summary) for known in PROTOCOLS.values()]
    objectives = [
        (name, (build.__doc__ or "").split("\n")[0]) for name, build in OBJECTIVES.items()
    ]
    if args.json:
        print_json(
            {
                "generators": [_row(("name", "goal", "summary"), row) for row in makers],
                "protocols": [_row(("name", "summary"), row) for row in protocols],
                "objectives": [_row(("name", "summary"), row) for row in objectives],
            }
        )
        return
    print_table(("generator", "goal", "sequence"), makers)
    print_table(("protocol", "runs"), protocols)
    print_table(("objective", "of a sequence"), objectives)


def _row(names: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    return dict(zip(names, cells, strict=True))
