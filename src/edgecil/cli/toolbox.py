"""`edgecil toolbox`: train with an unmodified checkout of PyCIL or PILOT."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from edgecil.cli.external import add_programs
from edgecil.cli.options import Settings, add_protocol, add_similarity, add_space
from edgecil.cli.results import train_with_programs

NAME = "toolbox"
HELP = "have an unmodified PyCIL or PILOT checkout train the sequences; the same command resumes"
EXAMPLES = (
    "edgecil toolbox ~/PyCIL --config ~/PyCIL/exps/icarl.json --protocol latin --out runs/icarl",
    "edgecil toolbox ~/PILOT --config ~/PILOT/exps/ease.json --set device=[-1] --out runs/ease",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """The checkout and its config, the classes, the sequences."""
    parser.add_argument("checkout", metavar="CHECKOUT", help="folder of PyCIL or PILOT")
    parser.add_argument(
        "--config", required=True, metavar="FILE", help="one of the toolbox's own (exps/….json)"
    )
    parser.add_argument(
        "--set",
        action=Settings,
        metavar="KEY=VALUE",
        help="change a key of the config; VALUE is JSON or plain text; may be repeated",
    )
    parser.add_argument(
        "--python", metavar="PATH", help="interpreter of the toolbox's environment (default: this)"
    )
    parser.add_argument("--threads", type=int, metavar="T", help="per training (default: 1)")
    add_similarity(parser, positional=False)
    add_space(parser)
    add_protocol(parser.add_argument_group("sequences"), several=True)
    add_programs(parser.add_argument_group("experiment"))


def run(*, json: bool, checkout: str, **options: Any) -> None:
    """Train every order in a process of its own."""
    from edgecil.cli.answers import Toolbox
    from edgecil.interop import run_toolbox

    train_with_programs(partial(run_toolbox, checkout), Toolbox, json=json, **options)
