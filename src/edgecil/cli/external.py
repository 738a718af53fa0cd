"""`edgecil external`: have another program train class orders."""

from __future__ import annotations

import argparse
from typing import Any

from edgecil.cli.options import (
    add_experiment,
    add_protocol,
    add_repeats,
    add_similarity,
    add_space,
)
from edgecil.cli.results import train_with_programs

NAME = "external"
HELP = "have another program train the sequences of protocols; the same command resumes"
EXAMPLES = (
    "edgecil external quickdraw --classes 6 --tasks 3 --out runs/mine "
    '--command "python train.py {order_file} {result_file}"',
    "edgecil external cifar100 --tasks 10 --protocol latin --budget 5 --timeout 3600 "
    '--out runs/mine --command "./train.sh {order_file} {result_file} {seed}"',
)


def configure(parser: argparse.ArgumentParser) -> None:
    """The program, the classes, the sequences."""
    parser.add_argument(
        "--command",
        required=True,
        metavar="TEXT",
        help="trains one order: 'python train.py {order_file} {result_file}'; {seed} may be used",
    )
    parser.add_argument("--method", metavar="NAME", help="name of the results (default: external)")
    add_similarity(parser)
    add_space(parser)
    add_protocol(parser.add_argument_group("sequences"), several=True)
    add_programs(parser.add_argument_group("experiment"))


def add_programs(group: argparse._ArgumentGroup) -> None:
    """How often, how many at a time, how long, and where the results go."""
    add_repeats(group, workers="1")
    group.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="a run that takes longer has failed"
    )
    add_experiment(group)


def run(*, json: bool, **options: Any) -> None:
    """Train every order in a process of its own."""
    from edgecil.cli.answers import External
    from edgecil.interop import run_external

    train_with_programs(run_external, External, json=json, **options)
