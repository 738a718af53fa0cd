"""`edgecil import-logs`: import results from log files of PyCIL and PILOT."""

from __future__ import annotations

import argparse
from typing import Any

from edgecil.cli.options import add_experiment
from edgecil.cli.output import note
from edgecil.cli.results import print_experiment

NAME = "import-logs"
HELP = "import log files of PyCIL and PILOT as an experiment"
EXAMPLES = (
    "edgecil import-logs ~/PyCIL/logs/icarl/cifar100/0/10/*.log --out runs/icarl",
    "edgecil import-logs random.log edge.log --out runs/fork",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Which logs, and where the results go."""
    parser.add_argument("paths", nargs="+", metavar="LOG", help="log files of the toolboxes")
    parser.add_argument(
        "--protocol",
        metavar="NAME",
        help="the protocol that chose the orders (default: the one that the EDGE authors' forks "
        "name in the log, else 'logs', whose orders do not count as random)",
    )
    add_experiment(parser)


def run(*, json: bool, paths: list[str], **options: Any) -> None:
    """Read the logs and store their results."""
    from edgecil.cli.answers import ImportLogs
    from edgecil.interop import import_logs

    experiment = import_logs(
        paths, **options, on_left_out=lambda reason: note(f"Left out: {reason}")
    )
    print_experiment(ImportLogs, experiment, json=json, unit="runs")
