"""Class sequences in the words of other tools.

PyCIL, PILOT, FACIL and Continuum read a class order as `order[new label] = original class`;
Avalanche takes its experiences from such an order; Mammoth's is the inverse,
`order[original class] = new label`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from pprint import pformat
from typing import Any

import numpy as np

from edgecil.errors import UsageError, unknown
from edgecil.interop.orders import Orders
from edgecil.io.files import check_new
from edgecil.registry import Registry
from edgecil.report.figure import check_figure_path
from edgecil.report.sequences import draw_sequences
from edgecil.sequences.scored import ScoredSequence, choose_sequences
from edgecil.sequences.sequence import ClassSequence
from edgecil.similarity import Similarity, SimilaritySource


def export(sequence: ClassSequence, format_: str) -> dict[str, Any]:
    """Return the settings that make a tool follow the sequence.

    Args:
        sequence: over classes 0 … N-1.
        format_: one of :data:`FORMATS`.
    """
    convert = FORMATS[format_]
    sequence.task_of()
    return convert(sequence)


def format_exports(
    sequences: Mapping[str, ClassSequence], format_: str, label: str | None = None
) -> str:
    """Return the settings of several sequences by label, or of one of them, as text for a file.

    The text is JSON; for Avalanche, which is set up in Python, it is a Python literal.

    Args:
        sequences: by label.
        format_: one of :data:`FORMATS`.
        label: the only sequence to write.
    """
    if label is not None and label not in sequences:
        raise unknown("label", label, sequences)
    settings = {name: export(sequence, format_) for name, sequence in sequences.items()}
    written = settings if label is None else settings[label]
    if FORMATS.resolve(format_) == "avalanche":
        return pformat(written, sort_dicts=False, width=100, compact=True)
    return json.dumps(written)


@dataclass(frozen=True)
class ExportedSequences:
    """Class sequences and the settings that make a tool follow them.

    Attributes:
        names: the N class names.
        sequences: with their profiles.
        format: the tool; None if none was asked for.
        exported: the tool's settings by label; empty without a tool.
    """

    names: list[str]
    sequences: list[ScoredSequence]
    format: str | None
    exported: dict[str, dict[str, Any]]


def export_sequences(
    *,
    format: str | None = None,
    plot: str | Path | None = None,
    overwrite: bool = False,
    similarity: SimilaritySource | Similarity | Mapping[str, Any] | str | Path | None = None,
    orders: Orders | Mapping[str, Any] | None = None,
) -> ExportedSequences:
    """Choose class sequences, and export or draw them.

    Args:
        format: the tool whose settings are returned as well, one of :data:`FORMATS`.
        plot: draw the sequences to this .png, .svg or .pdf file.
        overwrite: replace the file if it exists.
        similarity: between the classes, as for :func:`edgecil.choose_sequences`.
        orders: which classes, tasks and protocols.
    """
    if plot is not None:
        check_new(check_figure_path(plot), overwrite=overwrite, name="plot")
    chosen = choose_sequences(similarity, **Orders.given(orders))
    if plot is not None:
        draw_sequences(chosen.similarity, chosen, plot)
    exported = {} if format is None else {it.label: export(it.sequence, format) for it in chosen}
    return ExportedSequences(list(chosen.similarity.names), list(chosen), format, exported)


def _plain(sequence: ClassSequence) -> dict[str, Any]:
    return {"tasks": [list(task) for task in sequence.tasks], "order": list(sequence.order)}


def _pycil(sequence: ClassSequence) -> dict[str, Any]:
    """Return keys of PyCIL and PILOT; `class_order` is an attribute of their data class."""
    base, *increments = sequence.sizes
    increment = increments[0] if increments else base
    regular = all(size == increment for size in increments[:-1])
    if increments and not (regular and increments[-1] <= increment):
        raise UsageError(
            "PyCIL and PILOT support only a first task followed by equal increments. "
            f"Got task sizes {list(sequence.sizes)}; use another format."
        )
    return {
        "init_cls": base,
        "increment": increment,
        "shuffle": False,
        "class_order": list(sequence.order),
    }


def _avalanche(sequence: ClassSequence) -> dict[str, Any]:
    """Return arguments of Avalanche's `nc_benchmark`.

    Unequal tasks need `per_exp_classes`, a mapping with integer keys, which JSON cannot hold:
    :func:`format_exports` writes it as Python.
    """
    unequal = len(set(sequence.sizes)) > 1
    return {
        "n_experiences": len(sequence),
        "task_labels": False,
        "shuffle": False,
        "fixed_class_order": list(sequence.order),
        **({"per_exp_classes": dict(enumerate(sequence.sizes))} if unequal else {}),
        "class_ids_from_zero_from_first_exp": True,
    }


def _continuum(sequence: ClassSequence) -> dict[str, Any]:
    """Return arguments of Continuum's `ClassIncremental`."""
    return {"increment": list(sequence.sizes), "class_order": list(sequence.order)}


def _mammoth(sequence: ClassSequence) -> dict[str, Any]:
    """Mammoth's `args.class_order`, an array from original class to new label, and task sizes.

    Set `args.permute_classes` and `args.class_order = np.array(…)` before the dataset is built;
    the sizes are the dataset class's `N_CLASSES_PER_TASK`.
    """
    new_label = np.argsort(sequence.order)
    return {
        "permute_classes": 1,
        "class_order": new_label.tolist(),
        "N_CLASSES_PER_TASK": list(sequence.sizes),
    }


FORMATS: Registry[Callable[[ClassSequence], dict[str, Any]]] = Registry(
    "format",
    {
        "json": _plain,
        "pycil": _pycil,
        "pilot": _pycil,
        "avalanche": _avalanche,
        "continuum": _continuum,
        "mammoth": _mammoth,
    },
)
