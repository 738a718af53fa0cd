"""A class sequence in a user's file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from edgecil.cli.inputs import read_space
from edgecil.errors import DataError, UsageError
from edgecil.sequences import ClassSequence


def read_sequence(args: argparse.Namespace, classes: int) -> ClassSequence:
    """The sequence in --sequence FILE; a flat order is cut by --tasks, --increment or --sizes."""
    from edgecil.classes.files import read_text

    path = Path(args.sequence)
    try:
        data = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise DataError(f"{path} is not valid JSON: {error}.") from error
    if isinstance(data, dict) and "tasks" in data:
        sequence = ClassSequence(data["tasks"])
    else:
        order = data.get("order") if isinstance(data, dict) else data
        if not isinstance(order, list):
            raise UsageError(f'{path} must hold {{"tasks": [[…], …]}} or a flat list of class ids.')
        sequence = ClassSequence.from_order(order, read_space(args, len(order)).sizes)
    if sorted(sequence.order) != list(range(classes)):
        raise UsageError(
            f"{path} must arrange each class from 0 to {classes - 1} once. "
            f"Got {len(sequence.order)} classes from {min(sequence.order)} to "
            f"{max(sequence.order)}."
        )
    return sequence
