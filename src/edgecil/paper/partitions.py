"""The paper's table of how fast the number of class sequences grows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from edgecil.errors import UsageError
from edgecil.sequences.counting import count_sequences
from edgecil.theory.arguments import whole_number

PAPER_PARTITIONS = ((4, 2), (6, 2), (8, 2), (10, 2), (6, 3), (9, 3), (8, 4))
"""(N, K) of each row of the paper's partition table, in its order."""


@dataclass(frozen=True)
class PartitionRow:
    """One way to cut a set of classes into equal tasks.

    Attributes:
        classes: N.
        tasks: K.
        task_size: M = N/K.
        size: |Ω| = N!/(M!)^K, exact.
    """

    classes: int
    tasks: int
    task_size: int
    size: int


def partition_table(
    pairs: Iterable[tuple[int, int]] = PAPER_PARTITIONS,
) -> tuple[PartitionRow, ...]:
    """Return the number of class sequences for each (classes, tasks).

    >>> [row.size for row in partition_table()]
    [6, 20, 70, 252, 90, 1680, 2520]
    """
    return tuple(_row(classes, tasks) for classes, tasks in pairs)


def _row(classes: int, tasks: int) -> PartitionRow:
    task_size = equal_task_size(classes, tasks)
    return PartitionRow(classes, tasks, task_size, count_sequences([task_size] * tasks))


def equal_task_size(classes: int, tasks: int) -> int:
    """M = N/K, or an error when the classes cannot be shared out evenly.

    >>> equal_task_size(100, 10)
    10
    """
    whole_number("tasks", tasks, least=1)
    whole_number("classes", classes, least=1)
    if classes % tasks:
        raise UsageError(
            f"The 'classes' parameter must be a multiple of the {tasks} tasks. "
            f"Got {classes} instead."
        )
    return classes // tasks
