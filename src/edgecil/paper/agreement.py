"""The agreement of two similarity matrices, in values and in the sequences they lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np

from edgecil.errors import UsageError
from edgecil.sequences.protocols.extremes import EDGE, GOALS
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.described import read_described
from edgecil.similarity.matrix import SimilarityMatrix, numbered_names
from edgecil.similarity.similarity_files import read_similarity

_PERMUTATIONS = 9_999
_LOOK_UPS = 400_000_000
_ALL_PERMUTATIONS_UP_TO = 7


@dataclass(frozen=True)
class Consistency:
    """Consistency of sequence generation (CSG): share of classes that stay in their task.

    Attributes:
        position: in the task at the same position.
        matched: in the same task, with tasks paired so that most classes stay.
    """

    position: float
    matched: float


@dataclass(frozen=True)
class Agreement:
    """The agreement of two similarity matrices.

    Attributes:
        left: name of the first matrix.
        right: name of the second matrix.
        mae: mean absolute difference over class pairs.
        spearman: rank correlation ρ over class pairs; None if one matrix is constant.
        p_value: two-sided, by permuting the classes of one matrix (Mantel's test).
        permutations: number of permutations behind it; all N! for small N.
        csg: consistency of the hard and of the easy EDGE sequences.
    """

    left: str
    right: str
    mae: float
    spearman: float | None
    p_value: float | None
    permutations: int
    csg: dict[str, Consistency]


def compare_similarities(
    similarities: Mapping[str, SimilarityMatrix],
    *,
    tasks: int | None = None,
    base: int | None = None,
    increment: int | None = None,
    sizes: Sequence[int] | None = None,
    rng: np.random.Generator | None = None,
) -> list[Agreement]:
    """Compare every pair of similarity matrices over the same classes in the same order.

    Args:
        similarities: two or more matrices by name.
        tasks: number of equal tasks of the EDGE sequences that are compared.
        base: number of classes in the first task; use with `increment`.
        increment: number of classes in each further task.
        sizes: number of classes in each task.
        rng: for the permutation test; seed 0 by default.
    """
    if len(similarities) < 2:
        raise UsageError(
            f"A comparison requires at least 2 similarities. Got {len(similarities)} instead."
        )
    first = next(iter(similarities.values()))
    space = SequenceSpace.choose(
        len(first), tasks=tasks, base=base, increment=increment, sizes=sizes
    )
    pairs = list(combinations(similarities.items(), 2))
    for (left_name, left), (right_name, right) in pairs:
        difference = _difference_of_classes(left, right)
        if difference is not None:
            raise UsageError(
                f"{left_name} and {right_name} must cover the same classes in the same order: "
                f"{difference}."
            )
    rng = np.random.default_rng(0) if rng is None else rng
    agreements = []
    for (left_name, left), (right_name, right) in pairs:
        rho, p_value, permutation_count = _mantel(left, right, rng)
        csg = {}
        for goal in GOALS:
            left_sequence = EDGE.construct(left, space, goal, rng)
            right_sequence = EDGE.construct(right, space, goal, rng)
            csg[goal] = consistency(left_sequence, right_sequence)
        mae = float(np.abs(left.pairs() - right.pairs()).mean())
        agreements.append(
            Agreement(left_name, right_name, mae, rho, p_value, permutation_count, csg)
        )
    return agreements


def _difference_of_classes(left: SimilarityMatrix, right: SimilarityMatrix) -> str | None:
    """Return how the classes of two matrices differ; None if they are the same."""
    if len(left) != len(right):
        return f"{len(left)} classes and {len(right)}"
    if numbered_names(len(left)) in (left.names, right.names):  # numbers fit any names
        return None
    for place, (name, other_name) in enumerate(zip(left.names, right.names, strict=True)):
        if name != other_name:
            return f"label {place} is {name!r} and {other_name!r}"
    return None


def compare_files(
    matrices: Sequence[str | Path] = (),
    *,
    config: str | Path | None = None,
    root: str | Path | None = None,
    tasks: int | None = None,
    base: int | None = None,
    increment: int | None = None,
    sizes: Sequence[int] | None = None,
) -> list[Agreement]:
    """Compare similarity matrices in files, or the similarities that a TOML file describes.

    Args:
        matrices: two or more files with similarity matrices (.npz, .npy or .csv).
        config: TOML file or bundled recipe (`recipe:NAME`), in place of matrices. It has `dataset`,
            the task sizes, and a table `similarities` with options of `similarity` for each.
        root: directory of the dataset's images, for similarities from images.
        tasks: see :class:`edgecil.sequences.space.TaskSizes`.
        base: see :class:`edgecil.sequences.space.TaskSizes`.
        increment: see :class:`edgecil.sequences.space.TaskSizes`.
        sizes: see :class:`edgecil.sequences.space.TaskSizes`.
    """
    options = {"tasks": tasks, "base": base, "increment": increment, "sizes": sizes}
    task_sizes: dict[str, Any] = {
        name: value for name, value in options.items() if value is not None
    }
    if (matrices or config is None) and (len(matrices) < 2 or config or root):
        raise UsageError("Give two or more matrices, or `config` (and `root` with it).")
    if config is not None:
        described = read_described(config)
        return compare_similarities(described.build(root), **(task_sizes or described.tasks))
    paths = [str(path) for path in matrices]
    for path in paths:
        if paths.count(path) > 1:
            raise UsageError(f"{path} is given twice; a comparison requires different files.")
    return compare_similarities({path: read_similarity(path) for path in paths}, **task_sizes)


def consistency(first: ClassSequence, second: ClassSequence) -> Consistency:
    """Return the share of classes that two sequences put in the same task."""
    from scipy.optimize import linear_sum_assignment

    if first.sizes != second.sizes:
        raise UsageError(
            f"Sequences to compare must have the same task sizes. "
            f"Got {list(first.sizes)} and {list(second.sizes)}."
        )
    shared = np.zeros((len(first), len(second)))
    np.add.at(shared, (first.task_of(), second.task_of()), 1.0)
    matched = shared[linear_sum_assignment(shared, maximize=True)].sum()
    classes = sum(first.sizes)
    return Consistency(float(np.trace(shared)) / classes, float(matched) / classes)


def _mantel(
    left: SimilarityMatrix, right: SimilarityMatrix, rng: np.random.Generator
) -> tuple[float | None, float | None, int]:
    """Return Spearman's ρ over class pairs, its p-value and the number of permutations."""
    from scipy.stats import rankdata

    first = rankdata(left.pairs())
    second = rankdata(right.pairs())
    for ranks in (first, second):  # scaled in place, so that the product of both is ρ
        ranks -= ranks.mean()
        if not ranks.any():
            return None, None, 0
        ranks /= np.linalg.norm(ranks)
    classes = len(left)
    rows, columns = np.triu_indices(classes, 1)
    square = np.zeros((classes, classes))
    square[rows, columns] = square[columns, rows] = second
    rho = float(first @ second)
    is_exact = classes <= _ALL_PERMUTATIONS_UP_TO
    if is_exact:
        orders = np.array(list(permutations(range(classes))))
    else:  # a number that takes a few seconds
        count = min(_PERMUTATIONS, max(999, _LOOK_UPS // (classes * (classes - 1) // 2)))
        orders = rng.permuted(np.tile(np.arange(classes), (count, 1)), axis=1)
    permuted = np.array([first @ square[order[rows], order[columns]] for order in orders])
    as_extreme = int(np.sum(np.abs(permuted) >= abs(rho) - 1e-12))
    p_value = (as_extreme + 1) / (len(orders) + 1)
    if is_exact:
        p_value = as_extreme / len(orders)
    return rho, p_value, len(orders)
