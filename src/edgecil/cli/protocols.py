"""`edgecil protocols`: what chooses the class sequences."""

from __future__ import annotations

import argparse

from edgecil.cli.output import print_json, print_table

NAME = "protocols"
HELP = "list the protocols, the generators they use, and the objectives"
EXAMPLES = ("edgecil protocols", "edgecil sequences cifar100 --tasks 10 --protocol edge")


def configure(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""


def run(*, json: bool) -> None:
    """Print protocols, generators by name and goal, and objectives."""
    from edgecil.cli.answers import Described, Generator, Protocols
    from edgecil.sequences import OBJECTIVES, PROTOCOLS, generators

    protocols = [Described(entry.name, entry.summary) for entry in PROTOCOLS.values()]
    makers = [Generator(maker.name, maker.goal, maker.summary) for maker in generators()]
    objectives = [
        Described(name, (build.__doc__ or "").split("\n")[0]) for name, build in OBJECTIVES.items()
    ]
    if json:
        print_json(Protocols(protocols=protocols, generators=makers, objectives=objectives))
        return
    print_table(("protocol", "runs"), ((entry.name, entry.summary) for entry in protocols))
    print_table(
        ("generator", "goal", "sequence"), ((it.name, it.goal, it.summary) for it in makers)
    )
    print_table(("objective", "of a sequence"), ((it.name, it.summary) for it in objectives))
