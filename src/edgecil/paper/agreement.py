"""How far two similarity matrices agree, in values and in the sequences they lead to."""

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
    """How far two similarity matrices agree.

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
    for (left, own), (right, its) in pairs:
        named = numbered_names(len(own)) not in (own.names, its.names)  # numbers fit any names
        if len(own) != len(its) or (named and own.names != its.names):
            differ = f"{len(own)} classes and {len(its)}"
            if len(own) == len(its):
                place = next(i for i in range(len(own)) if own.names[i] != its.names[i])
                differ = f"label {place} is {own.names[place]!r} and {its.names[place]!r}"
            raise UsageError(
                f"{left} and {right} must cover the same classes in the same order: {differ}."
            )
    rng = np.random.default_rng(0) if rng is None else rng
    agreements = []
    for (left, own), (right, its) in pairs:
        rho, p_value, permuted = _mantel(own, its, rng)
        csg = {
            goal: consistency(*(EDGE.construct(it, space, goal, rng) for it in (own, its)))
            for goal in GOALS
        }
        mae = float(np.abs(own.pairs() - its.pairs()).mean())
        agreements.append(Agreement(left, right, mae, rho, p_value, permuted, csg))
    return agreements


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
    given = {"tasks": tasks, "base": base, "increment": increment, "sizes": sizes}
    space: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if (matrices or config is None) and (len(matrices) < 2 or config or root):
        raise UsageError("Give two or more matrices, or `config` (and `root` with it).")
    if config is not None:
        described = read_described(config)
        return compare_similarities(described.build(root), **(space or described.tasks))
    paths = [str(path) for path in matrices]
    for path in paths:
        if paths.count(path) > 1:
            raise UsageError(f"{path} is given twice; a comparison requires different files.")
    return compare_similarities({path: read_similarity(path) for path in paths}, **space)


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
    """Spearman's ρ over class pairs and its permutation p-value."""
    from scipy.stats import rankdata

    first, second = (rankdata(matrix.pairs()) for matrix in (left, right))
    for ranks in (first, second):  # so that the product of both is ρ
        ranks -= ranks.mean()
        if not ranks.any():
            return None, None, 0
        ranks /= np.linalg.norm(ranks)
    classes = len(left)
    rows, columns = np.triu_indices(classes, 1)
    square = np.zeros((classes, classes))
    square[rows, columns] = square[columns, rows] = second
    rho = float(first @ second)
    exact = classes <= _ALL_PERMUTATIONS_UP_TO
    if exact:
        orders = np.array(list(permutations(range(classes))))
    else:  # as many as take a few seconds
        count = min(_PERMUTATIONS, max(999, _LOOK_UPS // (classes * (classes - 1) // 2)))
        orders = rng.permuted(np.tile(np.arange(classes), (count, 1)), axis=1)
    permuted = np.array([first @ square[order[rows], order[columns]] for order in orders])
    as_extreme = int(np.sum(np.abs(permuted) >= abs(rho) - 1e-12))
    p_value = as_extreme / len(orders) if exact else (as_extreme + 1) / (len(orders) + 1)
    return rho, p_value, len(orders)
