"""`edgecil VERB …`: find the verb, run it, turn errors into one sentence and an exit code."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, Protocol

import edgecil
from edgecil.cli import (
    agree,
    backbones,
    captions,
    datasets,
    encoders,
    estimate,
    external,
    logs,
    methods,
    protocols,
    report,
    run,
    score,
    sequences,
    similarity,
    space,
    toolbox,
)
from edgecil.errors import EdgecilError, unknown


class Verb(Protocol):
    """A module of this package: what `edgecil VERB` does."""

    NAME: str
    HELP: str

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the verb's options."""

    def run(self, args: argparse.Namespace) -> None:
        """Do it and print the answer."""


VERBS: tuple[Verb, ...] = (
    datasets,
    encoders,
    protocols,
    methods,
    backbones,
    captions,
    similarity,
    agree,
    sequences,
    score,
    space,
    run,
    estimate,
    report,
    external,
    toolbox,
    logs,
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One sentence on what was wrong, and where to read on; exit code 2."""
        sentence = message[0].upper() + message[1:].rstrip(".")
        self.exit(2, f"edgecil: {sentence}. See '{self.prog} --help'.\n")


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = _Parser(prog="edgecil", description=edgecil.__doc__.split("\n")[0])
    parser.add_argument("--version", action="version", version=f"edgecil {edgecil.__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        sub = verbs.add_parser(verb.NAME, help=verb.HELP, description=verb.HELP)
        verb.configure(sub)
        sub.add_argument("--json", action="store_true", help="print one JSON object on stdout")
        sub.add_argument("--debug", action="store_true", help="show the traceback of an error")
        sub.set_defaults(run=verb.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 if all went well, 2 for a command that makes no sense, 1 for any other failure.
    """
    _prepare_stdout()
    given = sys.argv[1:] if argv is None else list(argv)
    parser = build_parser()
    known = [verb.NAME for verb in VERBS]
    if given and not given[0].startswith("-") and given[0] not in known:
        parser.error(str(unknown("verb", given[0], known)))
    args = parser.parse_args(given)
    try:
        args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone (`edgecil … | head`); nothing is left to say to anyone.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (Exception, KeyboardInterrupt) as error:
        if args.debug:
            raise
        message, code = _explain(error)
        print(f"edgecil: {message}", file=sys.stderr)
        return code
    return 0


def _prepare_stdout() -> None:
    """Make stdout take whatever is printed: closed, or in an encoding without Ω, it still must."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _explain(error: BaseException) -> tuple[str, int]:
    """A sentence and an exit code for whatever went wrong."""
    if isinstance(error, EdgecilError):
        return str(error), error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return "Interrupted.", 130
    if isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        return f"{error.strerror}{where}.", 1
    return f"{type(error).__name__}: {error} (--debug shows where).", 1
