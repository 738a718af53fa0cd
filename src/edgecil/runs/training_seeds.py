"""Training seeds: one for each order and repeat, or one for all orders."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from edgecil.sequences.sequence import Tasks, format_tasks

SEEDS = "training seeds"
"""Name in the identity of an experiment; its value is one of the following."""
PER_ORDER, SHARED, FROM_LOGS = "one for each order", "one for all orders", "those of the logs"

REPEATS = 1_000  # of an order, at most; a seed for each order ends in its number
_ORDERS = 2_000_000  # seeds stay below 2^31, which every framework takes


def training_seed(tasks: Tasks, repeat: int, *, shared: bool = False) -> int:
    """Return the seed of an order's training, which belongs to the order and the repeat alone.

    It is the same in every protocol, method, directory and shard, so that methods can be compared
    order by order and seed by seed.

    >>> training_seed(((0, 1), (2, 3)), 1)
    415417001
    """
    return repeat if shared else _first_seed(tasks) + repeat


@lru_cache(maxsize=2**16)  # of each order every method, repeat and metric asks for it
def _first_seed(tasks: Tasks) -> int:
    digest = hashlib.sha256(format_tasks(tasks).encode()).digest()
    return REPEATS * (1 + int.from_bytes(digest[:8], "big") % _ORDERS)


def repeat_of(tasks: Tasks, seed: int) -> int:
    """Return the repeat that a seed of :func:`training_seed` stands for; other seeds as they are.

    >>> repeat_of(((0, 1), (2, 3)), 415417001)
    1
    >>> repeat_of(((0, 1), (2, 3)), 42)
    42
    """
    repeat = seed - training_seed(tasks, 0)
    return repeat if 0 <= repeat < REPEATS else seed
