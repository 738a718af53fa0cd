from __future__ import annotations

import pytest

from edgecil.errors import UsageError
from edgecil.paper import PartitionRow, partition_table


def test_the_papers_table() -> None:
    rows = partition_table()
    assert [(row.classes, row.tasks, row.task_size, row.size) for row in rows] == [
        (4, 2, 2, 6),
        (6, 2, 3, 20),
        (8, 2, 4, 70),
        (10, 2, 5, 252),
        (6, 3, 2, 90),
        (9, 3, 3, 1680),
        (8, 4, 2, 2520),
    ]


def test_pairs_of_ones_own() -> None:
    assert partition_table([(3, 3)]) == (PartitionRow(3, 3, 1, 6),)


@pytest.mark.parametrize("pair", [(10, 3), (0, 1), (4, 0), (2, 4)])
def test_refuses_unequal_tasks(pair: tuple[int, int]) -> None:
    with pytest.raises(UsageError):
        partition_table([pair])
