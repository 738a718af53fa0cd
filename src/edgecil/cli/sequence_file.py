"""A class sequence in a user's file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from edgecil.cli.inputs import read_space
from edgecil.errors import UsageError, unknown
from edgecil.sequences import ClassSequence


def read_sequence(args: argparse.Namespace, classes: int) -> ClassSequence:
    """The sequence in --sequence FILE; a flat order is cut by --tasks, --increment or --sizes."""
    from edgecil.io.files import read_json

    path = Path(args.sequence)
    data = read_json(path)
    if isinstance(data, dict) and "sequences" in data:
        data = _labelled(data["sequences"], args.label, path)
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


def _labelled(runs: object, label: str | None, path: Path) -> dict[str, Any]:
    """The run of that label in what `edgecil sequences --json` printed."""
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise UsageError(f"{path} must hold a list of labelled sequences under 'sequences'.")
    known: dict[str, dict[str, Any]] = {str(run.get("label")): run for run in runs}
    if label is None:
        raise UsageError(
            f"{path} holds several sequences; say which by --label {' or '.join(known)}."
        )
    if label not in known:
        raise unknown(f"label in {path}", label, known)
    return known[label]
