"""`edgecil logs`: import results from log files of PyCIL and PILOT."""

from __future__ import annotations

import argparse
from contextlib import closing

from edgecil.cli.output import note
from edgecil.cli.results import print_results, tabulate

NAME = "import-logs"
HELP = "import log files of PyCIL and PILOT as results, to estimate and report from"
EXAMPLES = ("", "")
LEGACY = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Which logs, and where the results go."""
    parser.add_argument("logs", nargs="+", metavar="LOG", help="log files of the toolboxes")
    parser.add_argument("--out", required=True, metavar="DIR", help="the run directory")
    parser.add_argument(
        "--protocol",
        default="logs",
        metavar="NAME",
        help="what the orders count as: random, if they were drawn without a look at the classes, "
        "so that predictors and normality are judged on them (default: %(default)s)",
    )
    parser.add_argument("--fresh", action="store_true", help="forget what the directory holds")


def run(args: argparse.Namespace) -> None:
    """Read, store, and show what was found."""
    from edgecil.engine import Summary
    from edgecil.interop.logs import import_logs

    store, left_out = import_logs(args.logs, args.out, protocol=args.protocol, fresh=args.fresh)
    for remark in left_out:
        note(f"left out: {remark}")
    with closing(store):
        found = list(store.whole_runs())
        seeds = 1 + max(node.seed for node in found)
        methods = dict.fromkeys(node.method for node in found)
        tables = tabulate(store, methods, [args.protocol], seeds)
    print_results(tables, Summary(0, len(found), ()), args, "sequences trained")
