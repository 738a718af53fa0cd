"""A rectangular table of cells, as a file holds it: what every form of file is read into.

A module of this package reads one form. It has two functions:

    recognises(path: Path, head: bytes) -> bool    # `head` is the beginning of the file
    read(path: Path) -> list[CellTable]            # DataError in one sentence if it cannot

Nothing is interpreted here: what a column means is decided afterwards, from names, values, file
names and the user's word. A form that knows more, such as the log of a toolbox, says so in `facts`
and `roles`.

**Cells.** Text forms keep cells as text, with their marks ("80.5 ± 1.5"); decimal commas are
written as points. `marked_numbers` splits a mark into its parts.

**Curves and matrices** are long: one row for each value, whatever the form. A log of a toolbox is
one table for each run and classifier, with the columns

    after task | task | accuracy | accuracy of all classes

where `after task` has the role `step`, `task` the role `task`, `accuracy` the role `metric`, and
`accuracy of all classes` the role `curve`: it is the same in all rows of a step. Columns that a log
does not determine are left out. Steps and tasks count from 0. Lists inside JSON, and arrays, count
their places in columns of the role `index`, of which the form does not know the meaning.

**Facts** of a log have these names where the log gives them, and beside them all its settings under
the names in the file: `method`, `dataset`, `seed`, `class_order` ("3 1 0 2"), `task_sizes` ("2 2"),
`classifier` ("CNN"), `unit` ("%" or "fraction"), `scenario` ("class-incremental",
"task-incremental" or "domain-incremental"; a file that has several gives a table for each) and
`task_count` (how many tasks the run has; a table with fewer steps is of a run that has not ended).
Two runs of a file with the same facts are a restarted one: the later table is the later run.

**Runs of several files.** Where a toolbox writes several files for a run, any of them gives the
tables of the run, with the same `source`; `read_files` keeps the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from edgecil.errors import DataError

Cell: TypeAlias = str | int | float | bool | None

ROLES = (
    "method",
    "dataset",
    "seed",
    "order",
    "run",  # names a run
    "task",  # the task that a value is measured on
    "step",  # the task after which it is measured
    "epoch",
    "split",
    "setting",
    "metric",
    "curve",  # a metric over everything learned so far
    "mean",
    "std",
    "n",
    "label",
    "aggregate",
    "index",  # counts the values of a list
)
"""Roles that a form may give to a column; all other columns get theirs afterwards."""


@dataclass(frozen=True)
class CellTable:
    """A table of a file.

    Attributes:
        form: the form of the file: `CSV`, `Markdown table`, `PyCIL log`.
        source: the path of the file, or a name for a table in memory.
        header: the names of the columns; an empty text where a column has none. Levels of a header
            with several rows are joined by " / ".
        rows: the cells, as many in each row as there are columns; None where a cell is empty.
        place: where in the file the table stands, such as `table 2`; empty if it is the only one.
        caption: heading, caption or sentence that the file puts beside the table.
        facts: what the file says about the whole table, such as `{"seed": "1993"}`.
        roles: roles that the form itself knows, by the name of the column.
    """

    form: str
    source: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    place: str = ""
    caption: str = ""
    facts: Mapping[str, Cell] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.header):
                raise DataError(
                    f"Row {number} of {self.source} has {len(row)} cells, but the header has "
                    f"{len(self.header)}."
                )

    def column(self, name: str) -> Sequence[Cell]:
        """Return the cells of a column."""
        place = self.header.index(name)
        return [row[place] for row in self.rows]
