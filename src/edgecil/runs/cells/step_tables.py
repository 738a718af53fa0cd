"""Values that a tracker logged by step, as tables: a column for each name, a row for each step."""

from __future__ import annotations

from collections.abc import Mapping

from edgecil.runs.cells.cell_table import Cell, CellTable

STEP = "step"


def step_tables(
    values: Mapping[str, Mapping[int, float]],
    form: str,
    source: str,
    facts: Mapping[str, Cell] | None = None,
) -> list[CellTable]:
    """Return a table for the names that were logged at the same steps.

    The form does not know what a step is: a task, an epoch or a batch.

    >>> values = {"accuracy": {0: 0.9, 1: 0.6}, "forgetting": {1: 0.3}}
    >>> tables = step_tables(values, "log", "run")
    >>> [(table.header, table.rows) for table in tables]
    [(('step', 'accuracy'), ((0, 0.9), (1, 0.6))), (('step', 'forgetting'), ((1, 0.3),))]
    """
    names_by_steps: dict[tuple[int, ...], list[str]] = {}
    for name, by_step in values.items():
        names_by_steps.setdefault(tuple(sorted(by_step)), []).append(name)
    tables = []
    for steps, names in names_by_steps.items():
        rows = tuple((step, *(values[name][step] for name in names)) for step in steps)
        place = "" if len(names_by_steps) == 1 else ", ".join(names)[:80]
        tables.append(CellTable(form, source, (STEP, *names), rows, place, facts=facts or {}))
    return tables
