"""Selection of the classes of a dataset that an experiment uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from edgecil.errors import UsageError

if TYPE_CHECKING:  # listing class names must not wait for NumPy
    import numpy as np
    from numpy.typing import NDArray

LEAST = 2


def select_classes(
    total: int,
    *,
    count: int | None = None,
    seed: int | None = None,
    ids: Sequence[int] | NDArray[np.integer] | None = None,
) -> NDArray[np.int64]:
    """Return the ids of the classes to use, at least two; all of them by default.

    Args:
        total: number of classes of the dataset.
        count: use the first `count` classes in label order, as the paper does.
        seed: draw the `count` classes with this seed instead; they stay in label order.
        ids: exactly these classes, in this order.

    Returns:
        (n,) class ids in [0, total).

    >>> select_classes(10, count=3)
    array([0, 1, 2])
    >>> select_classes(10, count=3, seed=42)
    array([0, 5, 6])
    """
    import numpy as np

    if ids is not None:
        if count is not None or seed is not None:
            raise UsageError("Give either `class_ids` or `classes` and `classes_seed`, not both.")
        return _check_ids(total, ids)
    if count is None:
        if seed is not None:
            raise UsageError("`classes_seed` draws a number of classes; give `classes` as well.")
        return np.arange(total, dtype=np.int64)
    if not LEAST <= count <= total:
        raise UsageError(f"`classes` must be in [{LEAST}, {total}]. Got {count} instead.")
    if seed is None:
        return np.arange(count, dtype=np.int64)
    if seed < 0:
        raise UsageError(f"`classes_seed` must be at least 0. Got {seed} instead.")
    return np.sort(np.random.default_rng(seed).permutation(total)[:count])


def _check_ids(total: int, ids: Sequence[int] | NDArray[np.integer]) -> NDArray[np.int64]:
    import numpy as np

    given = np.asarray(ids)
    if given.ndim != 1 or len(given) < LEAST or given.dtype.kind not in "iu":
        raise UsageError(f"Class ids must be a list of at least {LEAST} integers. Got {ids}.")
    outside = given[(given < 0) | (given >= total)]
    if len(outside):
        raise UsageError(f"Class ids must be in [0, {total - 1}]. Got {outside[0]} among them.")
    values, times = np.unique(given, return_counts=True)
    if len(values) < len(given):
        raise UsageError(f"Class ids must be unique. Got {values[times > 1][0]} more than once.")
    return given.astype(np.int64)
