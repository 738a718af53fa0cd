"""`edgecil external`: have any program train the sequences."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from edgecil.cli.elsewhere import add_run_options, choose_classes, train_elsewhere
from edgecil.cli.inputs import add_similarity_options, add_space_options, read_space
from edgecil.errors import UsageError

NAME = "external"
HELP = "have a program of your own train the sequences of protocols; the same command resumes"
EXAMPLES = ("", "")
LEGACY = True


def configure(parser: argparse.ArgumentParser) -> None:
    """The program, the classes, the sequences."""
    parser.add_argument(
        "--command",
        required=True,
        metavar="TEXT",
        help="trains one sequence: 'python train.py {order_file} {result_file}'; {seed} if wanted",
    )
    parser.add_argument(
        "--method", default="external", metavar="NAME", help="to keep the results under"
    )
    add_similarity_options(parser)
    add_space_options(parser)
    add_run_options(parser)


def run(args: argparse.Namespace) -> None:
    """Train every sequence in a process of its own, store, and show what came out."""
    from edgecil.interop.external import ExternalRun, command_line

    try:
        words = shlex.split(args.command)
    except ValueError as error:
        raise UsageError(f"--command cannot be read: {error}. Got {args.command!r}.") from error
    command = command_line(words)
    chosen = choose_classes(args)
    space = read_space(args, len(chosen.ids))
    train_elsewhere(
        ExternalRun(
            method=args.method,
            command=command,
            dataset=args.dataset or "",
            names=chosen.names,
            ids=chosen.ids,
            sequences=chosen.sequences(args, space),
            seeds=args.seeds,
            identity={"command": args.command},
            cwd=Path.cwd(),
        ),
        args,
    )
