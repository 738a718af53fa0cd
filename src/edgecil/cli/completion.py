"""Completion scripts of shells: verbs, options, and the names and files that options take."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import shtab

from edgecil.catalogue import parameter_values

_DIRECTORIES = ("DIR", "DIRECTORY", "DIRECTORIES", "CHECKOUT", "DATASET")
_FILES = ("FILE", "FILE.npz", "FILE.json", "PATH", "PATHS", "SOURCE", "MATRICES")
_TRAIN = ("run", "search")  # verbs that require images
_NAMES_OR_FILES = ("method", "backbone")
_BASH = 'local before=""; [[ $1 == *,* ]] && before="${1%,*},"'


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the completion script of the whole command line."""
    values = parameter_values()
    for options in _verbs(parser):
        for action in options._actions:
            name = action.dest.rpartition(".")[2]
            images = name == "dataset" and options.prog.split()[-1] in _TRAIN
            kind_of_value = "image dataset" if images else name
            names = tuple(action.choices or values.get(kind_of_value, ()))
            is_file = action.metavar in _FILES or name in _NAMES_OR_FILES
            kind = "directory" if action.metavar in _DIRECTORIES else "file" if is_file else ""
            if action.nargs != 0 and (names or kind):
                comma = str(action.metavar).startswith("A,B")
                vars(action)["complete"] = _functions(
                    kind_of_value.replace(" ", "_"), names, kind, comma=comma
                )
    text: str = shtab.complete(parser, shell=shell)
    # Otherwise bash completes what comes after the colon of recipe:demo as a word of its own.
    return f"{text}\nCOMP_WORDBREAKS=${{COMP_WORDBREAKS//:/}}" if shell == "bash" else text


def _verbs(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of all verbs, those in groups included."""
    groups = [it for it in parser._actions if isinstance(it, argparse._SubParsersAction)]
    if not groups:
        yield parser
    for group in groups:
        for inner in group.choices.values():
            yield from _verbs(inner)


def _functions(dest: str, names: Sequence[str], kind: str, *, comma: bool) -> dict[str, Any]:
    """Return the completion of a parameter, with its function in bash and zsh."""
    name = f"_edgecil_{dest}{'_list' * comma}{kind and f'_{kind}'}"
    listed, paths = " ".join(names), {"": "", "file": "f", "directory": "d"}[kind]
    bash = [f'{_BASH}; compgen -P "$before" -W "{listed}" -- "${{1##*,}}"'] if comma else []
    bash += [] if comma else [f'compgen -W "{listed}" -- "$1"']
    bash += [f'compgen -{paths} -- "$1"'] if kind else []
    zsh = [f"_values -s , {dest} {listed}" if comma else f"compadd -- {listed}"] if names else []
    zsh += ["_files -/" if kind == "directory" else "_files"] if kind else []
    definitions = {"bash": "; ".join(bash), "zsh": "; ".join(zsh)}
    return {
        **dict.fromkeys(definitions, name),
        "tcsh": f"({listed})" if names else paths,
        "preamble": {shell: f"{name}() {{ {body}; }}" for shell, body in definitions.items()},
    }
