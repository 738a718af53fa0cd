"""Class sequences that a user gives as text: `0 1|2 3`, `3 1 0 2`, with a label `mine: 0 1|2 3`.

A sequence without `|` is a flat order, which the task sizes cut into tasks. Class names in place of
ids are written as JSON: `[["apple", "owl"], ["car", "bus"]]`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, cast

from edgecil.classes import words_of
from edgecil.errors import DataError, UsageError, format_value, name_some, unknown_name_error
from edgecil.io.files import read_json
from edgecil.sequences.protocols import PROTOCOLS, USER_SEQUENCES, LabelledSequence
from edgecil.sequences.sequence import ClassSequence, Tasks, format_tasks, parse_tasks
from edgecil.sequences.space import SequenceSpace
from edgecil.sequences.task_orders import TaskOrderSpace

UserSequence: TypeAlias = (
    str | ClassSequence | LabelledSequence | Sequence[int] | Sequence[Sequence[int]]
)


def sequence_texts(
    source: str | os.PathLike[str] | Iterable[UserSequence] | Mapping[str, Iterable[UserSequence]],
) -> dict[str, tuple[str, ...]]:
    """Return a user's sequences as text, by the name under which their results are stored.

    Args:
        source: a JSON file (a list of sequences, `{"sequences": […]}` with labelled ones, as
            `edgecil sequences --json` writes them, `{"tasks": …}`, or lists by name), a list, or
            lists by name. A list without a name gets the name `given`.

    >>> sequence_texts([ClassSequence([[0, 3], [1, 2]]), [2, 0, 1, 3]])
    {'given': ('0 3|1 2', '2 0 1 3')}
    """
    if isinstance(source, (str, os.PathLike)):
        source = _read(Path(source))
    lists = source if isinstance(source, Mapping) else {USER_SEQUENCES: source}
    for name in lists:
        if name in PROTOCOLS:
            raise UsageError(
                f"Your own sequences must not have the name of a protocol. Got "
                f"{format_value(name)}; choose another name."
            )
    texts = {name: tuple(map(_text, sequences)) for name, sequences in lists.items()}
    if not texts or not all(texts.values()):
        raise UsageError("There are no class sequences to run; give at least one.")
    return texts


def parse_sequences(
    texts: Iterable[str], space: SequenceSpace, names: Sequence[str] | None = None
) -> list[LabelledSequence]:
    """Parse labelled sequences of a space; without a label, the sequence itself is the label.

    >>> parse_sequences(["mine: 3 1 0 2"], SequenceSpace.equal(4, 2))[0].sequence.tasks
    ((1, 3), (0, 2))
    """
    labelled: dict[str, LabelledSequence] = {}
    for text in texts:
        label, parts = split_label(text, names)
        if len(parts) == 1 and len(space.sizes) > 1:  # a flat order
            sequence = ClassSequence.from_order(parts[0], space.sizes)
        else:
            sequence = ClassSequence(parts)
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
    """Return the label of a sequence, or "", and its tasks; a flat order is one task."""
    label, is_named, names_of_tasks = text.partition(": [")
    if is_named:
        tasks = f"[{names_of_tasks}"
    else:
        label, _, tasks = text.rpartition(": ")
    try:
        if not tasks.startswith("["):
            return label, parse_tasks(tasks)
        named_tasks = json.loads(tasks)
    except ValueError as error:
        raise UsageError(
            f"A class sequence is written '0 1|2 3|4 5'. Got {format_value(tasks)} instead."
        ) from error
    return label, _find_names(named_tasks, names)


def read_sequence(
    path: str | Path, names: Sequence[str], *, label: str | None = None, **sizes: Any
) -> ClassSequence:
    """Return the sequence in a JSON file, or the one with a label.

    Args:
        path: as for :func:`sequence_texts`.
        names: of the N classes, each of which it must have once.
        label: which of several sequences to read.
        sizes: of the tasks, as for :meth:`SequenceSpace.choose`; by default as in the file.
    """
    texts = list(chain.from_iterable(sequence_texts(path).values()))
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
    (run,) = parse_sequences([text], SequenceSpace.choose(len(names), **sizes), names)
    return run.sequence


def _find_names(tasks: Sequence[Sequence[str]], names: Sequence[str] | None) -> Tasks:
    id_of_name = {words_of(name): id_ for id_, name in enumerate(names or ())}
    tasks_of_ids = []
    for task in tasks:
        ids = []
        for name in map(words_of, task):
            if name not in id_of_name:
                raise UsageError(
                    f"A sequence has the class {name!r}, which is none of the experiment's: "
                    f"{name_some(list(names or ())) or 'they have no names'}."
                )
            ids.append(id_of_name[name])
        tasks_of_ids.append(tuple(ids))
    return tuple(tasks_of_ids)


def _text(entry: Any) -> str:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, LabelledSequence):
        return f"{entry.label}: {entry.sequence.arranged_text}"
    if isinstance(entry, ClassSequence):
        return entry.arranged_text
    if isinstance(entry, Mapping):
        sequence_text = _text(entry.get("tasks", entry.get("order")))
        label = entry.get("label")
        return sequence_text if label is None else f"{label}: {sequence_text}"
    if isinstance(entry, Sequence) and entry:
        if all(isinstance(part, int) for part in entry):
            return format_tasks((tuple(entry),))
        if all(isinstance(part, str) for part in entry):
            return json.dumps([entry])
        if isinstance(entry[0], Sequence):
            has_names = entry[0] and isinstance(entry[0][0], str)
            return json.dumps(entry) if has_names else ClassSequence(entry).arranged_text
    raise UsageError(
        f"A class sequence must be a list of tasks or a flat list of class ids. Got "
        f"{format_value(entry)}."
    )


def _read(path: Path) -> list[Any] | dict[str, list[Any]]:
    """Return the entries of a JSON file, or its lists of entries by name."""
    data = read_json(path)
    if isinstance(data, dict) and "sequences" in data:  # beside names and notes
        data = _name_classes(data["sequences"], data.get("names"), path)
    elif isinstance(data, dict) and data.keys() & {"tasks", "order"}:
        data = [data]
    if isinstance(data, list) and data and all(isinstance(part, int) for part in data):
        data = [data]  # one flat order
    lists = list(data.values()) if isinstance(data, dict) else [data]
    if not all(isinstance(sequences, list) and sequences for sequences in lists):
        raise DataError(
            f"{path} has no class sequences to run; write a list of class sequences, "
            '{"sequences": […]}, {"tasks": [[…], …]} or lists by name.'
        )
    return cast("list[Any] | dict[str, list[Any]]", data)


def _name_classes(entries: Any, names: Any, path: Path) -> Any:
    """Return sequences with class names in place of ids, if the file has a list of names."""
    if not isinstance(names, list) or not isinstance(entries, list):
        return entries
    try:
        named_entries = []
        for entry in entries:
            tasks = []
            for task in entry["tasks"]:
                tasks.append([names[id_] for id_ in task])
            named_entries.append({"label": entry.get("label"), "tasks": tasks})
        return named_entries
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        raise DataError(f"{path} has sequences that do not fit its {len(names)} names.") from error
