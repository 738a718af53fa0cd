"""Class sequences that a user gives as text: `0 1|2 3`, `3 1 0 2`, with a label `mine: 0 1|2 3`.

A sequence without `|` is a flat order, which the task sizes cut into tasks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from edgecil.errors import DataError, UsageError, shown
from edgecil.io.files import read_json
from edgecil.sequences.protocols import PROTOCOLS, LabelledSequence
from edgecil.sequences.sequence import ClassSequence, format_tasks, parse_tasks
from edgecil.sequences.space import SequenceSpace

Given = str | ClassSequence | LabelledSequence | Sequence[int] | Sequence[Sequence[int]]
NAME = "given"


def given_texts(
    source: str | os.PathLike[str] | Iterable[Given] | Mapping[str, Iterable[Given]],
) -> dict[str, tuple[str, ...]]:
    """Given sequences as text, by the name under which their results are stored.

    Args:
        source: a JSON file (a list of sequences, `{"sequences": […]}` with labelled ones, as
            `edgecil sequences --json` writes them, `{"tasks": …}`, or lists by name), a list, or
            lists by name. A list without a name gets the name `given`.

    >>> given_texts([ClassSequence([[0, 3], [1, 2]]), [2, 0, 1, 3]])
    {'given': ('0 3|1 2', '2 0 1 3')}
    """
    if isinstance(source, (str, os.PathLike)):
        source = _read(Path(source))
    if isinstance(source, Mapping):
        for name in source:
            if name in PROTOCOLS:
                raise UsageError(
                    f"Your own sequences must not have the name of a protocol. Got {shown(name)}; "
                    "choose another name."
                )
        named = {name: tuple(_text(entry) for entry in some) for name, some in source.items()}
    else:
        named = {NAME: tuple(_text(entry) for entry in source)}
    if not named or not all(named.values()):
        raise UsageError("There are no class sequences to run; give at least one.")
    return named


def parse_given(texts: Iterable[str], space: SequenceSpace) -> list[LabelledSequence]:
    """Parse labelled sequences of a space; without a label, the sequence itself is the label.

    >>> parse_given(["mine: 3 1 0 2"], SequenceSpace.equal(4, 2))[0].sequence.tasks
    ((1, 3), (0, 2))
    """
    labelled: dict[str, LabelledSequence] = {}
    for text in texts:
        label, colon, tasks = text.rpartition(": ")
        try:
            parts = parse_tasks(tasks)
        except ValueError as error:
            raise UsageError(
                f"A class sequence is written '0 1|2 3|4 5'. Got {shown(tasks)} instead."
            ) from error
        flat = len(parts) == 1 and len(space.sizes) > 1
        sequence = ClassSequence.from_order(parts[0], space.sizes) if flat else ClassSequence(parts)
        if sequence not in space:
            raise UsageError(
                f"The sequence {tasks!r} must arrange each class from 0 to {space.classes - 1} "
                f"once, in tasks of sizes {list(space.sizes)}. Got sizes {list(sequence.sizes)}."
            )
        name = label if colon else str(sequence)
        if labelled.setdefault(name, LabelledSequence(name, sequence)).sequence != sequence:
            raise UsageError(f"Two different sequences have the label {name!r}; rename one.")
    return list(labelled.values())


def _text(entry: Any) -> str:
    """Return one sequence as text."""
    if isinstance(entry, str):
        return entry
    if isinstance(entry, LabelledSequence):
        return f"{entry.label}: {entry.sequence}"
    if isinstance(entry, ClassSequence):
        return str(entry)
    if isinstance(entry, Mapping):
        inside = entry.get("tasks", entry.get("order"))
        label = entry.get("label")
        return _text(inside) if label is None else f"{label}: {_text(inside)}"
    if isinstance(entry, Sequence) and entry and all(isinstance(part, int) for part in entry):
        return format_tasks((tuple(entry),))
    if isinstance(entry, Sequence) and entry:
        return str(ClassSequence(entry))
    raise UsageError(
        f"A class sequence must be a list of tasks or a flat list of class ids. Got {shown(entry)}."
    )


def _read(path: Path) -> list[Any] | dict[str, list[Any]]:
    """Return the entries of a JSON file, or its lists of entries by name."""
    data = read_json(path)
    if _is_empty(data):
        raise DataError(f"{path} has no class sequences to run; write at least one.")
    named = isinstance(data, dict) and not data.keys() & {"sequences", "tasks", "order"}
    if named and data and all(isinstance(some, list) and some for some in data.values()):
        return dict(data)
    if isinstance(data, dict) and "sequences" in data:
        data = data["sequences"]
    if isinstance(data, dict):
        data = [data]
    if not isinstance(data, list) or not data:
        raise DataError(
            f'{path} must contain a list of class sequences, {{"sequences": […]}} or '
            '{"tasks": [[…], …]}.'
        )
    if all(isinstance(part, int) for part in data):
        data = [data]  # one flat order
    return data


def _is_empty(data: Any) -> bool:
    """Return whether a file has an empty list, also under a name."""
    return data == [] or (isinstance(data, dict) and [] in data.values())
