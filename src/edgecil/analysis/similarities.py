"""The similarity that an analysis uses: the user's, the experiment's, or from class names."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import numpy as np

from edgecil.analysis.samples import random_protocols
from edgecil.analysis.sources import DatasetRuns, registered_names
from edgecil.classes import ClassList
from edgecil.errors import EdgecilError, UsageError, wrong_value_error
from edgecil.runs.run_table import Runs
from edgecil.similarity import align, read_similarity, text_similarity
from edgecil.similarity.matrix import Similarity, numbered_names
from edgecil.wording.comparison_sentences import describe_unknown_choice

NO_CLASS_NAMES = (
    "The class names are missing: add a column 'dataset' with a dataset of edgecil, or give a "
    "similarity file."
)
"""Why runs of a file without datasets have no similarity, which is no fault of theirs."""

UNKNOWN_ORDERS = (
    "Whether the class order varied between these runs is unknown, so that nothing is said about "
    "other orders; a column 'order_seed' states it, or `seeds_are`: orders, trainings or both."
)

SimilarityLike: TypeAlias = Similarity | str | Path


def describe_given(similarity: SimilarityLike | None) -> str | None:
    """Return where the given similarity comes from; None if none was given."""
    if similarity is None or isinstance(similarity, (str, Path)):
        return None if similarity is None else str(similarity)
    if not hasattr(similarity, "source"):
        raise wrong_value_error("similarity", "a file or a similarity", similarity)
    return describe_similarity(similarity) or "given"


def describe_similarity(similarity: Similarity) -> str | None:
    """Return the origin of a similarity: encoder and template, or the file; None if unknown."""
    parts = (similarity.source.get(key) for key in ("encoder", "template", "file"))
    return ", ".join(repr(part) if "{" in part else part for part in parts if part) or None


def find_similarity(
    runs: DatasetRuns, user_similarity: SimilarityLike | None
) -> tuple[Similarity | None, list[str], str]:
    """Return the similarity of the table's classes, notes, and why there is none."""
    table = runs.table
    if table.arranges == "tasks":
        if user_similarity is not None:
            raise UsageError("Orders of given tasks have no similarity; leave it out.")
        return None, [], ""
    if isinstance(user_similarity, (str, Path)):
        return _select(read_similarity(user_similarity), table, str(user_similarity)), [], ""
    if user_similarity is not None:
        return _select(user_similarity, table, "The similarity"), [], ""
    notes: list[str] = []
    if not table.has_orders:
        of_orders = describe_unknown_choice(table.protocols) if table.counts_orders else None
        notes += [UNKNOWN_ORDERS] if not table.seeds_are else filter(None, [of_orders])
        return None, notes, ""
    if not runs.experiments:
        random = random_protocols(table)
        chosen = [name for name in table.protocols if name not in random]
        notes += filter(None, [describe_unknown_choice(chosen)])
    if not runs.experiments and not table.dataset and table.names is None:
        return None, notes, NO_CLASS_NAMES
    try:
        if runs.experiments:
            experiment = runs.experiments[0]
            return experiment.similarity(), [*notes, *experiment.notes()], ""
        names = registered_names(table)
        if names is not None:
            return text_similarity(ClassList(table.dataset, names)), notes, ""
        reason = (
            f"{table.dataset!r} is not a dataset of edgecil with classes up to "
            f"{table.classes[-1]}, so the class names are missing; give a similarity file."
        )
    except EdgecilError as error:
        reason = str(error)
    return None, notes, f"The similarity of the classes is unknown: {reason}"


def _select(matrix: Similarity, table: Runs, what: str) -> Similarity:
    """Return a given similarity, reduced to the table's classes."""
    ids = np.array(table.classes)
    names = registered_names(table)
    unnamed = matrix.names == numbered_names(len(matrix))
    if names is not None and not unnamed:
        return align(matrix, names, what)
    if len(matrix) == len(ids):
        return matrix
    if table.names is not None or len(matrix) <= ids.max():
        raise UsageError(
            f"{what} covers {len(matrix)} classes but the runs have {len(ids)}, numbered up to "
            f"{ids.max()}; give a row for each."
        )
    return matrix.take(ids)
