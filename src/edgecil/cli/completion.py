"""Completion scripts of shells: verbs, options, their choices, files and directories."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import shtab

_DIRECTORIES = ("DIR", "DIRECTORY", "DIRECTORIES", "CHECKOUT")
_FILES = ("FILE", "FILE.npz", "FILE.json", "PATH", "PATHS", "SOURCE", "MATRICES", "DATASET")


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the completion script of the whole command line."""
    for options in _verbs(parser):
        for action in options._actions:
            if action.nargs != 0 and action.metavar in (*_DIRECTORIES, *_FILES):
                kind = shtab.DIRECTORY if action.metavar in _DIRECTORIES else shtab.FILE
                vars(action)["complete"] = kind
    text: str = shtab.complete(parser, shell=shell)
    return text


def _verbs(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of all verbs, those in groups included."""
    groups = [it for it in parser._actions if isinstance(it, argparse._SubParsersAction)]
    if not groups:
        yield parser
    for group in groups:
        for inner in group.choices.values():
            yield from _verbs(inner)
