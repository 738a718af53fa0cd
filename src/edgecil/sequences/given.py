"""Class sequences that a user gives as text: `0 1|2 3`, `3 1 0 2`, with a label `mine: 0 1|2 3`.

A sequence without `|` is a flat order, which the task sizes cut into tasks. Class names in place of
ids are written as JSON: `[["apple", "owl"], ["car", "bus"]]`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from edgecil.classes import words_of
from edgecil.errors import DataError, UsageError, format_value, name_some, unknown_name_error
from edgecil.io.files import read_json
from edgecil.sequences.protocols import PROTOCOLS, LabelledSequence
from edgecil.sequences.sequence import ClassSequence, Tasks, format_tasks, parse_tasks
from edgecil.sequences.space import SequenceSpace
from edgecil.sequences.task_orders import TaskOrderSpace

Given: TypeAlias = str | ClassSequence | LabelledSequence | Sequence[int] | Sequence[Sequence[int]]
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
    lists = source if isinstance(source, Mapping) else {NAME: source}
    for name in lists:
        if name in PROTOCOLS:
            raise UsageError(
                f"Your own sequences must not have the name of a protocol. Got "
                f"{format_value(name)}; choose another name."
            )
    named = {name: tuple(_text(entry) for entry in some) for name, some in lists.items()}
    if not named or not all(named.values()):
        raise UsageError("There are no class sequences to run; give at least one.")
    return named


def parse_given(
    texts: Iterable[str], space: SequenceSpace, names: Sequence[str] | None = None
) -> list[LabelledSequence]:
    """Parse labelled sequences of a space; without a label, the sequence itself is the label.

    >>> parse_given(["mine: 3 1 0 2"], SequenceSpace.equal(4, 2))[0].sequence.tasks
    ((1, 3), (0, 2))
    """
    labelled: dict[str, LabelledSequence] = {}
    for text in texts:
        label, parts = split_label(text, names)
        flat = len(parts) == 1 and len(space.sizes) > 1
        sequence = ClassSequence.from_order(parts[0], space.sizes) if flat else ClassSequence(parts)
        strangers = sorted(set(sequence.order) - set(range(space.classes)))
        if strangers:
            raise UsageError(
                f"The sequence {format_value(text)} has the class {strangers[0]}, but the classes "
                f"are 0 to {space.classes - 1}."
            )
        if isinstance(space, TaskOrderSpace) and sequence in space.orders:
            sequence = space.expand(sequence)
        if sequence not in space:
            raise UsageError(
                f"The sequence {text!r} must arrange each class from 0 to {space.classes - 1} "
                f"once, in tasks of sizes {list(space.sizes)}. Got sizes {list(sequence.sizes)}."
            )
        name = label or str(sequence)
        if labelled.setdefault(name, LabelledSequence(name, sequence)).sequence != sequence:
            raise UsageError(f"Two different sequences have the label {name!r}; rename one.")
    return list(labelled.values())


def split_label(text: str, names: Sequence[str] | None = None) -> tuple[str, Tasks]:
    """Return the label of a sequence, empty if it has none, and its tasks (one of a flat order)."""
    label, colon, tasks = text.partition(": [")
    label, colon, tasks = (label, colon, f"[{tasks}") if colon else text.rpartition(": ")
    try:
        if not tasks.startswith("["):
            return label, parse_tasks(tasks)
        named = json.loads(tasks)
    except ValueError as error:
        raise UsageError(
            f"A class sequence is written '0 1|2 3|4 5'. Got {format_value(tasks)} instead."
        ) from error
    return label, _find_names(named, names)


def read_sequence(
    path: str | Path, names: Sequence[str], *, label: str | None = None, **sizes: Any
) -> ClassSequence:
    """Return the sequence in a JSON file, or the one with a label.

    Args:
        path: as for :func:`given_texts`.
        names: of the N classes, each of which it must have once.
        label: which of several sequences to read.
        sizes: of the tasks, as for :meth:`SequenceSpace.choose`; those of the file by default.
    """
    texts = [text for some in given_texts(path).values() for text in some]
    by_label = {split_label(text, names)[0]: text for text in texts}
    if label is None and len(texts) > 1:
        raise UsageError(
            f"{path} contains several sequences; choose one by `label`: {', '.join(by_label)}."
        )
    if label is not None and label not in by_label:
        raise unknown_name_error(f"label in {path}", label, by_label)
    text = texts[0] if label is None else by_label[label]
    parts = split_label(text, names)[1]
    if len(parts) > 1 and all(value is None for value in sizes.values()):
        sizes = {"sizes": [len(task) for task in parts]}
    (run,) = parse_given([text], SequenceSpace.choose(len(names), **sizes), names)
    return run.sequence


def _find_names(tasks: Sequence[Sequence[str]], names: Sequence[str] | None) -> Tasks:
    ids = {words_of(name): id_ for id_, name in enumerate(names or ())}
    parts = [[words_of(name) for name in task] for task in tasks]
    unknown_names = [name for task in parts for name in task if name not in ids]
    if unknown_names:
        raise UsageError(
            f"A sequence has the class {unknown_names[0]!r}, which is none of the experiment's: "
            f"{name_some(list(names or ())) or 'they have no names'}."
        )
    return tuple(tuple(ids[name] for name in task) for task in parts)


def _text(entry: Any) -> str:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, LabelledSequence):
        return f"{entry.label}: {entry.sequence.arranged_text}"
    if isinstance(entry, ClassSequence):
        return entry.arranged_text
    if isinstance(entry, Mapping):
        inside = entry.get("tasks", entry.get("order"))
        label = entry.get("label")
        return _text(inside) if label is None else f"{label}: {_text(inside)}"
    if isinstance(entry, Sequence) and entry:
        if all(isinstance(part, int) for part in entry):
            return format_tasks((tuple(entry),))
        if all(isinstance(part, str) for part in entry):
            return json.dumps([entry])
        if isinstance(entry[0], Sequence):
            named = entry[0] and isinstance(entry[0][0], str)
            return json.dumps(entry) if named else ClassSequence(entry).arranged_text
    raise UsageError(
        f"A class sequence must be a list of tasks or a flat list of class ids. Got "
        f"{format_value(entry)}."
    )


def _read(path: Path) -> list[Any] | dict[str, list[Any]]:
    """Return the entries of a JSON file, or its lists of entries by name."""
    data = read_json(path)
    if isinstance(data, dict) and "sequences" in data:  # beside names and notes
        data = _named(data["sequences"], data.get("names"), path)
    elif isinstance(data, dict) and data.keys() & {"tasks", "order"}:
        data = [data]
    if isinstance(data, list) and data and all(isinstance(part, int) for part in data):
        data = [data]  # one flat order
    lists = list(data.values()) if isinstance(data, dict) else [data]
    if not all(isinstance(some, list) and some for some in lists):
        raise DataError(
            f"{path} has no class sequences to run; write a list of class sequences, "
            '{"sequences": […]}, {"tasks": [[…], …]} or lists by name.'
        )
    return cast("list[Any] | dict[str, list[Any]]", data)


def _named(entries: Any, names: Any, path: Path) -> Any:
    """Return sequences with the class names that a file gives beside them in place of ids."""
    if not isinstance(names, list) or not isinstance(entries, list):
        return entries
    try:
        return [
            {
                "label": entry.get("label"),
                "tasks": [[names[id_] for id_ in task] for task in entry["tasks"]],
            }
            for entry in entries
        ]
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        raise DataError(f"{path} has sequences that do not fit its {len(names)} names.") from error
