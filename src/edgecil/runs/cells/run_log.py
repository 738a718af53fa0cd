"""What the logs of all toolboxes share: the columns of a run's table, and runs by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from edgecil.runs.cells.cell_table import CellTable

AFTER_TASK = "after task"
TASK = "task"
ACCURACY = "accuracy"
ALL_CLASSES = "accuracy of all classes"
ALL_TASKS = "mean accuracy of tasks"

ROLES: Mapping[str, str] = {
    AFTER_TASK: "step",
    TASK: "task",
    ACCURACY: "metric",
    ALL_CLASSES: "curve",
    ALL_TASKS: "curve",
}
"""The roles of the columns of a run's table."""


def number_runs(tables_of_runs: Sequence[Sequence[CellTable]]) -> list[CellTable]:
    """Return the tables of all runs with their place, and only the roles of their columns."""
    numbered = []
    for number, tables in enumerate(tables_of_runs, start=1):
        place = f"run {number}" if len(tables_of_runs) > 1 else ""
        for table in tables:
            roles = {name: role for name, role in table.roles.items() if name in table.header}
            numbered.append(replace(table, place=place, roles=roles))
    return numbered
