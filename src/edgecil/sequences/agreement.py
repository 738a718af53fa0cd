"""How far two similarity matrices agree, in values and in the sequences they lead to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

import numpy as np

from edgecil.errors import UsageError
from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.generators import get_generator
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import SimilarityMatrix

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
        mae: mean absolute difference over class pairs.
        spearman: rank correlation ρ over class pairs; None if one matrix is constant.
        p_value: two-sided, by permuting the classes of one matrix (Mantel's test).
        permutations: how many permutations stand behind it; all N! for small N.
        csg: consistency of the hard and of the easy EDGE sequences.
    """

    mae: float
    spearman: float | None
    p_value: float | None
    permutations: int
    csg: dict[str, Consistency]

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        return asdict(self)


def agree(
    left: SimilarityMatrix,
    right: SimilarityMatrix,
    space: SequenceSpace,
    *,
    rng: np.random.Generator | None = None,
) -> Agreement:
    """Compare two matrices over the same N classes in the same label order."""
    if len(left) != len(right):
        raise UsageError(
            f"The matrices cover {len(left)} and {len(right)} classes; "
            "both must cover the same classes in the same order."
        )
    rng = np.random.default_rng(0) if rng is None else rng
    rho, p_value, permuted = _mantel(left, right, rng)
    csg = {}
    for goal in ("hard", "easy"):
        first, second = (
            get_generator("edge", goal)(matrix, space, rng) for matrix in (left, right)
        )
        csg[goal] = consistency(first, second)
    mae = float(np.abs(left.pairs() - right.pairs()).mean())
    return Agreement(mae, rho, p_value, permuted, csg)


def consistency(first: ClassSequence, second: ClassSequence) -> Consistency:
    """Share of classes that two sequences with the same task sizes put in the same task."""
    from scipy.optimize import linear_sum_assignment

    if first.sizes != second.sizes:
        raise UsageError(
            f"Sequences to compare need the same task sizes. "
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

    first, second = (_standardised(rankdata(matrix.pairs())) for matrix in (left, right))
    if first is None or second is None:
        return None, None, 0
    classes = len(left)
    rows, columns = np.triu_indices(classes, 1)
    square = np.zeros((classes, classes))
    square[rows, columns] = square[columns, rows] = second
    rho = float(first @ second)
    orders = _class_permutations(classes, rng)
    found = np.array([first @ square[order[rows], order[columns]] for order in orders])
    as_extreme = int(np.sum(np.abs(found) >= abs(rho) - 1e-12))
    exact = classes <= _ALL_PERMUTATIONS_UP_TO
    p_value = as_extreme / len(orders) if exact else (as_extreme + 1) / (len(orders) + 1)
    return rho, p_value, len(orders)


def _class_permutations(classes: int, rng: np.random.Generator) -> Ints:
    """All permutations of a few classes; of many, as many as are looked up in a few seconds."""
    if classes <= _ALL_PERMUTATIONS_UP_TO:
        return np.array(list(permutations(range(classes))))
    count = min(_PERMUTATIONS, max(999, _LOOK_UPS // (classes * (classes - 1) // 2)))
    return rng.permuted(np.tile(np.arange(classes), (count, 1)), axis=1)


def _standardised(ranks: Floats) -> Floats | None:
    """Centred and scaled so that the product of two is ρ; None if all are tied."""
    centred = ranks - ranks.mean()
    norm = np.linalg.norm(centred)
    return centred / norm if norm > 0.0 else None
