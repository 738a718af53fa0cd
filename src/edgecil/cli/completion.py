"""`edgecil completion`: completion of verbs and options in a shell."""

from __future__ import annotations

import argparse

NAME = "completion"
HELP = "print a completion script for bash, zsh or tcsh"
EXAMPLES = (
    'eval "$(edgecil completion bash)"',
    "edgecil completion zsh > ~/.zfunc/_edgecil",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Which shell."""
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="the shell")


def run(*, shell: str) -> None:
    """Print the script."""
    import shtab

    from edgecil.cli.main import build_parser

    print(shtab.complete(build_parser(), shell=shell))
