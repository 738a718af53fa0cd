"""A class sequence in a user's file."""

from __future__ import annotations

import argparse
from pathlib import Path

from edgecil.cli.inputs import read_space
from edgecil.errors import UsageError
from edgecil.sequences import ClassSequence


def read_sequence(args: argparse.Namespace, classes: int) -> ClassSequence:
    """The sequence in --sequence FILE; a flat order is cut by --tasks, --increment or --sizes."""
    from edgecil.classes.files import read_json

    path = Path(args.sequence)
    data = read_json(path)
    if isinstance(data, dict) and "sequences" in data:
        raise UsageError(f"{path} holds several sequences; keep the one to score, with its tasks.")
    if isinstance(data, dict) and "tasks" in data:
        sequence = ClassSequence(data["tasks"])
        _require_sizes(args, sequence, path)
    else:
        order = data.get("order") if isinstance(data, dict) else data
        if not isinstance(order, list) or not all(isinstance(id_, int) for id_ in order):
            raise UsageError(f'{path} must hold {{"tasks": [[…], …]}} or a flat list of class ids.')
        if not order:
            raise UsageError(f"{path} holds no classes.")
        sequence = ClassSequence.from_order(order, read_space(args, len(order)).sizes)
    if sorted(sequence.order) != list(range(classes)):
        raise UsageError(
            f"{path} must arrange each class from 0 to {classes - 1} once. "
            f"Got {len(sequence.order)} classes from {min(sequence.order)} to "
            f"{max(sequence.order)}."
        )
    return sequence


def _require_sizes(args: argparse.Namespace, sequence: ClassSequence, path: Path) -> None:
    """An error if the command line asks for other tasks than the file has."""
    if all(given is None for given in (args.tasks, args.base, args.increment, args.sizes)):
        return
    if read_space(args, len(sequence.order)).sizes != sequence.sizes:
        raise UsageError(
            f"{path} has tasks of sizes {list(sequence.sizes)}, not those asked for; leave "
            "--tasks, --base, --increment and --sizes out."
        )
